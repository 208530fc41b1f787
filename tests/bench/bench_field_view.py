"""Frames per second, lag, memory and cost of the field view; run: python tests/bench/bench_field_view.py --help.

512 x 512 cells, u8, or --particles as points, in a real JupyterLab. Lag: from the snapshot in the kernel process to the
pixels on the canvas, as who draws them notes it, both clocks being the same machine's. Cost: CPU time of the kernel
process with and without a client that acknowledges frames and draws none, while the simulation does 15 steps a second.

Nobody is attached to the page while it is measured: whoever is (playwright, the developer tools) gets a copy of each
message in base64, which takes as much time as receiving and drawing it. The page takes its own notes.

--direct: the notebook server sends frames directly to a worker of the page (c.StencilWorkbench.direct_frames = True).
Shares of a core are those of all processes of the browser, and of the notebook server without its kernel processes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.field_cells import NOTED, PARTICLES, SETUP
from tests.bench.slow_line import slow_line
from tests.browser.lab import ROOT, NotebookPage, before_drawing, chromium, running_lab, write_notebook

LINE_DELAY = 0.02  # seconds each way of a slow line
LEAVING = 4  # seconds, in which who has started a cell leaves the page
BEGIN = f"time.sleep({LEAVING}); taken.clear(); sent.clear(); first = sim.steps; sim.start()\n"
SAY = """sim.stop(); other.stop()
print('taken', json.dumps([taken, sent, (sim.steps - first) / {seconds}]))"""
IDLE = BEGIN + "time.sleep({seconds})\n" + SAY
BUSY = BEGIN + "other.start(); end = time.time() + {seconds}\nwhile time.time() < end: pass\n" + SAY
# What the bench itself notes would count as memory of the views, so that ends first. Trimmed: without what the
# allocator keeps for later, and between two frames, whose arrays take some MiB. Signatures: jupyter_client keeps one of
# each message received, 65,536 at most, so an acknowledgement costs about 100 bytes until then.
LONG = """\
import ctypes, gc, sys
noting = False
taken.clear(); sent.clear()
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
sim.start()
noted = []
for minute in range({minutes}):
    time.sleep(60)
    usual = resident()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    trimmed = min(time.sleep(0.013) or resident() for _ in range(40))
    signatures = get_ipython().kernel.session.digest_history
    kept = (sys.getsizeof(signatures) + sum(map(sys.getsizeof, tuple(signatures)))) / 2**20
    noted.append((usual, trimmed, kept, len(gc.get_objects())))
sim.stop()
print('noted', json.dumps(noted))
"""
WATCH = """() => {
    window.drawnAt = [];
    window.longTasks = [];
    window.arrivedAt = [];
    window.tasks?.disconnect();
    window.tasks = new PerformanceObserver(list => window.longTasks.push(...list.getEntries().map(task =>
        [(performance.timeOrigin + task.startTime) / 1000, task.duration / 1000])));
    window.tasks.observe({type: 'longtask'});
    window.watcher?.disconnect();
    const view = document.querySelector('.swb-field');
    const drawn = () => window.drawnAt.push([Number(view.dataset.number), Number(view.dataset.drawnAt) / 1000]);
    window.watcher = new MutationObserver(drawn);
    window.watcher.observe(view, {attributes: true, attributeFilter: ['data-drawn']});
}"""

# What the page noted would count as its memory.
FORGET = """() => {
    window.tasks.disconnect();
    window.watcher.disconnect();
    window.drawnAt = window.longTasks = window.arrivedAt = null;
}"""

# When a picture comes to the worker that draws, where frames are direct.
NOTING = """
const arrivals = new BroadcastChannel('arrivals'), Socket = WebSocket;
WebSocket = class extends Socket {
    constructor(...given) {
        super(...given);
        this.addEventListener('message', () => arrivals.postMessage(Date.now() / 1000));
    }
};"""
ARRIVALS = """
window.arrivedAt = [];
new BroadcastChannel('arrivals').onmessage = event => window.arrivedAt?.push(event.data);"""


@contextmanager
def running_browser(folder):
    """The address of a browser, to which one may be attached or not; in a session of its own, as a user's is."""
    command = [chromium(), "--headless", "--no-sandbox", "--remote-debugging-port=0", "--no-first-run"]
    command += [f"--user-data-dir={folder / 'browser'}", "--window-size=1200,1100", "about:blank"]
    port = folder / "browser" / "DevToolsActivePort"
    with (folder / "browser-log").open("w") as log:
        browser = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        while not (port.exists() and port.read_text()):
            assert browser.poll() is None, (folder / "browser-log").read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port.read_text().split()[0]}"
    finally:
        browser.terminate()
        browser.wait(10)


