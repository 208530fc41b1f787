"""Tensor algebra: compose, contract, dot, outer, delta and einsum, of traced values, plain arrays or numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import product
from operator import mul
from typing import cast

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.dimension import need_dim
from workbench.frontend.offsets import whole_or_none
from workbench.frontend.tensors import (
    MOST_COMPONENTS,
    Index,
    Tensor,
    check_alike,
    components,
    one_value,
)
from workbench.frontend.trace import MOST_DIMENSIONS, current_trace, is_tracing, show_dim
from workbench.frontend.value import Value


class Kronecker(int):
    """The 0 or 1 of `delta`: exact, so that x * delta is x itself or the number 0, and no multiplication is emitted."""

    __array_ufunc__ = None  # an array on the left leaves the product to this class
    _answers = "multiply"

    def __mul__(self, other: object) -> int:
        return cast(int, other) if self else 0

    __rmul__ = __mul__


def delta(a: int, b: int) -> int:
    """Kronecker's symbol: 1 if the indices are equal, else 0. A product with it costs no operation."""
    for index in (a, b):
        if isinstance(index, bool) or not isinstance(index, int | np.integer):
            raise TraceError(
                f"delta compares two indices, not {index!r}",
                advice="Write delta(a, b) in compose(lambda a, b: ...), where(u == v, 1, 0) for values.",
            )
    return Kronecker(a == b)


def compose(function: Callable[..., object], dim: int | None = None, symmetric: bool = False) -> Tensor:
    """The tensor with the components function(a, b, ...), called once for each index tuple, the last index fastest.

    The rank is the number of the function's arguments (those with a default do not count), plus the rank of its
    results. symmetric: the function is called for ascending indices only; the other components are the same values.
    dim: needed only outside a cell, and there only if the function indexes no tensor or sequence.
    """
    rank = _arity(function, "compose")
    size = _dim(function, rank, dim, "compose")
    _check_count(size, rank, "compose")
    parts: dict[Index, Value] = {}
    inner: Tensor | None = None
    for index in product(range(size), repeat=rank):
        if symmetric and index != tuple(sorted(index)):
            continue
        part = function(*index)
        if not isinstance(part, Tensor):
            parts[index] = one_value(part, "compose")
            continue
        if symmetric:
            raise TraceError(
                "compose(..., symmetric=True) got a tensor as a component", advice="Return one value per index tuple."
            )
        inner = part if inner is None else inner
        check_alike(inner, part)
        parts |= {(*index, *rest): part.component(rest) for rest in part.indices()}
    depth = rank if inner is None else rank + inner.rank
    if any(len(index) != depth for index in parts) or (inner is not None and inner.dim != size):
        raise TraceError(
            "compose got components of different rank or dimension", advice="Return the same kind for every index."
        )
    return Tensor(parts, size, depth, symmetric)


def contract(value: object, first: int = 0, second: int = 1, dim: int | None = None) -> Value | Tensor:
    """The sum over a repeated index, from left to right.

    contract(function): the sum of function(a, b, ...) over all index tuples, the last index fastest (Paraiso §2.4).
    contract(T, first, second): the sum over equal values of these two indices of a tensor, which lowers its rank by 2.
    """
    if not isinstance(value, Tensor) and callable(value):
        rank = _arity(value, "contract")
        size = _dim(value, rank, dim, "contract")
        _check_count(size, rank, "contract")
        return _sum(value(*index) for index in product(range(size), repeat=rank))
    tensor = components(value)
    places = {whole_or_none(first), whole_or_none(second)}
    if len(places) != 2 or not places <= set(range(tensor.rank)):
        raise TraceError(
            f"contract sums over two indices of {tensor.kind}, not over {first} and {second}",
            advice="Write contract(T, 0, 1), contract(lambda a: u[a] * v[a]) or dot(u, v).",
        )
    letters = _LETTERS[: tensor.rank]
    repeated = "".join(letters[first] if k == second else letters[k] for k in range(tensor.rank))
    rest = "".join(letters[k] for k in range(tensor.rank) if k not in places)
    return einsum(f"{repeated}->{rest}", tensor)


