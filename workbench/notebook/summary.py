"""From a compiled program to its card: counts, costs and the predicted bound, nothing printed yet."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from workbench.amounts import counted, seconds_text
from workbench.backends.host import figures_text
from workbench.backends.registry import row_of
from workbench.graph import Graph, Kernel, Static
from workbench.graph.diagnostics import diagnostic_stores
from workbench.graph.naming import value_name
from workbench.notebook.card import CardSummary, KernelRow, StaticRow
from workbench.pipeline import Compiled, memory_of
from workbench.planning.cost import (
    HostFigures,
    bound_seconds,
    default_extents,
    ghost_percent,
    halo_bytes,
    near_cost,
    step_cost,
    whole_cost,
)
from workbench.planning.kernel_plan import KernelPlan, Storage
from workbench.planning.plan import Plan
from workbench.planning.rolling import rolling_planes
from workbench.run.calling import figure_extents, is_called, terms_of
from workbench.run.given import input_names
from workbench.tuning.wisdom import found_before
from workbench.views.plan.summary import rolling_text


@dataclass(frozen=True, slots=True)
class CellReading:
    """What the card says about how a cell was read. The texts of promotions and warnings begin with "line N: ".

    precision: what the choices change of the types, a line each.
    """

    captured: Mapping[str, object]
    promotions: tuple[str, ...]
    warnings: tuple[str, ...]
    precision: tuple[str, ...] = ()


def summarise(
    name: str,
    compiled: Compiled,
    reading: CellReading,
    *,
    figures: HostFigures,
    measured: bool,
    extents: tuple[int, ...] | None = None,
    changed: tuple[str, ...] = (),
) -> CardSummary:
    """The card of a compiled program for `extents` cells, about a million if none are given."""
    plan, graph = compiled.plan, compiled.plan.graph
    cells = extents or figure_extents(graph)
    backend = compiled.selection.name
    return CardSummary(
        name=name,
        dim=graph.dim,
        extents=cells,
        fields=tuple(_field_row(graph, static) for static in graph.fields),
        scalars=tuple(_scalar_row(graph, static) for static in graph.scalars),
        params=tuple(StaticRow(s.name, s.type.name, _param_note(s)) for s in graph.params),
        kernels=tuple(_kernel_row(graph, kernel, cells, figures) for kernel in plan.kernels),
        main=plan.main.kernel.name,
        halo=halo_text(plan),
        extra_arrays=_manifest_arrays(plan),
        memory_bytes=memory_of(plan, cells, backend),
        backend=backend,
        backend_reason=compiled.selection.reason,
        build=_build_text(compiled),
        bound_source=("the CPU's figures: " if row_of(backend).runs_on == "blocks" else "") + figures_text(figures),
        measured=measured,
        arithmetic=plan.choices.meaning.arithmetic,
        next_cell=next_cell(name, graph),
        captured=tuple((key, _value_text(value)) for key, value in reading.captured.items()),
        promotions=reading.promotions,
        precision=reading.precision,
        warnings=reading.warnings,
        changed=changed,
        fields_title="arrays" if is_called(graph) else "fields",
        found_before=_found_before(graph, plan, backend, cells),
        terms=terms_of(graph),
    )


def _found_before(graph: Graph, plan: Plan, backend: str, extents: tuple[int, ...]) -> str:
    result = found_before(graph, plan.choices, backend, extents)
    return "" if result is None else str(result)


def next_cell(name: str, graph: Graph) -> str:
    """What to copy: a simulation with a value for each field and param, and a run; or a call.

    A param that is infinite unless it is given, such as the time until which to run, is no limit and left out.
    """
    params = [_default(static) for static in graph.params if static.default not in (math.inf, -math.inf)]
    if is_called(graph):
        given = [*(f"{each}=..." for each in input_names(graph)), *params]
        return f"{name}({', '.join(given)})"
    initialised = {store for kernel in graph.kernels if kernel.name == "init" for store, _ in kernel.stores()}
    arguments = [
        f"{group}=..." for group in dict.fromkeys(s.group or s.name for s in graph.fields if s.name not in initialised)
    ]
    if not arguments:
        arguments.append(f"shape={default_extents(graph.dim) if graph.dim > 1 else (1024,)}")
    arguments += params
    return f"sim = {name}.simulate({', '.join(arguments)})\nsim.run(1000)"


def _default(static: Static) -> str:
    """A param as it is given."""
    return f"{static.name}={'...' if static.default is None else static.default}"


def _field_row(graph: Graph, static: Static) -> StaticRow:
    written = any(store == static.name for kernel in graph.kernels for store, _ in kernel.stores())
    if is_called(graph):
        along = f"{'result' if written else 'given at the call'}, along {static.space.axis_names}"
        return StaticRow(static.name, static.type.name, along)
    notes = [f"along {static.space.axis_names}" if static.space.named else static.boundary or "no boundary rule"]
    if static.unit:
        notes.insert(0, f"in {static.unit}")
    if static.face_axes:
        notes.append(f"on faces of axis {', '.join(str(a) for a in static.face_axes)}")
    if not written:
        notes.append("never changes")
    return StaticRow(static.name, static.type.name, ", ".join(notes))


def _scalar_row(graph: Graph, static: Static) -> StaticRow:
    if is_called(graph):
        return StaticRow(static.name, static.type.name, "result")
    diagnostic = any(static.name in diagnostic_stores(graph, kernel) for kernel in graph.kernels)
    note = "evaluated on observed steps only" if diagnostic else "up to date after every step"
    return StaticRow(static.name, static.type.name, f"in {static.unit}, {note}" if static.unit else note)


def _param_note(static: Static) -> str:
    """Its default and its limits: "default 0.2 m, at least 0, known to work up to 0.5"."""
    notes = ["always given" if static.default is None else f"default {static.default}{_unit(static)}"]
    if str(static.limits):
        notes.append(str(static.limits))
    if static.limits.warn_above is not None:
        notes.append(f"known to work up to {static.limits.warn_above:g}")
    return ", ".join(notes)


def _kernel_row(graph: Graph, kernel: KernelPlan, cells: tuple[int, ...], figures: HostFigures) -> KernelRow:
    step = kernel.observed
    cost, terms = step_cost(kernel.plain), terms_of(graph)
    if terms.whole:
        cost = whole_cost(kernel.plain, cells)
    seconds = bound_seconds(kernel.plain, cells, figures)
    near = near_cost(kernel.plain, kernel.kernel, kernel.storage)
    if not cost.flops and (near is not None or not cost.bytes_moved):  # a run alone knows how many pairs it looks at
        seconds = 0.0
    manifest = tuple(_label(kernel.kernel, i) for i, s in enumerate(kernel.storage) if s is Storage.MANIFEST)
    return KernelRow(
        name=kernel.kernel.name,
        nodes=len(kernel.kernel.nodes),
        manifest=manifest,
        rolling=_rolling_texts(kernel),
        delayed=sum(1 for s in kernel.storage if s is Storage.DELAYED),
        subkernels=_subkernel_labels(kernel, tuple(subkernel.name for subkernel in step.subkernels)),
        usual=len(kernel.plain.subkernels),
        launches=len(kernel.plain.launches),
        recomputed=ghost_percent(kernel.plain, cells) / 100,
        halo_bytes=halo_bytes(kernel.plain, kernel.kernel, cells),
        bytes_moved=cost.bytes_moved,
        flops=cost.flops,
        bound=(1 if terms.whole else math.prod(cells)) / seconds if seconds > 0 else 0.0,
        search_ended=kernel.search_ended,
        part=_part(graph, kernel.kernel.name),
        near=None if near is None else (near.bytes_moved, near.flops),
    )


def _part(graph: Graph, name: str) -> Literal["", "begin", "turn"]:
    """Which part of a While a kernel is."""
    if any(loop.turn == name for loop in graph.loops):
        return "turn"
    return "begin" if any(loop.begin == name for loop in graph.loops) else ""


def _rolling_texts(kernel: KernelPlan) -> tuple[str, ...]:
    """Which values of an observed step are kept in rolling buffers, those of one size together."""
    labels: dict[int, list[str]] = {}
    for node, planes in rolling_planes(kernel.observed).items():
        labels.setdefault(planes, []).append(_label(kernel.kernel, node))
    return tuple(f"{', '.join(names)}: {rolling_text(planes)}" for planes, names in labels.items())


def _label(kernel: Kernel, node: int) -> str:
    """The user's name of a value, else where it is stored, else a short formula with its line."""
    names = kernel.nodes[node].names
    return names[-1] if names else value_name(kernel, node)


