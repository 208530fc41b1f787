"""All views in a real Firefox: a second engine of canvases, workers and widgets."""

import pytest

from tests.browser.firefox import firefox, running_firefox
from tests.browser.lab import COLOURS, TOKEN, write_notebook
from tests.browser.programs import WAVE
from tests.kit.cells import HELLO

pytestmark = pytest.mark.browser

MACHINE = f'import workbench as wb\nhello = wb.trace("""{HELLO}""", name="hello")'
RIGHT = "\ue014"


@pytest.fixture(scope="module")
def page(lab, tmp_path_factory):
    assert firefox(), "no Firefox; type: sudo apt install firefox-esr"
    with running_firefox(tmp_path_factory.mktemp("browser")) as page:
        yield page


def run(lab, page, name, *cells):
    """All cells, in a notebook of this name."""
    address, folder = lab
    write_notebook(folder / name, *cells)
    page.open(f"{address}lab/tree/{name}?token={TOKEN}&reset")
    session = "[...window.jupyterapp?.shell.widgets('main') ?? []][0]?.sessionContext"
    page.wait(f"{session}?.isReady && {session}.session?.kernel?.status === 'idle'")
    page.value("void window.jupyterapp.shell.activateById([...window.jupyterapp.shell.widgets('main')][0].id)")
    page.value("void window.jupyterapp.commands.execute('notebook:run-all-cells')")


def click(page, button):
    page.value(
        f"[...document.querySelectorAll('button')].find(found => found.textContent.trim() === '{button}').click()"
    )


def text(page, selector, words):
    page.wait(f"document.querySelector('{selector}')?.textContent.includes('{words}')")


@pytest.mark.parametrize("server", ["lab", "direct_lab"])
def test_field_streams_and_obeys(page, request, server):
    run(request.getfixturevalue(server), page, "firefox-field.ipynb", WAVE, 'sim.view("u")')
    page.wait("document.querySelector('.swb-field')?.dataset.drawn")
    click(page, "Play")
    page.wait("Number(document.querySelector('.swb-field').dataset.drawn) > 60")
    page.picture(f"firefox-field-{server}")
    assert page.value(f"({COLOURS})()") > 50
    click(page, "Pause")
    page.wait("[...document.querySelectorAll('.swb-field button')].some(found => found.textContent.trim() === 'Play')")
    page.value("document.querySelector('.swb-canvas').focus()")
    page.press(RIGHT)
    page.wait("/^u at x cell 1, y cell 0: /.test(document.querySelector('.swb-status').textContent)")
    assert page.value("document.querySelector('.swb-trouble').textContent") == ""


def test_node_is_flipped_by_keyboard_and_the_new_code_is_shown(lab, page):
    run(lab, page, "firefox-inspect.ipynb", MACHINE, "hello.inspect()")
    text(page, ".swb-pane-status", "hello: 1 sub-kernel;")
    page.wait("!!document.querySelector('.swb-pane[data-opened=true]')")
    page.value("document.querySelector('.swb-drawing').focus()")
    page.press(RIGHT, RIGHT)
    text(page, ".swb-pane-status", "y = density * density")
    page.press("f")
    text(page, ".swb-pane-status", "now: hello: 2 sub-kernels")
    page.wait("!!document.querySelector('.swb-listing .swb-two .swb-line-row')")
    page.picture("firefox-inspect")
