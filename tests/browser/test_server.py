"""What the notebook server does with that which a kernel process says to a page."""

import json
import subprocess
import sys

import pytest

from tests.browser.lab import ROOT, SERVER, end_kernels, open_notebook, running_lab
from tests.browser.programs import WAVE

pytestmark = pytest.mark.browser

# A server that opens connections to itself, as pages do.
PROGRAM = """
import asyncio, gc, json, socket, sys, uuid
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.kernels.connection.base import deserialize_msg_from_ws_v1, serialize_msg_to_ws_v1
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler
from tornado.httpclient import HTTPClientError
from tornado.websocket import websocket_connect

async def connect(server, path, session, token="t"):
    protocols = ["v1.kernel.websocket.jupyter.org"]
    address = f"ws://127.0.0.1:{server.port}/{path}?session_id={session}&token={token}"
    return await websocket_connect(address, subprotocols=protocols)

async def say(page, kind, content):
    header = {"msg_type": kind, "msg_id": uuid.uuid4().hex, "session": "page", "username": "", "version": "5.3"}
    parts = [json.dumps(part).encode() for part in (header, {}, {}, content)]
    await page.write_message(serialize_msg_to_ws_v1(parts, "shell"), binary=True)

async def hear(page, kind):
    "The next message of this kind: its content and bodies."
    while True:
        _, parts = deserialize_msg_from_ws_v1(await asyncio.wait_for(page.read_message(), 60))
        if json.loads(parts[0])["msg_type"] == kind:
            return json.loads(parts[3]), [body.decode() for body in parts[4:]]

async def ask(server):
    try:
        kernel = await server.kernel_manager.start_kernel()
        page = await connect(server, f"api/kernels/{kernel}/channels", "page")
        await say(page, "kernel_info_request", {})
        await hear(page, "kernel_info_reply")  # so its connection is made
        await talk(server, kernel, page)
        page.close()
    finally:
        server.stop()

server = ServerApp()
server.initialize(["--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", "--IdentityProvider.token=t", "--no-browser",
    "--allow-root", f"--ServerApp.root_dir={sys.argv[1]}"])
server.io_loop.add_callback(ask, server)
server.start()
"""

# The operating system is asked about the server's end of the connection.
PROMPT = """
async def talk(server, kernel, page):
    (handler,) = [each for each in gc.get_objects() if isinstance(each, KernelWebsocketHandler)]
    ours = handler.ws_connection.stream.socket
    print("prompt:", ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0)
"""

# A picture, and a message that is none.
SEND = """
async def send(page):
    "What the page hears of both."
    code = '''
from comm import create_comm
from workbench.views.page.live import APART
line = create_comm("nobody")
line.send({"words": 1}, metadata={APART: True}, buffers=[b"first", b"second"])
line.send({"words": 2}, buffers=[b"third"])
'''
    await say(page, "execute_request", {"code": code, "silent": False, "store_history": False, "allow_stdin": False})
    return [[content["data"]["words"], bodies] for content, bodies in [await hear(page, "comm_msg") for _ in range(2)]]

async def refused(server, path, token):
    try:
        await connect(server, path, "page", token)
    except HTTPClientError as error:
        return error.code
"""

STREAMS = (
    SEND
    + """
async def talk(server, kernel, page):
    path = f"stencil-workbench/kernels/{kernel}/frames"
    told = {"no stream": await send(page), "wrong token": await refused(server, path, "wrong")}
    told["no kernel"] = await refused(server, path.replace(kernel, kernel[::-1]), "t")
    other = await connect(server, path, "other")
    told["of another page"] = await send(page)
    stream = await connect(server, path, "page")
    while (heard := await send(page)) == told["no stream"]:
        pass  # it is open here before the server has noted it
    told["stream"] = heard
    content, bodies = await hear(stream, "comm_msg")
    told["streamed"] = [content["data"]["words"], bodies]
    stream.write_message("what nobody expects")
    stream.close()
    while (heard := await send(page)) == told["stream"]:
        pass
    told["closed"] = heard
    other.close()
    print("told:", json.dumps(told))
"""
)

NO_STREAMS = (
    SEND
    + """
async def talk(server, kernel, page):
    code = await refused(server, f"stencil-workbench/kernels/{kernel}/frames", "t")
    print("told:", json.dumps([code, await send(page)]))
"""
)


def run_server(folder, talk, enabled):
    """What the program prints while this checkout's extension of the server is enabled or not."""
    extensions = json.loads(SERVER.read_text())["ServerApp"]["jpserver_extensions"]
    (folder / "config").mkdir()
    chosen = {"ServerApp": {"jpserver_extensions": {name: enabled for name in extensions}}}
    (folder / "config" / "jupyter_server_config.json").write_text(json.dumps(chosen))
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-c", talk + PROGRAM, str(folder)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("enabled", [True, False])
def test_messages_of_the_kernel_process_are_not_held_back(tmp_path, enabled):
    ran = run_server(tmp_path, PROMPT, enabled)
    assert f"prompt: {enabled}" in ran.stdout, ran.stderr[-3000:]


def test_pictures_go_to_the_stream_of_their_page(tmp_path):
    ran = run_server(tmp_path, STREAMS, enabled=True)
    assert "told: " in ran.stdout, ran.stderr[-3000:]
    told = json.loads(ran.stdout.partition("told: ")[2])
    whole = [[1, ["first", "second"]], [2, ["third"]]]
    assert told["no stream"] == told["of another page"] == told["closed"] == whole
    assert told["stream"] == [[1, []], [2, ["third"]]]
    assert told["streamed"] == whole[0]
    assert (told["wrong token"], told["no kernel"]) == (403, 404)


def test_a_server_without_the_extension_has_no_streams(tmp_path):
    ran = run_server(tmp_path, NO_STREAMS, enabled=False)
    assert "told: " in ran.stdout, ran.stderr[-3000:]
    assert json.loads(ran.stdout.partition("told: ")[2]) == [404, [[1, ["first", "second"]], [2, ["third"]]]]


def test_a_page_of_such_a_server_draws_all_frames_that_come_to_it(tmp_path, page):
    with running_lab(tmp_path, extended=False) as address:
        notebook = open_notebook((address, tmp_path), page, "plain.ipynb", WAVE, 'sim.view("u")')
        notebook.wait_drawn(1, before=0)
        page.get_by_role("button", name="Play").click()
        notebook.wait_drawn(20)
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Play").wait_for()
        assert notebook.colours() > 50
        end_kernels()
