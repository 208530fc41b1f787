"""What a page hears from a pane of bokeh."""

import threading

SECONDS = 10


class Ear:
    """What a page hears."""

    def __init__(self, pane):
        self.heard = []
        self.more = threading.Condition()
        pane.widget.send_message = self.hear
        self.pane = pane

    def hear(self, message):
        with self.more:
            self.heard.append(message)
            self.more.notify_all()

    def of(self, kind):
        return [message for message in self.heard if message.content["type"] == kind]

    def wait(self, kind, count=1):
        with self.more:
            assert self.more.wait_for(lambda: len(self.of(kind)) >= count, SECONDS), f"no {kind} was sent"
            return self.of(kind)

    def open(self, versions="", dark=False):
        documents = len(self.of("document"))
        self.pane.widget.hear({"type": "opened", "view": "v1", "bokeh": versions, "dark": dark})
        return self.wait("document", documents + 1)[-1]
