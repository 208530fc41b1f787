"""Trace: what collects while a cell runs: values in one pool, statics, stores and notes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol

from workbench.errors import TraceError
from workbench.frontend.attempts import DimensionFoundError
from workbench.frontend.cell_text import CellText, SourceRange
from workbench.graph import (
    GLOBAL,
    Axis,
    KernelBuilder,
    Node,
    Region,
    Space,
    Span,
    Static,
    StorageType,
    While,
    grid_space,
)
from workbench.graph.marks import NOWHERE
from workbench.graph.spaces import NamedExtent

MOST_NODES = 200_000  # beyond any program that a compiler takes; a body that makes more never ends
MOST_OPERATIONS = 1_000_000
MOST_TURNS = 2_000_000  # of loops and comprehensions
MOST_DIMENSIONS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A traced value: a node of the trace's pool. It belongs to no kernel until it is stored.

    order: in a function of arrays its axes by position, as NumPy counts them, None for one of a single element that
    is the same everywhere; in a cell, where axes go by their names, None.
    """

    trace: Trace
    index: int
    order: tuple[Axis | None, ...] | None = None

    @property
    def node(self) -> Node:
        """The node in the pool."""
        return self.trace.pool.node(self.index)

    @property
    def type(self) -> StorageType:
        """Storage type."""
        return self.node.value_type

    @property
    def space(self) -> Space:
        """The axes along which it varies; none for a Global."""
        space = self.node.space
        assert space is not None, "a Store is no value"
        return space

    @property
    def is_local(self) -> bool:
        """One value per cell."""
        return self.node.is_local

    def in_order(self, order: tuple[Axis | None, ...] | None) -> Term:
        """The same value with its axes by position."""
        return self if order is None else Term(self.trace, self.index, order)


Number = bool | int | float
Operand = Term | Number


@dataclass(slots=True)
class KernelState:
    """A kernel while its body runs: name, place of its definition, and the stores in order of assignment."""

    name: str
    span: Span
    stores: dict[str, tuple[Term, Span]] = field(default_factory=dict)
    kept: dict[int, str] = field(default_factory=dict)  # values that a part of a loop reads from inner statics
    in_branch: bool = False  # a part that runs only if a function of a branch is chosen


@dataclass(frozen=True, slots=True)
class CoordinateState:
    """A coordinate as declared."""

    axis: int
    name: str
    unit: str
    term: Term


class Positions(Protocol):
    """How values of a function of arrays meet, whose axes go by position; see `frontend.positions`."""

    def meet(self, operands: Sequence[Operand]) -> tuple[list[Operand], tuple[Axis | None, ...]]:
        """The operands with axes that agree at each position, and the axes of what is computed from them."""

    def reduce(self, name: str, term: Term, axis: object) -> Term:
        """The reduction over the axis of that number, over several of a tuple, over all for None."""

    def fold_axes(self, operator: str | Region, term: Term, axis: object, in_any_order: bool) -> Term:
        """The fold by a reduction's name or a function, in order of elements unless any order will do."""

    def own_axis(self, term: Term, axis: object, what: str) -> tuple[Term, int]:
        """The value, and among its axes in the program's order the number of the one axis that is named."""

    def with_own_axes(self, term: Term) -> Term:
        """The array along its axes by position alone, of which those that None made are axes of one element."""

    def apart(self, term: Term, other: Term) -> Term:
        """`other` along axes that the value does not have."""

    def along(self, term: Term, order: Sequence[Axis | None]) -> Term:
        """The value along these axes by position, which are of its lengths."""

    def without_ones(self, term: Term) -> Term:
        """The value without axes of one element, unless it has no others."""

    def wider(self, held: Term, made: Operand) -> tuple[Space, tuple[Axis | None, ...]]:
        """The axes of what is now `held` and now `made`, those of `held` where it has them."""

    def generate(self, shape: Sequence[object], f: Callable[..., object]) -> Term:
        """The array of what the function gives for the indices along axes of these lengths."""

    def wrap(self, term: Term) -> object:
        """The value that the user holds."""


