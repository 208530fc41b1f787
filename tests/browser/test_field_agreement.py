"""Whatever is done to a field view, and by whichever way its pictures come: the page shows what was seen last."""

import json
import time

import pytest

from tests.browser.lab import ASK, SHOWN, before_drawing, open_notebook, wait_still

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("own_page")]

# Sides as different as can be, so that no plane is taken for another. The last lines tell what the page should show.
MACHINE = """\
import hashlib, json
import numpy as np
import workbench as wb
from workbench.views.field.palettes import colour_table
heat = wb.trace('T, S = fields("T S", boundary="periodic")\\nd = T[+1,0,0] - T\\nT.next, S.next = T + 0.1 * d, S + d')
rng = np.random.default_rng(3)
sim = heat.simulate(T=rng.random((61, 36, 14)), S=rng.random((61, 36, 14)))
view = sim.view("T")
def seen():
    table = np.frombuffer(colour_table(view.summary.palette), np.uint8).reshape(256, 3)
    planes = [plane.codes for plane in view.summary.planes]
    pixels = [np.dstack([table[codes], np.full(codes.shape, 255, np.uint8)]) for codes in planes]
    print(json.dumps([hashlib.sha256(each.tobytes()).hexdigest() for each in pixels]))
view"""

# Some controls are used, with and without time between them; which ones follows from the number (W. H. Press et al.,
# Numerical Recipes in C, 2nd edition, 7.1: "ranqd1").
BURST = """async number => {
    let state = number;
    const below = most => {
        state = (1664525 * state + 1013904223) % 2 ** 32;
        return Math.floor(state / 2 ** 32 * most);
    };
    const view = document.querySelector('.swb-field');
    const choose = name => {
        const select = view.querySelector(`select[aria-label="${name}"]`);
        select.selectedIndex = below(select.options.length);
        select.dispatchEvent(new Event('change'));
    };
    const acts = [() => choose('colours'), () => choose('slice'), () => choose('slice'), () => choose('value'), () => {
        const slides = view.querySelectorAll('input[aria-label^="cut at"]');
        const slide = slides[below(slides.length)];
        slide.value = below(Number(slide.max) + 1);
        slide.dispatchEvent(new Event('input'));
    }, () => [...view.querySelectorAll('button')].find(found => found.textContent === 'Step').click()];
    for (let left = 1 + below(6); left > 0; left--) {
        acts[below(acts.length)]();
        if (below(2)) {
            await new Promise(done => setTimeout(done, below(80)));
        }
    }
}"""

# The server, and what a page does before its own code: its worker has no connection; there is no worker.
WAYS = {
    "by the page": ("lab", ""),
    "directly": ("direct_lab", ""),
    "no connection": ("direct_lab", before_drawing("WebSocket = class { close() {} };")),
    "no worker": (
        "direct_lab",
        "window.Worker = class { constructor() { throw new DOMException('no', 'SecurityError'); } }",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_page_shows_what_was_seen_last(page, request, way):
    server, before = WAYS[way]
    page.add_init_script(before)
    streams = []
    page.on("websocket", lambda socket: streams.append(socket.url) if "/frames?" in socket.url else None)
    notebook = open_notebook(request.getfixturevalue(server), page, f"agreement-{way.replace(' ', '-')}.ipynb", MACHINE)
    notebook.wait_drawn(1, before=0)
    notebook.wait_idle()
    assert (bool(streams), notebook.drawers()) == (way == "directly", int(way in ("directly", "no connection")))
    looks = set()
    for number in range(12):
        page.evaluate(BURST, number)
        agree(page)
        looks.add(tuple(page.evaluate(SHOWN)))
    assert len(looks) > 6
    assert {len(look) for look in looks} == {1, 3}


def agree(page, patience=5000):
    """Wait until nothing changes any more, at most so many milliseconds; then both ends have the same pictures."""
    end = time.monotonic() + patience / 1000
    while True:
        wait_still(page, ".swb-field")
        seen = json.loads(page.evaluate(ASK, "seen()"))
        shown = page.evaluate(SHOWN)
        if seen == shown or time.monotonic() > end:
            break
    assert shown == seen
