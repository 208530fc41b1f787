"""Plans of cells for the simulated device."""

from workbench.backends.cuda_sim import CudaSimBackend
from workbench.frontend.cell import trace_cell
from workbench.planning import Choices, PlanChoices, plan_graph

BACKEND = CudaSimBackend()


def chosen(**choices):
    return Choices(plan=PlanChoices().changed(**choices))


def cell_plan(text, dim, **choices):
    return plan_graph(trace_cell(text, dim=dim).graph, chosen(**choices))
