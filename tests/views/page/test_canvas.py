"""Pages that come and leave, over the channels that they open."""

from workbench.views.page.canvas import Canvas, _opened


class Channel:
    """A comm that a page has opened."""

    def __init__(self, comm_id):
        self.comm_id = comm_id

    def on_msg(self, callback):
        self.tell = lambda **data: callback({"content": {"data": data}})

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


def test_a_page_that_is_gone_without_a_word_has_left():
    canvas = Canvas()
    canvas.listener = Listener()
    (only,) = open_channels(canvas, "only")
    only.close()
    assert canvas.listener.heard == ["leave"]
    canvas.close()
