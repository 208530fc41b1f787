"""Sequences: scalar operations in order, as which operators on double-double are written once (semantics §2).

`apply` runs a sequence in NumPy; `codegen/runtime/extended.py` spells the same nodes as C++ and CUDA. `Scalar` and
`Pair` write one: operators of Python make nodes of it.
"""

from __future__ import annotations

from collections.abc import Sequence as Values
from dataclasses import dataclass, field

import numpy as np

from workbench.errors import GraphError
from workbench.graph.instructions import Arith, Imm, Load, Node, Parameter
from workbench.graph.operators import OPERATORS, Array
from workbench.graph.scalars import apply_row, number
from workbench.graph.spaces import GLOBAL
from workbench.graph.types import BOOL, F64, StorageType


@dataclass(frozen=True, slots=True)
class Sequence:
    """Scalar operations in order: what one operator does to the components of its operands.

    parameters: the components of all operands, an operand's hi before its lo. nodes: constants, parameters and
    operators, all Globals, operands before their users. results: the nodes that are the components of the result, one
    if it is a scalar.
    """

    name: str
    parameters: tuple[Parameter, ...]
    nodes: tuple[Node, ...]
    results: tuple[int, ...]

    @property
    def operations(self) -> int:
        """How many operations it takes, constants apart."""
        return sum(isinstance(node.instruction, Arith) for node in self.nodes)


def apply(sequence: Sequence, arguments: Values[Array]) -> tuple[Array, ...]:
    """Return the components of the result for arrays of one shape, in the order of the parameters."""
    given = {p.name: a for p, a in zip(sequence.parameters, arguments, strict=True)}
    shape = np.broadcast_shapes(*(np.shape(a) for a in arguments))
    values: list[Array] = []
    for node in sequence.nodes:
        operands = [values[i] for i in node.operands]
        match node.instruction:
            case Imm(value):
                values.append(np.broadcast_to(number(value, node.value_type), shape))
            case Load(name):
                values.append(np.asarray(given[name]))
            case Arith(operator):
                values.append(apply_row(operator, operands, node.value_type))
            case other:
                raise GraphError(f"{other} inside a sequence", advice="Use constants, parameters and operators only.")
    return tuple(values[i] for i in sequence.results)


# ---- writing a sequence ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class SequenceDraft:
    """The nodes of a sequence so far; equal ones are one node."""

    nodes: dict[tuple[str, Node], int] = field(default_factory=dict)

    def add(self, instruction: Arith | Imm | Load, operands: tuple[int, ...], type_: StorageType) -> Scalar:
        """The node of this operation."""
        node = Node(instruction, operands, type_, GLOBAL)
        key = repr(instruction), node  # 0.0 and -0.0 are equal and two numbers
        return Scalar(self, self.nodes.setdefault(key, len(self.nodes)), type_)

    def operand(self, letter: str) -> Pair:
        """A parameter of type dd."""
        hi, lo = (self.add(Load(f"{letter}_{part}"), (), F64) for part in ("hi", "lo"))
        return Pair(hi, lo)

    def finished(self, name: str, result: Pair | Scalar) -> Sequence:
        """The sequence that ends with this result."""
        results = (result.hi.index, result.lo.index) if isinstance(result, Pair) else (result.index,)
        nodes = tuple(node for _, node in self.nodes)
        loads = ((node.instruction, node.value_type) for node in nodes)
        parameters = tuple(Parameter(load.name, type_) for load, type_ in loads if isinstance(load, Load))
        return Sequence(name, parameters, nodes, results)


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A value of a sequence that is being written. A Python number beside it has its type."""

    draft: SequenceDraft
    index: int
    type: StorageType

    def number(self, value: float | int) -> Scalar:
        """A constant of the same type."""
        return self.draft.add(Imm(value), (), self.type)

    def operation(self, operator: str, *others: Scalar | float, result: StorageType | None = None) -> Scalar:
        """The operator applied to this and others; `result` is its type where a cast needs it."""
        operands = (self, *(o if isinstance(o, Scalar) else self.number(o) for o in others))
        type_ = result or (BOOL if OPERATORS[operator].rule == "bool" else operands[-1].type)
        return self.draft.add(Arith(operator), tuple(o.index for o in operands), type_)

    def cast(self, type_: StorageType) -> Scalar:
        """This in another type."""
        return self if type_ == self.type else self.operation("cast", result=type_)

    def __add__(self, other: Scalar | float) -> Scalar:
        return self.operation("add", other)

    def __sub__(self, other: Scalar | float) -> Scalar:
        return self.operation("subtract", other)

    def __mul__(self, other: Scalar | float) -> Scalar:
        return self.operation("multiply", other)

    def __truediv__(self, other: Scalar | float) -> Scalar:
        return self.operation("divide", other)

    def __neg__(self) -> Scalar:
        return self.operation("negative")

    def __lt__(self, other: Scalar | float) -> Scalar:
        return self.operation("less", other)

    def __gt__(self, other: Scalar | float) -> Scalar:
        return self.operation("greater", other)

    def __ge__(self, other: Scalar | float) -> Scalar:
        return self.operation("greater_equal", other)

    def __and__(self, other: Scalar | int) -> Scalar:
        return self.operation("logical_and" if self.type == BOOL else "bitwise_and", other)

    def __or__(self, other: Scalar) -> Scalar:
        return self.operation("logical_or", other)

    def equals(self, other: Scalar | float) -> Scalar:
        """Whether both are equal; `==` compares objects."""
        return self.operation("equal", other)

    def differs(self, other: Scalar | float) -> Scalar:
        """Whether they are not equal; a NaN differs from itself."""
        return self.operation("not_equal", other)

    def choose(self, yes: Scalar, no: Scalar | float) -> Scalar:
        """One of two values, by this condition."""
        return self.operation("select", yes, no if isinstance(no, Scalar) else yes.number(no))


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A value of type dd in a sequence that is being written."""

    hi: Scalar
    lo: Scalar


def fma(a: Scalar, b: Scalar, c: Scalar) -> Scalar:
    """a * b + c, rounded once."""
    return a.operation("fma", b, c)


def two_sum(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    """The sum rounded, and what is missing: exact together."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def quick_two_sum(a: Scalar, b: Scalar) -> Pair:
    """Exact if |a| >= |b| or a = 0."""
    s = a + b
    return Pair(s, b - (s - a))


def two_product(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    """The product rounded, and what is missing: exact together."""
    p = a * b
    return p, fma(a, b, -p)


def finite_or(found: Pair, plain: Scalar) -> Pair:
    """What was found, or the f64 result where its hi is not finite."""
    finite = found.hi.operation("isfinite")
    return Pair(finite.choose(found.hi, plain), finite.choose(found.lo, 0.0))


def choose(condition: Scalar, a: Pair, b: Pair) -> Pair:
    """One of two pairs, by a condition."""
    return Pair(condition.choose(a.hi, b.hi), condition.choose(a.lo, b.lo))
