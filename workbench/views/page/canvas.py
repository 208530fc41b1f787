"""Canvas: the kernel process's end of the widgets on a page; the only file that speaks to a page."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, Protocol

from comm import get_comm_manager
from ipywidgets import DOMWidget, Widget
from traitlets import Unicode

from workbench._version import __version__
from workbench.views.page.live import APART
from workbench.views.page.message import Message
from workbench.views.registry.channel import serve_registry

MODULE = "stencil-workbench"
CHANNEL = "stencil-workbench.page"


class Listener(Protocol):
    """Who acts on what a page says; every method returns at once."""

    def ready(self) -> None:
        """A page is there."""

    def leave(self) -> None:
        """No page is left."""

    def receive(self, message: Mapping[str, object]) -> None:
        """A message."""


class Canvas(DOMWidget):  # type: ignore[misc]  # ipywidgets carries no annotations
    """One view on a page. Messages go out over the widget's own comm, which the kernel process opened.

    What the page says comes in over a second comm that the page opens and on which this end never sends: ipykernel
    answers a comm in the thread that last sent on it, and so these messages are handled while a cell runs.
    """

    _model_name = Unicode().tag(sync=True)
    _model_module = Unicode(MODULE).tag(sync=True)
    _model_module_version = Unicode(f"^{__version__}").tag(sync=True)
    _view_name = Unicode().tag(sync=True)
    _view_module = Unicode(MODULE).tag(sync=True)
    _view_module_version = Unicode(f"^{__version__}").tag(sync=True)

    def __init__(self, kind: str = "Field") -> None:
        """`kind` names the classes of the front end, FieldModel and FieldView."""
        super().__init__(_model_name=f"{kind}Model", _view_name=f"{kind}View")
        self.listener: Listener | None = None
        self.channels: set[str] = set()
        self.on_msg(lambda _, content, buffers: self.hear(content))
        _canvases[self.model_id] = self
        get_comm_manager().register_target(CHANNEL, _opened)
        serve_registry()

    def send_message(self, message: Message) -> None:
        """Send to every page that shows this widget, as ipywidgets' own `send` does; that one takes no metadata."""
        if self.comm is not None:
            data = {"method": "custom", "content": dict(message.content)}
            metadata = {APART: True} if message.apart else None
            self.comm.send(data=data, metadata=metadata, buffers=list(message.buffers) or None)

    def close(self) -> None:
        """Off the page, with the layout that was made for it."""
        close_parts(self)
        super().close()

    def hear(self, content: object) -> None:
        """Hand on what a page says, by either way."""
        if self.listener is None or not isinstance(content, dict):
            return
        if content.get("type") == "ready":
            self.listener.ready()
        else:
            self.listener.receive(content)


def close_widget(widget: Widget) -> None:
    """Take an ipywidget off the page, with what ipywidgets made for it and would keep for ever."""
    close_parts(widget)
    widget.close()


def close_parts(widget: Widget) -> None:
    """Free a widget's layout and style."""
    for name in ("layout", "style"):
        part = getattr(widget, name, None)
        if isinstance(part, Widget):
            part.close()


_canvases: weakref.WeakValueDictionary[str, Canvas] = weakref.WeakValueDictionary()


def _opened(comm: Any, message: Mapping[str, Any]) -> None:  # noqa: ANN401  # comm.base_comm.BaseComm
    """A page opened its channel. Nothing is sent here: an answer would bind the channel to this thread."""
    data = message["content"]["data"]
    canvas = _canvases.get(str(data.get("model_id")))
    if canvas is None:
        return
    canvas.channels.add(comm.comm_id)
    # In place of `on_msg`, which has IPython's hooks of a cell run around each message, here in another thread than the
    # cell that runs: matplotlib would show and close what that cell has begun to draw.
    comm.handle_msg = lambda told: _heard(canvas, comm.comm_id, told["content"]["data"])
    comm.on_close(lambda _: _left(canvas, comm.comm_id))


def _heard(canvas: Canvas, channel: str, content: object) -> None:
    if isinstance(content, dict) and content.get("type") == "leave":
        _left(canvas, channel)
    else:
        canvas.hear(content)


def _left(canvas: Canvas, channel: str) -> None:
    canvas.channels.discard(channel)
    if not canvas.channels and canvas.listener is not None:
        canvas.listener.leave()
