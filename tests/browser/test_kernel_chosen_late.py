"""A cell is run before its kernel has started, and the page asks for a kernel: views are live all the same."""

import pytest

from tests.browser.lab import HAS_KERNEL, PATIENCE, TOKEN, NotebookPage, write_notebook

pytestmark = pytest.mark.browser

CELLS = (
    "import workbench as wb\nhello = wb.trace('u = field(\"u\")\\ny = u * u\\nu.next = y + y', name='hello')",
    "hello.view()",
)

# What a slow server does: kernel specifications and sessions come when the page has asked which kernel is wanted, the
# first session when a second one was asked for, and the second when JupyterLab has dropped the first and says "ready".
SLOW_SERVER = """(() => {
    const answered = window.fetch;
    const until = condition => new Promise(done => {
        const look = () => condition() ? done() : requestAnimationFrame(look);
        look();
    });
    window.asked = 0;
    window.fetch = async (request, options) => {
        const url = String(request.url ?? request);
        const method = request.method ?? options?.method ?? 'GET';
        if (method === 'GET' && window.asked === 0 && /api.(kernelspecs|sessions)/.test(url)) {
            await until(() => document.querySelector('.jp-Dialog'));
        }
        const session = method === 'POST' && /api.sessions/.test(url) ? ++window.asked : 0;
        const answer = await answered(request, options);
        if (session === 1) {
            await until(() => window.asked > 1);
        } else if (session === 2) {
            const { context } = window.jupyterapp.shell.currentWidget;
            await until(() => context.sessionContext.isReady);
        }
        return answer;
    };
})()"""


def test_views_are_live_where_a_kernel_was_chosen_while_another_one_started(lab, page):
    address, folder = lab
    failed = []
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.add_init_script(SLOW_SERVER)
    write_notebook(folder / "chosen.ipynb", *CELLS)
    page.goto(f"{address}lab/tree/chosen.ipynb?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=PATIENCE)
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.context?.sessionContext")
    page.evaluate("void window.jupyterapp.commands.execute('notebook:run-cell')")
    page.wait_for_function("window.asked === 1")
    page.locator(".jp-Dialog button.jp-mod-accept").click()
    page.wait_for_function(HAS_KERNEL)
    assert any("reading 'kernel'" in words for words in failed), "ipywidgets made its manager by itself"
    notebook = NotebookPage.shown(page)
    notebook.run(0)
    notebook.run(1)
    page.locator(".swb-pane[data-opened]").wait_for()
    assert page.locator(".swb-fallback:visible").count() == 0
