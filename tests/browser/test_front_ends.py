"""The field view where people look at notebooks: Notebook 7, reloaded pages, saved pages, AMD pages as in VS Code."""

import http.server
import subprocess
import sys
import threading
from functools import partial

import nbformat
import pytest
from nbclient import NotebookClient

from tests.browser.lab import ARTEFACTS, ROOT, NotebookPage, open_notebook, running_lab, wait_still, write_notebook
from tests.browser.programs import WAVE

pytestmark = pytest.mark.browser

PACKAGES = ROOT / "labextension" / "node_modules"
# The page's word that a view has gone comes by another way than a cell, and may come after it.
THREADS = """import threading, time
end = time.monotonic() + 10
while len(left := [t.name for t in threading.enumerate() if t.name == "field view"]) > MOST and time.monotonic() < end:
    time.sleep(0.05)
left"""


@pytest.fixture(scope="module")
def notebook_7(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook")
    with running_lab(folder, application="notebook") as address:
        yield address, folder


@pytest.mark.usefixtures("own_page")
def test_notebook_7_draws_streams_and_obeys(notebook_7, page):
    notebook = open_notebook(notebook_7, page, "seven.ipynb", WAVE, 'sim.view("u")', place="notebooks")
    notebook.wait_drawn(1, before=0)
    page.get_by_role("button", name="Play").click()
    notebook.wait_drawn(20)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()
    notebook.picture("field-notebook-7")


@pytest.mark.usefixtures("own_page")
def test_notebook_7_says_what_to_do_after_a_restart(notebook_7, page):
    notebook = open_notebook(notebook_7, page, "seven-restart.ipynb", WAVE, 'sim.view("u")', place="notebooks")
    notebook.wait_drawn(1, before=0)
    page.evaluate("void window.jupyterapp.commands.execute('kernelmenu:restart')")
    page.locator(".jp-Dialog-button.jp-mod-accept").click()
    notebook.wait_text(".swb-trouble", "Run the cell again")


@pytest.mark.usefixtures("own_page")
def test_reloaded_page_is_live_again(lab, page):
    notebook = open_notebook(lab, page, "reload.ipynb", WAVE, 'sim.run(7); sim.view("u")')
    notebook.wait_drawn(1, before=0)
    notebook.wait_idle()
    page.get_by_role("button", name="Step").click()
    notebook.wait_text(".swb-title", "step 8")
    notebook.save()
    page.reload()
    notebook.wait_loaded()
    notebook.wait_text(".swb-title", "step 8")
    page.get_by_role("button", name="Step").click()
    notebook.wait_text(".swb-title", "step 9")
    notebook.picture("field-reloaded")


def test_running_the_cell_again_leaves_one_view_and_one_thread(lab, page):
    notebook = open_notebook(lab, page, "again.ipynb", WAVE, 'sim.view("u")', THREADS.replace("MOST", "1"))
    for _ in range(2):
        notebook.run(1)
        notebook.wait_idle()
        notebook.wait_drawn(1, before=0)
    page.wait_for_function("document.querySelectorAll('.swb-field').length === 1")
    notebook.run(2)
    page.locator(".jp-CodeCell").nth(2).get_by_text("['field view']", exact=True).wait_for()


def test_cleared_output_frees_the_thread(lab, page):
    asked = THREADS.replace("MOST", "0")
    notebook = open_notebook(lab, page, "cleared.ipynb", WAVE, 'view = sim.view("u"); view', asked)
    notebook.wait_drawn(1, before=0)
    page.evaluate("window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    page.wait_for_function("document.querySelectorAll('.swb-field').length === 0")
    notebook.run(2)
    page.locator(".jp-CodeCell").nth(2).get_by_text("[]", exact=True).wait_for()


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A notebook executed without a page, with the state of its widgets, as its author would save it."""
    path = tmp_path_factory.mktemp("executed") / "executed.ipynb"
    write_notebook(path, WAVE, 'sim.run(200); sim.view("u")')
    notebook = nbformat.read(path, 4)
    NotebookClient(notebook, kernel_name="python3", timeout=60, store_widget_state=True).execute()
    assert notebook.metadata["widgets"]
    nbformat.write(notebook, path)
    return path


@pytest.mark.usefixtures("own_page")
def test_exported_page_shows_the_picture_offline(executed, page):
    command = [sys.executable, "-m", "nbconvert", "--to", "html", str(executed)]
    subprocess.run(command, check=True, capture_output=True)
    page.route("**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else route.abort())
    page.goto(executed.with_suffix(".html").as_uri())
    image = page.locator('.jp-OutputArea-output img[src^="data:image/png"]')
    image.wait_for()
    assert image.bounding_box()["height"] > 100
    image.scroll_into_view_if_needed()
    page.screenshot(path=str(ARTEFACTS / "field-exported-html.png"))


AMD_PAGE = """<!doctype html><meta charset="utf-8"><title>AMD</title>
<script src="/packages/requirejs/require.js"></script>
<div id="place"></div>
<script>
window.errors = [];
window.sent = [];
window.addEventListener('error', event => errors.push(String(event.message)));
window.addEventListener('unhandledrejection', event => errors.push(String(event.reason)));
requirejs.config({paths: {
  'stencil-workbench': '/nbextension/index',
  embed: '/packages/@jupyter-widgets/html-manager/dist/libembed-amd'
}});
const load = name => new Promise((done, fail) => requirejs([name], done, fail));
async function show() {
  await load('embed');
  const {HTMLManager} = await load('@jupyter-widgets/html-manager');
  const manager = new HTMLManager({loader: load});
  const name = 'stencil-workbench', version = '^0.1.0';
  const state = {
    _model_name: 'FieldModel', _model_module: name, _model_module_version: version,
    _view_name: 'FieldView', _view_module: name, _view_module_version: version, layout: null
  };
  const description = {model_name: 'FieldModel', model_module: name, model_module_version: version, model_id: 'one'};
  const model = await manager.new_model(description, state);
  model.send = content => { sent.push(content); };
  await manager.display_view(manager.create_view(model), document.getElementById('place'));
  window.exported = Object.keys(await load(name));
  window.model = model;
}
show();
</script>"""

FRAME = """() => {
    const axis = {name: 'x', unit: '', cells: 4, first: 0, last: 3};
    const table = Array.from({length: 256}, (_, code) => code.toString(16).padStart(2, '0').repeat(3)).join('');
    model.trigger('msg:custom', {type: 'opening', machine: 'wave', names: ['u'], scalars: false, axes: [axis, axis],
        params: [], palettes: {grey: table}}, []);
    const plane = {rows: 4, columns: 4, minimum: 0, maximum: 1, notNumbers: 0, infinite: 0, stride: 1, shown: [0, 1],
        across: axis, up: axis, cuts: []};
    model.trigger('msg:custom', {type: 'frame', number: 1, kind: 'plane', name: 'u', subject: 'u', unit: '', step: 3,
        time: null, low: 0, high: 1, palette: 'grey', wrong: null, planes: [plane]},
        [new DataView(Uint8Array.from({length: 16}, (_, cell) => 16 * cell).buffer)]);
}"""


class Files(http.server.SimpleHTTPRequestHandler):
    """The built AMD module, the packages that stand in for VS Code's own, and one page."""

    def translate_path(self, path):
        for start, folder in (("/nbextension/", ROOT / "workbench" / "nbextension"), ("/packages/", PACKAGES)):
            if path.startswith(start):
                return str(folder / path.removeprefix(start))
        return super().translate_path(path)

    def log_message(self, *_):
        pass


@pytest.fixture
def amd_address(tmp_path):
    (tmp_path / "index.html").write_text(AMD_PAGE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(tmp_path))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


@pytest.mark.usefixtures("own_page")
def test_amd_module_draws_in_a_page_of_requirejs_as_vs_code_has(amd_address, page):
    page.goto(amd_address)
    page.wait_for_function("window.model || window.errors.length")
    assert page.evaluate("errors") == []
    assert {"FieldModel", "FieldView", "PaneModel", "PaneView"} <= set(page.evaluate("exported"))
    page.wait_for_function("sent.some(message => message.type === 'ready')")  # by the widget's own comm
    page.evaluate(FRAME)
    page.wait_for_function("document.querySelector('.swb-field').dataset.drawn === '1'")
    page.wait_for_function("sent.some(message => message.type === 'drawn' && message.number === 1)")
    assert "u of wave, step 3" in page.locator(".swb-title").inner_text()
    style = "getComputedStyle(document.querySelector('.swb-picture')).display"
    assert page.evaluate(style) == "grid"  # the style sheet came with the module
    page.screenshot(path=str(ARTEFACTS / "field-amd.png"))


@pytest.mark.usefixtures("own_page")
def test_saved_notebook_in_notebook_7_shows_the_picture(notebook_7, executed, page):
    address, folder = notebook_7
    (folder / "saved.ipynb").write_text(executed.read_text())
    NotebookPage(page, address, "saved.ipynb", "notebooks")
    image = page.locator('.jp-OutputArea-output img[src^="data:image/png"]')
    image.wait_for()
    wait_still(page)
    assert image.bounding_box()["height"] > 100


def test_view_says_what_to_do_after_its_kernel_process_died(lab, page):
    address, folder = lab
    write_notebook(folder / "died.ipynb", WAVE, 'sim.view("u")', "import os; os._exit(1)")
    notebook = NotebookPage(page, address, "died.ipynb")
    notebook.run(0)
    notebook.run(1)
    notebook.wait_drawn(1, before=0)
    notebook.run(2)
    notebook.wait_text(".swb-trouble", "Run the cell again")
    assert notebook.colours() > 50  # the last picture stays
