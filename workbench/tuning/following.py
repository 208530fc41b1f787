"""Following: a study that another process runs, read again and again while it has listeners."""

from __future__ import annotations

import threading
import time
import weakref
from math import inf
from typing import Protocol

from workbench.errors import TuningError

_PAUSE_SECONDS = 0.5
_LOOK_SECONDS = 0.1


class Followed(Protocol):
    """What is read again."""

    @property
    def watching(self) -> bool:
        """Whether another process may write more."""

    def refresh(self) -> object:
        """Read what is new, and tell listeners."""


def follow(study: Followed) -> threading.Thread:
    """A thread that reads until no process writes to the file, or the study is no longer referenced."""
    thread = threading.Thread(target=_follow, args=(weakref.ref(study),), name="study-follower", daemon=True)
    thread.start()
    return thread


def wait_for_writer(study: Followed, timeout: float | None) -> None:
    """Read until no process writes to the file, or for `timeout` seconds. TuningError if the file has gone."""
    end = inf if timeout is None else time.monotonic() + timeout
    while study.watching and time.monotonic() < end:
        time.sleep(_LOOK_SECONDS)
        study.refresh()


def _follow(reference: weakref.ref[Followed]) -> None:
    pause = threading.Event()
    while (study := reference()) is not None and study.watching:
        try:
            study.refresh()
        except TuningError:  # the file has gone
            return
        del study
        pause.wait(_PAUSE_SECONDS)
