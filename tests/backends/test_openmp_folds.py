"""Folds over some axes on CPU threads: the bits of the reference whatever the extents and however many threads."""

import pytest

from tests.backends.agreement import assert_agrees
from tests.spaced_programs import spaced_programs
from workbench.backends.base import MarchRequest
from workbench.backends.openmp import OpenmpBackend
from workbench.planning import Choices, PlanChoices, plan_graph

EXTENTS = {
    2: ((1, 1), (1, 2), (2, 1), (3, 1023), (1023, 2), (2, 1024), (1024, 3), (5, 1025), (1025, 2), (37, 53), (2, 2049)),
    3: ((1, 1, 1), (2, 1, 3), (1, 2, 1025), (1025, 1, 2), (2, 1024, 1), (7, 5, 3), (3, 17, 33)),
    4: ((1, 1, 1, 1), (2, 3, 5, 7), (3, 2, 1, 1025), (2, 1023, 2, 1)),
}
PRESETS = ("cost", "as_manifest")


@pytest.fixture(scope="module")
def programs():
    """All programs under two presets, in one compiled unit."""
    plans = [plan_graph(g, Choices(plan=PlanChoices().changed(preset=p))) for p in PRESETS for g in spaced_programs()]
    return OpenmpBackend().compile_many(plans)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_folds_have_the_bits_of_the_reference(programs, threads):
    for program in programs:
        for extents in EXTENTS[program.plan.graph.dim]:
            try:
                assert_agrees(program, extents, MarchRequest("step", 2, observe_every=1), threads=threads)
            except Exception as error:
                raise AssertionError(program.plan.graph.name) from error
