"""Identity: remember what was computed of the last few records, told apart as objects and not by their content."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

Record = TypeVar("Record")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class _Same(Generic[Record]):
    """A record as a key, equal to itself alone: comparing thousands of nodes takes longer than a view may."""

    record: Record

    def __hash__(self) -> int:
        return id(self.record)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.record is self.record


def by_identity(*, size: int) -> Callable[[Callable[[Record], Result]], Callable[[Record], Result]]:
    """A decorator: keep the results for the last `size` records, which therefore live on until others replace them."""

    def decorate(compute: Callable[[Record], Result]) -> Callable[[Record], Result]:
        kept = lru_cache(maxsize=size)(lambda key: compute(key.record))
        return lambda record: kept(_Same(record))

    return decorate


class Remembered(Generic[Record]):
    """The last `size` records that were added, told apart as objects; they live on until others replace them."""

    def __init__(self, size: int) -> None:
        self._records: deque[Record] = deque(maxlen=size)

    def add(self, record: Record) -> Record:
        """Remember the record and return it."""
        self._records.append(record)
        return record

    def __contains__(self, record: object) -> bool:
        return any(each is record for each in tuple(self._records))  # a copy: other threads may add
