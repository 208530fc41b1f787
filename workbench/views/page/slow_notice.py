"""A notice in a cell that takes long: it says what is going on, and gives way to what comes of it."""

from __future__ import annotations

import contextvars
import threading
from typing import Any, Self

from IPython.core.getipython import get_ipython
from IPython.display import display

SECONDS = 1.0  # shorter waits need no notice


class SlowNotice:
    """Shows `text` when its block lasts longer than `seconds`, with 0 at once.

    `replace` puts the result there, `leave` a line. If the block raises, the notice becomes empty: the error speaks.
    """

    def __init__(self, text: str, seconds: float = SECONDS) -> None:
        self._text = text
        # In the cell's context, by which a kernel process knows the cell: a thread has none, and what it shows would go
        # to the sender of the last message, which may be a view.
        self._timer = threading.Timer(seconds, contextvars.copy_context().run, (self._show,))
        self._timer.daemon = True
        self._handle: Any = None

    def __enter__(self) -> Self:
        if self._timer.interval:
            self._timer.start()
        else:
            self._show()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._end()
        if kind is not None and self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)

    def replace(self, shown: object) -> None:
        """Show `shown` where the notice is, or as a new output if there was none."""
        self._end()
        if self._handle is None:
            display(shown)
        else:
            self._handle.update(shown)

    def leave(self, text: str) -> None:
        """Let `text` stand where the notice is, if there is one."""
        self._end()
        if self._handle is not None:
            self._handle.update({"text/plain": text}, raw=True)

    def _show(self) -> None:
        self._handle = display({"text/plain": self._text}, raw=True, display_id=True)

    def _end(self) -> None:
        """No notice from here on; one that is being shown is finished first."""
        self._timer.cancel()
        if self._timer.ident is not None:
            self._timer.join()


def in_kernel() -> bool:
    """Whether a cell of a notebook waits for the caller."""
    shell = get_ipython()  # type: ignore[no-untyped-call, unused-ignore]
    return getattr(shell, "kernel", None) is not None and threading.current_thread() is threading.main_thread()