def dot(a: object, b: object) -> Value | Tensor:
    """The sum over the last index of `a` and the first of `b`, from left to right; of two vectors, a single value."""
    left, right = components(a), components(b)
    _check_dims((left, right), "dot")
    _check_count(left.dim, left.rank + right.rank - 2, "dot")
    letters = _letters(left.rank + right.rank - 1, "dot")
    first, second = letters[: left.rank], letters[left.rank - 1 :]
    return einsum(f"{first},{second}->{first[:-1]}{second[1:]}", left, right)


def outer(a: object, b: object) -> Tensor:
    """The tensor a[...] * b[...] with the indices of both; the product of a vector with itself is symmetric."""
    left, right = components(a), components(b)
    _check_dims((left, right), "outer")
    if left is right and left.rank == 1:
        return compose(lambda i, j: left[i] * left[j], left.dim, symmetric=True)
    _check_count(left.dim, left.rank + right.rank, "outer")
    parts = {(*i, *j): left.component(i) * right.component(j) for i in left.indices() for j in right.indices()}
    return Tensor(parts, left.dim, left.rank + right.rank)


def cross(a: object, b: object) -> Value | Tensor:
    """The vector product of two vectors of three components; of two components its one number, a[0]*b[1] - a[1]*b[0].

    Vectors are tensors, or tuples of components such as (vx, vy, vz).
    """
    left, right = components(a), components(b)
    _check_dims((left, right), "cross")
    wrong = next((t for t in (left, right) if t.rank != 1 or t.dim not in (2, 3)), None)
    if wrong is not None:
        raise TraceError(
            f"cross is of vectors with 2 or 3 components, not of {wrong.kind} in {show_dim(wrong.dim)}",
            advice="Write cross((ax, ay, az), (bx, by, bz)).",
        )

    def part(i: int, j: int) -> Value:
        return left[i] * right[j] - left[j] * right[i]

    if left.dim == 2:
        return part(0, 1)
    return Tensor({(0,): part(1, 2), (1,): part(2, 0), (2,): part(0, 1)}, 3, 1)


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def einsum(subscripts: str, *operands: object) -> Value | Tensor:
    """Einstein's sum, as NumPy's: einsum("ab,b->a", A, v). Without "->" every letter that appears once remains.

    Each component is the sum, from left to right with the last summed letter fastest (letters in order of appearance),
    of the product of the factors from left to right. An operand is a tensor, a nested tuple, an array whose first axes
    are the indices, or, without letters, a value.
    """
    inputs, output = _parse(subscripts, len(operands))
    factors = [_of_rank(o, len(letters), subscripts) for o, letters in zip(operands, inputs, strict=True)]
    tensors = [f for f in factors if isinstance(f, Tensor)]
    if not tensors:
        raise TraceError(f"einsum({subscripts!r}) has no index", advice="Multiply values with *.")
    _check_dims(tensors, f"einsum({subscripts!r})")
    size = tensors[0].dim
    summed = "".join(dict.fromkeys(c for c in "".join(inputs) if c not in output))
    _check_count(size, len(summed) + len(output), f"einsum({subscripts!r})")

    def value(index: Index) -> Value:
        return _sum(_products(factors, inputs, output, index, summed, size))

    if not output:
        return value(())
    return Tensor({index: value(index) for index in product(range(size), repeat=len(output))}, size, len(output))


def _products(
    factors: list[object], inputs: tuple[str, ...], output: str, index: Index, summed: str, size: int
) -> Iterator[object]:
    for turn in product(range(size), repeat=len(summed)):
        place = dict(zip(output + summed, index + turn, strict=True))
        chosen = (
            f.component(tuple(place[c] for c in letters)) if isinstance(f, Tensor) else f
            for f, letters in zip(factors, inputs, strict=True)
        )
        yield reduce(mul, chosen)


