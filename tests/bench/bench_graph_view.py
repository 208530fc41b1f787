"""The graph of 3-D hydrodynamics in a real page: seconds until it can be used, frames a second while it is dragged; and
from a double click in a real page to new code. Run: python tests/bench/bench_graph_view.py

Needs the front end (make labextension), JupyterLab and Chromium. Waiting for the machine itself is timed apart.
"""

import itertools
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from playwright.sync_api import sync_playwright

from tests.browser.lab import NotebookPage, chromium, running_lab, write_notebook
from tests.programs.wave import TEXT as WAVE
from workbench.machine import trace
from workbench.views.inspection.flipping import refusal
from workbench.views.inspection.selection import ValueRef

MACHINE = """\
from workbench.solvers import hydro
gas = hydro.machine(3, reconstruction=hydro.weno_z)
len(gas.plan().main.storage)"""
FLIP = f'''\
import os, tempfile
os.environ["WORKBENCH_CACHE"] = tempfile.mkdtemp()
import numpy as np, workbench as wb
wave = wb.trace("""{WAVE}""", name="wave")
x = np.linspace(0, 2 * np.pi, 1024, endpoint=False)
sim = wave.simulate(u=np.sin(x), v=np.cos(x), backend="openmp", threads=1)
sim.start()
inspector = wave.inspect(sim)
inspector.views["graph"]'''

# Moves the pressed pointer once a frame, inside the page, so that nothing but the page's own work is timed.
DRAG = """([x, y, milliseconds]) => new Promise(done => {
    let target = document.elementFromPoint(x, y);
    while (target.shadowRoot) {
        target = target.shadowRoot.elementFromPoint(x, y) ?? target;
        if (!target.shadowRoot) break;
    }
    const send = (kind, dx, dy) => target.dispatchEvent(new PointerEvent(kind, {
        pointerId: 1, pointerType: 'mouse', isPrimary: true, button: kind === 'pointermove' ? -1 : 0,
        buttons: kind === 'pointerup' ? 0 : 1,
        clientX: x + dx, clientY: y + dy, bubbles: true, composed: true, cancelable: true,
    }));
    send('pointerdown', 0, 0);
    const times = [];
    const end = performance.now() + milliseconds;
    const step = now => {
        times.push(now);
        const turn = times.length / 15;
        send('pointermove', 100 * Math.sin(turn), 60 * Math.cos(turn));
        if (now < end) {
            requestAnimationFrame(step);
        } else {
            send('pointerup', 0, 0);
            done(times);
        }
    };
    requestAnimationFrame(step);
})"""


def opened(page, seconds=60):
    page.wait_for_selector('.swb-pane[data-opened="true"]', timeout=1000 * seconds)


def measure_graph(page, address, folder):
    write_notebook(folder / "large.ipynb", MACHINE, "gas.view()")
    notebook = NotebookPage(page, address, "large.ipynb")
    notebook.run(0)
    notebook.wait_idle()
    values = page.locator(".jp-OutputArea-output").first.inner_text().strip()
    begin = time.perf_counter()
    notebook.run(1)
    opened(page)
    print(f"{values} values, sub-kernels folded: {time.perf_counter() - begin:.2f} s from the key to the drawing")
    patches = int(page.locator(".swb-pane").get_attribute("data-patches") or 0)
    begin = time.perf_counter()
    page.get_by_role("button", name="Fold", exact=True).click()
    page.wait_for_function(f"Number(document.querySelector('.swb-pane').dataset.patches ?? 0) > {patches}")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    print(f"all {values} values, each drawn by itself: {time.perf_counter() - begin:.2f} s from the click")
    box = page.locator(".swb-pane canvas").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = page.screenshot()
    times = page.evaluate(DRAG, [x, y, 4000])
    assert page.screenshot() != before, "nothing was dragged"
    gaps = [b - a for a, b in itertools.pairwise(times)]
    print(
        f"dragged: {1000 * len(gaps) / sum(gaps):.0f} frames a second, median gap {statistics.median(gaps):.0f} ms, "
        f"worst {max(gaps):.0f} ms"
    )


def measure_flips(page, address, folder):
    write_notebook(folder / "flip.ipynb", FLIP)
    notebook = NotebookPage(page, address, "flip.ipynb")
    notebook.run(0)
    opened(page)
    notebook.wait_text(".swb-pane-status", "measured")
    cold, cached = [], []
    page.locator(".swb-drawing").focus()
    plan = trace(WAVE, name="wave").plan()
    free = [node for node in range(len(plan.main.storage)) if not refusal(plan, ValueRef("step", node))]
    for name in (f"%{node}" for node in free[:5]):
        for seconds in (cold, cached, cached):
            page.get_by_label("Find").fill(name)
            page.get_by_label("Find").press("Enter")
            page.wait_for_timeout(300)
            said = page.locator(".swb-pane-status").inner_text()
            begin = time.perf_counter()
            page.get_by_role("button", name="Flip", exact=True).click()
            page.wait_for_function(
                "said => { const now = document.querySelector('.swb-pane-status').textContent;"
                " return now !== said && /new code runs since step/.test(now) && !/compiling|planning/.test(now); }",
                arg=said,
                timeout=30_000,
            )
            seconds.append(time.perf_counter() - begin)
            page.wait_for_timeout(300)
    for label, seconds in (("cold or first", cold), ("cached", cached)):
        shown = ", ".join(f"{s:.2f}" for s in seconds)
        print(f"flip to new code, {label}: median {statistics.median(seconds):.2f} s ({shown})")


def main():
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with running_lab(folder) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            for measure in (measure_graph, measure_flips):
                page = browser.new_page(viewport={"width": 1200, "height": 1000})
                measure(page, address, folder)
                page.close()
            browser.close()
    print(f"load {os.getloadavg()[0]:.1f}")


main()
