"""Random numbers: the published generator, the same bits on every backend, and as uniform as they should be."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.capabilities import backends_here

TEXT = """\
r, q = field("r"), field("q")
n = scalar("n", 0, dtype="i64")
r.next = random(7, n, index(0), index(1))
q.next = random(7, n, index(0) - 5, index(1), 1)
n.next = n + 1
"""
MASK = 2**64 - 1


def mix(z):
    """The finalizer of SplitMix64, in Python's whole numbers."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def bits(*words):
    h = 0
    for word in words:
        h = mix(((h ^ (word & MASK)) + 0x9E3779B97F4A7C15) & MASK)
    return h


def test_first_numbers_are_those_of_splitmix64():
    """The generator seeded with 0 begins with e220a8397b1dcdaf; its state after k numbers is k times gamma."""
    assert bits(0) == 0xE220A8397B1DCDAF
    assert bits(0x9E3779B97F4A7C15) == 0x6E789E6AA1B965F4


@pytest.mark.parametrize("backend", backends_here())
@pytest.mark.parametrize(("dtype", "kept"), [("f64", 53), ("f32", 24)])
def test_bits_are_exact_on_every_backend(backend, dtype, kept):
    extents = (5, 17)
    sim = wb.trace(TEXT, dim=2, dtype=dtype).simulate(r=0.0, q=0.0, shape=extents, backend=backend).run(3)
    for name, words in (("r", lambda i, j: (7, 2, i, j)), ("q", lambda i, j: (7, 2, i - 5, j, 1))):
        expected = [[(bits(*words(i, j)) >> (64 - kept)) * 2.0**-kept for j in range(17)] for i in range(5)]
        assert sim[name].dtype == np.dtype({"f64": np.float64, "f32": np.float32}[dtype])
        assert np.array_equal(sim[name], expected)  # no rounding: each number has that many bits


def test_numbers_are_uniform_and_independent():
    """Mean, variance and correlations of 40,000 numbers within five standard deviations."""
    sim = wb.trace(TEXT, dim=2).simulate(r=0.0, q=0.0, shape=(200, 200), backend="reference").run(1)
    first = sim["r"]
    second = sim.run(1)["r"]
    spread = 5 / 200
    assert 0 <= first.min() < 1e-3
    assert 1 - 1e-3 < first.max() < 1
    assert abs(first.mean() - 0.5) < spread / 12**0.5
    assert abs(first.var() - 1 / 12) < spread / 180**0.5
    assert abs(np.histogram(first, 16, (0, 1))[0] - 2500).max() < 5 * 2500**0.5
    for other in (second, sim["q"], np.roll(first, 1, 0), np.roll(first, 1, 1), first.T):
        assert abs(np.corrcoef(first.ravel(), other.ravel())[0, 1]) < spread


def test_constants_are_computed_when_traced():
    sim = (
        wb.trace('u = field("u")\nu.next = random(1, 2, 3) + 0 * u').simulate(u=np.zeros(2), backend="reference").run(1)
    )
    assert (sim["u"] == (bits(1, 2, 3) >> 11) * 2.0**-53).all()
