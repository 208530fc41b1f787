"""A page that only hears."""

import json
import threading

SECONDS = 60


class Ear:
    model_id = "m1"

    def __init__(self):
        self.heard, self.more, self.listener, self.closed = [], threading.Condition(), None, False

    def send_message(self, message):
        with self.more:
            self.heard.append(message)
            self.more.notify_all()

    def close(self):
        self.closed = True

    def of(self, kind):
        return [m for m in self.heard if m.content["type"] == kind]

    def wait(self, kind, fits=lambda message: True):
        with self.more:
            found = self.more.wait_for(lambda: next((m for m in self.of(kind) if fits(m)), None), SECONDS)
            assert found, f"no such {kind} was sent"
            return found


def body(message):
    return json.loads(message.buffers[0])
