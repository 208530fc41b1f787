"""Room: what waits in memory for later calls is given up where a call finds too little."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Protocol, TypeVar

from workbench.errors import NoRoomError

_Made = TypeVar("_Made")


class Keeper(Protocol):
    """What keeps memory that only saves time."""

    def give_up(self) -> None:
        """Free it; called from any thread."""


_keepers: weakref.WeakSet[Keeper] = weakref.WeakSet()


def register(keeper: Keeper) -> None:
    """Have it give up its memory where there is too little; it is held weakly."""
    _keepers.add(keeper)


def with_room(make: Callable[[], _Made], what: str) -> _Made:
    """What `make` allocates, if need be after all keepers have given up theirs.

    what: for whom it is, for the error. Raises NoRoomError where there is too little all the same.
    """
    try:
        return make()
    except (MemoryError, NoRoomError):
        for keeper in list(_keepers):
            keeper.give_up()
    try:
        return make()
    except MemoryError as error:
        raise NoRoomError(
            f"there is no memory for {what}: {error or 'none left'}",
            advice="Give smaller arrays or float32, or close other programs.",
        ) from error
