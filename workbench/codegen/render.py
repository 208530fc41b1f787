"""Render: the only place that knows Jinja2; templates give shape to finished text and lines keep their origins."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

import jinja2

from workbench.codegen.extended import HEADER, SUMS_HEADER, extended_header, extends
from workbench.codegen.kernel import has_steady_ghosts, kernel_code
from workbench.codegen.loops import KernelCode
from workbench.codegen.names import RESERVED, NameBook
from workbench.codegen.source import LineOrigin, Source
from workbench.codegen.spelling import CPP
from workbench.codegen.statement import Statement
from workbench.planning.plan import Plan

_PLACE = "stencil_plan_placeholder"
_MARK = re.compile("\x01([^\x02]*)\x02")


@dataclass(frozen=True, slots=True)
class UnitContext:
    """Everything openmp.cpp.jinja sees."""

    title: str
    dim: int
    place: str
    kernels: tuple[KernelCode, ...]
    members: int
    keeps_tags: bool
    extended: bool


def render_openmp(plan: Plan) -> Source:
    """The plan as one C++17 translation unit. Same plan, same bytes; its name is a hash of its own text.

    Texts of several plans may stand one after another in one unit: each lives in a namespace of its own, and the
    headers guard themselves.
    """
    functions = NameBook(RESERVED)
    kernels = tuple(kernel_code(plan, kernel, CPP, functions) for kernel in plan.kernels)
    members = max((k.members for k in kernels), default=1)
    steady = has_steady_ghosts(plan)
    context = UnitContext(plan.graph.name, plan.graph.dim, _PLACE, kernels, members, steady, extends(plan))
    plain, lines = marked_origins(plan, render_template("openmp.cpp.jinja", context))
    words = tuple(word for kernel in kernels for word in kernel.words)
    name = f"plan_{hashlib.sha256(plain.encode()).hexdigest()[:16]}"
    return Source("c++", plain.replace(_PLACE, name), f"march_{name}", openmp_headers(), lines, words)


_OPENMP_HEADERS = (
    "stencil_prelude.h",
    "stencil_team.h",
    "stencil_rows.h",
    "stencil_rolling.h",
    "stencil_ghosts.h",
    "stencil_images.h",
    "stencil_folds.h",
    "stencil_scans.h",
    "stencil_sums.h",
    "stencil_tiles.h",
    "stencil_openmp.h",
    SUMS_HEADER,
)


@cache
def openmp_headers() -> tuple[tuple[str, str], ...]:
    """The headers that C++ texts include, as (name, text)."""
    return (*((name, template_text(name)) for name in _OPENMP_HEADERS), (HEADER, extended_header()))


def render_template(name: str, unit: object) -> str:
    """A template filled in; lines made from statements end in a mark of their origin."""
    return _environment().get_template(name).render(unit=unit)


def marked_origins(plan: Plan, marked: str) -> tuple[str, tuple[LineOrigin, ...]]:
    """The text without marks, and what they say."""
    return _MARK.sub("", marked), _origins(plan, marked)


@cache
def template_text(name: str) -> str:
    """The text of a file in templates/."""
    return (resources.files("workbench.codegen") / "templates" / name).read_text(encoding="utf-8")


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
