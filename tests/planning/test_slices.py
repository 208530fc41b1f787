"""Slices of formulas are computed where they are read, where that is never more work, with equal bits."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.array_plans import loops
from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from workbench.errors import RunError
from workbench.language import compute, generate

X, Y = np.random.default_rng(30).random((4, 6)), np.random.default_rng(31).random(6)
PLACES = np.array([5, 0, 0, 3, 1, 2])

ONCE = {
    "reversed": lambda x, y, p: np.sqrt(y)[::-1],
    "tail": lambda x, y, p: np.sqrt(y)[2:] + 1,
    "every other": lambda x, y, p: np.exp(y)[1::2],
    "column": lambda x, y, p: np.sqrt(x)[:, 1],
    "turned and cut": lambda x, y, p: np.sqrt(x * y[None, :]).T[::-1, 1:],
    "flipped twice": lambda x, y, p: np.flip(np.sqrt(np.flip(np.exp(x)))),
    "of elements at places": lambda x, y, p: np.sqrt(y[p])[::-1],
    "of places": lambda x, y, p: np.sqrt(generate(8, lambda i: i * 2.0))[::-1],
    "counted": lambda x, y, p: generate(5, lambda i: np.exp(y)[i + 1]),
    "of a condition": lambda x, y, p: np.where(y > 0.5, np.exp(y), y)[::-1],
}
STORED = {
    "beside itself": lambda x, y, p: np.exp(y)[1:] - np.exp(y)[:-1],
    "at places": lambda x, y, p: np.exp(y)[p],
    "one for all": lambda x, y, p: generate(6, lambda i: np.exp(y)[i * 0 + 3]) + y,
    "a row for each": lambda x, y, p: np.sqrt(y)[::-1][None, :] * x,
    "asked for": lambda x, y, p: compute(np.exp(y))[::-1],
    "a part used elsewhere": lambda x, y, p: (np.sqrt(np.exp(y))[::-1], np.sum(np.exp(y)[1:])),
}


@pytest.mark.parametrize("name", ONCE)
def test_what_is_read_once_is_not_stored(name):
    assert loops(ONCE[name], X, Y, PLACES)[1] == 0


@pytest.mark.parametrize("name", STORED)
def test_what_may_be_read_often_or_is_needed_elsewhere_stays(name):
    assert loops(STORED[name], X, Y, PLACES)[1] > 0


def test_bits_stay_and_are_equal_on_every_backend():
    """Exact functions and sequences; NumPy's exp is another one."""
    for name, function in (ONCE | STORED).items():
        program = wb.collective(function)
        expected = program(X, Y, PLACES, backend="reference")
        results = expected if isinstance(expected, tuple) else (expected,)
        meant = function(X, Y, PLACES) if "generate" not in function.__code__.co_names and name != "asked for" else None
        for found, other in zip(results, meant if isinstance(meant, tuple) else (meant,), strict=False):
            assert other is None or found == pytest.approx(other, rel=1e-15)
        for backend in backends_here():
            found = program(X, Y, PLACES, backend=backend)
            for one, other in zip(found if isinstance(found, tuple) else (found,), results, strict=True):
                assert_same_bits(one, other, name)


def test_an_index_outside_is_an_error_as_before():
    program = wb.collective(lambda y: generate(6, lambda i: np.exp(y)[i + 1]))
    for backend in backends_here():
        with pytest.raises(RunError, match="6"):
            program(Y, backend=backend)


def test_a_formula_keeps_its_name():
    def program(y):
        waves = np.exp(y)
        return waves[::-1]

    machine = wb.collective(program).machine(Y)
    named = [node for node in machine.graph.kernels[0].nodes if "waves" in node.names]
    assert [str(node.instruction) for node in named] == ["Arith(operator='exp')"]


def test_long_formulas_and_long_chains_of_slices_are_planned():
    def long(y):
        for k in range(1500):
            y = np.sqrt(y * k)
        return y[::-1]

    def chain(turns):
        def function(y):
            for _ in range(turns):
                y = np.sqrt(y + 1)[::-1]
            return y

        return function

    assert loops(long, Y) == (2, 1)
    assert loops(chain(10), Y) == (1, 0)
    assert loops(chain(300), Y)[1] <= 3
