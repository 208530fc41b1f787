"""A real JupyterLab on a free port, and a real page that looks at it."""

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from tests.browser.shared_page import enter

ROOT = Path(__file__).resolve().parents[2]
ARTEFACTS = ROOT / "artefacts" / "browser"
BUILT = ROOT / "workbench" / "labextension"
SERVER = ROOT / "labextension" / "server.json"
AXE = ROOT / "labextension" / "node_modules" / "axe-core" / "axe.min.js"
TOKEN = "stencil"
START_SECONDS = 180
PATIENCE = 90_000  # milliseconds; a machine under load is slow
PIXELS = """canvas => {
    const context = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
    context.drawImage(canvas, 0, 0);
    return context.getImageData(0, 0, canvas.width, canvas.height).data;
}"""
STILL = """([selector, frames, patience]) => new Promise((done, fail) => {
    const look = () => {
        const parts = [];
        const walk = root => {
            for (const node of root.querySelectorAll('*')) {
                const box = node.getBoundingClientRect();
                parts.push(box.x, box.y, box.width, box.height);
                if (node instanceof HTMLCanvasElement && node.width * node.height) {
                    const context = new OffscreenCanvas(node.width, node.height).getContext('2d');
                    context.drawImage(node, 0, 0);
                    const words = new Uint32Array(context.getImageData(0, 0, node.width, node.height).data.buffer);
                    parts.push(words.reduce((hash, word) => Math.imul(hash ^ word, 16777619), 0));
                }
                if (node.shadowRoot) {
                    walk(node.shadowRoot);
                }
            }
        };
        document.querySelectorAll(selector).forEach(walk);
        return parts.join();
    };
    const end = performance.now() + patience;
    let before = '', same = 0;
    const compare = () => {
        const now = look();
        same = now !== '' && now === before ? same + 1 : 0;
        before = now;
        if (same >= frames) {
            done();
        } else if (performance.now() > end) {
            fail(new Error(`${selector} does not come to rest`));
        } else {
            requestAnimationFrame(compare);
        }
    };
    requestAnimationFrame(compare);
})"""
STILL_FRAMES = 8
COLOURS = f"() => new Set(new Uint32Array(({PIXELS})(document.querySelector('.swb-canvas')).buffer)).size"
PATCHES = """[...document.querySelectorAll('.swb-pane[data-opened="true"]')].map(
    pane => Number(pane.dataset.patches ?? 0))"""
RECOLOURED = f"before => {{ const now = {PATCHES}; return before.every((patches, pane) => now[pane] > patches); }}"
# What this code prints in the kernel process.
ASK = """code => new Promise(done => {
    const [shown] = window.jupyterapp.shell.widgets('main');
    const asked = shown.sessionContext.session.kernel.requestExecute({code, store_history: false});
    let text = '';
    asked.onIOPub = ({header, content}) => { if (header.msg_type === 'stream') text += content.text; };
    asked.done.then(() => done(text));
})"""
# The SHA-256 of the pixels of each picture.
SHOWN = f"""() => Promise.all([...document.querySelectorAll('.swb-canvas')].map(async canvas => {{
    const digest = await crypto.subtle.digest('SHA-256', ({PIXELS})(canvas));
    return [...new Uint8Array(digest)].map(byte => byte.toString(16).padStart(2, '0')).join('');
}}))"""
HAS_KERNEL = "window.jupyterapp?.shell.currentWidget?.context?.sessionContext.session?.kernel"
_running: list[str] = []


def before_drawing(text):
    """A script for a page, before its own: the worker that draws fields there gets this text before its own."""
    return f"""(() => {{
        const Made = window.Blob;
        window.Blob = class extends Made {{
            constructor(parts, options) {{
                super(options?.type === 'text/javascript' ? [{json.dumps(text)}, ...parts] : parts, options);
            }}
        }};
    }})()"""


def wait_until(page, condition):
    """Wait until `condition()` is true; it is asked after each animation frame of the page."""
    end = time.monotonic() + PATIENCE / 1000
    while not condition():
        assert time.monotonic() < end, "the condition stays false"
        page.evaluate("new Promise(requestAnimationFrame)")


