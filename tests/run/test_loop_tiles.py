"""Loop tiles: each loop of a step may give its tasks rows of its own number; no result changes."""

import ctypes

import numpy as np
import pytest

import workbench as wb
from workbench.backends.base import MarchRequest
from workbench.pipeline import compile_graph
from workbench.planning.loop_keys import loop_names

CELL = """
u = field("u", boundary="periodic")
mean = 0.5 * (u[-1, 0] + u[0, 1])
total = scalar("total")
u.next = 0.5 * (mean[-1, 0] + mean[0, 1])
total.next = reduce_sum(u)
"""
START = np.random.default_rng(3).random((61, 70))


@pytest.fixture(scope="module")
def apart():
    machine = wb.trace(CELL, dim=2, name="two").annotate("mean", "manifest")
    return machine.with_choices(loops="apart", schedule="stepwise")


def own_tiles(machine):
    """Of both loops of a plain step, and of the one that is another where the sum is looked at."""
    return [row.name for row in machine.tunables("openmp") if row.name.startswith("tile of")]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("tiles", [(1, 61), (7, 3), (0, 500)])
def test_results_stay_to_the_bit(apart, threads, tiles):
    """The sum too, whose order is that of cells and not of tasks."""
    names = own_tiles(apart)
    assert len(names) == 3
    chosen = apart.with_choices(**dict(zip(names, (*tiles, 5), strict=True)))
    runs = [
        machine.simulate(u=START, backend=backend, threads=threads).run(3)
        for machine, backend in ((apart, "reference"), (chosen, "openmp"))
    ]
    assert np.array_equal(runs[0].u, runs[1].u)
    assert runs[0]["total"] == runs[1]["total"]


def test_compiled_code_is_given_the_number_of_each_loop(apart):
    """In the order of the plan's loops; nothing where all have the same."""
    names = own_tiles(apart)

    def given(**choices):
        compiled = compile_graph(apart.graph, apart.with_choices(**choices).choices, "openmp")
        instance = compiled.program.instantiate((61, 70), 2)
        march = instance._prepared(MarchRequest(compiled.graph.kernels[0].name, 1)).march
        count = len(loop_names(compiled.plan))
        try:
            return march.tile, march.tiles and list((ctypes.c_int64 * count).from_address(march.tiles))
        finally:
            instance.close()

    assert given(**{names[0]: 5, names[1]: 9}) == (0, [5, 9, 0])
    assert given(tile=4, **{names[1]: 9}) == (4, [4, 9, 4])
    assert given(tile=4, **{names[1]: 4}) == (4, None)
    assert given(tile=4) == (4, None)


def test_text_asks_for_the_number_of_its_own_loop(apart):
    """The same text for all numbers, so that another one compiles nothing."""
    names = own_tiles(apart)
    text = apart.source("openmp")
    assert "run.tile(0)" in str(text)
    assert "run.tile(1)" in str(text)
    assert str(apart.with_choices(**{names[0]: 5}).source("openmp")) == str(text)