@contextmanager
def visited(browser):
    """Its page; nobody is attached any more afterwards."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.connect_over_cdp(browser).contexts[0].pages[0]


def printed(page, cell, word):
    """What a cell that is over has printed after this word."""
    NotebookPage.shown(page).wait_idle()
    output = page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea-output").last
    return json.loads(output.text_content(timeout=60_000).partition(word)[2])


def processor_seconds(folder):
    """Of the browser and of the notebook server that serves this folder, so far."""
    import psutil  # of ipykernel

    spent = {each: sum(each.cpu_times()[:2]) for each in psutil.Process().children(recursive=True)}
    serves = {each for each in spent if (folder / "runtime" / f"jpserver-{each.pid}.json").exists()}
    browser = {each for each in spent if "chrom" in each.name()}
    return [sum(spent[each] for each in group) for group in (browser, serves)]


def figures(browser, folder, cell, seconds, worst):
    """Print frames drawn per second and the distribution of the lag, and where the `worst` frames spent theirs."""
    with visited(browser) as page:
        page.evaluate(WATCH)
        NotebookPage.shown(page).run(cell)
    time.sleep(LEAVING)
    before = processor_seconds(folder)
    time.sleep(seconds)
    after, load = processor_seconds(folder), os.getloadavg()[0]
    of_browser, of_server = [100 * (later - earlier) / seconds for earlier, later in zip(before, after, strict=True)]
    with visited(browser) as page:
        noted_taken, noted_sent, rate = printed(page, cell, "taken")
        drawn, arrived, tasks = page.evaluate("[window.drawnAt, window.arrivedAt, window.longTasks]")
    taken, sent = ({int(number): at for number, at in times.items()} for times in (noted_taken, noted_sent))
    drawn = [(number, at) for number, at in drawn if number in taken]
    lags = sorted((at - taken[number], number, at) for number, at in drawn)
    every = [lag for lag, _, _ in lags]
    span, begin = drawn[-1][1] - drawn[0][1], drawn[0][1]
    print(
        f"    {len(drawn) / span:.1f} frames/s drawn, {len(every)} in {span:.0f} s; lag median "
        f"{1000 * statistics.median(every):.0f} ms, 99 % within {1000 * every[int(0.99 * (len(every) - 1))]:.0f} ms, "
        f"worst {1000 * every[-1]:.0f} ms, {sum(lag > 0.1 for lag in every)} over 100 ms; {rate:.0f} steps/s; "
        f"browser {of_browser:.0f} %, server {of_server:.0f} % of a core; load {load:.1f}",
        flush=True,
    )
    for lag, number, at in lags[::-1][:worst]:
        came = [time for time in arrived if time <= at]
        received = f", in the worker after {1000 * (max(came) - taken[number]):.0f}" if came else ""
        busy = [f"{1000 * long:.0f}" for start, long in tasks if start < at and start + long > taken[number]]
        print(
            f"    frame {number} at {at - begin:.1f} s: {1000 * lag:.0f} ms; handed over after "
            f"{1000 * (sent[number] - taken[number]):.0f}{received}; "
            f"the page was busy for {', '.join(busy) or 'no long time'}"
        )


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


def browser_figures(seconds, minutes, worst, megabits, direct, particles):
    folder = Path(tempfile.mkdtemp())
    with ExitStack() as running:
        address = running.enter_context(running_lab(folder, direct=direct))
        browser = running.enter_context(running_browser(folder))
        if megabits:
            address = running.enter_context(slow_line(address, megabits, LINE_DELAY))
        setup, name = (PARTICLES.format(particles=particles), "x") if particles else (SETUP, "u")
        cells = [setup + NOTED, f'sim.view("{name}")', IDLE.format(seconds=seconds)]
        cells += [BUSY.format(seconds=seconds), LONG.format(minutes=minutes)]
        write_notebook(folder / "bench.ipynb", *cells)
        with visited(browser) as page:
            page.add_init_script(ARRIVALS)
            page.add_init_script(before_drawing(NOTING))
            notebook = NotebookPage(page, address, "bench.ipynb")
            notebook.run(0)
            notebook.run(1)
            notebook.wait_drawn(1, before=0)
            notebook.wait_idle()
            slider_figures(page)
        for what, cell in (("one simulation, cell sleeps", 2), ("two simulations and a Python loop", 3)):
            print(f"{what}:")
            figures(browser, folder, cell, seconds, worst)
        if minutes:
            memory_figures(browser, minutes)


FLAT = 1.5  # MiB, and parts of a hundred of the objects, between the second minute and the last ones


def heap_of(browser):
    """MiB of the page's heap in use after a collection; without playwright, whose every visit leaves 0.2 MiB there."""
    import websocket  # of jupyter_server

    targets = json.load(urllib.request.urlopen(f"{browser}/json", timeout=60))
    address = next(target["webSocketDebuggerUrl"] for target in targets if target["type"] == "page")
    connection = websocket.create_connection(address, timeout=60, suppress_origin=True)
    for number, method in enumerate(("HeapProfiler.enable", "HeapProfiler.collectGarbage", "Runtime.getHeapUsage")):
        connection.send(json.dumps({"id": number, "method": method}))
        while (answer := json.loads(connection.recv())).get("id") != number:
            pass
    connection.close()
    return answer["result"]["usedSize"] / 2**20


