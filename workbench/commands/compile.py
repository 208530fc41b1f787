"""`workbench compile`: a cell or graph text in, and as files of open formats all that the workbench makes of it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from workbench.amounts import counted
from workbench.backends.build_flags import build_flags
from workbench.backends.nvrtc import PRELUDE, compile_options
from workbench.backends.registry import row_of
from workbench.backends.toolchain import Toolchain, find_toolchain
from workbench.codegen.source import Source
from workbench.errors import StencilError, TraceError, shown_path
from workbench.graph import Graph
from workbench.graph.from_text import graph_from_text, is_graph_text
from workbench.pipeline import plan_for, planned_backend, render, simplify, trace
from workbench.planning.choices import Choices
from workbench.planning.exchange import from_json, to_json
from workbench.planning.genome import choices_of, genome_of
from workbench.planning.plan import Plan

_SUFFIXES = {"c++": ".cpp", "cuda": ".cu"}
_ARCHITECTURE = "sm_90"  # in the command that is shown; any other will do


@dataclass(frozen=True, slots=True)
class Request:
    """What to compile, and by which choices. dim and dtype are for cells; a graph text has its own."""

    file: Path
    output: Path
    backend: str = "openmp"
    choices: Path | None = None
    genome: str = ""
    dim: int | None = None
    dtype: str = "f64"


@dataclass(frozen=True, slots=True)
class Compiled:
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


def compile_file(request: Request) -> Compiled:
    """Write graph.txt, plan.txt, genome.txt, choices.json, program.cpp or .cu and its headers into `output`.

    Raises StencilError of the stage that refuses: TraceError and GraphError have the file's line, PlanError and
    GenomeError say which choice is wrong, BackendError that there is no text for the backend. OSError for files.
    """
    graph = _read(request)
    backend = planned_backend(request.backend)
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
    return Compiled(plan, request.output, tuple(texts), _command(plan, source, name, backend))


def _read(request: Request) -> Graph:
    text = _text_of(request.file)
    try:
        if is_graph_text(text):
            return simplify(graph_from_text(text))
        if text.lstrip().startswith("%%"):
            raise TraceError(
                "a cell's first line is no part of its text",
                advice="Leave out the line %%stencil; its options are --dim and --dtype here.",
                line=1,
            )
        name = request.file.stem
        return simplify(trace(text, name=name, dim=request.dim, dtype=request.dtype).graph)
    except StencilError as error:
        raise error.belonging(shown_path(str(request.file)))  # noqa: B904  # the same error


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise StencilError(f"{file} is no text in UTF-8: {error}", advice="Give the text of a cell or graph.") from None


def _choices(request: Request, graph: Graph) -> Choices:
    """Those of the file, changed by what the genome says; a genome decides all but meaning."""
    base = Choices() if request.choices is None else from_json(_text_of(request.choices))
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
