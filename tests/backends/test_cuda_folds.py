"""Folds over some axes in CUDA text, run by the simulator: the bits of the reference, whatever the block."""

import pytest

from tests.kit.backend_agreement import assert_folds_agree
from tests.kit.paper_graphs import hello
from tests.kit.spaced_programs import deviation, folds_of_folds, from_outer_values, shifted_folds, spaced_programs
from workbench.backends.cuda_sim import CudaSimBackend
from workbench.codegen.cuda.render import render_cuda
from workbench.graph import Outflow
from workbench.planning import Choices, PlanChoices, plan_graph

EXTENTS = {
    2: ((1, 1), (1, 2), (2, 1), (3, 1025), (1024, 2), (7, 5)),
    3: ((1, 1, 1), (2, 1, 3), (1, 2, 1025), (5, 3, 4)),
    4: ((2, 3, 2, 3),),
}


def test_folds_have_the_bits_of_the_reference():
    for program in CudaSimBackend().compile_many([plan_graph(graph) for graph in spaced_programs()]):
        for extents in EXTENTS[program.plan.graph.dim]:
            assert_folds_agree(program, extents, (1,))


@pytest.mark.parametrize(("block", "grid"), [(1, 1), (32, 0), (96, 2)])
def test_blocks_and_grids_change_no_bit(block, grid):
    graphs = (folds_of_folds(), from_outer_values(), shifted_folds((Outflow(), Outflow())))
    choices = Choices(plan=PlanChoices().changed(block=block, grid=grid, preset="as_manifest"))
    for program in CudaSimBackend().compile_many([plan_graph(graph, choices) for graph in graphs]):
        assert_folds_agree(program, (6, 7, 5)[: program.plan.graph.dim], (1,))


def test_only_texts_that_fold_include_how():
    assert "stencil_cuda_folds.h" in render_cuda(plan_graph(deviation(1))).source.text
    assert "stencil_cuda_folds.h" not in render_cuda(plan_graph(hello())).source.text
