"""Opening a graph view: from a machine or an inspection to a view, live where a page can draw it."""

from __future__ import annotations

import time
from importlib.util import find_spec

from workbench.amounts import seconds_text
from workbench.run.simulation import Simulation
from workbench.views.graph.view import GraphView, laying_out_text
from workbench.views.inspection.following import inspect_machine
from workbench.views.inspection.inspection import Inspected, Inspection
from workbench.views.inspection.waiting import LARGE


def open_graph_view(
    looked_at: Inspected | Inspection, *, kernel: str = "", simulation: Simulation | None = None
) -> GraphView:
    """A view of a machine's graph, or one more view of an inspection; live where a page can draw it.

    kernel: the one to draw, "" for the main one. simulation: of this machine; it runs what is flipped.
    `view.inspection.machine` is the machine with the choices of now.
    """
    graph = looked_at.plan.graph if isinstance(looked_at, Inspection) else looked_at.graph
    values = max(len(each.nodes) for each in graph.kernels)
    if values <= LARGE or find_spec("IPython") is None:
        return _open(looked_at, kernel, simulation)
    from workbench.views.page.slow_notice import SlowNotice, in_kernel

    if not in_kernel():
        return _open(looked_at, kernel, simulation)
    begin = time.perf_counter()
    with SlowNotice(f"{laying_out_text(graph.name, values)}\nTo stop: the ■ button, or Esc I I.", seconds=0) as notice:
        view = _open(looked_at, kernel, simulation)
        took = seconds_text(time.perf_counter() - begin)
        notice.leave(f"the graph of {graph.name}, {len(view.summary.nodes)} values, was laid out in {took}")
    return view


def _open(looked_at: Inspected | Inspection, kernel: str, simulation: Simulation | None) -> GraphView:
    view = GraphView(inspect_machine(looked_at, simulation), kernel)
    if find_spec("bokeh") is not None and find_spec("ipywidgets") is not None:
        from workbench.views.graph.pane import GraphPane

        try:
            view.page = GraphPane(view)
        except BaseException:  # who stops it keeps nothing of it
            view.close()
            raise
    return view
