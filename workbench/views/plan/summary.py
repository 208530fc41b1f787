"""Plan: sub-kernels with what they move, compute and take; memory over a step; the roofline. A frozen summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10, prod
from typing import Literal

from workbench.amounts import bytes_text, counted, scaled, seconds_text
from workbench.backends.host import figures_text
from workbench.backends.registry import SHOWN
from workbench.errors import PlanError
from workbench.graph import value_name
from workbench.pipeline import slots_of
from workbench.planning.axes import axes_of, loop_extents
from workbench.planning.cost import CacheLevel, HostFigures
from workbench.planning.kernel_plan import Home, KernelPlan, Launch, Read, Step, Subkernel
from workbench.planning.lifetimes import lifetimes_of, live_bytes
from workbench.planning.plan import Plan, Slot
from workbench.planning.rolling import rolling_planes
from workbench.run.calling import Terms, terms_of
from workbench.views.inspection.selection import SubkernelRef, ValueRef


@dataclass(frozen=True, slots=True)
class SubkernelRow:
    """One sub-kernel of a step. Bytes, flops and loads are for one cell; `flops` are weighted as the cost model does.

    doubles: the same operations in units of those on f64, for which the ceiling holds.
    halo: cells beyond the domain that it computes as well, "0+0" for none. reads and writes: arrays, then values in
    rolling buffers, of which `rolling` says more for those that it makes. predicted: seconds a step at the host's
    ceilings, `limit` is the one that binds. measured: seconds a step, None until it was timed.
    """

    ref: SubkernelRef
    launch: int
    makes: tuple[ValueRef, ...]
    names: tuple[str, ...]
    bytes_read: float
    bytes_written: float
    flops: float
    doubles: float
    loads: float
    halo: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    cells: int
    predicted: float
    limit: Literal["memory", "arithmetic"]
    measured: float | None
    rolling: tuple[str, ...] = ()

    @property
    def intensity(self) -> float:
        """Flops a byte moved, in units of f64's."""
        moved = self.bytes_read + self.bytes_written
        return self.doubles / moved if moved else 0.0

    @property
    def moved(self) -> int:
        """Bytes that it reads and writes in one step."""
        return round(self.cells * (self.bytes_read + self.bytes_written))

    def rate(self, seconds: float) -> float:
        """Flops a second if it takes that long, in units of f64's."""
        return self.doubles * self.cells / seconds if seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Life:
    """A value in an array, from launch `first` to launch `last`, both included. `size`: bytes of the array.

    -1 and the number of launches stand for before and after the step.
    """

    array: int
    name: str
    first: int
    last: int
    size: int


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the steps that a plan holds."""

    kernel: str
    observed: bool

    def __str__(self) -> str:
        return f"{self.kernel}, observed" if self.observed else self.kernel


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """What a plan view shows of one step, for `extents` cells on a machine with `figures`.

    launches: what runs between two barriers, in words. arrays: a label for each. live: bytes of arrays that hold
    something needed in each launch; allocated: bytes of all arrays. step_measured: seconds of the whole step, if known,
    and step_spread how far they spread. terms: words for what is counted, because a called machine has no steps. part:
    which program of a sequence it is, in words, "" for a program alone.
    """

    machine: str
    backend: str
    variant: Variant
    variants: tuple[Variant, ...]
    extents: tuple[int, ...]
    figures: HostFigures
    rows: tuple[SubkernelRow, ...]
    launches: tuple[str, ...]
    arrays: tuple[str, ...]
    lives: tuple[Life, ...]
    live: tuple[int, ...]
    allocated: int
    step_measured: float | None = None
    step_spread: float = 0.0
    terms: Terms = field(default=Terms())
    part: str = ""

    @property
    def predicted(self) -> float:
        """Seconds a step at the host's ceilings."""
        return sum(row.predicted for row in self.rows)

    @property
    def cache_ceilings(self) -> tuple[CacheLevel, ...]:
        """Bandwidths above memory's by which sub-kernels of small arrays are predicted, each with the largest size."""
        sizes = {
            self.figures.bandwidth_of(row.moved): row.moved for row in sorted(self.rows, key=lambda row: row.moved)
        }
        return tuple(CacheLevel(size, rate) for rate, size in sizes.items() if rate > self.figures.bandwidth)


