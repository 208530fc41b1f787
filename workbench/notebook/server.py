"""Server: what the notebook server does for live views; it loads this file because labextension/server.json says so."""

from __future__ import annotations

from typing import Any

SETTING = "kernel_websocket_connection_class"


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


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Where the notebook server finds this extension; called by it."""
    return [{"module": __name__}]


def _load_jupyter_server_extension(application: Any) -> None:  # noqa: ANN401  # jupyter_server.serverapp.ServerApp
    """Make connections prompt, whichever class the server was configured with; called once, before it listens."""
    settings = application.web_app.settings
    if isinstance(settings.get(SETTING), type):
        settings[SETTING] = prompt(settings[SETTING])
