"""The views in VS Code's widget manager, found by its rules, over its messages, under its content policy."""

import pytest

from tests.browser.graph_page import place_on_page
from tests.browser.lab import wait_still
from tests.browser.programs import WAVE
from tests.browser.vscode import VsCodePage, build_halves, install_shared
from tests.kit.cells import HELLO

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("own_page")]

MACHINE = f'import numpy as np\nimport workbench as wb\nhello = wb.trace("""{HELLO}""", name="hello")'


@pytest.fixture(scope="module")
def halves(tmp_path_factory):
    return build_halves(tmp_path_factory.mktemp("halves"))


@pytest.fixture
def vscode(lab, page, halves, tmp_path):
    address, _ = lab
    stand_in = VsCodePage(page, address, halves, install_shared(tmp_path))
    yield stand_in
    assert page.evaluate("failures") == []
    assert page.evaluate("refused") == []  # the extension passes text on, and nothing else
    assert stand_in.refusals == []


def wait_graph(vscode):
    vscode.wait("document.querySelector('.swb-pane[data-opened=true] canvas, .swb-pane[data-opened=true] .bk-Figure')")
    wait_still(vscode.frame, ".swb-drawing")


def test_field_streams_and_obeys_its_slider(vscode, page):
    vscode.run(WAVE)
    vscode.run('view = sim.view("u"); view')
    vscode.wait_drawn(1, before=0)
    assert page.evaluate("asked")[0] == "stencil-workbench"
    vscode.output.get_by_role("button", name="Play").click()
    vscode.wait_drawn(20)
    slider = vscode.output.get_by_role("slider", name="c", exact=True)
    slider.focus()
    slider.press("ArrowRight")
    vscode.run("import time\nend = time.time() + 60\nwhile sim.c == 1.0 and time.time() < end: time.sleep(0.05)")
    vscode.run("assert sim.c != 1.0, sim.c")
    vscode.output.get_by_role("button", name="Pause").click()
    vscode.output.get_by_role("button", name="Play").wait_for()
    vscode.picture("vscode-field")


def test_field_moves_while_a_cell_runs(vscode, page, tmp_path):
    vscode.run(WAVE)
    vscode.run('sim.start(); sim.view("u")')
    vscode.wait_drawn(1, before=0)
    seen = tmp_path / "seen"
    limit = "import os, time\nend = time.time() + 60"
    vscode.start(f"{limit}\nwhile not os.path.exists({str(seen)!r}) and time.time() < end: time.sleep(0.05)")
    vscode.wait_drawn(5)
    assert page.evaluate("window.ended") is None
    seen.touch()
    page.wait_for_function("window.ended")


def test_node_is_flipped_by_mouse_and_by_keyboard(vscode, page):
    vscode.run(MACHINE)
    vscode.run("hello.view()")
    wait_graph(vscode)
    vscode.wait_text(".swb-pane-status", "hello: 1 sub-kernel;")
    drawing = vscode.output.locator(".swb-drawing")
    x, y = place_on_page(vscode.output, 1)
    page.mouse.dblclick(x, y)
    vscode.wait_text(".swb-pane-status", "now: hello: 2 sub-kernels")
    drawing.focus()
    page.keyboard.press("Control+z")
    vscode.wait_text(".swb-pane-status", "hello: 1 sub-kernel;")
    page.keyboard.press("Escape")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    vscode.wait_text(".swb-pane-status", "y = density * density")
    page.keyboard.press("f")
    vscode.wait_text(".swb-pane-status", "now: hello: 2 sub-kernels")
    vscode.picture("vscode-graph")
    vscode.theme("vscode-dark")
    vscode.picture("vscode-graph-dark")


def test_all_views_in_one_widget_with_new_code_after_a_flip(vscode, page):
    page.set_viewport_size({"width": 1700, "height": 1150})
    vscode.run(MACHINE)
    vscode.run("sim = hello.simulate(density=np.linspace(0, 0.4, 1 << 20)); sim.start(); hello.inspect(sim)")
    wait_graph(vscode)
    vscode.wait_text(".swb-pane-status", "hello: 1 sub-kernel;")
    wait_still(vscode.frame, ".swb-drawing")
    page.mouse.dblclick(*place_on_page(vscode.output, 1))
    vscode.wait_text(".swb-pane-status", "now: hello: 2 sub-kernels; 2 Manifest, 0 Delayed; 32 bytes a cell; measured")
    vscode.wait_text(".swb-listing", "sweep_step_1_z(")
    vscode.picture("vscode-inspect")
    vscode.output.get_by_role("tab", name="Field").click()
    vscode.wait_drawn(2, before=0)
    vscode.picture("vscode-inspect-field")
    vscode.theme("vscode-dark")
    vscode.output.get_by_role("tab", name="Code").click()
    wait_still(vscode.frame, ".swb-listing")
    vscode.picture("vscode-inspect-dark")
    page.set_viewport_size({"width": 480, "height": 1150})
    wait_still(vscode.frame, ".swb-listing")
    vscode.picture("vscode-inspect-narrow")


def test_pictures_are_offered_as_files(vscode, page):
    vscode.run(WAVE)
    vscode.run('sim.view("u")')
    vscode.wait_drawn(1, before=0)
    vscode.output.get_by_text("Curves and files").click()
    vscode.output.get_by_label("save as").select_option("png")
    page.wait_for_function("files.some(name => name.endsWith('.png'))")
    vscode.run(MACHINE)
    vscode.run("hello.view()")
    wait_graph(vscode)
    vscode.output.get_by_role("button", name="SVG").last.click()
    page.wait_for_function("files.some(name => name.endsWith('.svg'))")


def test_view_says_what_to_do_after_a_restart_and_the_cell_works_again(vscode, page):
    vscode.run(WAVE)
    vscode.run('sim.view("u")')
    vscode.wait_drawn(1, before=0)
    page.evaluate("void restart().then(() => (window.restarted = true))")
    page.wait_for_function("window.restarted")
    vscode.wait_text(".swb-trouble", "Run the cell again")
    vscode.run(WAVE)
    vscode.run("sim.run(7); sim.view('u')")
    vscode.wait_text(".swb-title", "step 7")


def test_without_ipywidgets_form_there_is_a_picture(vscode):
    """What JupyterLab's own kernel processes give: VS Code must not need the live form."""
    vscode.run(WAVE)
    vscode.run('del __vsc_ipynb_file__; view = sim.view("u"); view')
    vscode.output.locator("img").wait_for()
    assert vscode.output.locator(".swb-field").count() == 0
