"""Folds over some axes on CPU threads: the bits of the reference whatever the extents and however many threads."""

from tests.kit.backend_agreement import assert_folds_agree
from tests.kit.optimised import optimised
from tests.kit.spaced_programs import (
    boundary_from_a_fold,
    chained,
    deviation,
    from_outer_values,
    maxima,
    shifted_folds,
    spaced_programs,
)
from workbench.backends.openmp import OpenmpBackend
from workbench.graph import Periodic
from workbench.planning import Choices, PlanChoices, plan_graph

EXTENTS = {
    2: ((1, 1), (1, 2), (2, 1), (1023, 2), (2, 1024), (5, 1025), (37, 53), (2, 6145)),
    3: ((1, 1, 1), (2, 1, 3), (1, 2, 1025), (1025, 1, 2), (2, 1024, 1), (7, 5, 3), (3, 17, 33)),
    4: ((1, 1, 1, 1), (2, 3, 5, 7), (3, 2, 1, 1025), (1023, 2, 2, 1)),
}


def test_folds_have_the_bits_of_the_reference_with_any_number_of_threads():
    for program in OpenmpBackend().compile_many([plan_graph(graph) for graph in spaced_programs()]):
        for extents in EXTENTS[program.plan.graph.dim]:
            assert_folds_agree(program, extents, (1, 2, 3))


def test_small_folds_have_the_bits_of_the_reference():
    graphs = (shifted_folds((Periodic(), Periodic())), from_outer_values(), deviation(1), boundary_from_a_fold())
    stored = Choices(plan=PlanChoices().changed(preset="as_manifest"))
    plans = [plan_graph(g, stored) for g in (*graphs, chained(), maxima(4, (0, 1, 3), operator="sum"))]
    for program in optimised("openmp", 0).compile_many(plans):
        for extents in ((3, 5), (2, 6149)) if program.plan.graph.dim == 2 else ((3, 2, 2, 5), (1, 3, 2, 1030)):
            assert_folds_agree(program, extents, (2,))
