"""Rendering: the only place that knows Jinja2; templates give shape to finished text and lines keep their origins."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

import jinja2

from workbench.codegen.source import LineOrigin
from workbench.codegen.statement import Statement
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
    )
    environment.filters["origin"] = _with_origin
    return environment


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
