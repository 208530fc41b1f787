"""Rerolling: loops that only reduce compute anew what rolls then, where that is cheaper than memory."""

from dataclasses import replace

import numpy as np
import pytest

from tests.kit.rolled import names, plan_of
from workbench import stencil
from workbench.language import field, manifest, reduce_max
from workbench.planning.kernel_plan import Storage

SPEED = """
u = field("u", boundary="periodic")
a = manifest(0.5 * u * u)
largest = reduce_max(a)
u.next = u + (a[+1, 0] - a[0, -1]) / largest
"""


def rolling_names(plan):
    return [name for chain in plan.main.plain.chains for name in names(plan, chain)]


def reducing_loop(plan):
    (loop,) = [s for s in plan.main.plain.subkernels if s.reductions]
    return loop


def test_a_loop_that_only_reduces_computes_anew_what_rolls_then():
    plan = plan_of(SPEED)
    assert rolling_names(plan) == ["a"]
    assert [plan.slots[h.slot].label for h in reducing_loop(plan).reads] == ["u"]
    assert reducing_loop(plan).emitted == 2
    assert plan.main.storage[plan.main.kernel.find("a")] is Storage.MANIFEST


def test_loops_apart_read_the_array():
    plan = plan_of(SPEED, loops="apart")
    assert [plan.main.kernel.nodes[h.node].names for h in reducing_loop(plan).reads] == [("a",)]
    assert reducing_loop(plan).emitted == 0


def test_values_below_a_value_are_computed_anew_with_it():
    plan = plan_of(SPEED.replace("0.5 * u * u", "manifest(named(u + 1.0, 'b')) * u"))
    assert sorted(rolling_names(plan)) == ["a", "b"]
    assert reducing_loop(plan).emitted == 2


def test_bytes_are_spared():
    together, apart = (
        sum(s.cost.bytes_moved for s in plan_of(SPEED, loops=loops).main.plain.subkernels)
        for loops in ("together", "apart")
    )
    assert (together, apart) == (8 + 8 + 16, 16 + 8 + 24)


def test_what_is_dearer_than_memory_is_read():
    plan = plan_of(SPEED.replace("0.5 * u * u", "+".join(f"sqrt(u + {k}.0)" for k in range(20))))
    assert "a" not in rolling_names(plan)
    assert "a" in [n for h in reducing_loop(plan).reads for n in plan.main.kernel.nodes[h.node].names]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("largest = ", "w = field('w')\nw.next = a\nlargest = "), "another field takes it"),
        (("largest = reduce_max(a)", "largest = reduce_max(a)\nsecond = manifest(a[+1, 0] / largest)"), "no chain"),
    ],
)
def test_an_array_is_read_where_nothing_is_won(change, why):
    text = SPEED.replace(*change)
    if why == "no chain":
        text = text.replace("u.next = u +", "u.next = extend(second, 'outflow')[0, +1] +")
    plan = plan_of(text)
    assert "a" not in rolling_names(plan), why
    assert "a" in [n for h in reducing_loop(plan).reads for n in plan.main.kernel.nodes[h.node].names], why


def test_a_wished_barrier_keeps_the_array():
    plan = plan_of(SPEED.replace("reduce_max(a)", "reduce_max(sync(a))"))
    assert rolling_names(plan) == []


def test_no_bit_changes():
    def run(loops, backend):
        @stencil(2, name="speed")
        def machine():
            u = field("u", boundary="periodic")
            a = manifest(0.5 * u * u)
            u.next = u + (a[+1, 0] - a[0, -1]) / reduce_max(a)

        choices = replace(machine.choices, plan=machine.choices.plan.changed(loops=loops))
        start = np.random.default_rng(7).normal(size=(37, 41))
        with machine.with_choices(choices).simulate(u=start, backend=backend) as simulation:
            simulation.run(6)
            return simulation["u"].copy()

    expected = run("together", "reference")
    for backend in ("openmp", "cuda-sim"):
        for loops in ("together", "apart"):
            np.testing.assert_array_equal(run(loops, backend), expected)
