"""Every view in a notebook that nobody looks at: it is executed without waiting and leaves words and a picture."""

import nbformat
from nbclient import NotebookClient

SECONDS = 240  # for a cell; one that waits for a page would take for ever
MACHINE = '''\
import numpy as np
import workbench as wb
trade = wb.trace("""
u = field("u", boundary="periodic")
a = u[+1] - u[-1]
u.next = u + 0.1 * (a[+1] - a[-1])
""", name="trade").annotate("a", "delayed")
sim = trade.simulate(u=np.sin(np.arange(64.0)), backend="openmp")
sim.start()'''
SHOWN = (
    'trade.view("graph", simulation=sim)',
    'trade.view("plan")',
    'trade.view("source")',
    'trade.view("launch", simulation=sim)',
    'trade.view("launch", backend="cuda-sim")',
    'sim.view("u")',
    "inspector = trade.inspect(sim)\ninspector",
    "wb.registry()",
)
AFTERWARDS = """\
inspector.inspection.flip("a")
import time
end = time.time() + 60
while sim.compiled.plan != inspector.inspection.plan and time.time() < end: time.sleep(0.01)
sim.stop()
inspector.close()
print(len(sim.compiled.plan.subkernels), "sub-kernels")"""


def test_a_notebook_without_a_page_ends_and_keeps_words_and_pictures():
    cells = [nbformat.v4.new_code_cell(cell) for cell in (MACHINE, *SHOWN, AFTERWARDS)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3").execute()
    for cell in notebook.cells[1:-1]:
        kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
        assert "text/plain" in kinds, cell.source
        assert kinds & {"image/png", "text/html"}, cell.source
    assert "".join(output.get("text", "") for output in notebook.cells[-1].outputs) == "2 sub-kernels\n"
