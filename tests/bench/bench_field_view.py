"""Frames per second, lag and cost of the field view in a real JupyterLab; run: python tests/bench/bench_field_view.py.

512 x 512 cells, u8. Lag: from the snapshot in the kernel process to the pixels in the page, both clocks being the same
machine's; the figures are medians and the worst of all frames.
"""

import json
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.browser.lab import NotebookPage, chromium, running_lab, write_notebook

SECONDS = 6
SETUP = '''\
import os, threading, time
import numpy as np
import workbench as wb
from workbench.views import field_view
taken = {}
original = field_view.frame_message
def noted(number, summary):
    taken[number] = time.time()
    return original(number, summary)
field_view.frame_message = noted
wave = wb.trace("""
u, v = fields("u v", boundary="periodic")
c = param("c", 1.0)
v1 = v + 0.1 * c * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)
u.next, v.next = u + 0.1 * v1, v1
""", name="wave")
x, y = np.meshgrid(np.linspace(0, 6.28, 512), np.linspace(0, 6.28, 512), indexing="ij")
sim = wave.simulate(u=np.sin(x) * np.cos(y), v=0.0, threads=1)
other = wave.simulate(u=np.sin(x) * np.cos(y), v=0.0, threads=1)'''
IDLE = f"import json\nsim.start(); time.sleep({SECONDS}); sim.stop(); print('taken', json.dumps(taken))"
BUSY = (
    f"sim.start(); other.start(); end = time.time() + {SECONDS}\n"
    "while time.time() < end: pass\n"
    "sim.stop(); other.stop(); print('taken', json.dumps(taken))"
)
WATCH = """() => {
    window.drawnAt = [];
    const view = document.querySelector('.swb-field');
    new MutationObserver(() => window.drawnAt.push([Number(view.dataset.number), Date.now() / 1000]))
        .observe(view, {attributes: true, attributeFilter: ['data-drawn']});
}"""


def figures(page, notebook, cell):
    page.evaluate(WATCH)
    notebook.run(cell)
    page.wait_for_timeout(1000 * SECONDS + 2500)
    text = page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea-output").last.inner_text()
    taken = {int(number): at for number, at in json.loads(text.partition("taken")[2]).items()}
    drawn = page.evaluate("window.drawnAt")
    lags = [at - taken[number] for number, at in drawn if number in taken]
    span = drawn[-1][1] - drawn[0][1]
    return len(drawn) / span, statistics.median(lags), max(lags)


def main():
    from playwright.sync_api import sync_playwright

    folder = Path(tempfile.mkdtemp())
    with running_lab(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 1000})
        write_notebook(folder / "bench.ipynb", SETUP, 'sim.view("u")', IDLE, BUSY)
        notebook = NotebookPage(page, address, "bench.ipynb")
        notebook.run(0)
        notebook.run(1)
        notebook.wait_drawn(1)
        notebook.wait_idle()
        for what, cell in (("one simulation, cell sleeps", 2), ("two simulations and a Python loop", 3)):
            rate, lag, worst = figures(page, notebook, cell)
            print(f"{what}: {rate:.1f} frames/s drawn, lag {1000 * lag:.0f} ms, worst {1000 * worst:.0f} ms")
        browser.close()


if __name__ == "__main__":
    main()
