"""Render CUDA: a plan as one unit of `__global__` functions, with the launches of its steps and a line map."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from functools import cache

from workbench.codegen.cuda.device import DeviceKernel, KernelLaunches, LaunchCode, StepLaunches
from workbench.codegen.cuda.kernel import device_kernel
from workbench.codegen.names import RESERVED, NameBook
from workbench.codegen.rendering import marked_origins, render_template, template_text
from workbench.codegen.runtime import elementary
from workbench.codegen.runtime.extended import (
    FUNCTIONS_HEADER,
    HEADER,
    extended_header,
    extends,
    functions_header,
    has_functions,
)
from workbench.codegen.source import Source
from workbench.planning.plan import Plan

_PLACE = "stencil_plan_"
_INCLUDE = re.compile(r'^#include "(?P<name>[^"]+)"$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DeviceUnit:
    """Everything cuda.cu.jinja sees."""

    title: str
    dim: int
    kernels: tuple[DeviceKernel, ...]
    extended: bool
    functions: bool
    elementary: bool

    @property
    def scans(self) -> bool:
        """Whether some loop scans."""
        return any(sweep.scanning is not None for kernel in self.kernels for sweep in kernel.sweeps)

    @property
    def segments(self) -> bool:
        """Whether some loop folds segments."""
        return any(sweep.segmenting is not None for kernel in self.kernels for sweep in kernel.sweeps)

    @property
    def ranks(self) -> bool:
        """Whether some loop ranks."""
        return any(sweep.ranking is not None for kernel in self.kernels for sweep in kernel.sweeps)

    @property
    def scatters(self) -> bool:
        """Whether some loop sends cells to computed places."""
        return any(sweep.scatters for kernel in self.kernels for sweep in kernel.sweeps)

    @property
    def folds(self) -> bool:
        """Whether some loop folds."""
        return any(sweep.folding is not None for kernel in self.kernels for sweep in kernel.sweeps)

    @property
    def torres(self) -> bool:
        """Whether steps of some kernel run together in towers."""
        return any(kernel.torres for kernel in self.kernels)


@dataclass(frozen=True, slots=True)
class CudaText:
    """The text of one plan and how to run it.

    `waits` says for each `__global__` function, in order of the text, whether its threads wait (at barriers, in warp
    functions). `marked` is the text with a prefix before each name of its own that `named` fills in.
    """

    source: Source
    kernels: tuple[KernelLaunches, ...]
    waits: tuple[tuple[str, bool], ...]
    marked: str

    def named(self, prefix: str) -> str:
        """The text with `prefix` before each name, so that several texts can stand in one unit."""
        return self.marked.replace(_PLACE, prefix)

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that are the same for the same text."""
        return hashlib.sha256(self.source.text.encode()).hexdigest()[:16]


class _PlacedNames(NameBook):
    """Names of functions, all with the prefix."""

    def claim(self, preferred: str) -> str:
        return _PLACE + super().claim(preferred)


def render_cuda(plan: Plan) -> CudaText:
    """The plan as CUDA text. Same plan, same bytes; sizes, grids and blocks are no part of it."""
    functions = _PlacedNames(RESERVED)
    made = [device_kernel(plan, kernel, functions) for kernel in plan.kernels]
    own = extends(plan), has_functions(plan), elementary.is_elementary(plan.graph)
    unit = DeviceUnit(plan.graph.name, plan.graph.dim, tuple(code for code, _ in made), *own)
    marked = render_template("cuda.cu.jinja", unit)
    text, lines = marked_origins(plan, marked)
    lines = tuple(replace(o, subkernel=o.subkernel.removeprefix(_PLACE)) for o in lines)
    words = tuple(word for _, launches in made for word in launches.words)
    source = Source("cuda", text.replace(_PLACE, ""), "", cuda_headers(), lines, words)
    return CudaText(source, tuple(_unplaced(k) for _, k in made), _waits(unit), text)


@cache
def cuda_headers() -> tuple[tuple[str, str], ...]:
    """The headers that CUDA texts include, as (name, text)."""
    loops = ("folds", "segments", "prefixes", "scans", "ranks", "atomics", "scatters")
    parts = (*(f"stencil_cuda_{loop}.h" for loop in loops), "stencil_torre.h")
    first = ("stencil_prelude.h", "stencil_mathematics.h", "stencil_pairs.h", "stencil_sides.h", "stencil_cuda.h")
    generated = (
        (HEADER, extended_header()),
        (FUNCTIONS_HEADER, functions_header()),
        (elementary.HEADER, elementary.elementary_header()),
    )
    return (*((name, template_text(name)) for name in (*first, *parts)), *generated)


def inlined(text: str, name: str = "kernels.cu") -> str:
    """The text with its headers written out, for compilers that read no files; lines are counted as before."""
    headers = dict(cuda_headers())

    def replace_include(found: re.Match[str]) -> str:
        line = text.count("\n", 0, found.start()) + 2
        return f'{_inline_plain(headers[found["name"]], headers)}\n#line {line} "{name}"'

    return _INCLUDE.sub(replace_include, text)


def _inline_plain(text: str, headers: dict[str, str]) -> str:
    return _INCLUDE.sub(lambda found: _inline_plain(headers[found["name"]], headers), text)


def _waits(unit: DeviceUnit) -> tuple[tuple[str, bool], ...]:
    waits: list[tuple[str, bool]] = []
    for kernel in unit.kernels:
        waits += [(f.name, False) for f in kernel.fills]
        waits += [(s.name, s.synchronises) for s in kernel.sweeps]
        waits += [(t.name, True) for t in kernel.trees]
        waits += [(t.name, True) for t in kernel.subtrees]
        waits += [(s.name, False) for s in kernel.scalars]
        waits += [(t.name, t.towers.along > 0) for t in kernel.torres]
        waits += [(t.ahead, False) for t in kernel.torres if t.ahead]
    return tuple((name.removeprefix(_PLACE), synchronises) for name, synchronises in waits)


def _unplaced(kernel: KernelLaunches) -> KernelLaunches:
    def plainly_named(step: StepLaunches) -> StepLaunches:
        launches = tuple(_plain_name(c) for c in step.launches)
        return replace(step, launches=launches)

    plain = plainly_named(kernel.plain)
    observed = plain if kernel.observed is kernel.plain else plainly_named(kernel.observed)
    begin = tuple(_plain_name(c) for c in kernel.begin)
    towers = kernel.towers
    if towers is not None:
        before = tuple(_plain_name(c) for c in towers.before)
        ahead = None if towers.ahead is None else _plain_name(towers.ahead)
        towers = replace(towers, before=before, ahead=ahead, stage=_plain_name(towers.stage))
    return replace(kernel, plain=plain, observed=observed, begin=begin, towers=towers)


def _plain_name(code: LaunchCode) -> LaunchCode:
    return replace(code, kernel=code.kernel.removeprefix(_PLACE))
