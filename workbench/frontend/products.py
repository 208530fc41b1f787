"""Products of arrays in functions: a @ b, np.dot, np.inner, np.outer and np.einsum, as NumPy has them."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

from workbench.errors import TraceError
from workbench.frontend.operations import apply
from workbench.frontend.positions import FunctionPositions, order_of
from workbench.frontend.subscripts import subscript
from workbench.frontend.trace import Operand, Term, Trace, current_trace
from workbench.frontend.value import Value, operand, wrap
from workbench.graph import Space

_WRITE = 'Write np.einsum("ij,jk->ik", a, b).'


def matrix_product(a: Operand, b: Operand) -> Operand:
    """a @ b: products over the last axis of a and the last but one of b, the only one of a vector, then their sum.

    Axes before those of the matrices meet as operands do; one of fewer axes is the same along those that it lacks.
    """
    trace = current_trace("@")
    ranks = [_rank(each) for each in (a, b)]
    if not isinstance(a, Term) or not isinstance(b, Term) or not all(ranks):
        raise TraceError(
            f"{trace.text_here()}: @ takes vectors and matrices, not values of {ranks[0]} and {ranks[1]} axes",
            advice="Write a * b for a product with a number.",
        )
    left, right = order_of(a), order_of(b)
    rows, columns = left[-2:-1], () if len(right) == 1 else right[-1:]
    inner_of_b = right[-2] if columns else right[0]
    batches, most = (left[:-2], right[:-2]), max(*ranks, 2) - 2
    before_a, before_b = ((*(None,) * (most - len(each)), *each) for each in batches)
    wide_a = a.in_order((*before_a, *rows, *(None,) * len(columns), left[-1]))
    wide_b = b.in_order((*before_b, *(None,) * len(rows), *columns, inner_of_b))
    product = apply("multiply", wide_a, wide_b)
    assert isinstance(product, Term)
    return _summed(_positions(trace), product, (len(order_of(product)) - 1,))


def dot(a: object, b: object) -> Value:
    """np.dot: a @ b of vectors and matrices, a * b with a number."""
    left, right = operand(a), operand(b)
    if not _rank(left) or not _rank(right):
        return wrap(apply("multiply", left, right))
    _refuse_many("np.dot", left, right)
    return wrap(matrix_product(left, right))


def inner(a: object, b: object) -> Value:
    """np.inner: sums of products along both last axes."""
    left, right = operand(a), operand(b)
    _refuse_many("np.inner", left, right)
    if isinstance(right, Term):
        right = right.in_order(tuple(reversed(order_of(right))))
    return wrap(matrix_product(left, right))


def outer(a: object, b: object) -> Value:
    """np.outer: the product of each element with each."""
    left, right = operand(a), operand(b)
    if isinstance(left, Term) and isinstance(right, Term):
        left, right = left.in_order((*order_of(left), None)), right.in_order((None, *order_of(right)))
    return wrap(apply("multiply", left, right))


def einsum(subscripts: object, *operands: object) -> Value:
    """Products of elements by letters, summed over the letters that the result does not name.

    A letter that stands twice in one place takes the diagonal; "..." stands for the axes without a letter.
    """
    trace = current_trace("einsum")
    if not isinstance(subscripts, str):
        raise TraceError(f"{trace.text_here('einsum')}: the letters come first, in a text", advice=_WRITE)
    terms = [operand(each) for each in operands]
    names, output = _letters(trace, subscripts, [_rank(term) for term in terms])
    every = output + "".join(dict.fromkeys(letter for letter in "".join(names) if letter not in output))
    product: Operand = 1
    for name, term in zip(names, terms, strict=True):
        placed = _along(trace, name, term, every) if isinstance(term, Term) else term
        product = placed if product == 1 else apply("multiply", product, placed)
    assert isinstance(product, Term)
    summed = tuple(range(len(output), len(every)))
    return wrap(_summed(_positions(trace), product, summed) if summed else product)


def _summed(positions: FunctionPositions, product: Term, summed: tuple[int, ...]) -> Term:
    """The sum over these positions of a product of arrays.

    Of a @ a.T one is read along a copy of an axis, which would come before the axis that is summed. It comes after it,
    as the last axis of any other matrix does: the argument is turned once, and loops read its elements side by side.
    """
    order = order_of(product)
    left = [axis for place, axis in enumerate(order) if axis is not None and place not in summed]
    over = [axis for place in summed if (axis := order[place]) is not None]
    if left and over:
        by_place = positions.table.place
        positions.table.put_after(max(left, key=by_place), max(over, key=by_place))
    return positions.reduce("sum", product, summed)


def _along(trace: Trace, name: str, term: Term, every: str) -> Term:
    """The array along the axes of all letters; `name` are its own, and one that stands twice takes the diagonal."""
    positions, order = _positions(trace), list(order_of(term))
    table = positions.table
    while letter := next((each for each in name if name.count(each) > 1), ""):
        first = name.index(letter)
        second = name.index(letter, first + 1)
        axis, other = order[first], order[second]
        rest = [k for k in range(len(name)) if k not in (first, second)]
        beside = [order[k] for k in rest]
        name = "".join(name[k] for k in rest) + letter
        if axis is None or other is None:
            order = [*beside, axis or other]
            continue
        if not table.same_length(axis, other):
            positions.join(table.length_of(axis), table.length_of(other), trace.text_here("einsum"))
        number = trace.emit(lambda pool, axis=axis: pool.index(0, Space((axis,)))).in_order((axis,))  # type: ignore[misc]  # bound now
        parts = [*(slice(None) for _ in rest), number, number]
        term = subscript(positions, term.in_order((*beside, axis, other)), parts)
        order = list(order_of(term))
    own = dict(zip(name, order, strict=True))
    return term.in_order(tuple(own.get(letter) for letter in every))


def _letters(trace: Trace, subscripts: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of the axes of each operand and of the result, all of which have a letter then."""
    text = trace.text_here("einsum")
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    names = inputs.split(",")
    bare, result = [name.replace("...", "", 1) for name in names], output.replace("...", "", 1)
    known = set("".join(bare))
    if not known <= set(ascii_letters):
        raise TraceError(f"{text}: {subscripts!r} has other signs than letters", advice=_WRITE)
    if not set(result) <= known or len(set(result)) < len(result):
        raise TraceError(f"{text}: the result of {subscripts!r} has a letter twice, or unknown ones", advice=_WRITE)
    further = [rank - len(name) for rank, name in zip(ranks, bare, strict=False)]
    dotted = ["..." in name for name in names]
    if len(names) != len(ranks) or any(n < 0 or (n > 0 and not dots) for n, dots in zip(further, dotted, strict=True)):
        raise TraceError(f"{text}: {subscripts!r} is given {ranks} axes", advice="Write a letter for each.")
    most = max(further)
    spare = "".join(letter for letter in ascii_letters if letter not in known)[:most]
    if arrow and most and "..." not in output:
        raise TraceError(f"{text}: the result of {subscripts!r} has no ...", advice='Write "...i->..." to keep axes.')
    if not arrow:
        output = "..." + "".join(sorted(letter for letter in known if inputs.count(letter) == 1))
    filled = [name.replace("...", spare[most - n :]) for name, n in zip(names, further, strict=True)]
    return filled, output.replace("...", spare)


def _rank(given: Operand) -> int:
    return len(order_of(given)) if isinstance(given, Term) else 0


def _positions(trace: Trace) -> FunctionPositions:
    positions = trace.positions
    assert isinstance(positions, FunctionPositions)
    return positions


def _refuse_many(name: str, a: Operand, b: Operand) -> None:
    """Of more axes these functions mean something else than @."""
    ranks = _rank(a), _rank(b)
    if max(ranks) > 2:
        raise TraceError(
            f"{current_trace(name).text_here()}: {name} of {ranks[0]} and {ranks[1]} axes",
            advice='Write which axes are summed: np.einsum("aij,bjk->aibk", a, b).',
        )