class Trace:
    """One pass over a cell's body. Mutable; dropped when the graph is made.

    All values of all kernels live in one pool that shares equal nodes, so a name of the top level can be used in any
    kernel; `lowering` copies what each kernel needs.
    """

    def __init__(self, name: str, dim: int, fixed: bool, float_type: StorageType, source: CellText) -> None:
        self.name = name
        self.dim = dim
        self.vector_dim = dim  # of vectors and tensors; that of the grid, where there is one
        self.fixed = fixed  # the dimension is certain, not a guess that a read may correct
        self.float_type = float_type
        self.source = source
        self.tree: ast.Module | None = None  # for messages that name a construct
        self.space = grid_space(dim)
        self.grid = self.space  # the axes of the grid; none in a cell of pairs, arrays or particles alone
        self.pool = KernelBuilder(self.space, ())
        self.axis_names: list[str] = []  # of a cell with other axes than a grid's, in order of appearance, for sizes
        self.populations: dict[str, str] = {}  # of particles; the axis along which each is seen as sources
        self.statics: dict[str, Static] = {}
        self.kinds: dict[str, str] = {}  # of statics, for messages: "an array"
        self.default_boundary: object = None
        self.periodic_axes: set[int] = set()
        self.kernels: list[KernelState] = [KernelState("step", Span(source.first_line))]
        self.kernel = self.kernels[0]
        self.loops: list[tuple[While, KernelState, KernelState]] = []  # with `begin` and `turn`
        self.loop_number = 0  # of the last while_loop or branch that was begun
        self.turning: KernelState | None = None  # the iteration, while the body of a while_loop is being traced
        self.asking = False  # the condition of a while_loop is being traced
        self.whole_power: Callable[[Operand, Operand], Operand] | None = None  # of functions of arrays: of two integers
        self.operator_of = ""  # the text of the fold, scan or scatter whose function is being traced
        self.coordinates: list[CoordinateState] = []
        self.totals: dict[str, object] = {}  # of pairs, each by the name of its first component
        self.positions: Positions | None = None  # of a function of arrays: how axes meet
        # What a loop's body is given for values it carries, by name; the answer is its node along other axes.
        self.stand_ins: dict[str, Callable[[Mapping[Axis, Axis]], int]] = {}
        self.computed_in: list[tuple[str | Term, str, Span]] = []  # a static or a value, its type, and where
        self.promotions: dict[str, None] = {}
        self.warnings: dict[str, None] = {}
        self.cell_lists: dict[tuple[object, ...], object] = {}
        self.held_array: Callable[[object], Term] | None = (
            None  # in a function of arrays, what makes a value of one of NumPy
        )
        self.copies: dict[int, list[int]] = {}  # of values that are computed along other axes too, by their nodes
        self._turns = 0
        self._operations = 0

    def emit(self, build: Callable[[KernelBuilder], int], order: tuple[Axis | None, ...] | None = None) -> Term:
        """Add the nodes that `build` makes and mark them with the place in the cell; order: that of the term."""
        before = len(self.pool)
        self._operations += 1
        if before > MOST_NODES or self._operations > MOST_OPERATIONS:  # equal values are shared: count both
            limit = MOST_NODES if before > MOST_NODES else MOST_OPERATIONS
            raise TraceError(
                f"the cell made more than {limit:,} operations", advice="End the loop or recursion sooner."
            )
        index = build(self.pool)
        span = self.source.span_here()
        if span is not None:
            for made in range(before, len(self.pool)) if index >= before else (index,):
                self.pool.annotate(made, span=span)
        return Term(self, index, order)

    def begin_called(self, space: Space) -> None:
        """Let the cell be one without steps, whose axes are no grid's; no Local stands above."""
        self.kernel.name = "main"
        self.grid = GLOBAL
        self.widen(space)

    def widen(self, space: Space) -> None:
        """Let the cell have these axes, those that it has among them. A size names its axis by `axis_names`.

        Axis numbers are those of the grid where there is one, so its axes come first.
        """
        if self.grid.is_global:
            self.dim, self.fixed = space.rank, True
        self.space = space
        self.pool.space = space
        self.axis_names += [axis.name for axis in space.axes if axis.name not in self.axis_names]

    @property
    def is_called(self) -> bool:
        """Whether the cell runs once at each call."""
        return self.kernels[0].name == "main"

    @property
    def names_axes(self) -> bool:
        """Whether axes go by their names: those of arrays and particles."""
        return bool(self.axis_names)

    def here(self) -> Span:
        """Where the cell is, Span(0) outside it."""
        return self.source.span_here() or NOWHERE

    def place(self) -> SourceRange | None:
        """The place in the cell being executed."""
        return self.source.here()

    def text_here(self, otherwise: str = "this value") -> str:
        """The source text being executed, for messages."""
        speaker = self.source.speaker()
        return speaker.segment(speaker.here()) or otherwise

    def note_promotion(self, text: str) -> None:
        """Remember a change of width that the card shows, with its line."""
        self.promotions[f"line {self.here().line}: {text}"] = None

    def note_warning(self, text: str) -> None:
        """Remember what the card warns about."""
        self.warnings[text] = None

    def declare(self, static: Static, kind: str = "") -> None:
        """Add a static; its name must be new. `kind`: what the cell calls it, where that is not its role."""
        kind = kind or f"a {_role(static)}"
        other = self.statics.get(static.name) or self._group(static.name) or self._group(static.group, static)
        if other is not None:
            raise TraceError(
                f"{_taken(static, other)} is declared twice: as {self.kinds[other.name]} in line {other.span.line}, "
                f"now as {kind}",
                advice="Give it another name.",
            )
        self.statics[static.name] = static
        self.kinds[static.name] = kind
        self.pool.declare(static)

    def _group(self, name: str, member: Static | None = None) -> Static | None:
        """What else is called like a vector or tensor: a component of an earlier one, or a variable."""
        if not name:
            return None
        taken = [
            s for s in self.statics.values() if s.group == name and (member is None or s.component == member.component)
        ]
        return next(iter(taken), self.statics.get(name))

    def store(self, name: str, term: Term) -> None:
        """Record `name.next = term` in the kernel being traced."""
        earlier, here = self.kernel.stores.get(name), self.here()
        if earlier is not None:
            looped = " A cell is one time step: sim.run(n) makes n of them." * (earlier[1].line == here.line)
            raise TraceError(
                f"{name}.next is assigned twice in kernel {self.kernel.name}, first in line {earlier[1].line}",
                advice=f"Assign {name}.next once, after its value is complete.{looped}",
            )
        self.kernel.stores[name] = (term, here)

    def stored(self, name: str) -> Term:
        """The value that `name.next` was given."""
        found = self.kernel.stores.get(name)
        if found is None:
            raise TraceError(
                f"{name}.next is read in kernel {self.kernel.name} before it is assigned",
                advice=f"Assign {name}.next = ... first, or read {name} for the value at the kernel's start.",
            )
        return found[0]

    def need_axis(self, axis: object, what: str) -> int:
        """`axis` as a legal axis number; while the dimension is a guess, a larger one raises the guess.

        In a cell of arrays alone a number counts the axes in the order of declaration, which need not be the program's.
        """
        if self.names_axes and not (isinstance(axis, int) and axis < self.dim):
            for number, own in enumerate(self.space.axes):
                if isinstance(axis, str) and axis in (own.name, _extent_name(own)):
                    return number
            shown = repr(axis) if isinstance(axis, str | int) else "that is a value"
            advice = f"Use one of {self.space.axis_names}, or declare an array."
            raise TraceError(f"{what}: there is no axis {shown}", advice=advice)
        if self.names_axes and type(axis) is int and axis >= 0 and all(own.kind == "array" for own in self.space.axes):
            return [own.name for own in self.space.axes].index(self.axis_names[axis])
        if isinstance(axis, bool) or not isinstance(axis, int):
            raise TraceError(f"{what}: an axis is a whole number, not {axis!r}", advice="Pass 0, 1, ... below dim.")
        if axis >= self.dim and not self.fixed and axis < 3:
            raise DimensionFoundError(axis + 1, fixed=False)
        if not 0 <= axis < self.dim:
            raise TraceError(
                f"{what}: there is no axis {axis} in {show_dim(self.dim)}",
                advice=f"Use an axis below {self.dim}, or define the cell with --dim {axis + 1}."
                if axis > 0
                else f"Use an axis from 0 to {self.dim - 1}.",
            )
        return axis

    def need_offsets(self, count: int, text: str) -> None:
        """Check the number of offsets of a relative read; the first read fixes a dimension that is still a guess."""
        if count == self.dim:
            self.fixed = True
        elif not self.fixed and count > self.dim:
            raise DimensionFoundError(count, fixed=True)
        else:
            example = ", ".join(["+1"] + ["0"] * (self.dim - 1))
            raise TraceError(
                f"{text} has {count} offset{'s' * (count != 1)}, but the machine has {show_dim(self.dim)}",
                advice=f"Write one offset per axis, such as u[{example}], or .at(+1, axis) to name the axis.",
            )

    def tick(self) -> None:
        """Count a turn of a loop."""
        self._turns += 1
        if self._turns > MOST_TURNS:
            raise TraceError(
                f"a loop made more than {MOST_TURNS:,} iterations while the cell was traced",
                advice="End the loop; time steps are made by sim.run(n), loops over cells are implied.",
            )

    def iterate(self, iterable: Iterable[object]) -> Iterator[object]:
        """Count the turns of a comprehension."""
        for item in iter(iterable):
            self.tick()
            yield item


