"""A real Firefox, asked by WebDriver BiDi, which it speaks itself; playwright drives only a Firefox of its own."""

import base64
import json
import shutil
import subprocess
import time
from contextlib import contextmanager

from tests.browser.lab import ARTEFACTS, PATIENCE


def firefox():
    return next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)


@contextmanager
def running_firefox(folder):
    """A page of it; its settings are in `folder`."""
    import websocket  # of jupyter_server

    profile = folder / "firefox"
    profile.mkdir()
    command = [firefox(), "--headless", "--remote-debugging-port=0", "--no-remote", "--profile", str(profile)]
    command += ["--width=1200", "--height=1400"]
    with (folder / "firefox-log").open("w") as log:
        browser = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        says = profile / "WebDriverBiDiServer.json"
        end = time.monotonic() + PATIENCE / 1000
        while not (says.exists() and says.read_text()):
            assert browser.poll() is None, (folder / "firefox-log").read_text()
            assert time.monotonic() < end, "Firefox does not say where it listens"
            time.sleep(0.1)
        told = json.loads(says.read_text())
        address = f"ws://{told['ws_host']}:{told['ws_port']}/session"
        connection = websocket.create_connection(address, timeout=PATIENCE / 1000, suppress_origin=True)
        yield FirefoxPage(connection)
        connection.close()
    finally:
        browser.terminate()
        browser.wait(20)


class FirefoxPage:
    """The only tab."""

    def __init__(self, connection):
        self._connection, self._asked = connection, 0
        self._ask("session.new", capabilities={})
        self._tab = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def _ask(self, method, **params):
        self._asked += 1
        self._connection.send(json.dumps({"id": self._asked, "method": method, "params": params}))
        while (answer := json.loads(self._connection.recv())).get("id") != self._asked:
            pass
        assert answer["type"] == "success", answer
        return answer["result"]

    def open(self, address):
        self._ask("browsingContext.activate", context=self._tab)
        self._ask("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def value(self, expression):
        """Of an expression of the page, as JSON has it."""
        asked = {"expression": f"JSON.stringify({expression})", "target": {"context": self._tab}}
        answer = self._ask("script.evaluate", awaitPromise=True, **asked)
        assert answer["type"] == "success", answer
        return json.loads(answer["result"].get("value", "null"))

    def wait(self, expression):
        """Until an expression of the page is true, or something else that counts as true; returns it."""
        end = time.monotonic() + PATIENCE / 1000
        while not (found := self.value(expression)):
            assert time.monotonic() < end, f"{expression} is still {found!r}"
            time.sleep(0.1)
        return found

    def press(self, *keys):
        """Each key down and up, one after the other; those with names by their WebDriver code points."""
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._ask("input.performActions", context=self._tab, actions=[{"type": "key", "id": "keys", "actions": steps}])

    def picture(self, name):
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        shot = self._ask("browsingContext.captureScreenshot", context=self._tab)["data"]
        (ARTEFACTS / f"{name}.png").write_bytes(base64.b64decode(shot))
