"""The compiler's own report: every inner loop of these programs is vectorised."""

import pytest

from tests.codegen.golden_programs import planned
from tests.programs.life import TEXT as LIFE
from workbench.backends.compile_pool import Source
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.vectorisation import inner_loops
from workbench.frontend.cell import trace_cell
from workbench.planning import plan_graph


@pytest.mark.parametrize("name", ["wave", "hello_delayed", "hello_manifest", "heat", "life"])
def test_inner_loops_are_vectorised(name):
    plan = plan_graph(trace_cell(LIFE, name="life", dim=2).graph) if name == "life" else planned(name)
    program = OpenmpBackend().compile(plan)
    built = program.built
    loops = inner_loops(program.source, built.report, Source(built.name, "").file_name)
    assert loops
    print(f"{name}: {loops}")
    for loop in loops:
        assert loop.vectors, f"line {loop.line}: {program.source.text.splitlines()[loop.line - 1].strip()}"
