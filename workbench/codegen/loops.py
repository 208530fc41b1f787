"""Loops: what the templates need to know of a plan, as frozen records with finished text and no graph."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.codegen.expressions import Statement
from workbench.planning.plan import Margins


@dataclass(frozen=True, slots=True)
class Array:
    """A pointer argument: its name, C++ type and the slot that it gets at the call."""

    name: str
    type: str
    slot: int


@dataclass(frozen=True, slots=True)
class Pointer:
    """A row pointer: `move` is what to add to the row's start, "" or " + 2 * shape.strides[0]"."""

    name: str
    type: str
    array: str
    move: str


@dataclass(frozen=True, slots=True)
class Partial:
    """A reduction inside a sweep: the row buffer of its operand and how two values combine."""

    name: str
    cells: str
    type: str
    node: int
    combine: str
    identity: str


@dataclass(frozen=True, slots=True)
class Sweep:
    """The loop nest of one sub-kernel."""

    name: str
    label: str
    grown: Margins
    reads: tuple[Array, ...]
    writes: tuple[Array, ...]
    partials: tuple[Partial, ...]
    uniform: tuple[Statement, ...]
    pointers: tuple[Pointer, ...]
    row: tuple[Statement, ...]
    cell: tuple[Statement, ...]
    first_partial: int = 0


@dataclass(frozen=True, slots=True)
class Operand:
    """The value of a boundary rule at a ghost cell."""

    number: int
    type: str
    uniform: tuple[Statement, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """The outside of one Extend node."""

    name: str
    label: str
    type: str
    table: tuple[tuple[tuple[str, int, int], tuple[str, int, int]], ...]
    grown: Margins
    most_steps: int
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class FillCall:
    """Rules applied to arrays. `tag` other than 0: an array with this tag holds the very same ghost cells already."""

    rules: str
    type: str
    source: int
    target: int
    tag: int = 0


@dataclass(frozen=True, slots=True)
class SweepCall:
    """A sweep applied to arrays; `first_partial` is the number of its first buffer of partial results."""

    sweep: str
    arguments: tuple[str, ...]
    grown: str


@dataclass(frozen=True, slots=True)
class FinisherCall:
    """Partial results to a Global slot."""

    buffer: int
    type: str
    combine: str
    slot: int
    statement: Statement


@dataclass(frozen=True, slots=True)
class Phase:
    """What runs between two meetings of the team, and what one thread does at the meeting.

    `tags`: (slot, tag) for each array whose ghost cells the phase wrote; 0 where they are no lasting ones. `lap` and
    `finish_lap` are the numbers under which the phase and its finishers are timed (-1: not at all), `member_laps`
    those of its fills or sweeps, where it has several.
    """

    fills: tuple[FillCall, ...]
    sweeps: tuple[SweepCall, ...]
    finishers: tuple[FinisherCall, ...]
    tags: tuple[tuple[int, int], ...] = ()
    lap: int = -1
    finish_lap: int = -1
    member_laps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class StepCode:
    """One step of one kernel. `scalars` computes all new scalars, then writes them."""

    name: str
    phases: tuple[Phase, ...]
    scalars: tuple[Statement, ...]
    rotation: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Combine:
    """A reduction's operator given as a region."""

    name: str
    type: str
    left: str
    right: str
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class KernelCode:
    """All text of one kernel; `observed` is the name of the plain step when the two are one."""

    name: str
    combines: tuple[Combine, ...]
    rules: tuple[Rules, ...]
    sweeps: tuple[Sweep, ...]
    steps: tuple[StepCode, ...]
    plain: str
    observed: str
    members: int
