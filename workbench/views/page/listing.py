"""Listing: a text or a table on a page, linked both ways; the page's half is labextension/src/kernel/listing.ts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Protocol

from workbench.views.page.feeder import CLOSING_SECONDS, Feeder
from workbench.views.page.message import Message


class ListingPage(Protocol):
    """The other end: something that shows messages. `send_message` is called in the listing's own thread."""

    listener: Any

    @property
    def model_id(self) -> str:
        """By which a notebook finds it again."""

    def send_message(self, message: Message) -> None:
        """Send; must not wait for an answer."""

    def close(self) -> None:
        """Take it off the page and free it."""


def listing_page() -> ListingPage | None:
    """A new page's end; None where the library that speaks to pages is not installed."""
    if find_spec("ipywidgets") is None:
        return None
    from workbench.views.page.canvas import Canvas

    return Canvas("Listing")


class Listing:
    """The wire between one view and its pages, with a thread of its own while there is a page.

    `opened()` gives the messages that bring a page up to date, `working()` what is said until they are made ("" for
    what is quick); `obey(message)` acts on what a page says. All are called in that thread, so they may take their
    time. All methods return at once and may be called by any thread.
    """

    def __init__(
        self,
        page: ListingPage | None,
        *,
        opened: Callable[[], Sequence[Message]],
        working: Callable[[], str],
        obey: Callable[[Mapping[str, object]], None],
        name: str,
    ) -> None:
        self._page, self._opened, self._working, self._obey, self._name = page, opened, working, obey, name
        self._lock = threading.Lock()
        self._feeder: Feeder | None = None
        self._closed = False
        if page is not None:
            page.listener = self

    @property
    def live(self) -> bool:
        """Whether some page looks."""
        return self._feeder is not None

    def send(self, messages: Callable[[], Sequence[Message]]) -> None:
        """Make messages and send them, in the listing's thread; nothing at all while no page looks."""
        feeder = self._feeder
        if feeder is not None:
            feeder.post(lambda: self._send(messages()))

    def update(self) -> None:
        """Bring pages up to date, if there are any; they are told of what takes long."""
        self.send(self._wait)
        self.send(self._opened)

    def close(self) -> None:
        """Free the page and the thread. Closing twice does nothing."""
        self._closed = True
        self.leave(CLOSING_SECONDS)
        page, self._page = self._page, None
        if page is not None:
            page.listener = None
            page.close()

    # --- what the page says -------------------------------------------------------------------------------------------

    def ready(self) -> None:
        """A page is there, for the first time or again: tell it everything."""
        with self._lock:
            if self._closed:
                return
            if self._feeder is None or not self._feeder.alive:
                self._feeder = Feeder(self._shown, lambda: None, self._fail, name=self._name)
        self.update()

    def leave(self, seconds: float = 0.0) -> None:
        """No page is left; wait at most so long for the thread, not at all for a page."""
        with self._lock:
            feeder, self._feeder = self._feeder, None
        if feeder is not None:
            feeder.end(seconds)

    def receive(self, message: Mapping[str, object]) -> None:
        """A message of the page."""
        feeder = self._feeder
        if feeder is not None:
            feeder.post(lambda: self._obey(message))

    # --- in the listing's thread --------------------------------------------------------------------------------------

    def _shown(self, number: int) -> None:
        """Messages went out with their command; there are no frames to wait for."""
        feeder = self._feeder
        if feeder is not None:
            feeder.acknowledge(number)

    def _wait(self) -> tuple[Message, ...]:
        text = self._working()
        return (Message({"type": "status", "text": text}),) if text else ()

    def _fail(self, text: str) -> None:
        self._send((Message({"type": "error", "text": text}),))

    def _send(self, messages: Sequence[Message]) -> None:
        for message in messages:
            page = self._page
            if page is not None:
                page.send_message(message)
