"""First extremes: the place of the smallest or largest element, as a Fold or Reduce of records (element, its place).

Of two records the one with the greater element is kept, of equal ones that of the smaller place; NaN comes before all
numbers. So the result is the same in any order, and its second component is what np.argmax means.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from workbench.graph.instructions import Arith, Fold, Load, Node, Parameter, Reduce, Region
from workbench.graph.operators import identity
from workbench.graph.spaces import GLOBAL
from workbench.graph.types import BOOL, I64, StorageType, pair_of

Extreme = Literal["min", "max"]
"""Which of the reductions of these names the element is."""
_LAST_PLACE = 2**63 - 1


@cache
def first_extreme(name: Extreme, type_: StorageType) -> Region:
    """The region for elements of a type that is ordered: no bool, no dd."""
    pair = pair_of(type_, I64)
    nodes: list[Node] = []

    def node(instruction: Load | Arith, *operands: int, made: StorageType = BOOL) -> int:
        nodes.append(Node(instruction, operands, made, GLOBAL))
        return len(nodes) - 1

    left, right = node(Load("left"), made=pair), node(Load("right"), made=pair)
    element, other = (node(Arith("first"), each, made=type_) for each in (left, right))
    place, other_place = (node(Arith("second"), each, made=I64) for each in (left, right))
    is_better = node(Arith("greater" if name == "max" else "less"), other, element)
    is_equal = node(Arith("equal"), other, element)
    if type_.is_float:
        is_nan, other_is_nan = (node(Arith("not_equal"), each, each) for each in (element, other))
        is_number = node(Arith("logical_not"), is_nan)
        is_better = node(Arith("logical_or"), is_better, node(Arith("logical_and"), other_is_nan, is_number))
        is_equal = node(Arith("logical_or"), is_equal, node(Arith("logical_and"), other_is_nan, is_nan))
    is_before = node(Arith("logical_and"), is_equal, node(Arith("less"), other_place, place))
    is_taken = node(Arith("logical_or"), is_better, is_before)
    chosen = node(Arith("select"), is_taken, other, element, made=type_)
    its_place = node(Arith("select"), is_taken, other_place, place, made=I64)
    node(Arith("pair"), chosen, its_place, made=pair)
    parameters = Parameter("left", pair), Parameter("right", pair)
    return Region(parameters, tuple(nodes), (identity(name, type_), _LAST_PLACE))


def extreme_of(node: Node) -> Extreme | None:
    """Which first extreme a node makes; None if it makes another value."""
    instruction, type_ = node.instruction, node.type
    if not isinstance(instruction, Fold | Reduce) or not isinstance(instruction.operator, Region):
        return None
    if type_ is None or not type_.is_pair or type_.members[0].is_pair or type_.members[1] != I64:
        return None
    names: tuple[Extreme, ...] = ("min", "max")
    return next((name for name in names if instruction.operator == first_extreme(name, type_.members[0])), None)
