"""Server: the one setting of the notebook server, which loads this file because labextension/server.json says so.

The server is left alone unless it is on: this file imports nothing else of the package, and changes nothing.
"""

from __future__ import annotations

from typing import Any

from traitlets import Bool
from traitlets.config import Configurable


class StencilWorkbench(Configurable):
    """What jupyter_server_config.py may set: `c.StencilWorkbench.direct_frames = True`."""

    direct_frames = Bool(
        False,
        help="Send pictures of fields to a worker of the page over a connection of its own, and messages of kernel "
        "processes without delay (TCP_NODELAY). This replaces the class of the server's kernel connections.",
    ).tag(config=True)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Where the notebook server finds this extension; called by it."""
    return [{"module": __name__}]


def _load_jupyter_server_extension(application: Any) -> None:  # noqa: ANN401  # jupyter_server.serverapp.ServerApp
    """Called once, before the server listens."""
    if StencilWorkbench(parent=application).direct_frames:
        from workbench.notebook.direct_frames import send_directly

        send_directly(application.web_app)