def memory_figures(browser, minutes):
    """Memory of the kernel process and of the page's heap, once a minute of a run, and whether they are flat."""
    with visited(browser) as page:
        page.evaluate(FORGET)
        NotebookPage.shown(page).run(4)
    begin, heaps = time.monotonic(), []
    for minute in range(1, minutes + 1):
        time.sleep(max(0.0, begin + 60 * minute - time.monotonic()))
        heaps.append(heap_of(browser))
    with visited(browser) as page:
        noted = printed(page, 4, "noted")
    for minute, ((usual, trimmed, kept, objects), heap) in enumerate(zip(noted, heaps, strict=True), start=1):
        print(
            f"minute {minute}: kernel process {usual:.1f} MiB, trimmed {trimmed:.1f}, of which signatures of messages "
            f"{kept:.1f}, {objects} Python objects; page {heap:.1f} MiB"
        )
    if minutes >= 5:
        _, trimmed, signatures, objects = zip(*noted, strict=True)
        own = [whole - kept for whole, kept in zip(trimmed, signatures, strict=True)]
        memory, found, heap = [
            statistics.median(each[-3:]) - statistics.median(each[1:4]) for each in (own, objects, heaps)
        ]
        kernel = verdict(memory < FLAT and found < objects[0] * FLAT / 100)
        print(
            f"memory over {minutes} minutes, since minute 2: kernel process {kernel} ({memory:+.1f} MiB without "
            f"signatures, {found:+.0f} objects), page {verdict(heap < FLAT)} ({heap:+.1f} MiB)"
        )


def verdict(flat):
    return "flat" if flat else "NOT FLAT"


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
    client.run(SETUP + "view = sim.view('u')\nfrom workbench.run.hooks import watch")
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
    parser.add_argument("--worst", type=int, default=3, help="tell of so many frames where their lag came from")
    parser.add_argument("--megabits", type=float, default=0, help="reach the page over a line of so many a second")
    parser.add_argument("--direct", action="store_true", help="frames go directly to a worker of the page")
    parser.add_argument("--particles", type=int, default=0, help="so many points instead of cells (browser only)")
    parser.add_argument("--only", choices=("browser", "cost"), help="one part alone")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    if options.only != "browser":
        cost_figures(options.seconds)
    if options.only != "cost":
        browser_figures(
            options.seconds, options.minutes, options.worst, options.megabits, options.direct, options.particles
        )
    print(f"load afterwards {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
