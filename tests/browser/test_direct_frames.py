"""Frames that go directly from the notebook server to a worker of the page, where that is configured."""

import pytest

from tests.browser.lab import end_kernels, open_notebook, running_lab, wait_until
from tests.browser.programs import WAVE

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("own_page")]

# How often the view drew while the page did nothing else for two seconds; told with the first frame drawn afterwards.
BUSY = """() => new Promise(done => {
    const view = document.querySelector('.swb-field');
    const told = [];
    let end = Infinity;
    new MutationObserver(() => {
        told.push(Number(view.dataset.drawnAt));
        if (told.at(-1) > end) done(told.filter(at => at > begin + 500 && at < end).length);
    }).observe(view, {attributes: true, attributeFilter: ['data-drawn']});
    const begin = Date.now();
    while (Date.now() < begin + 2000);
    end = Date.now();
})"""


def test_field_moves_while_the_page_is_busy(direct_lab, page):
    sockets = {}
    page.on("websocket", lambda socket: listen(sockets.setdefault(socket.url.partition("?")[0], []), socket))
    # Unpaced: at the pace of Play the wave has no details yet, and its pictures pack into 4 kB.
    notebook = open_notebook(direct_lab, page, "direct.ipynb", WAVE, 'sim.view("u")', "sim.start();")
    notebook.wait_drawn(1, before=0)
    notebook.wait_drawn(10)
    assert page.evaluate(BUSY) >= 3  # nobody answers frames, so there are at most twelve in a second
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()
    assert notebook.drawers() == 1
    (frames,) = [sizes for url, sizes in sockets.items() if url.endswith("/frames")]
    assert len(frames) > 10
    assert max(frames) > 5_000  # pictures; the words of a frame go to the page


def listen(sizes, socket):
    """Note the size of each message that comes over this connection."""
    socket.on("framereceived", lambda message: sizes.append(len(message)))


def test_page_that_forbids_workers_draws_itself(direct_lab, page):
    page.add_init_script("window.Worker = class { constructor() { throw new DOMException('no', 'SecurityError'); } }")
    notebook = open_notebook(direct_lab, page, "alone.ipynb", WAVE, 'sim.view("u")')
    notebook.wait_drawn(1, before=0)
    assert notebook.drawers() == 0
    page.get_by_role("button", name="Play").click()
    notebook.wait_drawn(10)
    page.get_by_role("button", name="Pause").click()
    assert notebook.colours() > 50


def test_cleared_output_ends_the_worker(direct_lab, page):
    notebook = open_notebook(direct_lab, page, "cleared.ipynb", WAVE, 'sim.view("u")')
    notebook.wait_drawn(1, before=0)
    assert notebook.drawers() == 1
    page.evaluate("window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    page.wait_for_function("document.querySelectorAll('.swb-field').length === 0")
    wait_until(page, lambda: notebook.drawers() == 0)


def test_notebook_7_draws_in_a_worker_as_well(tmp_path, page):
    sockets = {}
    page.on("websocket", lambda socket: listen(sockets.setdefault(socket.url.partition("?")[0], []), socket))
    with running_lab(tmp_path, application="notebook", direct=True) as address:
        notebook = open_notebook((address, tmp_path), page, "seven.ipynb", WAVE, 'sim.view("u")', place="notebooks")
        notebook.wait_drawn(1, before=0)
        page.get_by_role("button", name="Play").click()
        notebook.wait_drawn(20)
        page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Play").wait_for()
        assert notebook.drawers() == 1
        assert [len(sizes) > 10 for url, sizes in sockets.items() if url.endswith("/frames")] == [True]
        end_kernels()
