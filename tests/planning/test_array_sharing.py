"""Sharing and storage of functions of arrays: nothing is computed twice, read for nothing or stored without need."""

import sys
from itertools import count, pairwise

import numpy as np
import pytest

import workbench as wb
from tests.kit.array_plans import loops
from workbench.language import branch, generate, windows
from workbench.planning.lending import leaves_inputs_alone
from workbench.planning.passes import plan_graph

X = np.arange(64.0)


def test_sixty_doublings_are_sixty_operations():
    """Of an array and of a number: as a tree it would be 2**60."""

    def doubled(x):
        total = np.sum(x)
        for _ in range(60):
            x, total = x + x, total + total
        return x, total

    program = wb.collective(doubled)
    assert len(program.machine(X).graph.kernels[0].nodes) <= 2 * 60 + 10
    array, total = program(X, backend="reference")
    assert array.tolist() == (X * 2.0**60).tolist()
    assert total == X.sum() * 2.0**60


def test_work_grows_at_most_with_the_square_of_the_steps():
    """Of tracing and planning; calls are counted, because times depend on what else runs."""

    def shortest(steps):
        def paths(d):
            for k in range(steps):
                d = np.minimum(d, d[:, k][:, None] + d[k, :][None, :])
            return d

        return wb.collective(paths)

    def work(steps):
        calls = count()
        sys.setprofile(lambda frame, event, argument: next(calls))
        try:
            plan_graph(shortest(steps).machine(np.ones((500, 500))).graph)
        finally:
            sys.setprofile(None)
        return next(calls)

    work(2)  # what is made once in a process
    counts = [work(steps) for steps in (16, 32, 64)]
    print(f"calls {counts}")
    assert counts[0] > 10_000
    assert all(after < 4 * before for before, after in pairwise(counts))


def test_what_is_the_same_for_all_elements_is_computed_once():
    """A fold in the function of an element is a loop before, and no array."""
    assert loops(lambda x: generate(x.shape, lambda i: i * np.sum(x * x)), X) == (2, 0)


def test_arrays_that_no_result_needs_are_not_read():
    quadruple = (X, X + 1, X + 2, X + 3)
    machine = wb.collective(lambda four: four[0] * 2 + 0 * four[3].shape[0]).machine(quadruple)
    assert [static.name for static in machine.graph.fields] == ["four0", "result"]


@pytest.mark.parametrize(("steps", "arrays"), [(3, 1), (12, 2), (13, 1), (22, 2)])
def test_memory_does_not_grow_with_the_length_of_a_chain(steps, arrays):
    """Each step is stored, and read by the next one alone: two arrays take turns, of which one is the result's.

    The last step reads another one than the result's, so that a call lends that.
    """

    def chain(x):
        for _ in range(steps):
            x = windows(lambda w: w[-1] + w[0], x, boundary="periodic")
        return x

    assert loops(chain, X) == (steps, arrays)


def test_a_program_without_a_branch_has_no_copy_of_its_start():
    """A branch that is known while the function is traced and leaves its values alone makes no loop."""
    assert loops(lambda x, off: 2 * branch(off, lambda u: u[::-1], None, x), X, False) == (1, 0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x - x.mean(),
        lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(),
        lambda x: x.reshape(5, -1).mean(axis=0),
        lambda x: 2 * np.cumsum(x) + 1,
        lambda x: np.sqrt(x.reshape(-1, 5).var(axis=1)),
        lambda x: (x.reshape(5, -1).mean(axis=0), x.reshape(5, -1).max(axis=0) + 1),
    ],
)
def test_a_result_that_is_made_of_what_is_stored_is_made_where_it_is_returned(function):
    """So that a call works on the arrays of its caller and copies none."""
    plan = wb.collective(function).machine(X).plan("openmp")
    assert leaves_inputs_alone(plan)
    assert all(slot == source for slot, source in enumerate(plan.kernels[0].observed.rotation))