def _subkernel_labels(kernel: KernelPlan, names: tuple[str, ...]) -> tuple[str, ...]:
    """What each sub-kernel computes: its name in the source less the kernel's, and less its number where that is clear.

    Values without a name are called by their operations, of which a kernel may have several alike.
    """
    numbered = [name.removeprefix(f"{kernel.kernel.name}_").removeprefix("observed_") for name in names]
    words = [re.sub(r"^\d+_", "", name) for name in numbered]
    alike = Counter(words)
    return tuple(full if alike[word] > 1 else word for full, word in zip(numbered, words, strict=True))


def halo_text(plan: Plan) -> str:
    """Cells around the domain: "1 cell" when all sides agree, else below+above for each axis, as views write it."""
    sides = {side for pair in plan.halo for side in pair}
    if len(sides) == 1:
        return counted(sides.pop(), "cell")
    return f"{', '.join(f'{below}+{above}' for below, above in plan.halo)} cells"


def _manifest_arrays(plan: Plan) -> int:
    """Arrays of Manifest values beyond the fields' own: Table 3 of Paraiso."""
    return sum(1 for slot in plan.array_slots if not slot.field)


def _build_text(compiled: Compiled) -> str:
    program = compiled.program
    if program.from_cache:
        return "from the build cache"
    if program.compile_seconds > 0:
        return f"compiled in {seconds_text(program.compile_seconds)}"
    return "nothing to compile"


def _value_text(value: object) -> str:
    """A captured value as the notebook would print it, functions by name."""
    if callable(value):
        return f"function {getattr(value, '__name__', type(value).__name__)}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _unit(static: Static) -> str:
    return f" {static.unit}" if static.unit else ""
