"""Reductions: one value of many, over all cells, over some axes, or over the particles that act."""

from __future__ import annotations

from workbench.frontend.componentwise import componentwise
from workbench.frontend.operations import reduce_value
from workbench.frontend.populations import axes_over
from workbench.frontend.trace import current_trace
from workbench.frontend.value import Value, operand, wrap


@componentwise
def reduce_sum(value: object, axis: object = None, over: object = None) -> Value:
    """Sum over all cells, in the canonical order; of floats it is f64.

    With `axis`, a number or several, over these axes alone: one value for each cell along the others, of the same type.
    It meets values of more axes as it is: u - reduce_sum(u, axis=1) / size(1). Of particles over="source" sums what all
    sources contribute, one value a particle; over="stars" goes over the population of that name.
    """
    return _reduce("sum", value, axis, over)


@componentwise
def reduce_product(value: object, axis: object = None, over: object = None) -> Value:
    """Product over all cells, in the canonical order; of floats it is f64. `axis` and `over` as in reduce_sum."""
    return _reduce("product", value, axis, over)


@componentwise
def reduce_min(value: object, axis: object = None, over: object = None) -> Value:
    """Smallest cell; NaN if any cell is NaN. `axis` and `over` as in reduce_sum."""
    return _reduce("min", value, axis, over)


@componentwise
def reduce_max(value: object, axis: object = None, over: object = None) -> Value:
    """Largest cell; NaN if any cell is NaN. `axis` and `over` as in reduce_sum."""
    return _reduce("max", value, axis, over)


@componentwise
def reduce_any(value: object, axis: object = None, over: object = None) -> Value:
    """Whether the condition holds in some cell. `axis` and `over` as in reduce_sum."""
    return _reduce("any", value, axis, over)


@componentwise
def reduce_all(value: object, axis: object = None, over: object = None) -> Value:
    """Whether the condition holds in every cell. `axis` and `over` as in reduce_sum."""
    return _reduce("all", value, axis, over)


def _reduce(name: str, value: object, axis: object, over: object) -> Value:
    trace, given = current_trace(f"reduce_{name}"), operand(value)
    return wrap(reduce_value(name, given, axis if over is None else axes_over(trace, given, axis, over)))
