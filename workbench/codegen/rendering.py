"""Rendering: the only place that knows Jinja2; templates give shape to finished text and lines keep their origins."""

from __future__ import annotations

import base64
import hashlib
import marshal
import re
import sys
from functools import cache
from importlib import resources

import jinja2
from jinja2.bccache import Bucket

from workbench.codegen.source import LineOrigin
from workbench.codegen.statement import Statement
from workbench.codegen.template_store import template_store
from workbench.planning.plan import Plan

_MARK = re.compile("\x01([^\x02]*)\x02")
# Templates of a target lie in its room; headers that are compiled as they stand, in the runtime.
_FOLDERS = ("cpp/templates", "cuda/templates", "runtime")


def render_template(name: str, unit: object) -> str:
    """A template filled in; lines made from statements end in a mark of their origin."""
    return _environment().get_template(name).render(unit=unit)


def marked_origins(plan: Plan, marked: str) -> tuple[str, tuple[LineOrigin, ...]]:
    """The text without marks, and what they say."""
    return _MARK.sub("", marked), _origins(plan, marked)


@cache
def template_text(name: str) -> str:
    """The text of a template or of a header of the runtime."""
    files = (resources.files("workbench.codegen") / folder / name for folder in _FOLDERS)
    return next(file for file in files if file.is_file()).read_text(encoding="utf-8")


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(template_text),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  # C++ is no HTML
        optimized=False,  # looks for constants, of which templates have none, for a tenth of the time to compile them
        bytecode_cache=_CompiledTemplates(),
    )
    environment.filters["origin"] = _with_origin
    return environment


class _CompiledTemplates(jinja2.BytecodeCache):
    """Templates as Python's code, kept beside the libraries that are compiled of texts: `template_store`.

    A note says what its code was made of, and is made again where that is not what there is now: the template's text,
    both libraries' versions, and how templates are read. One of another version replaces it.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        store = template_store()
        note = {} if store is None else store.read_note(_note_of(bucket)) or {}
        kept = note.get("code")
        made_of, digest = note.get("made_of"), note.get("sha256")
        if isinstance(kept, str) and made_of == _made_of(bucket) and digest == _digest(kept):
            bucket.code = marshal.loads(base64.b64decode(kept))  # noqa: S302  # of a folder whose libraries we run

    def dump_bytecode(self, bucket: Bucket) -> None:
        store = template_store()
        if store is not None:
            kept = base64.b64encode(marshal.dumps(bucket.code)).decode()
            store.write_note(_note_of(bucket), {"made_of": _made_of(bucket), "sha256": _digest(kept), "code": kept})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _note_of(bucket: Bucket) -> str:
    return f"template-{bucket.key}"  # a hash of the template's name


def _made_of(bucket: Bucket) -> list[str]:
    own = bucket.environment
    options = own.trim_blocks, own.lstrip_blocks, own.keep_trailing_newline, own.autoescape
    return [bucket.checksum, f"jinja2 {jinja2.__version__}", sys.version, str(options)]


def _with_origin(statement: Statement, kernel: str, subkernel: str = "") -> str:
    """The statement with a mark for each place that it came from, taken out again after rendering."""
    places: dict[str, set[int]] = {subkernel: set(statement.nodes)}
    for other in statement.others:
        places.setdefault(other.place or subkernel, set()).update(other.nodes)
    marks = (f"\x01{kernel}\x03{name}\x03{','.join(map(str, sorted(nodes)))}\x02" for name, nodes in places.items())
    return statement.text + "".join(marks)


def _origins(plan: Plan, marked: str) -> tuple[LineOrigin, ...]:
    origins: list[LineOrigin] = []
    for number, line in enumerate(marked.split("\n"), start=1):
        for mark in _MARK.findall(line):
            kernel, subkernel, listed = mark.split("\x03")
            nodes = tuple(int(n) for n in listed.split(",") if n)
            if nodes:
                all_nodes = plan.kernel(kernel).kernel.nodes
                cell_lines = tuple(sorted({s.line for n in nodes for s in all_nodes[n].spans if s.line}))
                origins.append(LineOrigin(number, kernel, nodes, cell_lines, subkernel))
    return tuple(origins)
