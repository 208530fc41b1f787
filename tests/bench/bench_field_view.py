"""Frames per second, lag, memory and cost of the field view; run: python tests/bench/bench_field_view.py --help.

512 x 512 cells, u8, in a real JupyterLab. Lag: from the snapshot in the kernel process to the pixels in the page, both
clocks being the same machine's. Cost: CPU time of the kernel process with and without a client that acknowledges
frames and draws none, while the simulation does 15 steps a second.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.browser.lab import ROOT, NotebookPage, chromium, running_lab, write_notebook

SETUP = '''\
import json, os, threading, time
import numpy as np
import workbench as wb
wave = wb.trace("""
u, v = fields("u v", boundary="periodic")
c = param("c", 1.0)
v1 = v + 0.1 * c * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)
u.next, v.next = u + 0.1 * v1, v1
""", name="wave")
x, y = np.meshgrid(np.linspace(0, 6.28, 512), np.linspace(0, 6.28, 512), indexing="ij")
sim = wave.simulate(u=np.sin(x) * np.cos(y), v=0.0, threads=1)
other = wave.simulate(u=np.sin(x) * np.cos(y), v=0.0, threads=1)
'''
NOTED = """\
from workbench.views import field_view
taken = {}
original = field_view.frame_message
def noted(number, summary):
    taken[number] = time.time()
    return original(number, summary)
field_view.frame_message = noted
"""
IDLE = "taken.clear(); sim.start(); time.sleep({seconds}); sim.stop(); print('taken', json.dumps(taken))"
BUSY = (
    "taken.clear(); sim.start(); other.start(); end = time.time() + {seconds}\n"
    "while time.time() < end: pass\n"
    "sim.stop(); other.stop(); print('taken', json.dumps(taken))"
)
LONG = "sim.start(); time.sleep({seconds}); sim.stop()"
WATCH = """() => {
    window.drawnAt = [];
    window.watcher?.disconnect();
    const view = document.querySelector('.swb-field');
    window.watcher = new MutationObserver(() => window.drawnAt.push([Number(view.dataset.number), Date.now() / 1000]));
    window.watcher.observe(view, {attributes: true, attributeFilter: ['data-drawn']});
}"""


def figures(page, notebook, cell, seconds):
    """(frames drawn per second, median lag, worst lag), the last two in seconds."""
    page.evaluate(WATCH)
    notebook.run(cell)
    page.wait_for_timeout(1000 * seconds + 2500)
    text = page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea-output").last.inner_text()
    taken = {int(number): at for number, at in json.loads(text.partition("taken")[2]).items()}
    drawn = page.evaluate("window.drawnAt")
    lags = [at - taken[number] for number, at in drawn if number in taken]
    span = drawn[-1][1] - drawn[0][1]
    return len(drawn) / span, statistics.median(lags), max(lags)


SLIDE = """() => new Promise(done => {
    const view = document.querySelector('.swb-field');
    const slider = view.querySelector('.swb-params .swb-slider');
    const start = performance.now();
    const seen = new MutationObserver(() => { seen.disconnect(); done(performance.now() - start); });
    seen.observe(view, {attributes: true, attributeFilter: ['data-drawn']});
    slider.value = String(Number(slider.value) === Number(slider.max) ? Number(slider.min) : Number(slider.max));
    slider.dispatchEvent(new Event('input', {bubbles: true}));
})"""


def slider_figures(page, tries=11):
    """From a move of a param's slider, while nothing runs, to the next picture drawn."""
    waits = [page.evaluate(SLIDE) for _ in range(tries)]
    print(f"slider to picture: median {statistics.median(waits):.0f} ms, worst {max(waits):.0f} ms")


