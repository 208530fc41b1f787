"""Tensors: vectors and tensors of traced values, plain arrays or numbers, with component-wise arithmetic."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import NoReturn, cast

import numpy as np

from workbench.errors import TraceError
from workbench.frontend.attempts import DimensionFoundError
from workbench.frontend.dimension import need_dim
from workbench.frontend.misuse import refuse_distance
from workbench.frontend.numpy_names import need_meaning
from workbench.frontend.offsets import whole_or_none
from workbench.frontend.parts import declared, neighbour, source_of
from workbench.frontend.trace import current_trace, is_tracing, show_dim, text_here
from workbench.frontend.value import Value

Index = tuple[int, ...]
MOST_COMPONENTS = 4096


class ComponentError(TraceError, IndexError):
    """An index beyond the dimension; an IndexError too, so that Python's protocols and `compose` see the end."""


class Tensor:
    """A vector or a tensor of any rank: one component per index tuple, each index below `dim`.

    A component is a traced value, a NumPy array (one value per cell) or a number, so one function computes and
    generates. `T[a, b]` is a component; `T.at(+1, axis)` is the whole tensor one cell further. Arithmetic goes
    component by component, with scalars and with tensors of the same rank; ranks and dimensions never mix. A symmetric
    tensor keeps the components with ascending indices. Immutable; np.asarray(T) has shape (dim, ..., dim, cells ...).
    """

    __array_priority__ = 2000
    __slots__ = ("dim", "name", "rank", "stored", "symmetric")
    _answers = "*"  # a Value on the left leaves every operator to this class
    dim: int
    name: str
    rank: int
    stored: Mapping[Index, Value]
    symmetric: bool

    def __init__(
        self, parts: Mapping[Index, Value], dim: int, rank: int, symmetric: bool = False, name: str = ""
    ) -> None:
        """`parts` (then `stored`) has a component for each index tuple; of a symmetric one for each ascending one."""
        for attribute, value in zip(self.__slots__, (dim, name, rank, parts, symmetric), strict=True):
            object.__setattr__(self, attribute, value)

    def component(self, index: Index) -> Value:
        """The component at a legal index tuple."""
        return self.stored[tuple(sorted(index)) if self.symmetric else index]

    def indices(self) -> tuple[Index, ...]:
        """All index tuples, the last index fastest."""
        return tuple(product(range(self.dim), repeat=self.rank))

    def __getitem__(self, key: object) -> Value:
        keys = key if isinstance(key, tuple) else (key,)
        text = text_here("this component")
        if len(keys) != self.rank:
            part = f"T[{', '.join('abcdefgh'[: self.rank]) if self.rank <= 8 else '...'}]"
            raise TraceError(
                f"{text} has {len(keys)} {'index' if len(keys) == 1 else 'indices'}, but {self.kind} has {self.rank}",
                advice=f"Write {part} for a component, {part}[+1, ...] for a neighbour, T.at(+1, axis) for the whole.",
            )
        refuse_distance(text, self.kind, self.rank)
        return self.component(tuple(self._whole(k, text) for k in keys))

    def _whole(self, key: object, text: str) -> int:
        if (number := whole_or_none(key)) is None:
            raise TraceError(
                f"{text}: a component's index is a whole number known when the cell is traced, not {key!r}",
                advice="Write v[0], or compose(lambda a: ...) for all components.",
            )
        if number >= self.dim and is_tracing():
            trace = current_trace("a component")
            if not trace.fixed and self.dim == trace.vector_dim and number < 3:
                raise DimensionFoundError(number + 1, fixed=False)
        if not 0 <= number < self.dim:
            known = "only component 0" if self.dim == 1 else f"components 0 to {self.dim - 1}"
            raise ComponentError(
                f"{text}: {self.kind} in {show_dim(self.dim)} has {known}, not {number}",
                advice=f"Write v[0] for a component, v.at({number:+d}, axis) for the vector {number:+d} cells on.",
            )
        return number

    @property
    def kind(self) -> str:
        """What it is, for messages: "the vector momentum", "a tensor of rank 2"."""
        what = "vector" if self.rank == 1 else f"tensor of rank {self.rank}"
        return f"the {what} {self.name}" if self.name else f"a {what}"

    @property
    def next(self) -> Tensor:
        """The values given to all components in this kernel; an error before they are given."""
        return self.map(lambda part: declared(part, self.name).next)

    @next.setter
    def next(self, value: object) -> None:
        current_trace(".next")
        for part in self.stored.values():
            declared(part, self.name)
        given = as_tensor(value)
        if isinstance(given, Tensor):
            check_alike(self, given)
            if self.symmetric and not given.symmetric:
                raise TraceError(
                    f"{self.name} is stored as a symmetric tensor, but {self.name}.next is given one that may not be",
                    advice="Write compose(lambda a, b: ..., symmetric=True) for the components with a <= b.",
                )
        elif isinstance(given, Value):
            raise TraceError(
                f"{self.kind} is given one value for all {len(self.stored)} components",
                advice=f"Write {self.name}.next = compose(lambda a: ...), or {self.name}[0].next for one component.",
            )
        for index, part in self.stored.items():
            part.next = given.component(index) if isinstance(given, Tensor) else cast(Value, given)

    @property
    def source(self) -> Tensor:
        """The vectors of the same particles seen as sources; a Python number is the same of all."""
        return self.map(source_of)

    def at(self, offset: int, axis: int) -> Tensor:
        """The whole tensor `offset` cells away along `axis`; a Python number is the same everywhere."""
        return self.map(lambda part: neighbour(part, offset, axis))

    def astype(self, dtype: object) -> Tensor:
        """Every component in another storage type."""
        return self.map(lambda part: part if isinstance(part, int | float) else part.astype(dtype))

    def map(self, function: Callable[[Value], object]) -> Tensor:
        """The tensor of function(component)."""
        return combine(function, self)

    def __iter__(self) -> Iterator[Value]:
        if self.rank != 1:
            raise TraceError(
                f"{self.kind} cannot be looped over or unpacked",
                advice="Write T[a, b] for a component, or compose(lambda a: T[a, 0]) for a column.",
            )
        return iter([self.component((a,)) for a in range(self.dim)])

    def __len__(self) -> int:
        return self.dim

    def __setitem__(self, key: object, value: object) -> None:
        raise TraceError(
            f"{text_here('a component')}: tensors never change",
            advice="Write v.next = compose(lambda a: ...), or v[0].next = value for one component.",
        )

    def __setattr__(self, name: str, value: object) -> None:
        if name != "next":
            raise TraceError(f".{name} of a tensor cannot be assigned", advice="Assign .next of a declared tensor.")
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):  # what Python and NumPy probe for
            raise AttributeError(name)
        raise TraceError(
            f"a tensor has no .{name}", advice="Use T[a, b], .next, .at(offset, axis), .map(f) or .astype(dtype)."
        )

    def __bool__(self) -> bool:
        raise TraceError(
            f"{text_here('a tensor')} asks for one true or false, but {self.kind} has {len(self.stored)} components",
            advice="Join conditions of components: (v[0] > 0) & (v[1] > 0).",
        )

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        """A new array of shape (dim, ..., dim, cells ...), if no component is traced."""
        if any(isinstance(part, Value) for part in self.stored.values()):
            raise TraceError(
                "a traced tensor is no array: it stands for whatever its fields hold at each step",
                advice="Use it as it is; np.sqrt(T) and np.where(c, S, T) work component by component.",
            )
        parts = np.broadcast_arrays(*(np.asarray(self.component(index)) for index in self.indices()))
        stacked = np.stack(parts).reshape((self.dim,) * self.rank + parts[0].shape)
        return stacked if dtype is None else stacked.astype(np.dtype(dtype))  # type: ignore[call-overload]  # NumPy's own check

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **options: object) -> Tensor:
        need_meaning(ufunc.__name__, method, sorted(options), self.kind)
        return combine(ufunc, *inputs)

    def __array_function__(
        self, function: Callable[..., object], types: object, arguments: tuple[object, ...], options: dict[str, object]
    ) -> Tensor:
        need_meaning(getattr(function, "__name__", str(function)), "", sorted(options), self.kind)
        return combine(function, *arguments)

    def __reduce__(self) -> tuple[object, ...]:
        return Tensor, (dict(self.stored), self.dim, self.rank, self.symmetric, self.name)

    def __repr__(self) -> str:
        shown = "".join(f" {index}: {part!r}" for index, part in self.stored.items() if isinstance(part, int | float))
        return f"<{self.kind.partition(' ')[2]}{', symmetric' * self.symmetric}, {show_dim(self.dim)}{shown}>"

    __hash__ = object.__hash__
    __floor__, __ceil__, __trunc__ = (lambda self, f=f: combine(f, self) for f in (math.floor, math.ceil, math.trunc))

    def __add__(self, other: object) -> Tensor:
        return combine(operator.add, self, other)

    def __radd__(self, other: object) -> Tensor:
        return self if type(other) is int and other == 0 else combine(operator.add, other, self)  # builtin sum

    def __sub__(self, other: object) -> Tensor:
        return combine(operator.sub, self, other)

    def __rsub__(self, other: object) -> Tensor:
        return combine(operator.sub, other, self)

    def __mul__(self, other: object) -> Tensor:
        return combine(operator.mul, self, other)

    def __rmul__(self, other: object) -> Tensor:
        return combine(operator.mul, other, self)

    def __truediv__(self, other: object) -> Tensor:
        return combine(operator.truediv, self, other)

    def __rtruediv__(self, other: object) -> Tensor:
        return combine(operator.truediv, other, self)

    def __floordiv__(self, other: object) -> Tensor:
        return combine(operator.floordiv, self, other)

    def __rfloordiv__(self, other: object) -> Tensor:
        return combine(operator.floordiv, other, self)

    def __mod__(self, other: object) -> Tensor:
        return combine(operator.mod, self, other)

    def __rmod__(self, other: object) -> Tensor:
        return combine(operator.mod, other, self)

    def __pow__(self, other: object) -> Tensor:
        return combine(operator.pow, self, other)

    def __rpow__(self, other: object) -> Tensor:
        return combine(operator.pow, other, self)

    def __and__(self, other: object) -> Tensor:
        return combine(operator.and_, self, other)

    def __rand__(self, other: object) -> Tensor:
        return combine(operator.and_, other, self)

    def __or__(self, other: object) -> Tensor:
        return combine(operator.or_, self, other)

    def __ror__(self, other: object) -> Tensor:
        return combine(operator.or_, other, self)

    def __xor__(self, other: object) -> Tensor:
        return combine(operator.xor, self, other)

    def __rxor__(self, other: object) -> Tensor:
        return combine(operator.xor, other, self)

    def __matmul__(self, other: object) -> NoReturn:
        raise TraceError(f"{text_here('@')}: @ has no meaning for tensors", advice="Write dot(a, b) or einsum.")

    __rmatmul__ = __matmul__

    def __neg__(self) -> Tensor:
        return combine(operator.neg, self)

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return combine(operator.abs, self)

    def __invert__(self) -> Tensor:
        return combine(operator.invert, self)

    def __round__(self, digits: int | None = None) -> Tensor:
        return combine(lambda part: round(part, digits), self)

    def __lt__(self, other: object) -> Tensor:
        return combine(operator.lt, self, other)

    def __le__(self, other: object) -> Tensor:
        return combine(operator.le, self, other)

    def __gt__(self, other: object) -> Tensor:
        return combine(operator.gt, self, other)

    def __ge__(self, other: object) -> Tensor:
        return combine(operator.ge, self, other)

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]  # conditions, as in NumPy
        return combine(operator.eq, self, other)

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]  # conditions, as in NumPy
        return combine(operator.ne, self, other)


