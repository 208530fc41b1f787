"""One page of JupyterLab for many tests: to load it takes more of a processor than most tests do."""

VIEWPORT = {"width": 1200, "height": 1000}
# Documents are dropped and not closed, for which JupyterLab would ask whether to save them.
LEAVE = """() => {
    const { shell } = window.jupyterapp;
    for (const area of ['main', 'down']) {
        for (const widget of [...shell.widgets(area)]) {
            widget.dispose();
        }
    }
    window.left = document.querySelector('.jp-Dialog, .jp-Notebook') === null;
}"""
# The notebook alone, beside the files, as a page has it that is loaded with its name.
ENTER = """async path => {
    const { commands, shell } = window.jupyterapp;
    window.left = false;
    const opened = await commands.execute('docmanager:open', { path, factory: 'Notebook' });
    for (const other of [...shell.widgets('main')]) {
        if (other !== opened) {
            other.dispose();  // the launcher, which JupyterLab shows where nothing is
        }
    }
    shell.expandLeft();
    shell.activateById(opened.id);
    await opened.context.ready;
}"""


def leave(page):
    """Drop all documents of the JupyterLab on `page`; whether a notebook can be opened there as in a new page."""
    if not page.evaluate("window.jupyterapp !== undefined"):
        return False
    page.set_viewport_size(VIEWPORT)
    page.mouse.move(0, 0)
    page.evaluate(LEAVE)
    return page.evaluate("window.left")


def enter(page, address, name):
    """Open a notebook in the JupyterLab of this address that `page` was left with; False if it was not."""
    if not page.url.startswith(f"{address}lab") or not page.evaluate("window.left === true"):
        return False
    page.evaluate(ENTER, name)
    return True
