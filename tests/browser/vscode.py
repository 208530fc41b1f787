"""A page that stands in for VS Code, around the widget manager that its Jupyter extension runs.

Three origins, as there: the window with the extension (here the Jupyter server's, for its kernel connection), the
output page in a frame with VS Code's strictest content policy, and the files of the disk. Nothing comes from a network.
"""

import html
import json
import mimetypes
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.browser.lab import ARTEFACTS, PATCHES, PATIENCE, RECOLOURED, ROOT, TOKEN
from tests.kit.vscode_rules import widget_scripts

PACKAGES = ROOT / "labextension" / "node_modules"
WEBVIEW = "https://webview.invalid"
FILES = "https://files.invalid"
POLICY = (
    f"default-src 'none'; script-src 'self' {FILES} 'unsafe-inline' 'unsafe-eval'; "
    f"style-src 'self' {FILES} 'unsafe-inline'; img-src 'self' {FILES} https: http: data:; "
    f"font-src 'self' {FILES} https:; connect-src https:; child-src https: data:;"
)
THEMES = {
    "vscode-light": {"foreground": "#3b3b3b", "background": "#ffffff", "border": "#cecece", "link": "#005fb8"},
    "vscode-dark": {"foreground": "#cccccc", "background": "#1f1f1f", "border": "#3c3c3c", "link": "#4daafc"},
}


def build_halves(folder):
    """Both scripts of the page, by the packages of the front end."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    node = shutil.which("node", path=path)
    assert node, "no node; type: make labextension"
    command = [node, str(ROOT / "labextension" / "tests" / "vscode" / "bundle.mjs"), str(folder)]
    subprocess.run(command, check=True, cwd=ROOT / "labextension", timeout=120)
    return folder


def install_shared(folder):
    """share/jupyter/nbextensions of an environment with our wheel, as pyproject.toml says that it will be."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    shared = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    (target,) = [place for source, place in shared.items() if source == "workbench/nbextension"]
    shutil.copytree(ROOT / "workbench" / "nbextension", folder / target)
    return folder / "share" / "jupyter"


class VsCodePage:
    """One notebook's window with its output page. `halves`: built scripts; `share`: where widgets are installed."""

    def __init__(self, page, address, halves, share):
        self.page = page
        self.refusals = []  # of the content policy, except that of the manager's own icons
        scripts = {module: f"{FILES}{script}" for module, script in widget_scripts(share).items()}
        settings = {"token": TOKEN, "scripts": scripts, "webview": WEBVIEW}
        window, output = _window(settings, halves / "host.js"), _output_page(halves / "webview.js")
        page.route(f"{WEBVIEW}/**", lambda route: route.fulfill(body=output, content_type="text/html"))
        page.route(f"{FILES}/**", lambda route: _hand_file(route, (share, PACKAGES, halves)))
        page.on("console", self._hear)
        page.goto(f"{address}login")  # a page from there may connect with a kernel, one made up may not
        page.set_content(window)
        page.evaluate("start().then(() => (window.started = true))")
        page.wait_for_function("window.started")
        self.output = page.frame_locator("iframe")
        self.frame = page.frames[1]

    def _hear(self, message):
        if "Content Security Policy" in message.text and not message.text.startswith("Loading the font 'data:font/"):
            self.refusals.append(message.text)

    def run(self, cell):
        """Run a cell to its end."""
        self.start(cell)
        (wrong,) = self.page.wait_for_function("window.ended").json_value()
        assert wrong is None, wrong

    def start(self, cell):
        """Start a cell and leave it running."""
        self.page.evaluate("code => { window.ended = null; run(code).then(wrong => (window.ended = [wrong])); }", cell)

    def wait(self, expression, arg=None):
        self.frame.wait_for_function(expression, arg=arg, timeout=PATIENCE)

    def wait_text(self, selector, text):
        self.wait(
            "([selector, text]) => [...document.querySelectorAll(selector)].some(n => n.textContent.includes(text))",
            [selector, text],
        )

    def wait_drawn(self, more, before=None):
        """Wait until the field has drawn so many more frames than `before` (None: now)."""
        if before is None:
            before = int(self.output.locator(".swb-field").first.get_attribute("data-drawn") or 0)
        self.wait("least => Number(document.querySelector('.swb-field')?.dataset.drawn ?? 0) >= least", before + more)

    def theme(self, kind):
        patches = self.frame.evaluate(PATCHES)
        self.page.evaluate("kind => theme(kind)", kind)
        self.wait(RECOLOURED, patches)

    def picture(self, name):
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(ARTEFACTS / f"{name}.png"))


def _hand_file(route, folders):
    path = Path(route.request.url.partition("?")[0].removeprefix(FILES))
    if not path.is_file() or not any(path.is_relative_to(folder) for folder in folders):
        route.fulfill(status=404)
        return
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    route.fulfill(path=path, content_type=kind, headers={"access-control-allow-origin": "*"})


def _window(settings, script):
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>window</title>
<style>html, body, iframe {{ margin: 0; border: 0; width: 100%; height: 100%; display: block; }}</style>
<iframe title="outputs" allow="clipboard-write"></iframe>
<script>window.settings = {json.dumps(settings)};</script>
<script src="{FILES}{script}" defer></script></html>"""


def _output_page(script):
    themes = "".join(
        f".{kind} {{ --vscode-editor-foreground: {c['foreground']}; --vscode-editor-background: {c['background']}; "
        f"--vscode-panel-border: {c['border']}; --vscode-textLink-foreground: {c['link']}; }}"
        for kind, c in THEMES.items()
    )
    colours = "--jp-ui-font-color0 --jp-ui-font-color1 --jp-ui-font-color2 --jp-ui-font-color3 --jp-content-font-color1"
    grounds = "--jp-layout-color0 --jp-layout-color1 --jp-layout-color2 --jp-layout-color3"
    bridge = "".join(f"{name}: var(--vscode-editor-foreground);" for name in colours.split())
    bridge += "".join(f"{name}: var(--vscode-editor-background);" for name in grounds.split())
    bridge += "--jp-border-color1: var(--vscode-panel-border); --jp-border-color2: var(--vscode-panel-border);"
    bridge += "--jp-brand-color1: var(--vscode-textLink-foreground); --jp-ui-font-size1: 13px;"
    manager = f"{FILES}{PACKAGES}/@vscode/jupyter-ipywidgets8/dist/ipywidgets.js"
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>outputs</title>
<meta http-equiv="Content-Security-Policy" content="{html.escape(POLICY)}">
<style>{themes}
body {{ color: var(--vscode-editor-foreground); background: var(--vscode-editor-background); font: 13px sans-serif;
  margin: 0; padding: 8px 20px; }}
.output {{ padding: 8px; overflow-x: auto; }}
.cell-output-ipywidget-background {{ {bridge} }}</style>
<script src="{FILES}{PACKAGES}/requirejs/require.js"></script></head>
<body class="vscode-body vscode-light" data-vscode-theme-kind="vscode-light"><main id="container"></main>
<script>window.settings = {json.dumps({"manager": manager})};</script>
<script src="{FILES}{script}"></script></body></html>"""
