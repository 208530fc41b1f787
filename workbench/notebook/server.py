"""Server: what the notebook server does for live views; it loads this file because labextension/server.json says so."""

from __future__ import annotations

from typing import Any

from jupyter_client.session import DELIM
from jupyter_server.services.kernels.connection.base import BaseKernelWebsocketConnection, serialize_msg_to_ws_v1
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler
from jupyter_server.utils import url_path_join
from tornado.websocket import WebSocketClosedError

from workbench.views.page.live import APART

SETTING = "kernel_websocket_connection_class"
PLACE = ("stencil-workbench", "kernels", "(?P<kernel_id>[^/]+)", "frames")  # labextension/src/kernel/channel.ts
METADATA, CONTENT = 2, 3  # parts of a message, after the header and that of the message it answers

_streams: dict[tuple[str, str], KernelWebsocketHandler] = {}


def prompt(connection: type[Any]) -> type[Any]:
    """This class of connections between a page and a kernel process, but what it sends goes out at once.

    By default the operating system holds the last part of a message back until the page has confirmed the one before
    (Nagle's algorithm, RFC 896), and the page confirms after up to 40 ms (RFC 1122, 4.2.3.2): a frame then waits for
    the next one. tornado says so at `WebSocketHandler.set_nodelay`, and leaves it to the application.
    """

    class PromptConnection(connection):  # type: ignore[misc]  # known when the server runs
        def connect(self) -> Any:  # noqa: ANN401  # awaited by the server; a coroutine or a future, by its version
            self.websocket_handler.set_nodelay(True)
            return super().connect()

    return PromptConnection


class Stream(BaseKernelWebsocketConnection):  # type: ignore[misc]  # jupyter_server's traits carry no annotations
    """The connection of a page's worker, over which pictures come to it without passing the page.

    It belongs to the page's own connection with the same kernel process and session. Nothing is heard from it.
    """

    async def connect(self) -> None:
        """From now on pictures go here; called when the connection is open."""
        _streams[self.kernel_id, self.session_id] = self.websocket_handler

    def disconnect(self) -> None:
        """No more; called when it has closed."""
        if _streams.get((self.kernel_id, self.session_id)) is self.websocket_handler:
            del _streams[self.kernel_id, self.session_id]

    def handle_incoming_message(self, incoming_msg: str) -> None:
        """A page's worker says nothing."""


class StreamHandler(KernelWebsocketHandler):  # type: ignore[misc]  # the same
    """Lets in whom the server lets in to the kernel process itself, by its own rules."""

    kernel_websocket_connection_class = prompt(Stream)


def apart(connection: type[Any]) -> type[Any]:
    """This class of connections, but pictures go to the stream of the page's worker, where there is one.

    The page still gets the words of each frame, in their order with everything else; a page that is busy for a while
    (JupyterLab's own work, the browser's collection of garbage) does not keep a picture from the screen.
    """

    class DividedConnection(connection):  # type: ignore[misc]  # known when the server runs
        def handle_outgoing_message(self, stream: Any, outgoing_msg: list[bytes]) -> None:  # noqa: ANN401  # zmq's or str
            handler = _streams.get((self.kernel_id, self.session_id))
            left = outgoing_msg if handler is None else without_bodies(outgoing_msg, handler)
            super().handle_outgoing_message(stream, left)

    return DividedConnection


def without_bodies(message: list[bytes], handler: KernelWebsocketHandler) -> list[bytes]:
    """Send this message of a kernel process to a stream if it is a picture; what is left of it for the page.

    Its parts: who it is for, a delimiter, a signature of the four next ones, header, header of the message it answers,
    metadata, content, bodies (https://jupyter-client.readthedocs.io/en/stable/messaging.html, "The wire protocol").
    """
    first = message.index(DELIM) + 2
    parts = message[first:]
    if len(parts) == CONTENT + 1 or APART.encode() not in parts[METADATA]:
        return message
    try:
        handler.write_message(serialize_msg_to_ws_v1(parts, "iopub"), binary=True)
    except WebSocketClosedError:  # just now: it has not said so yet
        return message
    return message[: first + CONTENT + 1]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Where the notebook server finds this extension; called by it."""
    return [{"module": __name__}]


def _load_jupyter_server_extension(application: Any) -> None:  # noqa: ANN401  # jupyter_server.serverapp.ServerApp
    """Change connections, whichever class the server was configured with; called once, before it listens."""
    settings = application.web_app.settings
    connection = settings.get(SETTING)
    if not isinstance(connection, type):
        return
    settings[SETTING] = prompt(connection)
    if issubclass(connection, ZMQChannelsWebsocketConnection):  # another one may hand messages on in another way
        settings[SETTING] = apart(settings[SETTING])
        application.web_app.add_handlers(".*$", [(url_path_join(settings["base_url"], *PLACE), StreamHandler)])
