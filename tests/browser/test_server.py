"""The notebook server sends what a kernel process says at once."""

import json
import subprocess
import sys

import pytest

from tests.browser.lab import ROOT, SERVER

pytestmark = pytest.mark.browser

# A server that opens a connection to itself and then asks the operating system about its own end of it.
PROGRAM = """
import asyncio, gc, json, socket, sys, time
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler
from tornado.websocket import websocket_connect

async def ask(server):
    kernel = await server.kernel_manager.start_kernel()
    page = await websocket_connect(f"ws://127.0.0.1:{server.port}/api/kernels/{kernel}/channels?token=t")
    header = {"msg_type": "kernel_info_request", "msg_id": "1", "session": "1", "username": "", "version": "5.3"}
    asked = {"channel": "shell", "header": header, "parent_header": {}, "metadata": {}, "content": {}}
    await page.write_message(json.dumps(asked))
    await page.read_message()  # so its connection is made
    (handler,) = [each for each in gc.get_objects() if isinstance(each, KernelWebsocketHandler)]
    ours = handler.ws_connection.stream.socket
    print("prompt:", ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0)
    page.close()
    server.stop()

server = ServerApp()
server.initialize(["--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", "--IdentityProvider.token=t", "--no-browser",
    "--allow-root", f"--ServerApp.root_dir={sys.argv[1]}"])
server.io_loop.add_callback(ask, server)
server.start()
"""


@pytest.mark.parametrize("enabled", [True, False])
def test_messages_of_the_kernel_process_are_not_held_back(tmp_path, enabled):
    configuration = json.loads(SERVER.read_text())
    extensions = configuration["ServerApp"]["jpserver_extensions"]
    (tmp_path / "config").mkdir()
    chosen = {"ServerApp": {"jpserver_extensions": {name: enabled for name in extensions}}}
    (tmp_path / "config" / "jupyter_server_config.json").write_text(json.dumps(chosen))
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert f"prompt: {enabled}" in ran.stdout, ran.stderr[-3000:]
