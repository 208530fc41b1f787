"""The field view in a real JupyterLab."""

import nbformat
import pytest
from nbclient import NotebookClient

from tests.browser.lab import NotebookPage, open_notebook, trust, wait_still, write_notebook
from tests.browser.programs import WAVE, WAVE_1D

pytestmark = pytest.mark.browser


@pytest.mark.usefixtures("own_page")
def test_field_is_drawn_streams_and_obeys(lab, page):
    sockets = []
    page.on("websocket", lambda socket: sockets.append(socket.url.partition("?")[0]))
    notebook = open_notebook(lab, page, "stream.ipynb", WAVE, 'sim.view("u")')
    notebook.wait_drawn(1, before=0)
    notebook.wait_idle()
    notebook.wait_text(".swb-title", "u of wave, step 0")
    assert notebook.colours() > 50
    notebook.picture("field-wide-light")

    page.get_by_role("button", name="Play").click()
    notebook.wait_drawn(30)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()

    slider = page.locator(".swb-params .swb-slider").first
    slider.focus()
    before, frames = slider.input_value(), notebook.drawn()
    slider.press("ArrowRight")
    notebook.wait_drawn(1, before=frames)
    assert slider.input_value() != before
    frames = notebook.drawn()
    page.get_by_role("button", name="Step").click()
    notebook.wait_drawn(1, before=frames)
    notebook.picture("field-after-run")
    assert notebook.drawers() == 0
    assert not [address for address in sockets if "stencil" in address]

    canvas = page.locator(".swb-canvas")
    canvas.focus()
    canvas.press("ArrowRight")
    notebook.wait_text(".swb-status", "u at x cell 1")
    page.get_by_role("button", name="Reset").click()
    notebook.wait_text(".swb-title", "step 0")


def test_field_streams_while_a_cell_runs(lab, page):
    loop = 'import time\nend = time.time() + 6\nsim.start()\nwhile time.time() < end: pass\nsim.stop(); "ended"'
    notebook = open_notebook(lab, page, "busy.ipynb", WAVE, 'sim.view("u")', loop)
    notebook.wait_drawn(5)
    assert "*" in page.locator(".jp-CodeCell .jp-InputPrompt").nth(2).inner_text()
    notebook.wait_drawn(10)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for(timeout=3000)
    notebook.wait_idle()


# Each time that words change: the number of their frame, and of the one whose picture is drawn.
WATCH_WORDS = """view => {
    window.changes = [];
    const { dataset } = view;
    const note = () => window.changes.push([dataset.told, dataset.number]);
    new MutationObserver(note).observe(view, { attributes: true, attributeFilter: ['data-told'] });
}"""


@pytest.mark.parametrize("cell", [WAVE, f"{WAVE_1D}\nsim = wave.simulate(u=np.sin(np.linspace(0, 6, 400)), v=0.0)"])
def test_words_change_with_their_picture(lab, page, cell):
    notebook = open_notebook(lab, page, "words.ipynb", cell, 'sim.view("u")')
    notebook.wait_drawn(1, before=0)
    notebook.wait_idle()
    page.locator(".swb-field").evaluate(WATCH_WORDS)
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("window.changes.length >= 8")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()
    assert all(told == drawn for told, drawn in page.evaluate("window.changes"))
    page.wait_for_function("(({ told, number }) => told === number)(document.querySelector('.swb-field').dataset)")


NOTE = """\
from workbench.views.field import view as field_view
sent, frame_message = [], field_view.frame_message
def noted(*about, **how):
    sent.append(frame_message(*about, **how))
    return sent[-1]
field_view.frame_message = noted
view = sim.view("u")
view"""


SETTLED = """other => {
    const before = window.seenPicture, now = document.querySelector('.swb-canvas').toDataURL();
    window.seenPicture = now;
    return now === before && now !== other ? now : null;
}"""


def settled_picture(page, other):
    """The canvas when it changes no more and is not another one: a thread draws it, and it shows a little later."""
    return page.wait_for_function(SETTLED, arg=other, polling=200).json_value()


def test_packed_frame_shows_the_same_picture(lab, page):
    address, folder = lab
    unpacked = "from workbench.views.field import messages\nmessages.pack = lambda codes: None\n"
    whole = unpacked + "view.look(limits=(0, 1));"
    sizes = "[(plane['packed'], len(body)) for m in sent for plane, body in zip(m.content['planes'], m.buffers)]"
    write_notebook(folder / "packed.ipynb", WAVE, NOTE, "view.look(limits=(0, 1));", whole, sizes)
    notebook = NotebookPage(page, address, "packed.ipynb")
    pictures = []
    for cell, drawn in ((0, 0), (1, 1), (2, 2), (3, 3), (4, 3)):
        notebook.run(cell)
        notebook.wait_drawn(drawn, before=0)
        notebook.wait_idle()
        pictures.append(drawn and settled_picture(page, pictures[1] if cell == 2 else None))
    assert pictures[2] == pictures[3] != pictures[1]
    told = page.locator(".jp-OutputArea-output", has_text="[(")  # a cell may be idle before its output is shown
    (before, few), *_, (after, whole) = eval(told.inner_text())
    assert (before, after) == (True, False)
    assert few < whole / 5