def show_dim(dim: int) -> str:
    """A dimension for a message."""
    return f"{dim} dimension{'s' * (dim != 1)}"


_current: ContextVar[Trace | None] = ContextVar("stencil_trace", default=None)


def enter_trace(trace: Trace) -> Callable[[], None]:
    """Make `trace` the current one; the result ends that."""
    token = _current.set(trace)
    return lambda: _current.reset(token)


def current_trace(what: str) -> Trace:
    """The trace in progress. Raises TraceError outside one."""
    trace = _current.get()
    if trace is None:
        raise TraceError(
            f"{what} has a meaning only while a stencil is traced",
            advice="Call it in a %%stencil cell, in the text of trace() or in a function under @stencil.",
        )
    return trace


def is_tracing() -> bool:
    """Whether a trace is in progress."""
    return _current.get() is not None


def text_here(otherwise: str) -> str:
    """The source text being executed, for messages; `otherwise` where it is unknown or nothing is traced."""
    return current_trace(otherwise).text_here(otherwise) if is_tracing() else otherwise


def _role(static: Static) -> str:
    return f"component of {static.group}" if static.group else static.role


def _taken(static: Static, other: Static) -> str:
    return static.name if static.name in (other.name, other.group) else static.group


def _extent_name(axis: Axis) -> str:
    """The name of an axis's extent: the sides of pairs, whose axes are i and j, are called targets and sources."""
    return axis.extent.name if isinstance(axis.extent, NamedExtent) else axis.name
