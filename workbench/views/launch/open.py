"""Opening a launch view: from a machine or an inspection to a view, live where a page can draw it."""

from __future__ import annotations

from importlib.util import find_spec

from workbench.errors import RunError
from workbench.run.simulation import Simulation
from workbench.views.inspection.following import inspect_machine
from workbench.views.inspection.inspection import Inspected, Inspection
from workbench.views.launch.view import BACKENDS, LaunchView


def open_launch_view(
    looked_at: Inspected | Inspection, *, backend: str = "", simulation: Simulation | None = None
) -> LaunchView:
    """A view of a machine's launches, or one more view of an inspection; live where a page can draw it.

    simulation: one of this machine, which then runs what is chosen here. backend: default the simulation's.
    """
    if backend and backend not in BACKENDS:
        raise RunError(f"backend {backend!r} launches nothing", advice=f"Use one of {', '.join(BACKENDS)}.")
    inspection = inspect_machine(looked_at, simulation)
    if backend:
        inspection.show_backend(backend)
    view = LaunchView(inspection)
    if find_spec("bokeh") is not None and find_spec("ipywidgets") is not None:
        from workbench.views.launch.pane import LaunchPane

        view.page = LaunchPane(view)
    return view
