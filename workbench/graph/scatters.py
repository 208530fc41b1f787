"""The order of a Scatter (semantics §3): each destination takes what is sent to it in the order of the senders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.graph.arithmetic import Combine, apply, apply_region
from workbench.graph.instructions import Arith, Load, Region
from workbench.graph.operators import OPERATORS, REDUCTIONS, Array, identity
from workbench.graph.types import StorageType

_UFUNCS: dict[str, np.ufunc] = {"sum": np.add, "product": np.multiply}

_BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor")
_REDUCTION_OF = {row.operator: name for name, row in REDUCTIONS.items()}


def free_operation(operator: str | Region, type_: StorageType) -> str | None:
    """Return the operation by name where any order of the senders gives the same bits, None elsewhere.

    Whole numbers and conditions combined by one operation that is associative and commutative to the bit: by name, or
    by a function that does this operation alone. Floats are not: sums round, the smaller of 0.0 and -0.0 is either one.
    """
    if type_.is_float or type_.is_record or type_.is_pair:
        return None
    if isinstance(operator, str):
        return REDUCTIONS[operator].operator
    *loads, result = operator.nodes
    names = [node.instruction.name for node in loads if isinstance(node.instruction, Load)]
    if len(names) != len(loads) or sorted(names) != sorted(p.name for p in operator.parameters):
        return None
    if not isinstance(result.instruction, Arith) or set(result.operands) != {0, 1}:
        return None
    done = result.instruction.operator
    return done if done in _REDUCTION_OF or done in _BITWISE else None


def neutral_number(operator: str | Region, type_: StorageType) -> int | None:
    """Return what leaves every number as it is, where any order of the senders gives the same bits; None elsewhere."""
    done = free_operation(operator, type_)
    if done is None:
        return None
    if done == "bitwise_and":
        return -1 if type_.kind == "int" else 2**type_.bits - 1
    return 0 if done in _BITWISE else int(identity(_REDUCTION_OF[done], type_))


def keeps_last(operator: str | Region) -> bool:
    """Return whether the operator gives what is new: a number, or a record put together from the parts of the new."""
    if isinstance(operator, str):
        return False
    nodes, new = operator.nodes, operator.parameters[0].name

    def part(index: int) -> tuple[str, ...] | None:
        """Which part of the new element a node is: () the whole, else how to get there; None if it is none."""
        match nodes[index].instruction:
            case Load(name):
                return () if name == new else None
            case Arith("first" | "second" as half):
                found = part(nodes[index].operands[0])
                return None if found is None else (*found, half)
            case Arith("pair"):
                left, right = map(part, nodes[index].operands)
                alike = left and right and left[:-1] == right[:-1] and (left[-1], right[-1]) == ("first", "second")
                return left[:-1] if left and alike else None
            case _:
                return None

    return part(len(nodes) - 1) == ()


def scatter_in_order(
    operator: str | Region, defaults: Array, places: Sequence[Array], values: Array, type_: StorageType
) -> Array:
    """Return the defaults, each combined as operator(new, old) with the values sent to it, one after the other.

    places: for each axis of `defaults` the indices, all inside; one line of them each, as of values (dtype of `type_`).
    Rounds of values that go to different destinations change no order.
    """
    result = np.array(defaults, order="C")  # a broadcast keeps its strides else, and flattened it would be a copy
    flat = result.reshape(-1)
    there = np.ravel_multi_index(tuple(places), defaults.shape) if len(values) else np.zeros(0, np.int64)
    if isinstance(operator, str) and operator in _UFUNCS and result.dtype.kind in "iuf":
        with np.errstate(all="ignore"):
            _UFUNCS[operator].at(flat, there, values)  # one after the other; both operators take operands in any order
        return result
    combine = _combine(operator, type_)
    order = np.argsort(there, kind="stable")
    _, first, counts = np.unique(there[order], return_index=True, return_counts=True)
    most = np.argsort(-counts, kind="stable")
    first, counts = first[most], counts[most]
    for turn in range(int(counts.max(initial=0))):
        senders = order[first[: np.count_nonzero(counts > turn)] + turn]
        flat[there[senders]] = combine(values[senders], flat[there[senders]])
    return result


def _combine(operator: str | Region, type_: StorageType) -> Combine:
    if isinstance(operator, Region):
        return lambda new, old: apply_region(operator, (new, old))
    name = OPERATORS[REDUCTIONS[operator].operator].name
    return lambda new, old: apply(name, (new, old), type_)
