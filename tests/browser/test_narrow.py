"""Views on a page of 480 pixels: few rows of tools, nothing to scroll sideways, every control with a name."""

import pytest
from PIL import Image

from tests.browser.graph_page import HELLO_MACHINE as MACHINE
from tests.browser.graph_page import wait_graph
from tests.browser.lab import open_notebook, wait_still
from tests.kit.waiting import wait_for
from workbench.planning.cost import ESTIMATE
from workbench.solvers import hydro
from workbench.views.plan.drawing import draw_plan
from workbench.views.plan.html import plan_html
from workbench.views.plan.summary import summarise_plan

pytestmark = pytest.mark.browser

HYDRO = "from workbench.solvers import hydro\nm = hydro.machine(dim=2)\nview = m.inspect()\nview"
ROWS = """() => [...document.querySelectorAll('.swb-tools, .swb-code-tools')].map(tools => {
    const seen = [...tools.querySelectorAll('button, select, input')].map(node => node.getBoundingClientRect());
    return new Set(seen.filter(box => box.height > 2).map(box => Math.round((box.top + box.bottom) / 16))).size;
})"""
NAMELESS = """() => [...document.querySelectorAll('.swb-tools button')].filter(
    button => !button.textContent.trim() || !button.title).map(button => button.outerHTML)"""
WIDER = """() => ['.jp-Notebook', '.jp-OutputArea-output', '.swb-pane', '.swb-listing', '.swb-table-scroller'].flatMap(
    selector => [...document.querySelectorAll(selector)].filter(node => node.scrollWidth > node.clientWidth + 1)
        .map(node => `${selector}: ${node.scrollWidth} > ${node.clientWidth}`))"""


