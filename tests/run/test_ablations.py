"""Ablations: one choice stores every value of a program, one recomputes every value at each use; no bit changes."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.planning.choices import Choices, PlanChoices
from workbench.programs import black_scholes, dot_product, radix_sort

DRAW = np.random.default_rng(3)
X, KEYS = DRAW.random((3, 1500)) + 0.5, DRAW.integers(0, 2**32, 480, dtype=np.uint32)


@wb.collective
def shared(x, y):
    """One value that two loops need: a sum, and the elements that are divided by it."""
    waves = np.sqrt(x * y) + x / (1 + y)
    return waves / np.sum(waves), np.max(waves * waves)


PROGRAMS = {
    "dot product": (dot_product.dot_product, (X[0], X[1])),
    "prices": (black_scholes.prices, (X[0], X[1], X[2])),
    "sort": (radix_sort.radix_sort, (KEYS, KEYS + 1)),
    "shared": (shared, (X[0], X[1])),
}


def choices(preset):
    return Choices(plan=PlanChoices().changed(preset=preset))


def loops(program, given, preset):
    return len(program.machine(*given).with_choices(choices(preset)).plan("openmp").main.plain.subkernels)


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_fusion_and_without_sharing_the_bits_are_the_same(name):
    program, given = PROGRAMS[name]
    expected = program(*given, backend="reference")
    for preset in ("as_manifest", "as_delayed"):
        found = program(*given, backend="openmp", choices=choices(preset))
        pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
        for mine, bits in pairs:
            assert_same_bits(mine, bits, preset)


def test_the_switches_do_what_they_say():
    program, given = PROGRAMS["dot product"]
    assert [loops(program, given, preset) for preset in ("cost", "as_manifest", "as_delayed")] == [1, 2, 1]
    machine = shared.machine(X[0], X[1])
    stored = {}
    for preset in ("as_manifest", "as_delayed"):
        plan = machine.with_choices(choices(preset)).plan("openmp")
        stored[preset] = len(plan.array_slots) - len(machine.graph.fields)
    assert stored["as_manifest"] > stored["as_delayed"] == 0
