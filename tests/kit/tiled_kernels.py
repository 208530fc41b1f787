"""Kernels planned in tiles, and figures of a machine, for tests of the model."""

from workbench.frontend.cell import trace_cell
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.cost import CacheLevel, HostFigures

TILED_SOLVERS = ("advection", "gray_scott", "heat", "life", "maxwell", "wave")
"""Solvers whose steps can run together; the others need a maximum over all cells."""

FIGURES = HostFigures(
    40e9, 350e9, "given", (CacheLevel(1 << 14, 160e9), CacheLevel(1 << 19, 80e9), CacheLevel(1 << 28, 40e9))
)


def tiled(text, dim):
    choices = Choices(plan=PlanChoices().changed(schedule="diamond"))
    return plan_graph(trace_cell(text, name="cell", dim=dim).graph, choices).main


def wave_of_order(order):
    """The paper's equation: two arrays, a star of order / 2 cells along each axis."""
    star = " + ".join(f"(u.at(+{k}, x) + u.at(-{k}, x)) / {k * k}" for k in range(1, order // 2 + 1))
    return f"""
u, w = fields("u w", dtype="f32", boundary=constant(0.0))
u.next = 2 * u - w + 0.1 * sum({star} - 2 * u for x in axes)
w.next = u
"""
