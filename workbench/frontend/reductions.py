"""Reductions: one value of many, over all cells, over some axes, or over the particles that act."""

from __future__ import annotations

from workbench.errors import TraceError
from workbench.frontend.combination import Combination
from workbench.frontend.componentwise import componentwise
from workbench.frontend.operations import reduce_value
from workbench.frontend.populations import as_source, axes_over
from workbench.frontend.short_range import fold_near, one_length, vector_of
from workbench.frontend.trace import Term, current_trace
from workbench.frontend.value import Value, operand, term_of, wrap


@componentwise
def reduce_sum(
    value: object, axis: object = None, over: object = None, *, cutoff: object = None, positions: object = None
) -> Value:
    """Sum over all cells, in the canonical order; the sum of floats is f64.

    axis: one axis or a tuple of axes to sum over; the result has one value for each cell of the other axes, of the
    same type, and combines with values of all axes: u - reduce_sum(u, axis=1) / size(1). over: for particles, "source"
    sums over all sources and gives one value per particle; over="stars" sums over the population of that name. cutoff:
    a length; only sources within it contribute, and the time grows with their number: reduce_sum(m.source * w,
    over="source", cutoff=2 * h, positions=x). positions: a vector, or a tuple of components.
    """
    return _reduce("sum", value, axis, over, cutoff, positions)


@componentwise
def reduce_product(
    value: object, axis: object = None, over: object = None, *, cutoff: object = None, positions: object = None
) -> Value:
    """Product over all cells, in the canonical order; of floats it is f64. Arguments as in `reduce_sum`."""
    return _reduce("product", value, axis, over, cutoff, positions)


@componentwise
def reduce_min(
    value: object, axis: object = None, over: object = None, *, cutoff: object = None, positions: object = None
) -> Value:
    """Smallest value of all cells; NaN if any is NaN. Arguments as in `reduce_sum`."""
    return _reduce("min", value, axis, over, cutoff, positions)


@componentwise
def reduce_max(
    value: object, axis: object = None, over: object = None, *, cutoff: object = None, positions: object = None
) -> Value:
    """Largest value of all cells; NaN if any is NaN. Arguments as in `reduce_sum`."""
    return _reduce("max", value, axis, over, cutoff, positions)


@componentwise
def reduce_any(
    value: object, axis: object = None, over: object = None, *, cutoff: object = None, positions: object = None
) -> Value:
    """Whether the condition holds in at least one cell. Arguments as in `reduce_sum`."""
    return _reduce("any", value, axis, over, cutoff, positions)


@componentwise
def reduce_all(
    value: object, axis: object = None, over: object = None, *, cutoff: object = None, positions: object = None
) -> Value:
    """Whether the condition holds in every cell. Arguments as in `reduce_sum`."""
    return _reduce("all", value, axis, over, cutoff, positions)


def _reduce(name: str, value: object, axis: object, over: object, cutoff: object, positions: object) -> Value:
    trace, given = current_trace(f"reduce_{name}"), operand(value)
    if cutoff is None and positions is None:
        return wrap(reduce_value(name, given, axis if over is None else axes_over(trace, given, axis, over)))
    what = trace.text_here(f"reduce_{name}")
    if over is None or cutoff is None or positions is None:
        raise TraceError(
            f"{what}: a cutoff is a length between particles and their sources",
            advice='Give over="source", cutoff= and positions=.',
        )
    axes = axes_over(trace, given, axis, over)
    assert isinstance(given, Term)
    own_axis, source = given.space.axes[0].name, given.space.axes[-1].name
    if given.space.rank != 2 or list(axes) != [source] or trace.populations.get(own_axis) != source:
        raise TraceError(
            f"{what}: the value has the axes {given.space.axis_names}, not those of a particle and the same as source",
            advice="Contribute a formula of x and x.source of one population.",
        )
    own = [term_of(each) for each in vector_of(what, positions)]
    if any(term.space.axes != given.space.axes[:1] for term in own):
        raise TraceError(f"{what}: the positions are not those of the particles", advice="Give positions=x.")
    combined = Combination(name, name, given, None)
    return wrap(fold_near(trace, combined, [(x, as_source(x)) for x in own], one_length(what, cutoff)))
