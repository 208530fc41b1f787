"""Render C++: a plan as one translation unit with OpenMP, and a line map."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from workbench.codegen.cpp.headers import openmp_headers
from workbench.codegen.cpp.kernel import has_steady_ghosts, kernel_code
from workbench.codegen.names import RESERVED, NameBook
from workbench.codegen.rendering import marked_origins, render_template
from workbench.codegen.running_order import KernelCode
from workbench.codegen.runtime import elementary
from workbench.codegen.runtime.extended import extends, has_functions
from workbench.codegen.source import Source
from workbench.codegen.spelling import CPP
from workbench.graph.types import F32
from workbench.planning.plan import Plan

_PLACE = "stencil_plan_placeholder"


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
    functions: bool
    elementary: bool
    roots: bool
    vectors: bool
    seeks: bool
    packs: bool
    sines: bool


def render_openmp(plan: Plan) -> Source:
    """The plan as one C++17 translation unit. Same plan, same bytes; its name is a hash of its own text.

    Texts of several plans may stand one after another in one unit: each lives in a namespace of its own, and the
    headers guard themselves.
    """
    functions = NameBook(RESERVED)
    kernels = tuple(kernel_code(plan, kernel, CPP, functions) for kernel in plan.kernels)
    members = max((k.members for k in kernels), default=1)
    steady = has_steady_ghosts(plan)
    graph = plan.graph
    own = extends(plan), has_functions(plan), elementary.is_elementary(graph), elementary.calls(graph, {"rsqrt"})
    vectors = any(sweep.vectors is not None for kernel in kernels for sweep in kernel.sweeps)
    seeks = any(sweep.seeks for kernel in kernels for sweep in kernel.sweeps)
    packs = any(sweep.packs for kernel in kernels for sweep in kernel.sweeps)
    further = vectors, seeks, packs, elementary.calls(graph, {"sin", "cos"}, F32)
    context = UnitContext(graph.name, graph.dim, _PLACE, kernels, members, steady, *own, *further)
    plain, lines = marked_origins(plan, render_template("openmp.cpp.jinja", context))
    words = tuple(word for kernel in kernels for word in kernel.words)
    name = f"plan_{hashlib.sha256(plain.encode()).hexdigest()[:16]}"
    return Source("c++", plain.replace(_PLACE, name), f"march_{name}", openmp_headers(plain), lines, words)
