"""A kernel is chosen before the one that JupyterLab starts by itself is there: views are live all the same."""

import pytest

from tests.browser.lab import HAS_KERNEL, PATIENCE, TOKEN, NotebookPage, write_notebook

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("own_page")]

CELLS = (
    "import workbench as wb\nhello = wb.trace('u = field(\"u\")\\ny = u * u\\nu.next = y + y', name='hello')",
    "hello.view()",
)

# What a slow server does: the first session, which JupyterLab requests by itself, comes when the second was requested,
# that of the kernel which is chosen; the second comes when JupyterLab has dropped the first and says "ready".
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
    page.wait_for_function("window.asked === 1")
    page.evaluate("void window.jupyterapp.commands.execute('notebook:change-kernel')")
    page.locator(".jp-Dialog:has(select) button.jp-mod-accept").click()
    page.wait_for_function(HAS_KERNEL)
    assert any("reading 'kernel'" in words for words in failed), "ipywidgets made its manager by itself"
    notebook = NotebookPage.shown(page)
    notebook.run(0)
    notebook.run(1)
    page.locator(".swb-pane[data-opened]").wait_for()
    assert page.locator(".swb-fallback:visible").count() == 0