def resident(kernel):
    """Bytes of memory that a process occupies."""
    fields = Path(f"/proc/{kernel}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def browser_figures(seconds, minutes):
    from playwright.sync_api import sync_playwright

    folder = Path(tempfile.mkdtemp())
    with running_lab(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 1000})
        cells = [SETUP + NOTED, 'print(os.getpid()); sim.view("u")', IDLE.format(seconds=seconds)]
        cells += [BUSY.format(seconds=seconds), LONG.format(seconds=60 * minutes)]
        write_notebook(folder / "bench.ipynb", *cells)
        notebook = NotebookPage(page, address, "bench.ipynb")
        notebook.run(0)
        notebook.run(1)
        notebook.wait_drawn(1, before=0)
        notebook.wait_idle()
        slider_figures(page)
        for what, cell in (("one simulation, cell sleeps", 2), ("two simulations and a Python loop", 3)):
            rate, lag, worst = figures(page, notebook, cell, seconds)
            print(f"{what}: {rate:.1f} frames/s drawn, lag {1000 * lag:.0f} ms, worst {1000 * worst:.0f} ms")
        if minutes:
            kernel = int(page.locator(".jp-CodeCell").nth(1).locator(".jp-OutputArea-output").first.inner_text())
            memory_figures(page, notebook, kernel, minutes)
        browser.close()


def memory_figures(page, notebook, kernel, minutes):
    """Memory of the kernel process and of the page's heap, once a minute of a run."""
    notebook.run(4)
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.enable")
    for minute in range(minutes + 1):
        session.send("HeapProfiler.collectGarbage")
        heap = session.send("Runtime.getHeapUsage")["usedSize"]
        print(f"minute {minute}: kernel process {resident(kernel) / 2**20:.1f} MiB, page {heap / 2**20:.1f} MiB")
        page.wait_for_timeout(60_000 if minute < minutes else 0)


class Client:
    """A kernel process and a page's part of the conversation, without a page."""

    def __init__(self):
        from jupyter_client.manager import start_new_kernel

        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        self.manager, self.client = start_new_kernel(kernel_name="python3", env=environment)
        self.frames = 0

    def run(self, code):
        """Execute and return what was printed."""
        asked = self.client.execute(code)
        text = []
        while True:
            message = self.client.get_iopub_msg(timeout=120)
            if message["parent_header"].get("msg_id") != asked:
                self.hear(message)
            elif message["msg_type"] == "error":
                raise RuntimeError("\n".join(message["content"]["traceback"]))
            elif message["msg_type"] == "stream":
                text.append(message["content"]["text"])
            elif message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return "".join(text)

    def open(self, model):
        self.say("comm_open", {"comm_id": "page", "target_name": "stencil-workbench.page", "data": {"model_id": model}})
        self.tell({"type": "ready"})

    def tell(self, data):
        self.say("comm_msg", {"comm_id": "page", "data": data})

    def say(self, kind, content):
        self.client.shell_channel.send(self.client.session.msg(kind, content))

    def hear(self, message):
        content = message["content"].get("data", {}).get("content", {}) if message["msg_type"] == "comm_msg" else {}
        if content.get("type") == "frame":
            self.frames += 1
            self.tell({"type": "drawn", "number": content["number"]})

    def listen(self, seconds):
        from queue import Empty

        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                self.hear(self.client.get_iopub_msg(timeout=left))
            except Empty:
                return

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def cost_figures(seconds, rate=15):
    """CPU time that viewing takes of the kernel process."""
    client = Client()
    client.run(SETUP + "view = sim.view('u')\nfrom workbench.run.watching import watch")
    client.run(f"own = watch(sim, lambda: None, 0.01); own.pace = {rate}.0; sim.start()")
    clock = "print(time.process_time())"
    costs = {}
    for looked_at in (False, True):
        if looked_at:
            client.open(client.run("print(view._page.model_id)").strip())
            client.listen(2)
        begin, frames, start = float(client.run(clock)), client.frames, time.monotonic()
        client.listen(seconds)
        span = time.monotonic() - start
        costs[looked_at] = (float(client.run(clock)) - begin) / span
        shown = (client.frames - frames) / span
    print(
        f"acknowledging client: {shown:.1f} frames/s, viewing takes {100 * (costs[True] - costs[False]):.1f} % of one "
        f"core (without it {100 * costs[False]:.1f} %)"
    )
    client.run("sim.stop()")
    client.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=6, help="of each measurement (default 6)")
    parser.add_argument("--minutes", type=int, default=0, help="also watch the memory for so long")
    parser.add_argument("--only", choices=("browser", "cost"), help="one part alone")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    if options.only != "browser":
        cost_figures(options.seconds)
    if options.only != "cost":
        browser_figures(options.seconds, options.minutes)
    print(f"load afterwards {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
