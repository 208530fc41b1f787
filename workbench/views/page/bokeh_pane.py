"""BokehPane: a Bokeh figure or layout on a page, changed in one message at a time; a picture and words elsewhere.

    pane = BokehPane(figure, label="memory over the step", picture=draw, text=words)
    pane.patch(lambda: source.data.update(y=values))      # any thread; what changed inside goes out as one message
    pane.on_event(figure, "doubletap", lambda event: ...) # Bokeh's own events, called in the pane's thread
    pane.on_key(lambda key: ...); pane.on_tool(lambda name, value: ...); pane.on_theme(lambda dark: ...)

BokehJS comes from the installed bokeh over the widget's connection, once a page: no CDN, and always the same version.
"""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import bokeh
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent
from bokeh.embed.util import standalone_docs_json_and_render_items
from bokeh.protocol import Protocol
from bokeh.resources import Resources

from workbench.views.drawing.shapes import Drawing, to_png, to_svg
from workbench.views.page.bokeh_theme import page_theme
from workbench.views.page.canvas import Canvas
from workbench.views.page.feeder import CLOSING_SECONDS, Feeder
from workbench.views.page.live import live_entries
from workbench.views.page.message import Message


@dataclass(frozen=True, slots=True)
class Tool:
    """A control above the drawing; `title` explains it. A "search" and a "choice" say their text with their name.

    seldom: waits behind another button where there is little room.
    """

    name: str
    label: str
    title: str = ""
    kind: Literal["button", "choice", "search"] = "button"
    seldom: bool = False


@dataclass(frozen=True, slots=True)
class ToolState:
    """What a control shows now. pressed: of a button that stays down, else None. An empty label stays as it was.

    hidden: it would say nothing of what is shown.
    """

    name: str
    disabled: bool = False
    hidden: bool = False
    pressed: bool | None = None
    label: str = ""
    value: str = ""
    options: tuple[str, ...] = ()


SAVING = (
    Tool("save-svg", "SVG", "Save the picture as an SVG file", seldom=True),
    Tool("save-png", "PNG", "Save the picture as a PNG file", seldom=True),
)

Key = str
"""As pages name keys: "Enter", "ArrowLeft", "z"; with "Control+", "Shift+" in front where they are held."""


