"""A shell in this process, and a kernel in a process of its own as a front end would start it."""

import os
import queue
import time
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from jupyter_client.manager import start_new_kernel
from traitlets.config import Config

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 120  # longest wait for a kernel; a slow machine is no failure


class Shell:
    """An IPython shell in this process; `run` returns what a cell printed, showed and raised."""

    def __init__(self, ip):
        self.ip = ip

    def run(self, cell):
        with capture_output() as captured:
            result = self.ip.run_cell(cell)
        return Ran(captured.stdout + captured.stderr, captured.outputs, result.error_in_exec)

    @property
    def names(self):
        return set(self.ip.user_ns)


class Ran:
    def __init__(self, text, outputs, error):
        self.text, self.outputs, self.error = text, outputs, error

    @property
    def card(self):
        """The text form of the card; a notice may have stood in its place before."""
        return self.outputs[-1].data["text/plain"]


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    ip = InteractiveShell.instance(config=config)
    yield Shell(ip)
    InteractiveShell.clear_instance()


@pytest.fixture
def loaded(shell):
    shell.ip.run_line_magic("load_ext", "workbench")
    return shell


class Kernel:
    """A client of one kernel process."""

    def __init__(self, client, manager):
        self.client, self.manager = client, manager

    def run(self, code, on_first=None):
        """Run a cell; its output messages' (type, content) in order. Interrupts it at the first message `on_first`."""
        request = self.client.execute(code)
        found, end = [], time.monotonic() + SECONDS
        while time.monotonic() < end:
            try:
                message = self.client.get_iopub_msg(timeout=1)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return found
            if kind in ("stream", "display_data", "execute_result", "error", "update_display_data"):
                found.append((kind, content))
            if kind == on_first:
                self.manager.interrupt_kernel()
                on_first = None
        raise TimeoutError(code)

    def complete(self, code, cursor=None):
        """What complete_request offers at the cursor, the end of the text unless said."""
        return self._reply(self.client.complete(code, len(code) if cursor is None else cursor))["matches"]

    def kinds(self, code):
        """The kind of each completion at the end of the text, by which a front end chooses its sign."""
        content = self._reply(self.client.complete(code, len(code)))
        return {found["text"]: found["type"] for found in content["metadata"]["_jupyter_types_experimental"]}

    def inspect(self, code, cursor=None):
        """What Shift+Tab shows at the cursor, the end of the text unless said; "" if nothing is found."""
        content = self._reply(self.client.inspect(code, len(code) if cursor is None else cursor))
        return content["data"].get("text/plain", "")

    def _reply(self, request):
        while True:  # replies of earlier requests wait in the same channel
            reply = self.client.get_shell_msg(timeout=SECONDS)
            if reply["parent_header"].get("msg_id") == request:
                return reply["content"]


@pytest.fixture(scope="session")
def kernel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernel")
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "IPYTHONDIR": str(folder / "ipython"),
        "WORKBENCH_CACHE": str(folder / "cache"),
    }
    manager, client = start_new_kernel(kernel_name="python3", env=environment, startup_timeout=SECONDS)
    found = Kernel(client, manager)
    assert found.run("%load_ext workbench") == []
    yield found
    client.stop_channels()
    manager.shutdown_kernel(now=True)
