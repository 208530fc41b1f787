"""Loops over planes too large for a cache go through them strip by strip; no result changes, and no sum its order."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits

CELL = """
u, w = fields("u w", boundary="periodic")
total, most = scalar("total"), scalar("most")
bent = sum(u.at(+2, a) + u.at(-2, a) - 4 * (u.at(+1, a) + u.at(-1, a)) + 6 * u for a in axes)
u.next, w.next = 2 * u - w - 0.01 * bent, u
total.next, most.next = reduce_sum(u * w), reduce_max(bent)
"""
SHAPE = 6, 230, 240


@pytest.fixture(scope="module")
def machine():
    return wb.trace(CELL, dim=3, name="plate").with_choices(schedule="stepwise")


@pytest.fixture(scope="module")
def expected(machine):
    return state(machine, "reference", 0)


def state(machine, backend, threads):
    start = np.random.default_rng(5).random(SHAPE)
    simulation = machine.simulate(u=start, w=0.9 * start, backend=backend, threads=threads).run(2)
    return [np.asarray(value) for value in (simulation.u, simulation.w, simulation.total, simulation.most)]


def test_these_planes_are_cut(machine):
    """Five planes of u are read, one of w, and one is written: 2.8 MiB of f64."""
    text = machine.source("openmp").text
    assert "cut_in_strips(shape, grown, team.size, run.tile(0), 56)" in text
    assert 56 * SHAPE[1] * SHAPE[2] > 2 << 20


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("loops", ["together", "apart"])
def test_results_and_sums_keep_their_bits(machine, expected, threads, loops):
    found = state(machine.with_choices(loops=loops), "openmp", threads)
    for mine, exact in zip(found, expected, strict=True):
        assert_same_bits(mine, exact, f"{threads} threads, loops {loops}")


def test_loops_of_one_plane_are_cut_as_before():
    cell = 'u = field("u", boundary="periodic")\nu.next = u[0, -1, 0] + u[0, 0, +1]'
    text = wb.trace(cell, dim=3, name="flat").source("openmp").text
    assert "cut(shape, grown" in text
    assert "cut_in_strips" not in text