def _parse(subscripts: object, count: int) -> tuple[tuple[str, ...], str]:
    if not isinstance(subscripts, str):
        raise TraceError(f"einsum needs subscripts first, not {subscripts!r}", advice='Write einsum("ab,b->a", A, v).')
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = tuple(left.split(","))
    letters = "".join(inputs)
    if any(not (c.isascii() and c.isalpha()) for c in letters + output):
        raise TraceError(
            f"einsum({subscripts!r}): an index is one letter", advice='Write letters, ",", and "->": "ab,b->a".'
        )
    if len(inputs) != count:
        raise TraceError(
            f"einsum({subscripts!r}) names {len(inputs)} operands, but {count} are given",
            advice="Give one group of letters for each operand.",
        )
    if not arrow:
        output = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    wrong = next((c for c in output if output.count(c) > 1 or c not in letters), "")
    if wrong:
        raise TraceError(
            f"einsum({subscripts!r}): {wrong} of the result {'appears twice' if wrong in letters else 'is not given'}",
            advice="Name each index of the result once, and only indices of the operands.",
        )
    return inputs, output


def _of_rank(operand: object, rank: int, subscripts: str) -> object:
    """The operand as a tensor of this rank, or as it is if that is 0."""
    if rank == 0 and not isinstance(operand, Tensor | tuple | list):
        return operand
    tensor = components(operand, rank) if isinstance(operand, np.ndarray) else operand
    if isinstance(tensor, tuple | list):
        tensor = components(tensor)
    if not isinstance(tensor, Tensor) or tensor.rank != rank:
        found = f"{tensor.kind}" if isinstance(tensor, Tensor) else "one value"
        raise TraceError(
            f"einsum({subscripts!r}) gives {rank} letter{'s' * (rank != 1)} to {found}",
            advice="Give each operand as many letters as it has indices.",
        )
    return tensor


def _arity(function: object, what: str) -> int:
    """The number of arguments without a default."""
    if not callable(function):
        raise TraceError(
            f"{what} needs a function of indices, not {function!r}", advice=f"Write {what}(lambda a: u[a] * v[a])."
        )
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        given = ()  # type: ignore[assignment]  # some builtins have no signature; refused below
    rank = sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in given)
    if not rank:
        raise TraceError(
            f"{what} needs a function with an argument for each index", advice=f"Write {what}(lambda a, b: ...)."
        )
    return rank


def _dim(function: Callable[..., object], rank: int, dim: int | None, what: str) -> int:
    """The given dimension, the machine's, or outside a cell the one at which the function's tensors end."""
    if dim is not None:
        return need_dim(what, dim)
    if is_tracing():
        return current_trace(what).vector_dim
    for size in range(MOST_DIMENSIONS + 1):
        try:
            function(*(size,) * rank)
        except IndexError:
            if size == 0:
                raise
            return size
    raise TraceError(
        f"{what} cannot see the dimension: outside a cell it is where the function's tensors end",
        advice=f"Write {what}(f, dim=2).",
    )


def _check_dims(tensors: Iterable[Tensor], what: str) -> None:
    dims = sorted({t.dim for t in tensors})
    if len(dims) > 1:
        raise TraceError(
            f"{what}: tensors in {' and '.join(map(str, dims))} dimensions cannot be combined",
            advice="Use tensors of one dimension.",
        )


def _check_count(dim: int, rank: int, what: str) -> None:
    if rank > 12 or dim**rank > MOST_COMPONENTS:
        raise TraceError(
            f"{what}: rank {rank} in dimension {dim} has {dim}**{rank} components, above {MOST_COMPONENTS}",
            advice="Use a lower rank.",
        )


def _letters(count: int, what: str) -> str:
    if count > len(_LETTERS):
        raise TraceError(f"{what}: too many indices", advice="Use a lower rank.")
    return _LETTERS[:count]


def _sum(values: Iterable[object]) -> Value:
    """The sum from left to right, beginning with the first; exact zeros of `delta` add nothing."""
    total: object = 0
    for value in values:
        total = value if type(total) is int and total == 0 else total + value  # type: ignore[operator]  # as above
    return cast(Value, total)
