"""Forking: a forked process has its parent's memory, and of its threads only the one that forked."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol


class Renewable(Protocol):
    """What has locks, or waits for threads, that a forked process must not wait for."""

    def renew_in_child(self) -> None:
        """Called in the forked process, before anything else runs there: take new locks, forget other threads."""


_renewable: weakref.WeakSet[Renewable] = weakref.WeakSet()


def forkable_lock() -> threading.Lock:
    """A lock for a moment's work on what a module holds: no thread has it while the process is forked."""
    lock = threading.Lock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


def renew_when_forked(thing: Renewable) -> None:
    """Have it renewed in every process forked from this one; it is held weakly."""
    _renewable.add(thing)


def _renew() -> None:
    for thing in list(_renewable):
        thing.renew_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
