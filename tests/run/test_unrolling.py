"""Loops that fold, unrolled: equal bits for all numbers of targets and sources, and texts that say so."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.optimised import COMPARED, optimised
from workbench.backends.base import MarchRequest
from workbench.errors import PlanError
from workbench.pipeline import plan_for, render

PAIRS = """
x, w = targets("x w", dtype="f32")
y, m = sources("y m")
near, = totals("near", reduce="max", dtype="f32")
force, = totals("force", dtype="dd")
many, = totals("many", reduce="sum", dtype="i64")
d = y - x
near.include(astype(-abs(d), "f32"))
force += m * d / (d * d + w)
many += astype(abs(d) < 0.5, "i64")
"""
RUNGS = ((4, 2, 1), (1, 1, 4), (16, 3, 3))
"""Targets side by side on a CPU, targets a thread of a device, sources a turn."""


def rung(machine, lanes, targets, sources):
    return machine.with_choices(lanes=lanes, targets=targets, sources=sources)


@pytest.mark.parametrize("backend", COMPARED)
def test_all_numbers_of_targets_and_sources_give_the_bits_of_the_reference(backend):
    """1030 sources are more than a chunk, 77 targets are no multiple of what is side by side, 5 are fewer."""
    machine, draw = wb.trace(PAIRS), np.random.default_rng(2)
    sources = {"y": draw.normal(size=1030), "m": draw.uniform(1, 2, size=1030)}
    sets = [
        {"x": draw.normal(size=n).astype(np.float32), "w": draw.uniform(0.1, 1, size=n).astype(np.float32)}
        for n in (77, 5)
    ]
    expected = [machine(targets=targets, sources=sources, backend="reference") for targets in sets]
    plans = [plan_for(m.graph, m.choices, backend) for m in (rung(machine, *numbers) for numbers in RUNGS)]
    for numbers, program in zip(RUNGS, optimised(backend, "1").compile_many(plans), strict=True):
        for targets, totals in zip(sets, expected, strict=True):
            for threads in (1, 3) if backend == "openmp" else (1,):
                instance = program.instantiate((len(targets["x"]), 1030), threads)
                for name, values in (*targets.items(), *((f"{n}.source", v) for n, v in sources.items())):
                    instance.write_field(name, values)
                instance.march(MarchRequest("main", 1))
                for name, values in totals.items():
                    assert_same_bits(instance.read_field(name), values, f"{backend} {numbers} {threads} {name}")
                instance.close()


def test_texts_are_unrolled_as_chosen():
    machine = wb.trace(PAIRS)
    plain, unrolled = (rung(machine, *numbers).plan() for numbers in ((0, 1, 1), (8, 3, 4)))
    assert "constexpr int lanes = 16;" in render(plain, "openmp").text
    text = render(unrolled, "openmp").text
    assert "constexpr int lanes = 8;" in text
    assert text.count("source_3(first + lane);") == 1
    assert "STENCIL_UNROLL" not in render(plain, "cuda").text
    text = render(unrolled, "cuda").text
    assert text.count("STENCIL_UNROLL(3)") == 3
    assert text.count("STENCIL_UNROLL(4)") == 1


def test_only_programs_that_fold_have_something_to_try():
    folds = {row.name: row.sensible for row in wb.trace(PAIRS).tunables("openmp")}
    assert len(folds["lanes"]) > 1
    assert len(folds["sources"]) > 1
    assert "targets" not in folds
    stencil = wb.trace('u = field("u", boundary=periodic())\nu.next = u[+1]')
    assert {row.name: row.sensible for row in stencil.tunables("openmp")}["lanes"] == (0,)


def test_numbers_stay_in_genome_and_text():
    machine = rung(wb.trace(PAIRS), 8, 3, 4)
    assert "F=lanes:8,targets:3,sources:4" in machine.genome
    assert wb.trace(PAIRS).with_genome(machine.genome).choices.plan.folds == machine.choices.plan.folds
    assert "/F=" not in wb.trace(PAIRS).genome


def test_what_cannot_be_unrolled_is_refused():
    with pytest.raises(PlanError, match="sources is 0"):
        wb.trace(PAIRS).with_choices(sources=0)
    with pytest.raises(PlanError, match="targets is 9"):
        wb.trace(PAIRS).with_choices(targets=9)
