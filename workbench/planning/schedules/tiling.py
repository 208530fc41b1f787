"""Tiling: whether several steps of a kernel may run together in tiles, why not, and how tiles lean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.errors import PlanError
from workbench.graph import Graph, Kernel, Periodic
from workbench.graph.diagnostics import REPEATED
from workbench.graph.instructions import arrays_read
from workbench.graph.naming import formula, own_name, value_name
from workbench.graph.side_rules import maps_nearby, rule_name
from workbench.planning.axes import axes_of, axes_text
from workbench.planning.dependence import dependences_of, orbit
from workbench.planning.kernel_plan import Fill, Read, Step
from workbench.planning.lines import line_of as _line
from workbench.planning.schedules.ghosts import ghost_plan, sides_of
from workbench.planning.tiled import Role, Tiling

_REDUCTIONS = {"max": "maximum", "min": "minimum"}
_MOST_TURNS = 64  # steps after which all arrays are back in their slots


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the steps of a kernel cannot run together. `by_meaning`: no schedule of several steps can exist at all."""

    why: str
    line: int | None
    by_meaning: bool

    def __str__(self) -> str:
        return self.why if self.line is None else f"{self.why}, line {self.line}"


def tile(kernel: Kernel, step: Step, dim: int, schedule: str) -> Tiling:
    """Return how plain steps of a kernel run together in diamonds. PlanError says why they cannot."""
    found = refusal(kernel, step, dim)
    if found is None:
        ghosts = ghost_plan(kernel, step)
        slopes = dependences_of(step, dim, ghosts.apart, ghosts.bare).slopes(dim)
        rings = rings_of(kernel, step, dim)
        return Tiling(schedule, ghosts.loops, slopes, roles_of(dim), rings, ghosts.before, ghosts.updates, ghosts.bare)
    error = refused(schedule, found.why)
    raise error if found.line is None else error.located(found.line)


def refused(schedule: str, why: str) -> PlanError:
    """The error of a program whose steps this schedule cannot run together."""
    why = f"schedule {schedule!r} cannot run several steps together: {why}"
    return PlanError(why, advice='Choose schedule="stepwise".')


def roles_of(dim: int) -> tuple[Role, ...]:
    """Return what is done along each axis: rows of the last one stay whole from three axes on."""
    known: dict[int, tuple[Role, ...]] = {1: ("diamond",), 2: ("diamond", "wave")}
    whole: Role = "whole"
    return known.get(dim, ("wave", "diamond", *[whole] * (dim - 2)))


def rings_of(kernel: Kernel, step: Step, dim: int) -> tuple[bool, ...]:
    """Return the axes that have a periodic side."""
    rules = [sides_of(kernel, fill.node) for fill in step.fills]
    return tuple(any(isinstance(rule, Periodic) for sides in rules for rule in sides[k]) for k in range(dim))


def refusal(kernel: Kernel, step: Step, dim: int) -> Refusal | None:
    """Return the first reason why plain steps of a kernel cannot run together, None if they can.

    What the values mean comes first, then what is not built yet.
    """
    return next(_reductions(kernel, step), None) or next(_not_built(kernel, step), None)


def loops_refusal(graph: Graph) -> Refusal | None:
    """Return why a while_loop keeps steps apart: no step can begin before its condition is known for all cells."""
    for loop in graph.loops_before(REPEATED):
        return Refusal("each step needs the end of a while_loop", loop.span.line or None, by_meaning=True)
    return None


def _reductions(kernel: Kernel, step: Step) -> Iterator[Refusal]:
    """Sums over all cells that each step needs: no cell of the next step can begin before all cells of this one."""
    for finisher in step.finishers:
        over = formula(kernel, finisher.node)
        first, _, rest = over.partition(" ")
        what = f"the {_REDUCTIONS.get(first, first)} {rest}"
        yield Refusal(f"{_needs(kernel, finisher.node)} needs {what}", _line(kernel, finisher.node), by_meaning=True)


def _needs(kernel: Kernel, reduction: int) -> str:
    """The nearest value with a name that is computed from a reduction; a scalar's name where it becomes one."""
    above, stored = [reduction], {value: name for name, value in kernel.stores()}
    for index in range(reduction, len(kernel.nodes)):
        if index == reduction or any(operand in above for operand in kernel.nodes[index].operands):
            name = stored.get(index) or own_name(kernel, index)
            if name:
                return name
            above.append(index)
    return "each step"


def _not_built(kernel: Kernel, step: Step) -> Iterator[Refusal]:
    """What tiles cannot do so far."""
    yield from _other_axes(kernel, step)
    for read in (read for loop in step.subkernels for read in loop.reads if read.anywhere):
        what = f"{value_name(kernel, read.node)} is read at computed places"
        yield _later(what, _line(kernel, _reader(kernel, read)))
    for fill in step.fills:
        yield from _unbuilt_fill(kernel, fill)
    if not step.subkernels:
        yield _later("a step has no loop", None)
    for home in sorted(step.homes, key=lambda home: home.node):
        steps = len(orbit(step.rotation, home.slot))
        if steps > _MOST_TURNS:
            what = (
                f"{value_name(kernel, home.node)} comes back to its array after {steps} steps, more than {_MOST_TURNS}"
            )
            yield _later(what, _line(kernel, home.node))


def _other_axes(kernel: Kernel, step: Step) -> Iterator[Refusal]:
    """Folds over some axes, and values that have some axes only."""
    frame = kernel.space
    for loop in step.subkernels:
        for home in loop.outputs if loop.reduced else ():
            what = f"{value_name(kernel, home.node)} is a fold over {axes_text(frame, loop.reduced)}"
            yield _later(what, _line(kernel, home.node))
    for loop in step.subkernels:
        if loop.alone >= 0:
            yield _later(f"{value_name(kernel, loop.alone)} has a loop of its own", _line(kernel, loop.alone))
    touched = {fill.node for fill in step.fills}
    for loop in step.subkernels:
        touched.update(read.node for read in loop.reads)
        touched.update(home.node for home in loop.outputs)
    for node in sorted(touched):
        axes = axes_of(kernel.nodes[node].space, frame)
        if axes:
            yield _later(f"{value_name(kernel, node)} has the axes {axes_text(frame, axes)} alone", _line(kernel, node))


def _unbuilt_fill(kernel: Kernel, fill: Fill) -> Iterator[Refusal]:
    for rule in (rule for pair in sides_of(kernel, fill.node) for rule in pair):
        if not (maps_nearby(rule) or isinstance(rule, Periodic)):
            what = f"{value_name(kernel, fill.node)} takes ghost cells from the other side by {rule_name(rule)}"
            yield _later(what, _line(kernel, fill.node))
    if fill.source != fill.target:
        yield _later(f"{value_name(kernel, fill.node)} is extended in two ways", _line(kernel, fill.node))


def _later(why: str, line: int | None) -> Refusal:
    return Refusal(f"{why}, for which tiles of several steps are not built yet", line, by_meaning=False)


def _reader(kernel: Kernel, read: Read) -> int:
    """The first node that reads a value at computed places; the value where none is left in the kernel."""
    readers = (n for n, node in enumerate(kernel.nodes) if read.node in arrays_read(node))
    return next(readers, read.node)
