"""The small programs on the compiled backends, at another optimisation level than users get, against the reference."""

import pytest

from tests.kit.agreement import first_difference
from tests.kit.optimised import COMPARED, optimised
from tests.kit.small_programs import SIZES, small_programs


@pytest.mark.parametrize("name", COMPARED)
def test_small_programs_have_the_bits_of_the_reference(name):
    programs = small_programs()
    compiled = optimised(name, 0).compile_many([plan for _, plan in programs])
    for (graph, plan), binary in zip(programs, compiled, strict=True):
        for number, extents in enumerate(SIZES[graph.dim]):
            if name == "openmp" or number or graph.dim > 1:
                for seed in (0, 4):  # with infinities and NaN, and without
                    found = first_difference(binary, graph, extents, seed, 1 + number % 2)
                    assert found is None, f"{graph.name}, {plan.choices.plan.values.preset}: {found}"
