"""Calculus: derivatives, gradient, divergence, curl and Laplacian as finite differences of any order.

All formulas are emitted alike: values of equal weight are added (or subtracted) first, then multiplied by a whole
number, positive weights before negative ones, far cells before near ones; the sum is multiplied once by the scale
1 / (denominator * dx**n), which is a number or a Global. A constant field has the derivative 0 exactly if its multiples
by the weights are exact. Whole numbers are first cast to the machine's float type; a tuple or list is a tensor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import combinations, product
from operator import add
from typing import cast

from workbench.errors import TraceError
from workbench.frontend.finite_differences import coefficients
from workbench.frontend.operations import need_distance
from workbench.frontend.tensor_algebra import compose
from workbench.frontend.tensors import Tensor, as_tensor
from workbench.frontend.trace import Term, Trace, current_trace
from workbench.frontend.value import Value, operand, wrap

PLACES = (None, "face", "cell")


@dataclass(frozen=True, slots=True)
class _Formula:
    """Weights by cell offset as whole numbers times one fraction; `middle` is the sum of two mirrored offsets."""

    weights: tuple[tuple[int, int], ...]
    scale: Fraction
    middle: int


def derivative(
    u: object, axis: int, dx: object, n: int = 1, accuracy: int = 2, side: str = "centre", to: str | None = None
) -> Value:
    """The n-th derivative of a value per cell along `axis`, with an error of order dx**accuracy.

    dx: the distance of two cells, a number, param or scalar (or one per axis). side: "centre", "forward" (no cell
    before) or "backward" (no cell after). to="face": u sits in cells, the result on the lower face of each; to="cell":
    u sits on lower faces, the result in cells; both with n = 0 interpolate. A tensor is differentiated component by
    component. The weights are those of `coefficients`.
    """
    trace, u = current_trace("derivative"), as_tensor(u)
    axis = trace.need_axis(axis, trace.text_here("derivative"))
    if isinstance(u, Tensor):
        return cast(Value, u.map(lambda part: derivative(part, axis, dx, n, accuracy, side, to)))
    formula = _formula(n, accuracy, side, to)
    value = _need_local(u, "derivative")
    return _scaled(_sum(_terms(value, formula, (axis,))), formula.scale, _spacing(trace, dx, axis, "derivative"), n)


def grad(u: object, dx: object, accuracy: int = 2, side: str = "centre", to: str | None = None) -> Tensor:
    """The gradient: component a is the derivative along axis a. For a tensor, the new index comes last.

    dx: one distance, or one per axis. Of a vector v: grad(v)[a, b] is the derivative of v[a] along axis b.
    """
    trace, u = current_trace("grad"), as_tensor(u)
    _spacings(trace, dx, "grad")
    if not isinstance(u, Tensor):
        return compose(lambda a: derivative(u, a, dx, 1, accuracy, side, to))
    rows = {index: grad(part, dx, accuracy, side, to) for index, part in zip(u.indices(), _parts(u), strict=True)}
    parts = {(*index, a): row.component((a,)) for index, row in rows.items() for a in range(trace.dim)}
    return Tensor(parts, u.dim, u.rank + 1)


def div(v: object, dx: object, accuracy: int = 2, side: str = "centre", to: str | None = None) -> Value:
    """The divergence of a vector: the sum over a of the derivative of v[a] along axis a.

    For a tensor, the last index is summed, and the rank drops by one. dx: one distance, or one per axis.
    """
    trace, v = current_trace("div"), as_tensor(v)
    if not isinstance(v, Tensor):
        raise TraceError(
            f"div needs a vector, not {trace.text_here('a value')}", advice="Write div(v, dx) of a vector, grad of u."
        )
    if v.rank > 1:
        rows = {index[:-1]: compose(lambda b, i=index[:-1]: v.component((*i, b))) for index in v.indices()}
        parts = {index: div(row, dx, accuracy, side, to) for index, row in rows.items()}
        return cast(Value, Tensor(parts, v.dim, v.rank - 1))
    formula = _formula(1, accuracy, side, to)
    spacings = _spacings(trace, dx, "div")
    values = [_need_local(part, "div") for part in v]
    if isinstance(dx, tuple | list | Tensor):
        flows = (_scaled(_sum(_terms(u, formula, (a,))), formula.scale, spacings[a], 1) for a, u in enumerate(values))
        return reduce(add, flows)
    terms = [_terms(u, formula, (a,)) for a, u in enumerate(values)]
    joined = [(group[0][0], reduce(add, (value for _, value in group))) for group in zip(*terms, strict=True)]
    return _scaled(_sum(joined), formula.scale, spacings[0], 1)


def curl(v: object, dx: object, accuracy: int = 2, side: str = "centre", to: str | None = None) -> Value:
    """The curl of a vector: in 3-D component a is d_b v[c] - d_c v[b] with a, b, c cyclic; in 2-D d_0 v[1] - d_1 v[0].

    dx: one distance, or one per axis. On Yee's staggered grid the curl of edge values is to="cell", of face values
    to="face" (IEEE Trans. Antennas Propag. 14 (1966) 302).
    """
    trace, v = current_trace("curl"), as_tensor(v)
    if not isinstance(v, Tensor) or v.rank != 1 or trace.dim not in (2, 3):
        found = v.kind if isinstance(v, Tensor) else "one value per cell"
        raise TraceError(
            f"curl is defined for a vector in 2 or 3 dimensions, not for {found} in {trace.dim}",
            advice="Declare vector(name) in a cell with --dim 2 or 3.",
        )

    def part(b: int, c: int) -> Value:
        rising = derivative(v[c], b, dx, 1, accuracy, side, to)
        return rising - derivative(v[b], c, dx, 1, accuracy, side, to)

    if trace.dim == 2:
        return part(0, 1)
    return cast(Value, compose(lambda a: part((a + 1) % 3, (a + 2) % 3)))


def laplacian(u: object, dx: object, accuracy: int = 2, form: str = "cross") -> Value:
    """The sum of the second derivatives along all axes, with an error of order dx**accuracy.

    dx: one distance, or one per axis. "cross" reads along the axes only. "box" reads the diagonals too: the 9 points (1
    4 1; 4 -20 4; 1 4 1) / 6 in 2-D, the 19 points with 2, 1 and -24 over 6 in 3-D, whose error dx**2 / 12 times the
    bilaplacian has no preferred direction (Spotz and Carey, Numer. Methods Partial Differ. Equ. 12 (1996) 235); it
    needs one dx and accuracy 2. A tensor is treated component by component.
    """
    trace, u = current_trace("laplacian"), as_tensor(u)
    if isinstance(u, Tensor):
        return cast(Value, u.map(lambda part: laplacian(part, dx, accuracy, form)))
    spacings = _spacings(trace, dx, "laplacian")
    value = _need_local(u, "laplacian")
    axes = tuple(range(trace.dim))
    if form not in ("cross", "box"):
        raise TraceError(f"form={form!r} of the Laplacian is unknown", advice='Use "cross" or "box".')
    if form == "box" and trace.dim > 1:
        return _box(trace, value, dx, accuracy)
    formula = _formula(2, accuracy, "centre", None)
    if not isinstance(dx, tuple | list | Tensor):
        return _scaled(_sum(_terms(value, formula, axes)), formula.scale, spacings[0], 2)
    return reduce(add, (_scaled(_sum(_terms(value, formula, (a,))), formula.scale, spacings[a], 2) for a in axes))


def _box(trace: Trace, u: Value, dx: object, accuracy: int) -> Value:
    if isinstance(dx, tuple | list | Tensor) or accuracy != 2 or trace.dim > 3:
        raise TraceError(
            f'form="box" needs one dx, accuracy 2 and at most 3 dimensions, not dx per axis, accuracy {accuracy!r} '
            f"or {trace.dim} dimensions",
            advice='Use form="cross".',
        )
    signs = (-1, 1)
    edges = [_read(u, {a: s, b: t}) for a, b in combinations(range(trace.dim), 2) for s, t in product(signs, repeat=2)]
    faces = [_read(u, {a: s}) for a in range(trace.dim) for s in signs]
    near, centre = (4, -20) if trace.dim == 2 else (2, -24)
    total = _sum([(1, reduce(add, edges)), (near, reduce(add, faces)), (centre, u)])
    return _scaled(total, Fraction(1, 6), _spacing(trace, dx, 0, "laplacian"), 2)


def _formula(n: int, accuracy: int, side: str, to: str | None) -> _Formula:
    if to not in PLACES:
        raise TraceError(
            f"to={to!r} is no place for a derivative",
            advice='Use to="face" for lower faces, to="cell" for centres, or leave it out.',
        )
    exact = coefficients(n, accuracy, side, staggered=to is not None)
    # Face i is half a cell below cell i: from cells to faces offset +1/2 is cell 0, from faces to cells it is face 1.
    moved = Fraction(0) if to is None else Fraction(-1 if to == "face" else 1, 2)
    denominator = math.lcm(*(w.denominator for w in exact.values()))
    common = math.gcd(*(int(w * denominator) for w in exact.values()))
    weights = tuple((int(k + moved), int(w * denominator) // common) for k, w in exact.items())
    return _Formula(weights, Fraction(common, denominator), int(2 * moved))


def _terms(u: Value, formula: _Formula, axes: tuple[int, ...]) -> list[tuple[int, Value]]:
    """(weight, value) from far to near; mirrored cells of equal or opposite weight, and axes, share a term."""
    weights = dict(formula.weights)
    terms: list[tuple[int, Value]] = []
    for offset in sorted(weights, key=lambda k: (-abs(2 * k - formula.middle), -k)):
        mirrored, weight = formula.middle - offset, weights[offset]
        if offset < mirrored and abs(weights.get(mirrored, 0)) == abs(weight):
            continue  # taken together with its mirror image
        values = []
        for axis in axes:
            value = _read(u, {axis: offset})
            if mirrored < offset and weights.get(mirrored) == weight:
                value = value + _read(u, {axis: mirrored})
            elif mirrored < offset and weights.get(mirrored) == -weight:
                value = value - _read(u, {axis: mirrored})
            values.append(value)
        if offset == mirrored:
            terms.append((weight * len(axes), u))
        else:
            terms.append((weight, reduce(add, values)))
    return terms


def _sum(terms: Sequence[tuple[int, Value]]) -> Value:
    """The weighted sum, positive weights first, so that no sign is changed alone."""
    ordered = sorted(terms, key=lambda term: term[0] < 0)
    weight, value = ordered[0]
    total = value if weight == 1 else weight * value
    for weight, value in ordered[1:]:
        term = value if abs(weight) == 1 else abs(weight) * value
        total = total + term if weight > 0 else total - term
    return total


def _scaled(total: Value, scale: Fraction, dx: object, n: int) -> Value:
    """total * scale / dx**n, with one multiplication in each cell."""
    if not isinstance(dx, Value) or n == 0:
        factor = scale.numerator / (scale.denominator * (1 if n == 0 else cast(float, dx) ** n))
        return total if factor == 1 else total * factor
    power = dx**n
    return total * (scale.numerator / (power if scale.denominator == 1 else scale.denominator * power))


def _read(u: Value, offsets: dict[int, int]) -> Value:
    """The cell at the offsets along axes; the value itself where all are 0."""
    for axis, offset in offsets.items():
        u = u.at(offset, axis) if offset else u
    return u


def _parts(tensor: Tensor) -> list[Value]:
    return [tensor.component(index) for index in tensor.indices()]


def _need_local(u: object, what: str) -> Value:
    given = operand(u)
    if not isinstance(given, Term) or not given.is_local:
        raise TraceError(
            f"{what} needs a value per cell, but this is one number for the whole grid: its derivative is 0",
            advice="Leave it out.",
        )
    if given.type.is_integer:  # differences of unsigned numbers would wrap around
        return wrap(given).astype(given.trace.float_type)
    return wrap(given)


def _spacings(trace: Trace, dx: object, what: str) -> tuple[object, ...]:
    return tuple(_spacing(trace, dx, axis, what) for axis in range(trace.dim))


def _spacing(trace: Trace, dx: object, axis: int, what: str) -> object:
    """The distance of cells along an axis: a number or a traced value."""
    if isinstance(dx, tuple | list | Tensor):
        if len(dx) != trace.dim:
            raise TraceError(
                f"{what}: {len(dx)} distances dx for {trace.dim} axes", advice="Give one dx, or one for each axis."
            )
        dx = list(dx)[axis]
    given = operand(dx)
    if isinstance(given, Term):
        if not given.type.is_float:
            raise TraceError(f"{what}: dx is {given.type}", advice='Declare param("dx", 1.0), or compute it.')
        return wrap(given)
    need_distance(given, what)
    return given