def test_view_shown_twice_moves_in_both_places(lab, page):
    notebook = open_notebook(lab, page, "twice.ipynb", WAVE, 'view = sim.view("u"); view', "view")
    page.wait_for_function("document.querySelectorAll('.swb-field[data-drawn]').length === 2")
    notebook.wait_idle()
    pixels = "[...document.querySelectorAll('.swb-canvas')].map(canvas => canvas.toDataURL())"
    before = page.evaluate(pixels)
    page.get_by_role("button", name="Play").first.click()
    notebook.wait_drawn(20)
    page.get_by_role("button", name="Pause").first.click()
    page.get_by_role("button", name="Play").first.wait_for()
    page.wait_for_function(f"new Set({pixels}).size === 1")
    assert page.evaluate(pixels)[0] not in before


@pytest.mark.parametrize("trusted", [False, True])
def test_saved_notebook_shows_the_picture_without_its_kernel_process(lab, page, trusted):
    address, folder = lab
    path = folder / f"saved-{trusted}.ipynb"
    write_notebook(path, WAVE, 'sim.view("u")')
    notebook = nbformat.read(path, 4)
    NotebookClient(notebook, kernel_name="python3", timeout=60).execute()
    nbformat.write(notebook, path)
    if trusted:
        trust(folder, path)
    opened = NotebookPage(page, address, path.name)
    selector = ".swb-fallback" if trusted else '.jp-OutputArea-output img[src^="data:image/png"]'
    image = page.locator(selector)
    image.wait_for()
    if trusted:
        page.locator(".swb-still-note").wait_for()  # it has looked for its model again
    wait_still(page)
    assert image.bounding_box()["height"] > 100
    assert not page.get_by_text("model not found").is_visible()
    opened.picture(f"field-reopened-{trusted}")


def test_view_says_what_to_do_after_a_restart(lab, page):
    notebook = open_notebook(lab, page, "restart.ipynb", WAVE, 'sim.view("u")')
    notebook.wait_drawn(1, before=0)
    page.evaluate("void window.jupyterapp.commands.execute('kernelmenu:restart')")
    page.locator(".jp-Dialog-button.jp-mod-accept").click()
    notebook.wait_text(".swb-trouble", "Run the cell again")
    assert page.locator(".swb-controls").evaluate("node => node.inert")
    notebook.picture("field-after-restart")
    notebook.wait_idle()
    notebook.run(0)
    notebook.run(1)
    notebook.wait_text(".swb-title", "step 0")


def test_dark_and_narrow(lab, page):
    notebook = open_notebook(lab, page, "dark.ipynb", WAVE, "sim.run(300); sim.view('u', palette='RdBu_r')")
    notebook.wait_drawn(1, before=0)
    notebook.theme("Dark")
    notebook.picture("field-wide-dark")
    page.set_viewport_size({"width": 700, "height": 1000})
    wait_still(page)
    notebook.picture("field-narrow-dark")
    view = page.locator(".swb-field")
    assert view.evaluate("node => node.scrollWidth <= node.clientWidth")
    notebook.theme("Light")


def test_line_and_slice(lab, page):
    line = """\
import numpy as np
import workbench as wb
hello = wb.trace('u = field("u", boundary="periodic")\\nu.next = u + 0.2 * (u[+1] - 2 * u + u[-1])')
one = hello.simulate(u=np.sin(np.linspace(0, 12, 400)))
one.view("u")"""
    box = """\
heat = wb.trace('T = field("T", boundary="periodic")\\nT.next = T + 0.1 * (T[+1,0,0] - 2*T + T[-1,0,0])')
three = heat.simulate(T=np.random.default_rng(1).random((40, 30, 20)))
three.view("T", palette="cividis")"""
    notebook = open_notebook(lab, page, "shapes.ipynb", line, box)
    page.wait_for_function("document.querySelectorAll('.swb-field[data-drawn]').length === 2")
    notebook.picture("field-line-and-slice")
    slider = page.get_by_label("cut at z")
    slider.scroll_into_view_if_needed()
    slider.focus()
    slider.press("ArrowRight")
    page.wait_for_function(
        "[...document.querySelectorAll('.swb-values')].some(n => n.textContent.includes('z = cell 11'))"
    )
    page.get_by_label("slice").last.select_option("1,2")
    page.wait_for_function(
        "[...document.querySelectorAll('.swb-across-name')].some(n => n.textContent === 'y (cells)')"
    )
    notebook.picture("field-slice")


def test_value_without_neighbours_is_a_dot(lab, page):
    lines = """\
import numpy as np
import workbench as wb
flat = wb.trace('u = field("u", boundary="periodic")\\nu.next = u')
one = flat.simulate(u=np.array([2.0]))
holes = flat.simulate(u=np.array([1.0, np.nan, 2.0, np.nan, 3.0]))"""
    notebook = open_notebook(lab, page, "dots.ipynb", lines, 'holes.view("u")', 'one.view("u")')
    page.wait_for_function("document.querySelectorAll('.swb-field[data-drawn]').length === 2")
    drawn = """[...document.querySelectorAll('.swb-canvas')].map(canvas => {
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        return pixels.filter((value, index) => index % 4 === 3 && value > 127).length;
    })"""
    three, one = page.evaluate(drawn)
    assert 25 <= one <= 80
    assert 3 * 25 <= three <= 3 * 80
    notebook.picture("field-dots")
