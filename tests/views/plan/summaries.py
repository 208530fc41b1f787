"""Summaries of plans with made up figures of a host."""

from workbench.planning.cost import HostFigures
from workbench.views.plan.summary import (
    summarise_plan,
)

FIGURES = HostFigures(10e9, 1e9, "made up")


def summary_of(machine, **more):
    return summarise_plan(machine.plan(), extents=(1000,), figures=FIGURES, **more)
