"""Sharing and storage of functions of arrays: nothing is computed twice, read for nothing or stored without need."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.array_plans import loops
from workbench.language import branch, generate, windows

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


def test_what_is_the_same_for_all_elements_is_computed_once():
    """A fold in the function of an element is a loop before, and no array."""
    assert loops(lambda x: generate(x.shape, lambda i: i * np.sum(x * x)), X) == (2, 0)


def test_arrays_that_no_result_needs_are_not_read():
    quadruple = (X, X + 1, X + 2, X + 3)
    machine = wb.collective(lambda four: four[0] * 2 + 0 * four[3].shape[0]).machine(quadruple)
    assert [static.name for static in machine.graph.fields] == ["four0", "result"]


@pytest.mark.parametrize("steps", [3, 12])
def test_memory_does_not_grow_with_the_length_of_a_chain(steps):
    """Each step is stored, and read by the next one alone: two arrays take turns, of which one is the result's."""

    def chain(x):
        for _ in range(steps):
            x = windows(lambda w: w[-1] + w[0], x, boundary="periodic")
        return x

    assert loops(chain, X) == (steps, 1)


def test_a_program_without_a_branch_has_no_copy_of_its_start():
    """A branch that is known while the function is traced and leaves its values alone makes no loop."""
    assert loops(lambda x, off: 2 * branch(off, lambda u: u[::-1], None, x), X, False) == (1, 0)
