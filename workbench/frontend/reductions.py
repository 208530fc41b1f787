"""Reductions: one value of many, over all cells, over some axes, or over the particles that act."""

from __future__ import annotations

from typing import cast

from workbench.errors import TraceError
from workbench.frontend.combination import Combination
from workbench.frontend.componentwise import componentwise
from workbench.frontend.operations import need_reducible, reduce_value
from workbench.frontend.populations import as_source, axes_over, check_over
from workbench.frontend.promotion import convert, number_type
from workbench.frontend.short_range import fold_near, one_length, vector_of
from workbench.frontend.tensors import Tensor
from workbench.frontend.trace import Operand, Term, Trace, current_trace
from workbench.frontend.tree_walk import Far, need_dimensions, opening_angle, sums_by_tree
from workbench.frontend.value import Value, operand, term_of, wrap
from workbench.graph import Space


def reduce_sum(
    value: object,
    axis: object = None,
    over: object = None,
    *,
    cutoff: object = None,
    positions: object = None,
    tree: object = None,
    weights: object = None,
) -> Value:
    """Sum over all cells, in the canonical order; the sum of floats is f64.

    axis: one axis or a tuple of axes to sum over; the result has one value for each cell of the other axes, of the
    same type, and combines with values of all axes: u - reduce_sum(u, axis=1) / size(1). over: for particles, "source"
    sums over all sources and gives one value per particle; over="stars" sums over the population of that name. cutoff:
    a length; only sources within it contribute, and the time grows with their number: reduce_sum(m.source * w,
    over="source", cutoff=2 * h, positions=x); of 1 it is how many they are. positions: a vector, or a tuple of
    components. tree: an opening angle; the time grows as n log n, and sources whose cell is seen under less than it
    contribute together, as their weight, centre and second moments say: reduce_sum(m.source * f, over="source",
    tree=0.5, positions=x, weights=m), where f reads nothing else of a source than its position. 0 opens all cells.
    """
    if tree is None and weights is None:
        return _sum(value, axis, over, cutoff=cutoff, positions=positions)
    return _sum_by_tree(value, axis, over, cutoff, (tree, positions, weights))


@componentwise
def _sum(value: object, axis: object, over: object, *, cutoff: object, positions: object) -> Value:
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


def _sum_by_tree(
    value: object, axis: object, over: object, cutoff: object, given: tuple[object, object, object]
) -> Value:
    """The sum of a value or vector over sources by a tree; of all components by one walk."""
    trace = current_trace("reduce_sum")
    what = trace.text_here("reduce_sum")
    tree, positions, weights = given
    if over is None or cutoff is not None or any(each is None for each in given):
        raise TraceError(
            f"{what}: a tree needs an opening angle, positions and the weights of particles",
            advice='Give over="source", tree=, positions= and weights=, and no cutoff=.',
        )
    vector = value if isinstance(value, Tensor) else None
    theta = opening_angle(what, tree)
    found: list[tuple[Far, str, Term]] = []
    for part in [value] if vector is None else vector.stored.values():
        pair, near = _pairs(trace, "sum", operand(part), what, axis, positions)
        _need_sources(trace, what, pair, axis, over, "a tree takes")
        need_dimensions(what, len(near))
        own, seen = zip(*near, strict=True)
        weight = operand(weights)
        if not isinstance(weight, Term) or weight.space != own[0].space or not weight.type.is_float:
            raise TraceError(f"{what}: the weights are not those of the particles", advice="Give weights=m.")
        if not pair.type.is_float:
            raise TraceError(f"{what}: a tree adds floats, not {pair.type}", advice='Cast: astype(value, "f64").')
        found.append((Far(theta, own, own, weight, (*seen, as_source(weight))), what, pair))
    sums = [wrap(each) for each in sums_by_tree(trace, found)]
    if vector is None:
        return sums[0]
    parts = dict(zip(vector.stored, sums, strict=True))
    return cast(Value, Tensor(parts, vector.dim, vector.rank, vector.symmetric))


def _need_sources(trace: Trace, what: str, pair: Term, axis: object, over: object, limits: str) -> None:
    """Raise TraceError unless the sum is over the sources of the pair."""
    if list(axes_over(trace, pair, axis, over)) != [pair.space.axes[-1].name]:
        raise TraceError(f"{what}: {limits} sums over sources, not over {over!r}", advice='Write over="source".')


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
    pair, near = _pairs(trace, name, given, what, axis, positions)
    _need_sources(trace, what, pair, axis, over, "a cutoff limits")
    return wrap(fold_near(trace, Combination(name, name, pair, None), near, one_length(what, cutoff)))


def _pairs(
    trace: Trace, name: str, given: Operand, what: str, axis: object, positions: object
) -> tuple[Term, list[tuple[Term, Term]]]:
    """The value in each pair of a particle and a source, also where it is the same for all; the positions of both.

    Raises TraceError where they are not of one population, or the reduction does not take the value.
    """
    check_over(trace, what, axis)
    axes = given.space.axes if isinstance(given, Term) else ()
    of = [own for own, source in trace.populations.items() if {each.name for each in axes} <= {own, source}]
    if not of:
        raise TraceError(
            f"{what}: the value has the axes {', '.join(each.name for each in axes)}, "
            "not those of a particle and the same as source",
            advice="Contribute a formula of x and x.source of one population.",
        )
    own = [term_of(each) for each in vector_of(what, positions)]
    found = {tuple(each.name for each in term.space.axes) for term in own}
    if len(found) > 1 or not found <= {(each,) for each in of}:
        raise TraceError(f"{what}: the positions are not those of the particles", advice="Give positions=x.")
    near = [(x, as_source(x)) for x in own]
    space = Space((*near[0][0].space.axes, *near[0][1].space.axes))
    type_ = given.type if isinstance(given, Term) else number_type(trace, given)
    need_reducible(name, type_)
    return convert(trace, given, type_, space), near