def combine(function: Callable[..., object], *operands: object) -> Tensor:
    """The tensor of function(one component of each tensor or tuple of components; other operands as they are)."""
    operands = tuple(map(as_tensor, operands))
    tensors = [o for o in operands if isinstance(o, Tensor)]
    first, symmetric = tensors[0], all(t.symmetric for t in tensors)
    for other in tensors[1:]:
        check_alike(first, other)
    chosen = next((t for t in tensors if not t.symmetric), first)
    parts = {
        index: cast(Value, function(*(o.component(index) if isinstance(o, Tensor) else o for o in operands)))
        for index in chosen.stored
    }
    return Tensor(parts, first.dim, first.rank, symmetric)


def check_alike(a: Tensor, b: Tensor) -> None:
    """Refuse tensors of different dimension or rank."""
    text = text_here("this operation")
    if a.dim != b.dim:
        raise TraceError(
            f"{text}: {a.kind} in {show_dim(a.dim)} cannot be combined with {b.kind} in {show_dim(b.dim)}",
            advice="Use tensors of one dimension.",
        )
    if a.rank != b.rank:
        raise TraceError(
            f"{text}: {a.kind} cannot be combined with {b.kind}",
            advice="Use dot, outer or einsum to join ranks, or compose(lambda a, b: ...) for the components.",
        )


