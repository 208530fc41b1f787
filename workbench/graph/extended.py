"""Double-double: each operator on pairs of f64 as one sequence of scalar operations, written once (semantics §2).

A number of type dd is hi + lo, where hi is the f64 nearest to the sum: 106 bits or more. An operator on dd is a
`Sequence`: f64 operations of the operator table, each rounded once, with fma where its result is the exact error of a
product. `apply` runs a sequence in NumPy; `codegen/runtime/extended.py` spells the same nodes as C++ and CUDA.

Bounds are in units of u^2 = 2^-106, relative to the exact result, where that is between 2^-960 and 2^1020; below, the
error is at most 2^-1072 or 2^-104 of the result. Where a quotient or a root has small operands, these are scaled by
powers of two, which is exact.

- sum, difference: 3 (Joldes, Muller, Popescu 2017, "Tight and rigorous error bounds for basic building blocks of
  double-word arithmetic", algorithm 6)
- product: 4 (the same, algorithm 12; the bound is of Muller and Rideau 2022, "Formalization of double-word arithmetic",
  theorem 2.8). With cross terms that are rounded one by one, algorithm 10, as many operations leave up to 5.
- quotient: 3. With q1 = a.hi / b.hi the remainder a - q1 * b is a sum of two f64 but for one rounding of at most 2;
  q2 and q3 take what is left of it but for terms in u^3; the last rounding adds at most 1/2.
- root: 25/8 (Lefevre, Louvet, Muller, Picot, Rideau 2023, "Accurate calculation of Euclidean norms using double-word
  arithmetic", algorithm SQRTDWtoDW)

If the hi found is not finite, the result is that of the same f64 operation on the hi parts, with lo = 0.0. A result
that is zero is +0.0, but for negation, minimum, maximum and the root of -0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Values
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from workbench.errors import GraphError
from workbench.graph.instructions import Arith, Imm, Load, Node, Parameter
from workbench.graph.operators import OPERATORS, Array
from workbench.graph.scalars import apply_row, number
from workbench.graph.spaces import GLOBAL
from workbench.graph.types import BOOL, F64, I64, U64, StorageType

_SMALL, _UP = 2.0**-900, 2.0**110  # scaled, the least number is above 2^-968, where remainders are exact
_ROOT_UP, _ROOT_DOWN = 2.0**128, 2.0**-64


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
class _Draft:
    """The nodes of a sequence so far; equal ones are one node."""

    nodes: list[Node] = field(default_factory=list)

    def add(self, instruction: Arith | Imm | Load, operands: tuple[int, ...], type_: StorageType) -> Scalar:
        node = Node(instruction, operands, type_, GLOBAL)
        if node not in self.nodes:
            self.nodes.append(node)
        return Scalar(self, self.nodes.index(node))


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A value of a sequence that is being written. A Python number beside it has its type."""

    draft: _Draft
    index: int

    @property
    def type(self) -> StorageType:
        """The storage type."""
        return self.draft.nodes[self.index].value_type

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


def _fma(a: Scalar, b: Scalar, c: Scalar) -> Scalar:
    return a.operation("fma", b, c)


