"""Instances that run in tiles of given sizes, and all that they hold."""

from dataclasses import replace

import numpy as np

import workbench as wb
from workbench.backends.openmp import OpenmpBackend
from workbench.planning import plan_graph


def state_of(instance):
    graph = instance.plan.graph
    cells = [instance.read_field(s.name).view(f"u{s.type.itemsize}") for s in graph.fields]
    return [*cells, *(np.float64(instance.read_global(s.name)).view("u8") for s in graph.scalars)]


def with_tiles(instance, sizes):
    instance.tiles = tuple(sizes if k is instance.plan.main else None for k in instance.plan.kernels)
    instance._paces = [1e-9] * len(instance._paces)  # as if steps were known to be short


def machine(text, dim):
    return wb.trace(text, name="cell", dim=dim)


def planned(text, dim):
    made = machine(text, dim)
    plan = made.choices.plan.changed(schedule="diamond")
    return plan_graph(made.graph, replace(made.choices, plan=plan))


def program(text, dim):
    return OpenmpBackend().compile(planned(text, dim))


def start_of(instance, rng):
    for static in instance.plan.graph.fields:
        instance.write_field(static.name, rng.random(instance.extents).astype(static.type.numpy))
