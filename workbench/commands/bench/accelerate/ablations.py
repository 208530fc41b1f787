"""Ablations: what sharing, fusion and loops do to single programs, and how the time to plan grows with their steps."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from workbench.array_function import Collective, collective
from workbench.commands.bench.accelerate.measure import BACKEND
from workbench.commands.bench.accelerate.results import StepsTiming
from workbench.commands.bench.accelerate.row import VARIANTS, Call, Inputs
from workbench.language import add, compute, scan
from workbench.pipeline import plan_for
from workbench.programs import floyd_warshall, mandelbrot, n_body

STEPS, FEW_STEPS = (2, 4, 8), (2, 4)  # of the curve
Ablation = tuple[str, dict[str, Call | str]]
"""The size in words, and what is run by its label; a text in place of a call says why it is not."""
_STORED, _RECOMPUTED = (variant.choices for variant in VARIANTS)


def ladder(draw: Generator, inputs: Inputs, how: dict[str, Any]) -> Ablation:
    """The rungs of table 6.3: turns in a row, each value stored, then fused, and a loop in each point."""
    del draw
    depth, shape = {"small": (4, (15, 20)), "usual": (16, (600, 800)), "thesis": (16, (1200, 1600))}[inputs]
    view = -0.5, 0.0, 3.0
    unrolled = mandelbrot.unrolled(depth)
    return f"{shape[1]} x {shape[0]}, {depth} turns", {
        "+ iteration: a loop in each point": partial(mandelbrot.escape_times, *view, depth, shape, **how),
        "+ loop recovery": "left out: equal loops share one text, but turns in a row are made no loop of their own",
        "+ fusion: turns in a row": partial(unrolled, *view, shape, **how),
        "+ sharing: turns in a row, each value stored": partial(unrolled, *view, shape, choices=_STORED, **how),
        "the first rung, without sharing": "left out: equal values are one from the start, which nothing switches off",
    }


def forms_of_n_body(draw: Generator, inputs: Inputs, how: dict[str, Any]) -> Ablation:
    """N-body as a cell of pairs, and as arrays of all pairs, fused and stored."""
    x, y, z, mass = draw.random((4, 60 if inputs == "small" else 1500))
    cell, names = n_body.machine(), ("ax", "ay", "az")

    def pairs() -> Any:  # noqa: ANN401  # arrays
        found = cell(x=x, y=y, z=z, m=mass, **how)
        return tuple(found[name] for name in names)

    return f"{mass.size:,} bodies", {
        "a cell of pairs": pairs,
        "arrays of all pairs, fused": partial(n_body.accelerations, (x, y, z), mass, **how),
        "arrays of all pairs, no fusion": partial(n_body.accelerations, (x, y, z), mass, choices=_STORED, **how),
    }


@collective
def dear_scan(x: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """Running sums of values that are expensive to compute: a scan in two passes asks for each of them twice."""
    return scan(add, np.sin(x) * np.exp(-x) / np.sqrt(1 + x * x))


def scans(draw: Generator, inputs: Inputs, how: dict[str, Any]) -> Ablation:
    """A scan of an expensive value: as the cost model plans it, stored, and computed in both passes."""
    x = draw.random(3000 if inputs == "small" else 2_000_000)
    return f"{x.size:,} f64", {
        "as the cost model has it": partial(dear_scan, x, **how),
        "the producer stored": partial(dear_scan, x, choices=_STORED, **how),
        "computed in both passes": partial(dear_scan, x, choices=_RECOMPUTED, **how),
    }


ABLATIONS: tuple[tuple[str, str, Callable[[Generator, Inputs, dict[str, Any]], Ablation]], ...] = (
    ("mandelbrot", "Mandelbrot's ladder", ladder),
    ("n_body", "forms of N-body", forms_of_n_body),
    ("scan", "scan of an expensive value", scans),
)


def paths(steps: int) -> Collective:
    """So many steps of Floyd-Warshall in one program, each stored."""

    def shortest(lengths: Any) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
        for node in range(steps):
            lengths = compute(floyd_warshall.through(lengths, node))
        return lengths

    return collective(name=f"paths_{steps}")(shortest)


def point(steps: int) -> StepsTiming:
    """Seconds to trace and to plan so many steps (figure 6.1)."""
    begin = time.perf_counter()
    machine = paths(steps).machine(np.ones((steps, steps)))
    traced = time.perf_counter()
    plan_for(machine.graph, machine.choices, BACKEND)
    return StepsTiming(steps, traced - begin, time.perf_counter() - traced)