def _two_sum(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _quick_two_sum(a: Scalar, b: Scalar) -> Pair:
    """Exact if |a| >= |b| or a = 0."""
    s = a + b
    return Pair(s, b - (s - a))


def _two_product(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    p = a * b
    return p, _fma(a, b, -p)


def _finite_or(found: Pair, plain: Scalar) -> Pair:
    """What was found, or the f64 result where its hi is not finite."""
    finite = found.hi.operation("isfinite")
    return Pair(finite.choose(found.hi, plain), finite.choose(found.lo, 0.0))


def _choose(condition: Scalar, a: Pair, b: Pair) -> Pair:
    return Pair(condition.choose(a.hi, b.hi), condition.choose(a.lo, b.lo))


# ---- operators ------------------------------------------------------------------------------------------------------


def _add(a: Pair, b: Pair) -> Pair:
    plain, e = _two_sum(a.hi, b.hi)
    t, f = _two_sum(a.lo, b.lo)
    first = _quick_two_sum(plain, e + t)
    return _finite_or(_quick_two_sum(first.hi, first.lo + f), plain)


def _negative(a: Pair) -> Pair:
    return Pair(-a.hi, -a.lo)


def _subtract(a: Pair, b: Pair) -> Pair:
    return _add(a, _negative(b))


def _multiply(a: Pair, b: Pair) -> Pair:
    p, e = _two_product(a.hi, b.hi)
    cross = _fma(a.lo, b.hi, _fma(a.hi, b.lo, a.lo * b.lo))
    return _finite_or(_quick_two_sum(p, e + cross), p)


def _multiply_add(a: Pair, b: Pair, c: Pair) -> Pair:
    """The product and the sum of dd, one after the other: nothing of 106 bits rounds a * b + c once."""
    return _add(_multiply(a, b), c)


def _divide(a: Pair, b: Pair) -> Pair:
    small = (a.hi.operation("absolute") < _SMALL) | (b.hi.operation("absolute") < _SMALL)
    scale = small.choose(a.hi.number(_UP), 1.0)
    plain = a.hi / b.hi
    a, b = (Pair(x.hi * scale, x.lo * scale) for x in (a, b))
    reciprocal = b.hi.number(1.0) / b.hi
    first = a.hi / b.hi
    r, s = _two_sum(_fma(-first, b.hi, a.hi), _fma(-first, b.lo, a.lo))
    second = r * reciprocal
    third = (_fma(-second, b.hi, r) + _fma(-second, b.lo, s)) * reciprocal
    q = _quick_two_sum(first, second)
    return _finite_or(_quick_two_sum(q.hi, q.lo + third), plain)


def _sqrt(a: Pair) -> Pair:
    plain = a.hi.operation("sqrt")
    small = a.hi < _SMALL
    up, down = small.choose(a.hi.number(_ROOT_UP), 1.0), small.choose(a.hi.number(_ROOT_DOWN), 1.0)
    a = Pair(a.hi * up, a.lo * up)
    root = a.hi.operation("sqrt")
    refined = _quick_two_sum(root, (_fma(-root, root, a.hi) + a.lo) / (root + root))
    return _finite_or(Pair(refined.hi * down, refined.lo * down), plain)


def _absolute(a: Pair) -> Pair:
    return Pair(a.hi.operation("absolute"), (a.hi < 0.0).choose(-a.lo, a.lo))


def _sign(a: Pair) -> Pair:
    return Pair(a.hi.operation("sign"), a.hi.number(0.0))


def _less(a: Pair, b: Pair) -> Scalar:
    return (a.hi < b.hi) | (a.hi.equals(b.hi) & (a.lo < b.lo))


def _less_equal(a: Pair, b: Pair) -> Scalar:
    return (a.hi < b.hi) | (a.hi.equals(b.hi) & a.lo.operation("less_equal", b.lo))


def _equal(a: Pair, b: Pair) -> Scalar:
    return a.hi.equals(b.hi) & a.lo.equals(b.lo)


def _not_equal(a: Pair, b: Pair) -> Scalar:
    return a.hi.differs(b.hi) | a.lo.differs(b.lo)


def _isnan(a: Pair) -> Scalar:
    return a.hi.operation("isnan")


def _isfinite(a: Pair) -> Scalar:
    return a.hi.operation("isfinite")


def _minimum(a: Pair, b: Pair) -> Pair:
    return _choose(_less(a, b) | _isnan(a), a, b)


def _maximum(a: Pair, b: Pair) -> Pair:
    return _choose(_less(b, a) | _isnan(a), a, b)


_OPERATORS: Mapping[str, Callable[..., Pair | Scalar]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "negative": _negative,
    "absolute": _absolute,
    "sign": _sign,
    "sqrt": _sqrt,
    "fma": _multiply_add,
    "minimum": _minimum,
    "maximum": _maximum,
    "less": _less,
    "less_equal": _less_equal,
    "greater": lambda a, b: _less(b, a),
    "greater_equal": lambda a, b: _less_equal(b, a),
    "equal": _equal,
    "not_equal": _not_equal,
    "isnan": _isnan,
    "isfinite": _isfinite,
}


@cache
def sequences() -> Mapping[str, Sequence]:
    """The sequence of each operator that dd has, by the operator's name; casts have `from_scalar` and `to_scalar`."""
    made = {}
    for name, function in _OPERATORS.items():
        draft = _Draft()
        operands = [_operand(draft, letter) for letter in "abc"[: OPERATORS[name].arity]]
        made[name] = _finished(name, draft, function(*operands))
    draft = _Draft()
    condition = draft.add(Load("condition"), (), BOOL)
    chosen = _choose(condition, _operand(draft, "a"), _operand(draft, "b"))
    return {**made, "select": _finished("select", draft, chosen)}


def _operand(draft: _Draft, letter: str) -> Pair:
    hi, lo = (draft.add(Load(f"{letter}_{part}"), (), F64) for part in ("hi", "lo"))
    return Pair(hi, lo)


def _finished(name: str, draft: _Draft, result: Pair | Scalar) -> Sequence:
    results = (result.hi.index, result.lo.index) if isinstance(result, Pair) else (result.index,)
    loads = [node for node in draft.nodes if isinstance(node.instruction, Load)]
    parameters = tuple(Parameter(n.instruction.name, n.value_type) for n in loads if isinstance(n.instruction, Load))
    return Sequence(name, parameters, tuple(draft.nodes), results)


# ---- casts ----------------------------------------------------------------------------------------------------------


@cache
def from_scalar(source: StorageType) -> Sequence:
    """The cast of a scalar type to dd, exact for each of them."""
    draft = _Draft()
    x = draft.add(Load("x"), (), source)
    if source not in (I64, U64):
        wide = x.cast(F64)
        return _finished("cast", draft, Pair(wide, wide.number(0.0)))
    upper = x.operation("shift_right", 32).cast(F64) * 2.0**32
    lower = (x & 0xFFFFFFFF).cast(F64)
    return _finished("cast", draft, _quick_two_sum(upper, lower))


@cache
def to_scalar(target: StorageType) -> Sequence:
    """The cast of dd to a scalar type: floats from hi; integers truncate and saturate, NaN gives 0; bool is != 0."""
    draft = _Draft()
    a = _operand(draft, "a")
    if target.is_float:
        return _finished("cast", draft, a.hi.cast(target))
    if target == BOOL:
        return _finished("cast", draft, a.hi.differs(0.0))
    hi, rest = _truncated(a)
    if target not in (I64, U64):  # all of its numbers are f64, so that a sum that is rounded lies outside
        return _finished("cast", draft, (hi + rest).cast(target))
    return _finished("cast", draft, _whole(hi, rest, target))


def _truncated(a: Pair) -> tuple[Scalar, Scalar]:
    """Return hi without its fraction and, where it has none, lo rounded so that the sum goes towards zero."""
    hi = a.hi.operation("trunc")
    rest = (a.hi > 0.0).choose(a.lo.operation("floor"), a.lo.operation("ceil"))
    return hi, hi.equals(a.hi).choose(rest, 0.0)


def _whole(hi: Scalar, rest: Scalar, target: StorageType) -> Scalar:
    """The whole number hi + rest as one of 64 bits, saturated."""
    info = np.iinfo(target.numpy)
    end, begin = 2.0**info.bits / (2 if info.min else 1), float(info.min)
    above = (hi > end) | (hi.equals(end) & (rest >= 0.0))
    below = (hi < begin) | (hi.equals(begin) & (rest < 0.0))
    large = hi.operation("absolute") >= end / 2  # halved, because `end` itself is no number of the target
    part = large.choose(hi * 0.5, hi).cast(target)
    whole = large.choose(part + part, part) + rest.cast(I64).cast(target)
    return above.choose(whole.number(int(info.max)), below.choose(whole.number(int(info.min)), whole))
