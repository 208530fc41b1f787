"""Own dimension: `dim` and `axes` of the cell that is being traced, for functions written outside of cells."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.frontend.trace import current_trace


class OwnDimension:
    """The number of dimensions of the cell being traced, for functions written outside cells."""

    def __index__(self) -> int:
        return current_trace("dim").vector_dim

    def __int__(self) -> int:
        return self.__index__()

    def __eq__(self, other: object) -> bool:
        return self.__index__() == other

    def __hash__(self) -> int:
        return hash(OwnDimension)

    def __add__(self, other: int) -> int:
        return self.__index__() + other

    __radd__ = __add__

    def __sub__(self, other: int) -> int:
        return self.__index__() - other

    def __mul__(self, other: int) -> int:
        return self.__index__() * other

    __rmul__ = __mul__

    def __lt__(self, other: int) -> bool:
        return self.__index__() < other

    def __le__(self, other: int) -> bool:
        return self.__index__() <= other

    def __gt__(self, other: int) -> bool:
        return self.__index__() > other

    def __ge__(self, other: int) -> bool:
        return self.__index__() >= other

    def __repr__(self) -> str:
        return "dim"


class OwnAxes:
    """The axis numbers 0 ... dim-1 of the cell being traced."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(current_trace("axes").vector_dim))

    def __len__(self) -> int:
        return current_trace("axes").vector_dim

    def __getitem__(self, index: int) -> int:
        return range(current_trace("axes").vector_dim)[index]

    def __repr__(self) -> str:
        return "axes"
