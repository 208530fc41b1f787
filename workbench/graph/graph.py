"""The graph: statics, kernels and nodes; immutable, ordered, each value produced once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from workbench.graph.display_hook import Bundle, bundle_of
from workbench.graph.identity import by_identity
from workbench.graph.instructions import Extend, Load, Node, Store
from workbench.graph.keys import node_keys, program_key, state_key
from workbench.graph.spaces import Space
from workbench.graph.statics import Coordinate, Static, While
from workbench.graph.text import graph_text

_KEPT_KERNELS = 32  # those of a few programs, each as traced, simplified and retyped


class Printer(Protocol):
    """What IPython's pretty printer offers to `_repr_pretty_`."""

    def text(self, text: str) -> None:
        """Write text."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A named sequence of nodes in topological order; `stores` of one static at most once. `space` is the graph's."""

    name: str
    nodes: tuple[Node, ...]
    space: Space

    def __hash__(self) -> int:
        return _hash(self)  # found once: graphs and plans are looked up by thousands of nodes

    def keys(self) -> tuple[str, ...]:
        """Structural hash of each node, 16 hex digits (`workbench.graph.keys`); not of names, spans or hints."""
        return _keys(self)

    def consumers(self) -> tuple[tuple[int, ...], ...]:
        """For each node the nodes that take it as an operand, ascending, each once."""
        return _consumers(self)

    def extends(self) -> Mapping[int, int]:
        """The operand of each Extend, in order; not to be changed."""
        return _extends(self)

    def stores(self) -> tuple[tuple[str, int], ...]:
        """(static, node whose value it takes), in order."""
        return _stores(self)

    def loads(self) -> tuple[tuple[str, int], ...]:
        """(static, node of its Load), in order; those along other axes first: a dict has a static's own Load if any."""
        found = [(n.instruction, i) for i, n in enumerate(self.nodes) if isinstance(n.instruction, Load)]
        return tuple((load.name, i) for load, i in sorted(found, key=lambda pair: not pair[0].along))

    def find(self, name: str) -> int | None:
        """The last node that carries the user's name, or None."""
        return next((i for i in range(len(self.nodes) - 1, -1, -1) if name in self.nodes[i].names), None)


@by_identity(size=_KEPT_KERNELS)
def _hash(kernel: Kernel) -> int:
    return hash((kernel.name, kernel.nodes, kernel.space))


@by_identity(size=_KEPT_KERNELS)
def _keys(kernel: Kernel) -> tuple[str, ...]:
    return node_keys(kernel.nodes, kernel.space)


@by_identity(size=_KEPT_KERNELS)
def _consumers(kernel: Kernel) -> tuple[tuple[int, ...], ...]:
    uses: list[list[int]] = [[] for _ in kernel.nodes]
    for index, node in enumerate(kernel.nodes):
        for operand in dict.fromkeys(node.operands):
            uses[operand].append(index)
    return tuple(tuple(u) for u in uses)


@by_identity(size=_KEPT_KERNELS)
def _extends(kernel: Kernel) -> Mapping[int, int]:
    return {i: n.operands[0] for i, n in enumerate(kernel.nodes) if isinstance(n.instruction, Extend)}


@by_identity(size=_KEPT_KERNELS)
def _stores(kernel: Kernel) -> tuple[tuple[str, int], ...]:
    return tuple((n.instruction.name, n.operands[0]) for n in kernel.nodes if isinstance(n.instruction, Store))


@dataclass(frozen=True, slots=True)
class Graph:
    """A program for the Orthotope Machine: its space, statics and kernels (Paraiso §2; semantics §2).

    `space` has all axes of the program; a value may have some of them only.

    `loops` are in the order in which they run, those before one kernel one after the other.

    `origin`: the file whose lines the spans count, where that is not the user's cell. `part`: which program of a
    sequence it is, and what becomes known after it. Neither is a part of the text.
    """

    name: str
    space: Space
    statics: tuple[Static, ...]
    kernels: tuple[Kernel, ...]
    coordinates: tuple[Coordinate, ...] = ()
    origin: str = field(default="", compare=False)
    loops: tuple[While, ...] = ()
    part: str = field(default="", compare=False)

    @property
    def dim(self) -> int:
        """Number of axes."""
        return self.space.rank

    @property
    def spaces(self) -> tuple[Space, ...]:
        """The spaces of all Locals: the graph's own first, then those of some of its axes in order of appearance."""
        found = dict.fromkeys((self.space, *(s.space for s in self.statics)))
        found.update(dict.fromkeys(n.space for k in self.kernels for n in k.nodes if n.space is not None))
        return tuple(space for space in found if not space.is_global)

    def static(self, name: str) -> Static:
        """The static called `name`; KeyError if there is none."""
        for static in self.statics:
            if static.name == name:
                return static
        raise KeyError(name)

    def kernel(self, name: str) -> Kernel:
        """The kernel called `name`; KeyError if there is none."""
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        raise KeyError(name)

    @property
    def declared(self) -> tuple[Static, ...]:
        """The statics that the user declared: all but inner ones."""
        return tuple(s for s in self.statics if not s.inner)

    @property
    def arrays(self) -> tuple[Static, ...]:
        """Local statics in order of declaration, inner ones too."""
        return tuple(s for s in self.statics if s.role == "field")

    @property
    def fields(self) -> tuple[Static, ...]:
        """Local statics in order of declaration."""
        return tuple(s for s in self.statics if s.role == "field" and not s.inner)

    @property
    def scalars(self) -> tuple[Static, ...]:
        """Global state in order of declaration."""
        return tuple(s for s in self.statics if s.role == "scalar" and not s.inner)

    @property
    def params(self) -> tuple[Static, ...]:
        """Run-time inputs in order of declaration."""
        return tuple(s for s in self.statics if s.role == "param")

    def loops_before(self, kernel: str) -> tuple[While, ...]:
        """The loops that run before each run of a kernel, in order."""
        return tuple(loop for loop in self.loops if loop.before == kernel)

    def __str__(self) -> str:
        """The stable text form; `workbench.graph.parse` reads it back."""
        kernels = tuple((kernel.name, kernel.nodes) for kernel in self.kernels)
        return graph_text(self.name, self.space, self.statics, kernels, self.loops, self.coordinates)

    def __repr__(self) -> str:
        nodes = sum(len(kernel.nodes) for kernel in self.kernels)
        return f"<graph {self.name}: {self.dim}-D, {len(self.statics)} statics, {nodes} nodes, {self.fingerprint()}>"

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        """Show the text form when a cell ends with a graph."""
        printer.text(str(self))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        """A drawing with the text form beside it, once a machine is there to draw it."""
        return bundle_of(self)

    def fingerprint(self) -> str:
        """The program key: hash of space, statics and the keys of every kernel (semantics §3); 16 hex digits."""
        kernels = tuple((kernel.name, kernel.keys()) for kernel in self.kernels)
        return program_key(self.space, self.statics, kernels, self.loops)

    def state_fingerprint(self) -> str:
        """Hash of the statics alone, whose values a checkpoint holds (semantics §5); 16 hex digits."""
        return state_key(self.declared)