def variants_of(plan: Plan) -> tuple[Variant, ...]:
    """The steps of a plan, those of the main kernel first."""
    kernels = (plan.main, *(k for k in plan.kernels if k is not plan.main))
    return tuple(
        Variant(k.kernel.name, observed)
        for k in kernels
        for observed in ((False, True) if k.has_diagnostics else (False,))
    )


def summarise_plan(
    plan: Plan,
    *,
    extents: tuple[int, ...],
    figures: HostFigures,
    backend: str = SHOWN,
    variant: Variant | None = None,
    measured: Mapping[str, float] | None = None,
    step_measured: float | None = None,
    step_spread: float = 0.0,
) -> PlanSummary:
    """The summary of one step. measured: sub-kernel's name -> seconds a step. PlanError for an unknown variant."""
    known = variants_of(plan)
    chosen = variant or known[0]
    if chosen not in known:
        raise PlanError(f"{plan.graph.name} has no step {chosen}", advice=f"Use one of {', '.join(map(str, known))}.")
    kernel = plan.kernel(chosen.kernel)
    step = kernel.observed if chosen.observed else kernel.plain
    sizes = slots_of(plan, extents, backend)
    lane = {slot.index: number for number, slot in enumerate(plan.array_slots)}
    found = tuple(life for life in lifetimes_of(plan, kernel, step) if life.slot in lane)
    return PlanSummary(
        plan.graph.name,
        backend,
        chosen,
        known,
        extents,
        figures,
        _rows(plan, kernel, step, extents, figures, measured or {}),
        tuple(_launch_text(kernel, step, launch) for launch in step.launches),
        tuple(_array_text(slot) for slot in plan.array_slots),
        tuple(Life(lane[x.slot], x.name, x.first, x.last, sizes[x.slot]) for x in found),
        tuple(live_bytes(sizes, found, launch) for launch in range(len(step.launches))),
        sum(sizes.values()),
        step_measured,
        step_spread,
        terms_of(plan.graph),
        plan.graph.part,
    )


def _rows(
    plan: Plan,
    kernel: KernelPlan,
    step: Step,
    extents: tuple[int, ...],
    figures: HostFigures,
    measured: Mapping[str, float],
) -> tuple[SubkernelRow, ...]:
    rows = []
    rolling = rolling_planes(step)
    for number, launch in enumerate(step.launches):
        for member in launch.members if launch.kind == "subkernel" else ():
            subkernel = step.subkernels[member]
            row = _row(plan, kernel, subkernel, rolling, number, extents, figures, measured.get(subkernel.name))
            rows.append(row)
    return tuple(rows)


def _row(
    plan: Plan,
    kernel: KernelPlan,
    subkernel: Subkernel,
    rolling: Mapping[int, int],
    launch: int,
    extents: tuple[int, ...],
    figures: HostFigures,
    measured: float | None,
) -> SubkernelRow:
    frame = plan.graph.space
    nodes = (*(home.node for home in subkernel.outputs), *subkernel.reductions)
    reads, outputs = ([h for h in homes if h.node not in rolling] for homes in (subkernel.reads, subkernel.outputs))
    moved = [home for home in outputs if axes_of(kernel.kernel.nodes[home.node].space, frame) == subkernel.axes]
    written = sum(kernel.kernel.nodes[home.node].value_type.itemsize for home in moved)
    cells = prod(loop_extents(subkernel, extents))
    bandwidth = figures.bandwidth_of(round(cells * subkernel.cost.bytes_moved))
    moving, computing = subkernel.cost.bytes_moved / bandwidth, subkernel.cost.doubles / figures.flops
    name = kernel.kernel.name

    def rolling_names(homes: Iterable[Home | Read]) -> tuple[str, ...]:
        kept = dict.fromkeys(home.node for home in homes if home.node in rolling)
        return tuple(f"{value_name(kernel.kernel, node)} (rolling buffer)" for node in kept)

    return SubkernelRow(
        SubkernelRef(name, subkernel.name),
        launch,
        tuple(ValueRef(name, node) for node in dict.fromkeys(nodes)),
        tuple(dict.fromkeys(value_name(kernel.kernel, node) for node in nodes)),
        subkernel.cost.bytes_moved - written,
        float(written),
        subkernel.cost.flops,
        subkernel.cost.doubles,
        subkernel.cost.loads,
        ", ".join(f"{below}+{above}" for below, above in subkernel.margins),
        (*_slots_text(plan, sorted({home.slot for home in reads})), *rolling_names(subkernel.reads)),
        (*_slots_text(plan, sorted({home.slot for home in outputs})), *rolling_names(subkernel.outputs)),
        cells,
        cells * max(moving, computing),
        "memory" if moving >= computing else "arithmetic",
        measured,
        tuple(
            f"{value_name(kernel.kernel, home.node)} is {rolling_text(rolling[home.node])}"
            for home in subkernel.outputs
            if home.node in rolling
        ),
    )


