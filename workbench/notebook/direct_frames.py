"""Direct frames: pictures of fields go from the notebook server to a worker of the page, where that is configured."""

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
TOLD = "stencilWorkbenchDirectFrames"  # in the page's configuration; labextension/src/kernel/channel.ts
MOST_UNREAD = 4 << 20  # bytes that wait for a worker; three planes of 1024 x 1024 cells are 3 << 20
METADATA, CONTENT = 2, 3  # parts of a message, after the header and that of the message it answers

_streams: dict[tuple[str, str], Stream] = {}


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

    unread = 0  # bytes handed to tornado that it has not yet handed to the operating system

    async def connect(self) -> None:
        """From now on pictures go here; called when the connection is open."""
        _streams[self.kernel_id, self.session_id] = self

    def disconnect(self) -> None:
        """No more; called when it has closed."""
        if _streams.get((self.kernel_id, self.session_id)) is self:
            del _streams[self.kernel_id, self.session_id]

    def handle_incoming_message(self, incoming_msg: str) -> None:
        """A page's worker says nothing."""

    def take(self, picture: bytes) -> bool:
        """Send this; False where it has just closed, or its worker does not read, so that the page gets it instead."""
        if self.unread and self.unread + len(picture) > MOST_UNREAD:
            return False
        try:
            sent = self.websocket_handler.write_message(picture, binary=True)
        except WebSocketClosedError:  # it has not said so yet
            return False
        self.unread += len(picture)

        def gone(done: Any) -> None:  # noqa: ANN401  # asyncio.Future
            self.unread -= len(picture)
            if not done.cancelled():
                done.exception()  # of a connection that has closed: heard, so that it is not logged

        sent.add_done_callback(gone)
        return True


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
            own = _streams.get((self.kernel_id, self.session_id))
            left = outgoing_msg if own is None else without_bodies(outgoing_msg, own)
            super().handle_outgoing_message(stream, left)

    return DividedConnection


def without_bodies(message: list[bytes], stream: Stream) -> list[bytes]:
    """Send this message of a kernel process to a stream if it is a picture; what is left of it for the page.

    Its parts: who it is for, a delimiter, a signature of the four next ones, header, header of the message it answers,
    metadata, content, bodies (https://jupyter-client.readthedocs.io/en/stable/messaging.html, "The wire protocol").
    """
    first = message.index(DELIM) + 2
    parts = message[first:]
    if len(parts) == CONTENT + 1 or APART.encode() not in parts[METADATA]:
        return message
    if not stream.take(serialize_msg_to_ws_v1(parts, "iopub")):
        return message
    return message[: first + CONTENT + 1]


def send_directly(web_app: Any) -> None:  # noqa: ANN401  # jupyter_server.serverapp.ServerWebApplication
    """Change connections, whichever class the server was configured with, and tell pages of it."""
    settings = web_app.settings
    connection = settings.get(SETTING)
    if not isinstance(connection, type):
        return
    settings[SETTING] = prompt(connection)
    if issubclass(connection, ZMQChannelsWebsocketConnection):  # another one may hand messages on in another way
        settings[SETTING] = apart(settings[SETTING])
        web_app.add_handlers(".*$", [(url_path_join(settings["base_url"], *PLACE), StreamHandler)])
        settings.setdefault("page_config_data", {})[TOLD] = True