def wait_still(page, selector=".jp-Notebook"):
    """Wait until all below `selector` keeps its place, size and, on canvases, its pixels for some animation frames.

    `page` may be a frame of one. A view of a simulation that runs never comes to rest: name a part that does.
    """
    page.evaluate(STILL, [selector, STILL_FRAMES, PATIENCE])


def chromium():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def running_lab(folder, python=sys.executable, application="jupyterlab", direct=False):
    """The address of a JupyterLab, or of another front end, that serves `folder` with this checkout's extension.

    `python` is that of the environment with the front end; the kernel process runs there too. The notebook server has
    its extension as well, as the wheel installs it; `direct`: and frames go directly to a worker of the page.
    """
    assert (BUILT / "package.json").exists(), "the front end is not built; type: make labextension"
    extensions = folder / "share" / "labextensions"
    extensions.mkdir(parents=True)
    (extensions / "stencil-workbench").symlink_to(BUILT)
    port_file = folder / "port"
    environment = {
        **os.environ,
        "HOME": str(folder / "home"),
        "JUPYTER_PATH": str(folder / "share"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "IPYTHONDIR": str(folder / "ipython"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    (folder / "home").mkdir()
    configure(folder / "config", direct)
    settings = folder / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false", "checkForUpdates": false}')
    command = [str(python), "-m", application, "--no-browser", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0"]
    exposing = {"jupyterlab": "LabApp", "notebook": "JupyterNotebookApp"}[application]
    command += [f"--{exposing}.expose_app_in_browser=True"]
    command += ["--allow-root", f"--ServerApp.root_dir={folder}", f"--IdentityProvider.token={TOKEN}"]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    address = None
    try:
        address = address_of(folder, server)
        _running.append(address)
        yield address
    finally:
        _running[:] = [other for other in _running if other != address]
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
        port_file.unlink(missing_ok=True)


def configure(folder, direct):
    """The configuration of a notebook server where the wheel is installed, with or without its one setting.

    Its pages do not ask whether extensions must be built, for which the server would start node and yarn each time.
    """
    (folder / "jupyter_server_config.d").mkdir(parents=True)
    (folder / "jupyter_server_config.d" / "stencil-workbench.json").symlink_to(SERVER)
    (folder / "labconfig").mkdir()
    (folder / "labconfig" / "page_config.json").write_text('{"buildAvailable": false, "buildCheck": false}')
    if direct:
        (folder / "jupyter_server_config.py").write_text("c.StencilWorkbench.direct_frames = True\n")


def address_of(folder, server):
    """Wait until the server answers; it writes its port into its runtime folder."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        for found in (folder / "runtime").glob("jpserver-*.json"):
            try:
                address = json.loads(found.read_text())["url"]
                urllib.request.urlopen(f"{address}api?token={TOKEN}", timeout=5)
            except (ValueError, OSError):
                continue
            return address
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{(folder / 'log').read_text()[-3000:]}")


def end_kernels():
    """End the kernel processes of all servers that run; they outlive their pages."""
    for address in _running:
        asked = urllib.request.urlopen(f"{address}api/kernels?token={TOKEN}", timeout=PATIENCE / 1000)
        for kernel in json.load(asked):
            ending = urllib.request.Request(f"{address}api/kernels/{kernel['id']}?token={TOKEN}", method="DELETE")
            try:
                urllib.request.urlopen(ending, timeout=PATIENCE / 1000)
            except urllib.error.HTTPError as refused:
                if refused.code not in (404, 500):  # it has ended by itself, or starts again just now
                    raise


def write_notebook(path, *cells):
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)


def trust(folder, path):
    """Let the page show everything that the notebook holds, as after running it oneself."""
    environment = {**os.environ, "HOME": str(folder / "home"), "JUPYTER_CONFIG_DIR": str(folder / "config")}
    subprocess.run([sys.executable, "-m", "jupyter", "trust", str(path)], check=True, env=environment)


def open_notebook(lab, page, name, *cells, place="lab/tree"):
    address, folder = lab
    write_notebook(folder / name, *cells)
    notebook = NotebookPage(page, address, name, place)
    for cell in range(len(cells)):
        notebook.run(cell)
    return notebook


class NotebookPage:
    """One notebook in one page."""

    def __init__(self, page, address, name, place="lab/tree"):
        self.page = page
        if not enter(page, address, name):
            page.goto(f"{address}{place}/{name}?token={TOKEN}&reset")
        self.wait_loaded()

    @classmethod
    def shown(cls, page):
        """The notebook that this page shows already."""
        notebook = cls.__new__(cls)
        notebook.page = page
        return notebook

    def wait_loaded(self):
        page = self.page
        page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=PATIENCE)
        self.wait_idle()

    def run(self, cell):
        """Run one cell; a key pressed right after loading may get lost, so ask until the prompt changes.

        A page asks for a kernel in a dialog if a cell is run before the notebook has one, so wait for it.
        """
        self.page.wait_for_function(HAS_KERNEL, timeout=PATIENCE)
        prompt = self.page.locator(".jp-CodeCell .jp-InputPrompt").nth(cell)
        before = prompt.inner_text()
        for _ in range(5):
            self.page.locator(".jp-CodeCell .jp-InputArea-editor").nth(cell).click()
            try:
                self.page.wait_for_function(
                    "n => document.querySelectorAll('.jp-CodeCell .jp-InputArea-editor')[n]"
                    ".contains(document.activeElement)",
                    arg=cell,
                    timeout=3000,
                )
                self.page.keyboard.press("Shift+Enter")
                self.page.wait_for_function(
                    """([n, before]) => {
                        const text = document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')[n].innerText;
                        return /[*\\d]/.test(text) && text !== before;
                    }""",
                    arg=[cell, before],
                    timeout=3000,
                )
            except Exception:  # playwright's own timeout
                continue
            return
        raise AssertionError(f"cell {cell} does not run")

    def wait_idle(self):
        idle = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'  # a narrow page may have no room to show it
        self.page.wait_for_selector(idle, state="attached", timeout=PATIENCE)

    def drawn(self):
        """Frames drawn so far by the first view."""
        return int(self.page.locator(".swb-field").first.get_attribute("data-drawn") or 0)

    def wait_drawn(self, more=1, seconds=90, before=None):
        """Wait until so many more frames are drawn than `before` (None: now)."""
        if before is None:
            before = self.drawn() if self.page.locator(".swb-field").count() else 0
        self.page.wait_for_function(
            "least => Number(document.querySelector('.swb-field')?.dataset.drawn ?? 0) >= least",
            arg=before + more,
            timeout=1000 * seconds,
        )

    def wait_text(self, selector, text):
        self.page.wait_for_function(
            "([selector, text]) => document.querySelector(selector)?.textContent.includes(text)",
            arg=[selector, text],
            timeout=PATIENCE,
        )

    def drawers(self):
        """How many workers of the page draw fields."""
        return sum(worker.url.startswith("blob:") for worker in self.page.workers)

    def colours(self):
        """How many different pixels the canvas shows, which another thread of the page may have drawn."""
        return self.page.evaluate(COLOURS)

    def theme(self, name):
        """Light or Dark; the page keeps it for all later pages of this server. All panes have their new colours."""
        patches = self.page.evaluate(PATCHES)
        light = "true" if name == "Light" else "false"
        if self.page.locator("body").get_attribute("data-jp-theme-light") == light:
            return
        self.page.evaluate(
            f"window.jupyterapp.commands.execute('apputils:change-theme', {{theme: 'JupyterLab {name}'}})"
        )
        self.page.wait_for_selector(f'body[data-jp-theme-light="{light}"]', state="attached")
        self.page.wait_for_function(RECOLOURED, arg=patches)

    def save(self):
        """Write the notebook, with the state of its widgets, and wait until the server has it."""
        with self.page.expect_response(
            lambda answer: answer.request.method == "PUT" and "/api/contents/" in answer.url
        ):
            self.page.evaluate("void window.jupyterapp.commands.execute('docmanager:save')")
        self.page.wait_for_function("!document.querySelector('.jp-mod-current.jp-mod-dirty')")

    def picture(self, name):
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(ARTEFACTS / f"{name}.png"))
