"""Scans, segments and reads at computed places on compiled backends: the bits of the reference on any threads."""

import pytest

from tests.kit.backend_agreement import assert_folds_agree
from tests.kit.collective_programs import beyond, collective_programs, counted, mirrored, scans, scatters, segments
from tests.kit.optimised import optimised
from workbench.backends.base import MarchRequest
from workbench.errors import RunError
from workbench.planning import plan_graph

EXTENTS = {
    1: ((1,), (33,), (2101,)),
    2: ((1, 1), (3, 4100), (1030, 3), (5, 4)),
    3: ((1, 1, 1), (2, 3, 40), (35, 2, 18)),
}


@pytest.mark.parametrize("backend", ["openmp", "cuda-sim"])
def test_collectives_have_the_bits_of_the_reference(backend):
    for program in optimised(backend, 0).compile_many([plan_graph(graph) for graph in collective_programs()]):
        for extents in EXTENTS[program.plan.graph.dim]:
            assert_folds_agree(program, extents, (1, 2, 3) if backend == "openmp" else (1,))


@pytest.mark.parametrize("backend", ["openmp", "cuda-sim"])
def test_small_collectives_have_the_bits_of_the_reference(backend):
    plans = [plan_graph(graph) for graph in (scans(1), segments(), mirrored())]
    for program in optimised(backend, 0).compile_many(plans):
        assert_folds_agree(program, (1100,) if program.plan.graph.dim == 1 else (3, 4100), (1,))


@pytest.mark.parametrize("backend", ["openmp", "cuda-sim"])
def test_small_scatters_have_the_bits_of_the_reference(backend):
    (program,) = optimised(backend, 0).compile_many([plan_graph(scatters(1))])
    assert_folds_agree(program, (4100,), (1, 2) if backend == "openmp" else (1,))


def test_senders_that_are_shared_out_have_the_bits_of_the_reference():
    """Few and many senders, of fewer and of more rows than there are threads."""
    (program,) = optimised("openmp", 0).compile_many([plan_graph(counted())])
    assert "INTO_COPIES" in program.source.text
    for extents in ((3, 5, 1400), (3, 2, 3000), (6, 3, 2)):
        assert_folds_agree(program, extents, (1, 2, 3))


@pytest.mark.parametrize("backend", ["openmp", "cuda-sim"])
def test_an_index_outside_is_noted(backend):
    (program,) = optimised(backend, 0).compile_many([plan_graph(beyond())])
    instance = program.instantiate((40,))
    with pytest.raises(RunError, match="u is read at an index outside of it"):
        instance.march(MarchRequest("step", 1))
    instance.march(MarchRequest("step", 0))  # what was noted is taken note of once
