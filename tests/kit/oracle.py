"""A second definition of the meaning: one cell at a time, by recursion, in plain Python numbers; slow and simple.

Written from the text of the semantics, without the interpreter and without the NumPy meanings of the operator table,
so that no mistake is shared; only the bits of functions that are sequences of operations are taken from there, each
time after a comparison with the exact value. Use it on tiny grids.
"""

import math
from functools import cache, partial
from itertools import product

import numpy as np

from tests.kit.oracle_elementary import elementary
from tests.kit.oracle_orders import fold_some, place_in_joined, ranked, reduce_all, scanned
from tests.kit.oracle_rounding import fit, fused, integer_to_f32
from tests.kit.random_loops import turned
from workbench.graph import (
    Arith,
    Broadcast,
    Extend,
    Fixed,
    Fold,
    Gather,
    Imm,
    Join,
    Load,
    LoadIndex,
    LoadSize,
    Loop,
    Mirror,
    Outflow,
    Periodic,
    Prescribed,
    Rank,
    Reduce,
    Reflect,
    Region,
    Replicate,
    Scan,
    Scatter,
    SegmentedReduce,
    Shift,
    Undefined,
    Wall,
)
from workbench.graph.elementary import SEQUENCES
from workbench.graph.instructions import array_places
from workbench.graph.side_rules import ValueRule
from workbench.graph.types import BOOL, F32, I64

# -- arithmetic: bool, int and float of Python; a value is always one that its type holds -----------------------------


def divide(a, b):
    if b != 0:
        return a / b if not (math.isinf(a) and math.isinf(b)) else math.nan
    if a == 0 or a != a or b != b:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def whole(function):
    """An integer-valued function of a float that keeps infinities, NaN and the sign of zero."""
    return lambda a: math.copysign(float(function(a)), a) if math.isfinite(a) else a


def float_floor_divide(a, b, type_):
    with np.errstate(all="ignore"):
        return np.floor_divide(type_.numpy.type(a), type_.numpy.type(b)).item()


def float_remainder(a, b, type_):
    with np.errstate(all="ignore"):
        return np.remainder(type_.numpy.type(a), type_.numpy.type(b)).item()


def convert(a, type_):
    if type_ == BOOL:
        return a != 0
    if type_.kind == "float":
        return integer_to_f32(int(a)) if type_ == F32 and not isinstance(a, float) else fit(float(a), type_)
    if not isinstance(a, float):
        return fit(int(a), type_)
    low = -(1 << (type_.bits - 1)) if type_.kind == "int" else 0
    high = (1 << (type_.bits - 1)) - 1 if type_.kind == "int" else (1 << type_.bits) - 1
    if a != a:
        return 0
    if math.isinf(a):
        return high if a > 0 else low
    return min(max(math.trunc(a), low), high)


def shift_right(a, b, type_):
    if 0 <= b < type_.bits:
        return a >> b
    return -1 if a < 0 else 0


def by_kind(floats, integers):
    return lambda a, b, t: floats(a, b, t) if t.kind == "float" else integers(a, b)


