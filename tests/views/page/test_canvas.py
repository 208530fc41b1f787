"""Pages that come and leave, over the channels that they open."""

import pytest
from comm.base_comm import BaseComm
from IPython.core.interactiveshell import InteractiveShell

from workbench.views.page.canvas import Canvas, _opened


class Comm(BaseComm):
    """One as the kernel process has it, without a page."""

    def publish_msg(self, *_, **__):
        """Nobody listens."""


@pytest.fixture
def hooks():
    """Names of IPython's hooks for cells, as they run."""
    ran = []
    shell = InteractiveShell.instance()
    callbacks = {name: lambda name=name: ran.append(name) for name in ("pre_execute", "post_execute")}
    for name, callback in callbacks.items():
        shell.events.register(name, callback)
    yield ran
    for name, callback in callbacks.items():
        shell.events.unregister(name, callback)
    InteractiveShell.clear_instance()


class Channel:
    """A comm that a page has opened."""

    def __init__(self, comm_id):
        self.comm_id = comm_id

    def tell(self, **data):
        self.handle_msg({"content": {"data": data}})

    def on_close(self, callback):
        self.close = lambda: callback({"content": {"data": {}}})


class Listener:
    def __init__(self):
        self.heard = []

    def ready(self):
        self.heard.append("ready")

    def leave(self):
        self.heard.append("leave")

    def receive(self, message):
        self.heard.append(message)


def open_channels(canvas, *names):
    channels = [Channel(name) for name in names]
    for channel in channels:
        _opened(channel, {"content": {"data": {"model_id": canvas.model_id}}})
    return channels


def test_the_last_page_that_leaves_is_heard_before_its_channel_closes():
    canvas = Canvas()
    canvas.listener = Listener()
    first, second = open_channels(canvas, "first", "second")
    first.tell(type="ready")
    first.tell(type="leave")
    assert canvas.listener.heard == ["ready"]
    first.close()
    second.tell(type="cutting")
    second.tell(type="leave")
    assert canvas.listener.heard == ["ready", {"type": "cutting"}, "leave"]
    canvas.close()


def test_a_message_of_a_page_runs_no_hooks_of_cells(hooks):
    """One of them is matplotlib's: the figure that a cell was drawing was shown elsewhere, and closed."""
    canvas = Canvas()
    canvas.listener = Listener()
    comm = Comm(target_name="stencil-workbench.page", primary=False)
    _opened(comm, {"content": {"data": {"model_id": canvas.model_id}}})
    comm.handle_msg({"content": {"data": {"type": "drawn"}}})
    assert canvas.listener.heard == [{"type": "drawn"}]
    assert hooks == []
    canvas.close()


def test_a_page_that_is_gone_without_a_word_has_left():
    canvas = Canvas()
    canvas.listener = Listener()
    (only,) = open_channels(canvas, "only")
    only.close()
    assert canvas.listener.heard == ["leave"]
    canvas.close()
