"""Source and plan in a notebook that nbconvert exports: seen without any kernel process, with widget state saved."""

import nbformat
from nbconvert import HTMLExporter

from tests.kit.ear import Ear
from tests.views.machines import trade_off
from workbench.views.inspection.inspection import Inspection
from workbench.views.page.live import MIME
from workbench.views.source.view import SourceView


def exported(bundle):
    output = nbformat.v4.new_output("display_data", data=dict(bundle))
    cell = nbformat.v4.new_code_cell("view", outputs=[output])
    notebook = nbformat.v4.new_notebook(cells=[cell])
    notebook.metadata["widgets"] = {
        "application/vnd.jupyter.widget-state+json": {"version_major": 2, "version_minor": 0, "state": {}}
    }
    return HTMLExporter().from_notebook_node(notebook)[0]


def test_a_live_source_is_exported_with_its_colours():
    view = SourceView(Inspection(trade_off(), backend="openmp"), Ear())
    bundle = view._repr_mimebundle_()
    assert MIME in bundle
    page = exported(bundle)
    view.close()
    assert 'class="swb-static-source"' in page
    assert '<span class="function">sweep_step_0_u</span>' in page


def test_a_live_plan_is_exported_with_table_and_pictures():
    view = trade_off("manifest").view("plan")
    page = exported(view._repr_mimebundle_())
    view.close()
    assert 'scope="row">step_<wbr/>1_<wbr/>u</th>' in page
    assert 'aria-label="plan of trade' in page