def narrow(page):
    page.evaluate("void window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.set_viewport_size({"width": 480, "height": 1150})
    wait_still(page)


def test_the_graph_has_two_rows_of_tools(lab, page):
    notebook = open_notebook(lab, page, "narrow-tools.ipynb", MACHINE, "view = hello.view()\nview")
    wait_graph(page)
    narrow(page)
    assert page.evaluate(ROWS) == [2]
    assert page.evaluate(NAMELESS) == []
    svg = page.get_by_role("button", name="SVG")
    assert not svg.is_visible()
    more = page.get_by_role("button", name="More", exact=True)
    more.focus()
    page.keyboard.press("Enter")
    assert more.get_attribute("aria-expanded") == "true"
    for words in ("Copy hints", "SVG"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == words
    with page.expect_download() as download:
        svg.click()
    assert download.value.suggested_filename.endswith(".svg")
    page.get_by_role("button", name="Numbers").click()
    page.wait_for_selector('.swb-tools button[data-tool="numbers"][aria-pressed="true"]')
    notebook.picture("graph-tools-narrow")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_no_view_of_a_large_machine_scrolls_sideways(lab, page, theme):
    notebook = open_notebook(lab, page, f"narrow-hydro-{theme}.ipynb", HYDRO)
    wait_graph(page)
    notebook.theme(theme)
    narrow(page)
    for tab in ("Graph", "Plan", "Launch", "Code"):
        page.get_by_role("tab", name=tab, exact=True).click()
        wait_still(page)
        assert page.evaluate(WIDER) == [], tab
        assert page.evaluate(NAMELESS) == []
        notebook.picture(f"narrow-hydro-{tab.lower()}-{theme.lower()}")
    page.set_viewport_size({"width": 1200, "height": 1150})
    page.get_by_role("tab", name="Plan", exact=True).click()
    wait_still(page)
    assert page.evaluate(WIDER) == []
    notebook.picture(f"wide-hydro-plan-{theme.lower()}")
    notebook.theme("Light")


def test_a_narrow_table_keeps_its_heads_and_its_meaning(lab, page):
    open_notebook(lab, page, "narrow-plan.ipynb", MACHINE, 'view = hello.view("plan")\nview')
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader"))
    row.first.wait_for()
    narrow(page)
    assert page.evaluate("getComputedStyle(document.querySelector('.swb-table td')).display") == "block"
    heads = page.get_by_role("columnheader").all_text_contents()
    cells = row.first.get_by_role("cell")
    shown = "node => getComputedStyle(node, '::before').content"
    assert [cell.evaluate(shown).strip('"') for cell in cells.all()] == heads[1:]
    assert cells.count() == len(heads) - 1


@pytest.mark.usefixtures("own_page")
@pytest.mark.parametrize(("theme", "width"), [("light", 480), ("dark", 480), ("light", 1200)])
def test_a_table_without_its_kernel_process_does_not_scroll(page, tmp_path, theme, width):
    summary = summarise_plan(hydro.machine(dim=2).plan(), extents=(512, 512), figures=ESTIMATE)
    paper = tmp_path / "plan.html"
    scheme = f'<meta charset="utf-8"><meta name="color-scheme" content="{theme}">'
    paper.write_text(scheme + plan_html(summary, draw_plan(summary)), encoding="utf-8")
    page.set_viewport_size({"width": width, "height": 1150})
    page.goto(paper.as_uri())
    assert page.locator(".swb-static-plan").evaluate("node => node.scrollWidth <= node.clientWidth")
    heads = page.get_by_role("columnheader").all_text_contents()
    cells = page.get_by_role("row").nth(1).get_by_role("cell").all()
    shown = [cell.evaluate("node => getComputedStyle(node, '::before').content").strip('"') for cell in cells]
    assert shown == (heads[1:] if width == 480 else ["none"] * (len(heads) - 1))


LONG = 'print(3 * "a boundary rule of neighbours and cells, ")'
BROKEN = """() => [...document.querySelectorAll('.jp-OutputArea-output pre')].flatMap(pre => {
    const found = [], nodes = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) {
        for (const word of nodes.currentNode.data.matchAll(/\\w+/g)) {
            const range = document.createRange();
            range.setStart(nodes.currentNode, word.index);
            range.setEnd(nodes.currentNode, word.index + word[0].length);
            if (new Set([...range.getClientRects()].map(box => box.top)).size > 1) found.push(word[0]);
        }
    }
    return found;
})"""
MISREAD = """\
%%stencil misread
u = field("u")
u.next = u[+1] - a_value_without_a_name"""


@pytest.mark.usefixtures("own_page")
def test_texts_of_notebooks_that_use_the_workbench_break_between_words(lab, page):
    notebook = open_notebook(lab, page, "narrow-words.ipynb", "%load_ext workbench", LONG, MISREAD)
    notebook.wait_idle()
    narrow(page)
    page.wait_for_function("document.querySelectorAll('.jp-OutputArea-output pre').length === 2")
    assert page.evaluate(BROKEN) == []
    assert page.evaluate(WIDER) == []
    notebook.picture("narrow-words")
    page.reload()
    notebook.wait_loaded()
    page.locator(".jp-Notebook.swb-words").wait_for(state="attached")


def test_other_notebooks_stay_as_jupyterlab_has_them(lab, page):
    notebook = open_notebook(lab, page, "other-words.ipynb", LONG)
    notebook.wait_idle()
    pre = page.locator(".jp-OutputArea-output pre").first
    assert pre.evaluate("node => getComputedStyle(node).wordBreak") == "break-all"


STILLS = """\
from workbench.tuning.history_tables import CountTable
from workbench.views.drawing.shapes import Drawing, Label
display(Drawing(760, 340, (Label((20, 20), "words", "#1c2430", 15),), "words"))
CountTable("Distances", ("d(I)", "mutation", "crossover", "triangulation", "unbred", "total"),
      (("none", "59 (0.282)", "26 (0.184)", "13 (0.094)", "0 (0.000)", "98 (0.199)"),), "note")"""


def test_stills_shrink_and_follow_the_theme_and_tables_fit(lab, page, tmp_path):
    notebook = open_notebook(lab, page, "narrow-stills.ipynb", STILLS)
    still = page.locator(".jp-RenderedSVG img")
    still.wait_for()
    assert still.evaluate("node => node.clientWidth") == 760

    def brightness():
        still.screenshot(path=str(tmp_path / "still.png"))
        with Image.open(tmp_path / "still.png") as shot:
            return max(shot.convert("RGB").getpixel((400, 300)))

    notebook.theme("Light")
    wait_for(lambda: brightness() == 255)  # JupyterLab fades from one theme to the other
    notebook.theme("Dark")
    wait_for(lambda: brightness() < 32)
    narrow(page)
    assert still.evaluate("node => [node.clientWidth, node.clientHeight]") == [480, 215]
    assert page.locator(".swb-counts").evaluate("node => node.scrollWidth <= node.clientWidth")
    notebook.picture("narrow-stills-dark")
    notebook.theme("Light")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_the_code_has_two_rows_of_tools(lab, page, theme):
    notebook = open_notebook(lab, page, f"narrow-code-{theme}.ipynb", MACHINE, "view = hello.view('source')\nview")
    page.locator(".swb-listing .swb-line").first.wait_for()
    notebook.theme(theme)
    narrow(page)
    assert page.evaluate(ROWS) == [2]
    assert page.evaluate(WIDER) == []
    for name in ("Flip", "Undo", "Redo", "Compiler", "Copy"):
        assert page.locator(".swb-listing").get_by_role("button", name=name).is_visible()
    page.get_by_label("search in the text").fill("double")
    notebook.wait_text(".swb-count", " of ")
    assert page.evaluate(ROWS) == [2]
    notebook.picture(f"code-tools-narrow-{theme.lower()}")
    for chooser in ("backend", "beside", "jump to"):
        assert page.get_by_label(chooser, exact=True).is_visible()
    notebook.theme("Light")
