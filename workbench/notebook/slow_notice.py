"""A notice in the place of a card for cells that take long: it says what is going on and gives way to the card."""

from __future__ import annotations

import threading
from typing import Any, Self

from IPython.display import display

SECONDS = 1.0  # shorter waits need no notice


class SlowNotice:
    """Shows `text` when its block lasts longer than `seconds`; `replace` puts the result there.

    If the block raises, the notice becomes empty, and the error speaks.
    """

    def __init__(self, text: str, seconds: float = SECONDS) -> None:
        self._text = text
        self._timer = threading.Timer(seconds, self._show)
        self._timer.daemon = True
        self._handle: Any = None

    def __enter__(self) -> Self:
        self._timer.start()
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

    def _show(self) -> None:
        self._handle = display({"text/plain": self._text}, raw=True, display_id=True)

    def _end(self) -> None:
        """No notice from here on; one that is being shown is finished first."""
        self._timer.cancel()
        self._timer.join()
