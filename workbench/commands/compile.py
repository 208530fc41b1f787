"""`workbench compile`: a cell or graph text in, and as files of open formats all that the workbench makes of it."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import dataclass, replace
from os.path import isfile
from pathlib import Path
from typing import NoReturn

from workbench.amounts import counted
from workbench.backends.build_flags import build_flags
from workbench.backends.nvrtc import PRELUDE, compile_options
from workbench.backends.registry import SHOWN, row_of
from workbench.backends.toolchain import Toolchain, find_toolchain
from workbench.codegen.source import Source
from workbench.errors import GenomeError, StencilError, TraceError, shown_path
from workbench.graph import Graph
from workbench.graph.from_text import graph_from_text, is_graph_text
from workbench.notebook.options import OPTIONS
from workbench.pipeline import plan_for, planned_backend, render, simplify, trace
from workbench.planning.choices import Choices
from workbench.planning.exchange import from_json, to_json
from workbench.planning.genome import choices_of, genome_of
from workbench.planning.plan import Plan

_SUFFIXES = {"c++": ".cpp", "cuda": ".cu"}
_MAGIC = "%%stencil"
_ARCHITECTURE = "sm_90"  # in the command that is shown; any other will do


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """What to compile, and by which choices.

    name, dim, dtype and boundary are those of a cell, as on its line `%%stencil`; a graph text has its own. "" and None
    leave them to that line, where the file begins with one, else to the defaults: the file's name, the axes that the
    reads have, f64, and no rule.
    """

    file: Path
    output: Path
    backend: str = ""
    choices: Path | None = None
    genome: str = ""
    name: str = ""
    dim: int | None = None
    dtype: str = ""
    boundary: str = ""


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """What was written: the plan, the files by name, and a command that compiles the source ("" where none is here)."""

    plan: Plan
    folder: Path
    files: tuple[str, ...]
    command: str

    def __str__(self) -> str:
        loops = sum(len(kernel.observed.subkernels) for kernel in self.plan.kernels)
        lines = [f"{self.plan.graph.name}: {counted(loops, 'sub-kernel')}; in {self.folder}: {', '.join(self.files)}"]
        if self.command:
            lines.append(f"to compile it there: {self.command}")
        return "\n".join(lines)


def compile_file(request: CompileRequest) -> WrittenFiles:
    """Write graph.txt, plan.txt, genome.txt, choices.json, program.cpp or .cu and its headers into `output`.

    Raises StencilError of the stage that refuses: TraceError and GraphError have the file's line, PlanError and
    GenomeError say which choice is wrong, BackendError that there is no text for the backend. OSError for files.
    """
    text = _text_of(request.file)
    try:
        first, body = _first_line(text)
        request = _completed(request, first)
        graph = _graph(request, body, 1 if first is None else 2)
    except StencilError as error:
        raise error.belonging(shown_path(str(request.file)))  # noqa: B904  # the same error
    backend = planned_backend(request.backend or SHOWN)
    plan = plan_for(graph, _choices(request, graph), backend)
    source = render(plan, backend)
    name = f"program{_SUFFIXES[source.language]}"
    texts = {
        "graph.txt": str(plan.graph),
        "plan.txt": str(plan),
        "genome.txt": f"{genome_of(plan)}\n",
        "choices.json": f"{to_json(plan.choices)}\n",
        name: source.text,
        **dict(source.headers),
    }
    if source.language == "cuda":
        texts[PRELUDE.name] = PRELUDE.read_text(encoding="utf-8")
    request.output.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (request.output / file).write_text(text, encoding="utf-8")
    return WrittenFiles(plan, request.output, tuple(texts), _command(plan, source, name, backend))


class _FirstLine(argparse.ArgumentParser):
    """Reads `%%stencil NAME --dim 2 ...`, with the options that the magic has."""

    def __init__(self) -> None:
        super().__init__(prog=_MAGIC, add_help=False, allow_abbrev=False)
        self.add_argument("name", nargs="?", default="")
        for option in OPTIONS:
            self.add_argument(f"--{option.name}", default="")

    def error(self, message: str) -> NoReturn:
        """A first line that the magic refuses too."""
        known = ", ".join(f"--{option.name}" for option in OPTIONS)
        raise TraceError(f"{_MAGIC}: {message}", advice=f"A name and these options may stand there: {known}.", line=1)


def _first_line(text: str) -> tuple[argparse.Namespace | None, str]:
    """What the line `%%stencil` says, None where the text does not begin with it, and the text below it."""
    line, _, body = text.partition("\n")
    if not line.startswith("%%"):
        return None, text
    try:
        magic, *words = shlex.split(line, comments=True)
    except ValueError as error:  # a quotation that does not end
        raise TraceError(f"{line}: {error}", advice=f"Write {_MAGIC} NAME and its options.", line=1) from None
    if magic != _MAGIC:
        raise TraceError(f"{magic} is no magic that makes a machine", advice=f"Only {_MAGIC} is.", line=1)
    return _FirstLine().parse_args(words), body


def _completed(request: CompileRequest, first: argparse.Namespace | None) -> CompileRequest:
    """The request with what the first line says, where the request itself says nothing."""
    if first is None:
        return request
    if first.dim and not first.dim.isdigit():
        raise TraceError(f"{_MAGIC}: --dim {first.dim} is no number of axes", advice="Write 1, 2 or 3.", line=1)
    return replace(
        request,
        name=request.name or first.name,
        dim=request.dim or (int(first.dim) if first.dim else None),
        dtype=request.dtype or first.dtype,
        boundary=request.boundary or first.boundary,
        backend=request.backend or first.backend,
    )


def _graph(request: CompileRequest, text: str, first_line: int) -> Graph:
    if is_graph_text(text):
        return simplify(graph_from_text(text))
    traced = trace(
        text,
        name=request.name or request.file.stem,
        dim=request.dim,
        first_line=first_line,
        dtype=request.dtype or "f64",
        boundary=request.boundary or None,
    )
    return simplify(traced.graph)


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise StencilError(f"{file} is no text in UTF-8: {error}", advice="Give the text of a cell or graph.") from None


def _choices(request: CompileRequest, graph: Graph) -> Choices:
    """Those of the file, changed by what the genome says; a genome decides all but meaning."""
    base = Choices() if request.choices is None else from_json(_text_of(request.choices))
    if isfile(request.genome):
        raise GenomeError(
            f"{request.genome} is a file, and --genome takes the genome itself",
            advice=f'Write --genome "$(cat {shlex.quote(request.genome)})".',
        )
    return choices_of(request.genome.strip(), graph, base) if request.genome else base


def _command(plan: Plan, source: Source, name: str, backend: str) -> str:
    """What compiles the program beside its headers: a shared library on the host, a cubin for a device."""
    if source.language == "cuda":
        options = compile_options(plan.choices.plan.largest_block, "int32_t")
        made = ("-include", PRELUDE.name, *options, "-o", "program.cubin", name)
        return shlex.join(["nvcc", "-std=c++17", f"-arch={_ARCHITECTURE}", "-cubin", *made])
    chain = find_toolchain() if row_of(backend).runs_on == "threads" else None
    if not isinstance(chain, Toolchain):
        return ""
    flags = (*chain.flags, *build_flags(plan.choices.plan.build, chain))
    return shlex.join([*chain.command, *flags, "-o", "program.so", name])
