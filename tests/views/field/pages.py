"""A page of the test's own, which answers or does not."""

import json
import threading

PATIENCE = 20.0  # seconds; a machine under load is slow, and a test that hangs says less than one that fails


class TestPage:
    """Keeps what it gets; acknowledges at once if told to."""

    __test__ = False
    model_id = "page"

    def __init__(self, view, answers=True):
        self.view, self.answers = view, answers
        self.messages, self.closed = [], False
        self.arrived = threading.Condition()

    def send_message(self, message):
        json.dumps(message.content, allow_nan=False)
        with self.arrived:
            self.messages.append(message.content)
            self.arrived.notify_all()
        if self.answers and message.content["type"] == "frame":
            self.view.receive({"type": "drawn", "number": message.content["number"]})

    def close(self):
        self.closed = True

    def of(self, kind):
        return [message for message in self.messages if message["type"] == kind]

    def wait(self, kind, holds):
        """The first message of this kind, from now on or before, for which `holds`."""
        with self.arrived:
            found = self.arrived.wait_for(lambda: [m for m in self.of(kind) if holds(m)], PATIENCE)
        assert found, f"no such {kind}; the last: {self.of(kind)[-1:]}"
        return found[0]