def rolling_text(planes: int) -> str:
    """Where a Manifest value is that has no array, because only loops that run together read it."""
    return f"kept in a rolling buffer of {planes} planes; no array"


def _array_text(slot: Slot) -> str:
    return f"{slot.index}: {slot.label}"


def _slots_text(plan: Plan, slots: Sequence[int]) -> tuple[str, ...]:
    return tuple(_array_text(plan.slots[slot]) for slot in slots)


def _launch_text(kernel: KernelPlan, step: Step, launch: Launch) -> str:
    match launch.kind:
        case "fill":
            names = dict.fromkeys(value_name(kernel.kernel, step.fills[m].node) for m in launch.members)
            return f"ghost cells of {', '.join(names)}"
        case "subkernel":
            return ", ".join(step.subkernels[m].name for m in launch.members)
        case "finisher":
            names = dict.fromkeys(value_name(kernel.kernel, step.finishers[m].node) for m in launch.members)
            return f"finish {', '.join(names)}"


def describe_plan(summary: PlanSummary) -> str:
    """In words: the table, the launches and the memory."""
    cells = " x ".join(map(str, summary.extents))
    lines = [
        f"plan of {summary.machine}, kernel {summary.variant}, {cells} {summary.terms.cells}, {summary.backend}",
        *([f"  {summary.part}"] if summary.part else ()),
        f"  {counted(len(summary.rows), 'sub-kernel')}, predicted {seconds_text(summary.predicted)} "
        f"a {summary.terms.march} ({measured_text(summary.step_measured, summary.step_spread)})",
    ]
    for row in summary.rows:
        lines.append(
            f"  {row.ref.name}: makes {', '.join(row.names)}; {summary.terms.cell}: {row.bytes_read:g} bytes read, "
            f"{row.bytes_written:g} written, {row.flops:g} flops; halo {row.halo} cells; "
            f"predicted {seconds_text(row.predicted)} ({row.limit}), {measured_text(row.measured)}"
            + "".join(f"; {text}" for text in row.rolling)
        )
    lines.append(f"  launches: {'; '.join(summary.launches)}")
    most = max(summary.live, default=0)
    lines.append(f"  arrays: {len(summary.arrays)}, {bytes_text(summary.allocated)}; in use at most {bytes_text(most)}")
    lines.append(f"  ceilings: {ceilings_text(summary)}")
    return "\n".join(lines)


def ceilings_text(summary: PlanSummary) -> str:
    """Memory, caches as far as sub-kernels are predicted by them, and arithmetic."""
    caches = "".join(
        f"; {scaled(level.bandwidth, 'B/s')} for {bytes_text(level.size)}" for level in summary.cache_ceilings
    )
    return f"{figures_text(summary.figures)}{caches}"


def measured_text(seconds: float | None, spread: float | None = None) -> str:
    """The time, or that there is none; with what it spreads, if that is known."""
    if seconds is None:
        return "not measured"
    return f"measured {seconds_text(seconds) if spread is None else spread_text(seconds, spread)}"


def spread_text(seconds: float, spread: float) -> str:
    """Two digits, their spread in units of the last one, and a unit: "1.3 ± 0.1 ms"; "about 1.3 ms" if it is all."""
    scale, unit = next(
        ((f, u) for f, u in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")) if seconds >= 0.995 * f), (1e-9, "ns")
    )
    if seconds <= 0:
        return f"0 {unit}"
    last = 10.0 ** (floor(log10(float(f"{seconds / scale:.1e}"))) - 1)
    decimals = max(0, round(-log10(last)))
    value, steps = round(seconds / scale / last) * last, max(1, ceil(spread / scale / last - 1e-9))
    if spread >= seconds:
        return f"about {value:.{decimals}f} {unit}"
    return f"{value:.{decimals}f} ± {steps * last:.{decimals}f} {unit}"
