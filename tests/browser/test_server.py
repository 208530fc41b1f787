"""The notebook server where the wheel is installed: left alone, and where it is configured to send frames directly."""

import json
import subprocess
import sys

import pytest

from tests.browser.lab import ROOT, configure

pytestmark = pytest.mark.browser

# A server that opens connections to itself, as pages do.
PROGRAM = """
import asyncio, gc, json, pathlib, socket, sys, uuid
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

async def run(page, code):
    await say(page, "execute_request", {"code": code, "silent": False, "store_history": False, "allow_stdin": False})

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
    print("told:", json.dumps(ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0))
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
    await run(page, code)
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

ALONE = (
    SEND
    + """
async def talk(server, kernel, page):
    settings = server.web_app.settings
    told = {"imported": sorted(name for name in sys.modules if name.partition(".")[0] == "workbench")}
    told["connections"] = settings["kernel_websocket_connection_class"].__module__
    told["page"] = [name for name in settings.get("page_config_data", {}) if "stencil" in name.lower()]
    told["frames"] = await refused(server, f"stencil-workbench/kernels/{kernel}/frames", "t")
    told["sent"] = await send(page)
    print("told:", json.dumps(told))
"""
)

# A worker that connects and never reads, while the page reads everything.
UNREAD = """
MANY, AT_ONCE, BODY = 200, 10, 1 << 20
CODE = '''
from comm import create_comm
from workbench.views.page.live import APART
line = create_comm("nobody")
for number in range(FIRST, LAST):
    line.send({"words": number}, metadata={APART: True}, buffers=[bytes(BODY)])
'''

def resident():
    "The most bytes so far."
    (line,) = [line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
    return 1024 * int(line.split()[1])

def words(content):
    return content["data"]["words"]

async def talk(server, kernel, page):
    stream = await connect(server, f"stencil-workbench/kernels/{kernel}/frames", "page")
    by_page = []
    for first in range(0, MANY, AT_ONCE):
        before = resident() if first <= AT_ONCE else before
        code = f"FIRST, LAST, BODY = {first}, {first + AT_ONCE}, {BODY}" + CODE
        await run(page, code)
        for _ in range(AT_ONCE):
            content, bodies = await hear(page, "comm_msg")
            by_page += [words(content)] if bodies else []
    grown = resident() - before
    unread = [words((await hear(stream, "comm_msg"))[0]) for _ in range(MANY - len(by_page))]
    print("told:", json.dumps({"by page": by_page, "unread": unread, "grown": grown}))
"""


def told_by(folder, talk, direct):
    """What the program tells where the wheel is installed, with or without its setting."""
    configure(folder / "config", direct)
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-c", talk + PROGRAM, str(folder)]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert "told: " in ran.stdout, ran.stderr[-3000:]
    return json.loads(ran.stdout.partition("told: ")[2])


@pytest.mark.parametrize("direct", [True, False])
def test_messages_of_the_kernel_process_are_not_held_back(tmp_path, direct):
    assert told_by(tmp_path, PROMPT, direct) is direct


def test_server_is_left_alone_by_default(tmp_path):
    told = told_by(tmp_path, ALONE, direct=False)
    assert told["imported"] == ["workbench", "workbench._version", "workbench.notebook", "workbench.notebook.server"]
    assert told["connections"] == "jupyter_server.services.kernels.connection.channels"
    assert (told["page"], told["frames"]) == ([], 404)
    assert told["sent"] == [[1, ["first", "second"]], [2, ["third"]]]


def test_pictures_go_to_the_stream_of_their_page(tmp_path):
    told = told_by(tmp_path, STREAMS, direct=True)
    whole = [[1, ["first", "second"]], [2, ["third"]]]
    assert told["no stream"] == told["of another page"] == told["closed"] == whole
    assert told["stream"] == [[1, []], [2, ["third"]]]
    assert told["streamed"] == whole[0]
    assert (told["wrong token"], told["no kernel"]) == (403, 404)


def test_stream_that_nobody_reads_is_bounded(tmp_path):
    told = told_by(tmp_path, UNREAD, direct=True)
    assert sorted(told["by page"] + told["unread"]) == list(range(200))
    assert told["unread"] == sorted(told["unread"])
    assert 1 <= len(told["unread"]) < 30  # MiB: what the operating system and the client take, and MOST_UNREAD
    assert told["grown"] < 50 << 20  # of the 200 MiB that the kernel process sent