def components(values: object, rank: int | None = None) -> Tensor:
    """A tensor from its components: nested tuples or lists, or an array whose first `rank` axes are the indices.

    rank: by default the depth of nesting, and 1 for an array. A tensor of that rank is returned as it is.
    """
    text = text_here("components")
    if isinstance(values, Tensor):
        if rank not in (None, values.rank):
            raise TraceError(f"{text}: {values.kind} is no tensor of rank {rank}", advice=f"Use rank {values.rank}.")
        return values
    if not isinstance(values, tuple | list | np.ndarray) or (isinstance(values, np.ndarray) and not values.shape):
        raise TraceError(
            f"{text}: {type(values).__name__} has no components", advice="Pass (a, b), ((a, b), (c, d)) or an array."
        )
    depth = _depth(values) if rank is None else whole_or_none(rank)
    if depth is None or depth < 1:
        raise TraceError(f"{text}: no tensor has rank {rank!r}", advice="Use rank 1, 2, ...")
    parts: dict[Index, Value] = {}
    _collect(values, (), depth, len(values), parts)
    return Tensor(parts, need_dim(text, len(values)), depth)


def _depth(values: object) -> int:
    depth = 1
    while isinstance(values, tuple | list) and values and isinstance(values[0], tuple | list) and depth < 16:
        values, depth = values[0], depth + 1
    return depth


def _collect(values: object, index: Index, depth: int, dim: int, parts: dict[Index, Value]) -> None:
    if len(index) == depth:
        parts[index] = one_value(values, "components")
        return
    if not isinstance(values, tuple | list | np.ndarray) or len(values) != dim:
        found = len(values) if isinstance(values, tuple | list | np.ndarray) else "no"
        raise TraceError(
            f"{text_here('components')}: index {len(index)} has {found} components in one place, {dim} in another",
            advice="Give every index the same number of components.",
        )
    for a, part in enumerate(cast(Sequence[object], values)):
        _collect(part, (*index, a), depth, dim, parts)


def as_tensor(value: object) -> object:
    """A tuple or list of components as a tensor; anything else as it is."""
    return components(value) if isinstance(value, tuple | list) else value


def one_value(part: object, what: str) -> Value:
    """The part if it can be one component: a value, an array or a number."""
    if isinstance(part, Value | np.ndarray | np.generic | int | float):
        return cast(Value, part)
    raise TraceError(
        f"{text_here(what)}: {getattr(part, 'kind', repr(part))} is no component",
        advice="Give a value, an array or a number for each component.",
    )