class BokehPane:
    """One Bokeh document, on any number of pages. `close()` frees page, thread and document.

    All work on the document happens under one lock; with a page, in the pane's own thread. Changes go out when the
    page has drawn the earlier ones, combined, so that a slow page is never behind. Without a page `patch` works at
    once and in the caller's thread.
    """

    def __init__(
        self,
        root: Any,  # noqa: ANN401  # a Bokeh layout or figure
        *,
        label: str,
        picture: Callable[[], Drawing],
        text: Callable[[], str],
        keys: tuple[Key, ...] = (),
        tools: tuple[Tool, ...] = (),
        legend: tuple[tuple[str, Drawing], ...] = (),
    ) -> None:
        """`root` belongs to the pane from now on.

        label: what a screen reader says. picture, text: what is shown where no page draws it; called when asked for.
        keys: those that `on_key` wants and the page must not use otherwise. tools: controls; saving is added.
        legend: words and small pictures, shown below the drawing.
        """
        self._document = root.document or Document()
        if root.document is None:
            self._document.add_root(root)
        self._document.theme = page_theme(dark=False)
        self._root, self._label, self._picture, self._text = root, label, picture, text
        self._keys, self._tools = keys, (*tools, *SAVING)
        self._legend = legend
        self._states: dict[str, ToolState] = {}
        self._lock = threading.RLock()
        self._saying = threading.Lock()  # of `say`: the text said last is also sent last
        self._gate = threading.Lock()  # of the feeder: handlers of messages must not wait for work on the document
        self._changes: list[DocumentPatchedEvent] = []
        self._document.on_change(self._collect)
        self._key_callbacks: list[Callable[[Key], None]] = []
        self._tool_callbacks: list[Callable[[str, str], None]] = []
        self._theme_callbacks: list[Callable[[bool], None]] = []
        self._feeder: Feeder | None = None
        self._closed = False
        self._status = ""
        self._page: Canvas | None = Canvas("Pane")
        self._page.listener = self

    # --- for views ----------------------------------------------------------------------------------------------------

    @property
    def widget(self) -> Canvas:
        """The widget itself, for containers of ipywidgets."""
        assert self._page is not None, "the pane is closed"
        return self._page

    @property
    def live(self) -> bool:
        """Whether some page shows it."""
        return self._feeder is not None

    def patch(self, change: Callable[[], None]) -> None:
        """Call `change()`, which may do anything to the document, and send what came of it as one message."""
        feeder = self._feeder
        if feeder is None:
            self._locked(change)
        else:
            feeder.post(lambda: self._locked(change))

    def say(self, text: str) -> None:
        """Show a line below the drawing, which screen readers speak."""
        with self._saying:  # in the caller's thread: the pane's own may be at work for long
            self._status = text
            if self._feeder is not None:
                self._send(Message({"type": "status", "text": text}))

    def hand_text(self, text: str) -> None:
        """Show lines below the drawing to be copied, and copy them where the page may."""
        self._send(Message({"type": "copy", "text": text}))

    def on_event(self, model: Any, name: str, callback: Callable[[Any], None]) -> None:  # noqa: ANN401  # Bokeh's
        """Call with every event of a model: "tap", "doubletap", "rangesupdate"; its fields are those of Bokeh's."""
        with self._lock:
            model.on_event(name, callback)
            # Bokeh does this when a model enters a document, and not for what is asked for later.
            self._document.callbacks.subscribe(name, model)

    def on_key(self, callback: Callable[[Key], None]) -> None:
        """Call with every key of `keys` that is pressed while the drawing has the focus."""
        self._key_callbacks.append(callback)

    def on_tool(self, callback: Callable[[str, str], None]) -> None:
        """Call with the name and the text of every control that is used."""
        self._tool_callbacks.append(callback)

    def show_tools(self, *states: ToolState) -> None:
        """What controls show from now on."""
        changed = tuple(state for state in states if self._states.get(state.name) != state)
        self._states.update({state.name: state for state in changed})
        feeder = self._feeder
        if changed and feeder is not None:
            feeder.post(lambda: self._send_states(changed))

    def on_theme(self, callback: Callable[[bool], None]) -> None:
        """Call with True when the page is dark and with False when it is light; figures themselves are seen to."""
        self._theme_callbacks.append(callback)

    def close(self) -> None:
        """Off the page, thread ended, document freed. Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        self.leave(CLOSING_SECONDS)
        page, self._page = self._page, None
        if page is not None:
            page.listener = None
            page.close()
        with self._lock:
            self._document.remove_on_change(self._collect)
            self._document.clear()
            self._changes.clear()

    # --- what the page says; returns at once --------------------------------------------------------------------------

    def ready(self) -> None:
        """A page that says no more than this; those of this version say "opened"."""

    def leave(self, seconds: float = 0.0) -> None:
        """No page is left; wait at most so long for the thread, not at all for a page."""
        feeder, self._feeder = self._feeder, None
        if feeder is not None:
            feeder.end(seconds)

    def receive(self, message: Mapping[str, object]) -> None:
        """A message of the page; one that cannot be read is ignored."""
        if self._closed:
            return
        with self._gate:
            if self._feeder is None or not self._feeder.alive:
                if message.get("type") != "opened":
                    return
                self._feeder = Feeder(self._show, lambda: None, self._fail, name="bokeh pane")
            feeder = self._feeder
        number = message.get("number")
        if message.get("type") == "drawn" and isinstance(number, int):
            feeder.acknowledge(number)
        else:
            feeder.post(lambda: self._obey(message))

    # --- in the pane's thread -----------------------------------------------------------------------------------------

    def _obey(self, message: Mapping[str, object]) -> None:
        match message.get("type"):
            case "opened":
                self._locked(lambda: self._set_theme(bool(message.get("dark"))))
                self._open(str(message.get("view")), str(message.get("bokeh")))
            case "theme":
                self._locked(lambda: self._set_theme(bool(message.get("dark"))))
            case "key":
                for callback in self._key_callbacks:
                    callback(str(message.get("key")))
            case "tool":
                self._use_tool(str(message.get("name")), str(message.get("value")))
            case "patch":
                patch = message.get("patch")
                if isinstance(patch, dict):
                    self._locked(lambda: self._document.apply_json_patch(patch, setter=self))
            case _:
                pass

    def _use_tool(self, name: str, value: str) -> None:
        if name == "save-svg":
            self._send_file("svg", "image/svg+xml", self.svg.encode())
        elif name == "save-png":
            self._send_file("png", "image/png", self.png)
        else:
            for callback in self._tool_callbacks:
                callback(name, value)

    def _send_file(self, ending: str, mime: str, body: bytes) -> None:
        name = re.sub(r"\W+", "-", self._label).strip("-")[:60]
        self._send(Message({"type": "file", "name": f"{name}.{ending}", "mime": mime}, (body,)))

    def _send_states(self, states: tuple[ToolState, ...]) -> None:
        self._send(Message({"type": "tools", "states": [asdict(state) for state in states]}))

    def _open(self, view: str, versions: str) -> None:
        """Bring one page up to date: library if it has another one, then the document as it is now."""
        if bokeh.__version__ not in versions.split():
            source = "\n".join(Resources(mode="inline", minified=True, components=["bokeh"]).js_raw)
            self._send(Message({"type": "library", "version": bokeh.__version__}, (source.encode(),)))
        with self._lock:
            self._show(0)  # other pages must not get twice what this document holds already
            documents, _ = standalone_docs_json_and_render_items([self._root], suppress_callback_warning=True)
            content = {
                "type": "document",
                "view": view,
                "version": bokeh.__version__,
                "label": self._label,
                "keys": list(self._keys),
                "tools": [asdict(tool) for tool in self._tools],
                "legend": [{"text": words, "picture": to_svg(drawing)} for words, drawing in self._legend],
            }
            body = serialize_json(next(iter(documents.values()))).encode()
            self._send(Message(content, (body,)))
        self._send_states(tuple(self._states.values()))
        with self._saying:
            self._send(Message({"type": "status", "text": self._status}))

    def _show(self, number: int) -> None:
        """Send what has changed; number 0 is not acknowledged."""
        with self._lock:
            changes, self._changes = self._changes, []
            if changes:
                patch = Protocol().create("PATCH-DOC", changes)
                names = [buffer.ref["id"] for buffer in patch.buffers]
                content = {"type": "patch", "number": number, "content": patch.content_json, "names": names}
                self._send(Message(content, tuple(buffer.to_bytes() for buffer in patch.buffers)))
        feeder = self._feeder
        if not changes and feeder is not None and number:
            feeder.acknowledge(number)

    def _locked(self, change: Callable[[], None]) -> None:
        with self._lock:
            if not self._closed:
                self._thawed(change)
        feeder = self._feeder
        if feeder is not None and self._changes:
            feeder.changed()

    def _thawed(self, change: Callable[[], None]) -> None:
        """Bokeh walks through all models at many a change: let it do so once, afterwards."""
        failed: Exception | None = None
        with self._document.models.freeze():  # which an exception would leave frozen
            try:
                change()
            except Exception as error:
                failed = error
        if failed is not None:
            raise failed

    def _collect(self, event: DocumentPatchedEvent) -> None:
        """Keep what a page does not know yet; one that comes later gets the whole document."""
        if self._feeder is None or getattr(event, "setter", None) is self or not hasattr(event, "combine"):
            return
        if not any(earlier.combine(event) for earlier in self._changes):
            self._changes.append(event)

    def _set_theme(self, dark: bool) -> None:
        self._document.theme = page_theme(dark)
        for callback in self._theme_callbacks:
            callback(dark)

    def _fail(self, text: str) -> None:
        self.say(text)

    def _send(self, message: Message) -> None:
        page = self._page
        if page is not None:
            page.send_message(message)

    # --- without a page -----------------------------------------------------------------------------------------------

    @property
    def svg(self) -> str:
        """The picture as an SVG file's text."""
        return to_svg(self._picture())

    @property
    def png(self) -> bytes:
        """The picture as a PNG file."""
        return to_png(self._picture())

    def __repr__(self) -> str:
        return self._text()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        """Live where the page has the extension, a picture elsewhere, and words."""
        bundle: dict[str, object] = {
            "text/plain": self._text(),
            "image/png": base64.b64encode(self.png).decode("ascii"),
        }
        return bundle | self.mime

    @property
    def mime(self) -> dict[str, object]:
        """The entries of a mime bundle by which a notebook finds the pane; none once it is closed."""
        return {} if self._page is None else live_entries(self._page.model_id)