UNARY = {
    "negative": lambda a: -a,
    "absolute": abs,
    "sign": lambda a: type(a)((a > 0) - (a < 0)),
    "logical_not": lambda a: not a,
    "bitwise_not": lambda a: ~a,
    "sqrt": lambda a: math.nan if a < 0 else math.sqrt(a),
    "floor": whole(math.floor),
    "ceil": whole(math.ceil),
    "trunc": whole(math.trunc),
    "round": whole(round),
    "isnan": lambda a: a != a,
    "isfinite": math.isfinite,
}
OF_SEVERAL = {
    "fma": fused,
    "add": lambda a, b, t: a + b,
    "subtract": lambda a, b, t: a - b,
    "multiply": lambda a, b, t: a * b,
    "divide": lambda a, b, t: divide(a, b),
    "floor_divide": by_kind(float_floor_divide, lambda a, b: a // b if b else 0),
    "remainder": by_kind(float_remainder, lambda a, b: a % b if b else 0),
    "minimum": lambda a, b, t: a if a < b or a != a else b,
    "maximum": lambda a, b, t: a if a > b or a != a else b,
    "less": lambda a, b, t: a < b,
    "less_equal": lambda a, b, t: a <= b,
    "greater": lambda a, b, t: a > b,
    "greater_equal": lambda a, b, t: a >= b,
    "equal": lambda a, b, t: a == b,
    "not_equal": lambda a, b, t: a != b,
    "logical_and": lambda a, b, t: a and b,
    "logical_or": lambda a, b, t: a or b,
    "logical_xor": lambda a, b, t: a != b,
    "bitwise_and": lambda a, b, t: a & b,
    "bitwise_or": lambda a, b, t: a | b,
    "bitwise_xor": lambda a, b, t: a ^ b,
    "shift_left": lambda a, b, t: a << b if 0 <= b < t.bits else 0,
    "shift_right": shift_right,
    "copysign": lambda a, b, t: math.copysign(a, 1.0 if b != b else b),
}


def operate(operator, values, types, result):
    """One operator of the table on plain numbers."""
    if operator in SEQUENCES:
        return elementary(operator, values[0].hex(), result)
    if operator == "cast":
        return convert(values[0], result)
    if operator == "select":
        return values[1] if values[0] else values[2]
    if operator in UNARY:
        return fit(UNARY[operator](values[0]), result)
    return fit(OF_SEVERAL[operator](*values, types[0]), result)


# -- canonical reductions ----------------------------------------------------------------------------------------------

IDENTITY = {
    "sum": lambda t: -0.0 if t.is_float else 0,
    "product": lambda t: 1.0 if t.is_float else 1,
    "min": lambda t: math.inf if t.is_float else convert(math.inf, t),
    "max": lambda t: -math.inf if t.is_float else convert(-math.inf, t),
    "any": lambda t: False,
    "all": lambda t: True,
}
COMBINED_BY = {
    "sum": "add",
    "product": "multiply",
    "min": "minimum",
    "max": "maximum",
    "any": "logical_or",
    "all": "logical_and",
}


def region_value(region, a, b):
    values = []
    for node in region.nodes:
        match node.instruction:
            case Imm(value):
                values.append(value)
            case Load(name):
                values.append(a if name == region.parameters[0].name else b)
            case Arith(operator):
                types = [region.nodes[i].type for i in node.operands]
                values.append(operate(operator, [values[i] for i in node.operands], types, node.type))
    return values[-1]


# -- one step ----------------------------------------------------------------------------------------------------------


class Oracle:
    """One kernel on one state, a dict of NumPy arrays by name."""

    def __init__(self, kernel, extents, state):
        self.nodes, self.extents, self.state = kernel.nodes, extents, state
        self.names = [axis.name for axis in kernel.space.axes]
        self.at = cache(self.compute)  # (node, index) -> number; index () for a Global

    def extents_of(self, node):
        return tuple(self.extents[self.names.index(axis.name)] for axis in node.space.axes)

    def compute(self, number, index):
        node = self.nodes[number]
        match node.instruction:
            case Imm() | Load() | LoadIndex() | LoadSize():
                return self.leaf(node, index)
            case Broadcast():
                return self.at(node.operands[0], ())
            case Replicate(space):
                there = dict(zip((axis.name for axis in space.axes), index, strict=True))
                kept = tuple(there[axis.name] for axis in self.nodes[node.operands[0]].space.axes)
                return self.at(node.operands[0], kept)
            case Gather():
                return self.gathered(node, index)
            case Shift(offset):
                return self.at(node.operands[0], tuple(i - o for i, o in zip(index, offset, strict=True)))
            case Arith(operator):
                types = [self.nodes[o].type for o in node.operands]
                return operate(operator, [self.at(o, index) for o in node.operands], types, node.type)
            case Loop():
                return self.looped(node, index)
            case Reduce() | Fold():
                return self.folded(node, index)
            case Scan() | SegmentedReduce() | Rank() | Join() | Scatter():
                return self.of_many(node, index)
            case Extend(sides):
                return self.extended(node, sides, index)
        raise AssertionError(node)

    def looped(self, node, index):
        arrays = array_places(node.instruction)
        most, *given = (partial(self.at, o) if k in arrays else self.at(o, index) for k, o in enumerate(node.operands))
        count = len(node.instruction.body.results) - 1

        def value_of(inside, types, values):
            return operate(inside.instruction.operator, values, types, inside.type)

        return turned(node.instruction.body, most, given[:count], given[count:], value_of)[node.instruction.result]

    def leaf(self, node, index):
        match node.instruction:
            case Load(name):
                assert all(0 <= i < n for i, n in zip(index, self.extents_of(node), strict=True)), f"{name} at {index}"
                return self.state[name][index].item()
            case Imm(value):
                return value
            case LoadIndex(axis):
                return index[axis]
            case LoadSize(axis):
                return self.extents[axis]

    def of_many(self, node, index):
        match node.instruction:
            case Join(axis):
                return self.at(*place_in_joined(node, index, axis, self.nodes, self.extents_of))
            case Scatter(operator, masked):
                return self.sent(node, operator, masked, index)
        if isinstance(node.instruction, Rank):
            return ranked(lambda i: self.at(node.operands[0], (i,)), self.extents_of(node)[0], node.instruction, *index)
        combine, start = self.operator(node.instruction.operator, node)
        if isinstance(node.instruction, SegmentedReduce):
            values, *places = node.operands
            begin, length = (self.at(place, index) for place in places)
            own = tuple(index) if len(self.extents_of(self.nodes[values])) > 1 else ()
            cells = [self.at(values, (*own, i)) for i in range(begin, begin + length)]
            return fold_some(combine, start, lambda i: cells[i[0]], (length,), (0,))(()) if cells else start
        scan = node.instruction
        n = self.extents_of(node)[scan.axis]
        line = [self.at(node.operands[0], (*index[: scan.axis], i, *index[scan.axis + 1 :])) for i in range(n)]
        return scanned(combine, start, line, index[scan.axis], scan)

    def sent(self, node, operator, masked, index):
        """One sender after the other, in C order."""
        defaults, values, *places = node.operands
        mask = places.pop() if masked else None
        combine, _ = self.operator(operator, node)
        found = self.at(defaults, index)
        for sender in product(*map(range, self.extents_of(self.nodes[values]))):
            if mask is not None and not self.at(mask, sender):
                continue
            there = tuple(self.at(place, sender) for place in places)
            assert all(0 <= i < n for i, n in zip(there, self.extents_of(node), strict=True)), f"{there} of {sender}"
            if there == tuple(index):
                found = combine(self.at(values, sender), found)
        return found

    def folded(self, node, index):
        combine, start = self.operator(node.instruction.operator, node)
        extents = self.extents_of(self.nodes[node.operands[0]])

        def value(i):
            return self.at(node.operands[0], i)

        if isinstance(node.instruction, Reduce):
            return reduce_all(combine, start, value, extents)
        return fold_some(combine, start, value, extents, node.instruction.axes)(index)

    def gathered(self, node, index):
        source, *places = node.operands
        there = tuple(self.at(place, index) for place in places)
        within = all(0 <= i < n for i, n in zip(there, self.extents_of(self.nodes[source]), strict=True))
        assert within, f"index {there} at {index}"
        return self.at(source, there)

    def operator(self, operator, node):
        if isinstance(operator, Region):
            start, combine = operator.identity, lambda a, b: region_value(operator, a, b)
        else:
            start = IDENTITY[operator](node.type)

            def combine(a, b):
                return operate(COMBINED_BY[operator], [a, b], [node.type, node.type], node.type)

        return combine, start

    def extended(self, node, sides, index):
        """Extend's docstring, word for word."""
        outside = []
        for axis, (i, n) in enumerate(zip(index, self.extents_of(node), strict=True)):
            if not 0 <= i < n:
                outside.append((axis, sides[axis][0 if i < 0 else 1]))
        if not outside:
            return self.at(node.operands[0], index)
        for axis, rule in outside:
            if isinstance(rule, ValueRule):
                return self.by_value(node, sides, index, axis, rule)
        axis, rule = outside[0]
        return self.by_map(node, sides, index, axis, rule)

    def by_value(self, node, sides, index, axis, rule):
        i, n, type_ = index[axis], self.extents_of(node)[axis], node.type
        given = self.at(node.operands[rule.operand], index)

        def moved(target):
            return self.extended(node, sides, (*index[:axis], target, *index[axis + 1 :]))

        if isinstance(rule, Prescribed):
            return given
        if isinstance(rule, Fixed):
            twice = operate("multiply", [convert(2, type_), given], [type_] * 2, type_)
            return operate("subtract", [twice, moved(-1 - i if i < 0 else 2 * n - 1 - i)], [type_] * 2, type_)
        last = 0 if i < 0 else n - 1
        rise = operate("multiply", [convert(fit(i - last, I64), type_), given], [type_] * 2, type_)
        return operate("add", [moved(last), rise], [type_] * 2, type_)

    def by_map(self, node, sides, index, axis, rule):
        i, n = index[axis], self.extents_of(node)[axis]
        sign = getattr(rule, "sign", 1)
        match rule:
            case Undefined():
                raise AssertionError(f"no rule at {index}")
            case Periodic():
                target = i + n if i < 0 else i - n
            case Outflow():
                target = min(max(i, 0), n - 1)
            case Reflect():
                target = -1 - i if i < 0 else 2 * n - 1 - i
            case Mirror():
                target = 0 if n == 1 else -i if i < 0 else 2 * (n - 1) - i
            case Wall():
                if i == n:
                    if sign == -1:
                        return convert(0, node.type)
                    target = n - 1
                else:
                    target = -i if i < 0 else 2 * n - i
        value = self.extended(node, sides, (*index[:axis], target, *index[axis + 1 :]))
        return value if sign == 1 else operate("negative", [value], [node.type], node.type)


def oracle_step(graph, kernel, extents, state):
    """The state after one step; every store included."""
    oracle = Oracle(graph.kernel(kernel), extents, state)
    after = dict(state)
    for name, number in graph.kernel(kernel).stores():
        static = graph.static(name)
        if static.role == "field":
            shape = oracle.extents_of(static)
            values = np.empty(shape, static.type.numpy)
            for index in np.ndindex(*shape):
                values[index] = oracle.at(number, index)
        else:
            values = np.asarray(static.type.numpy.type(oracle.at(number, ())))
        after[name] = values
    return after
