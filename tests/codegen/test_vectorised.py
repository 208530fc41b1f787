"""The compiler's own report: every inner loop of these programs is vectorised."""

import re

import pytest

from tests.codegen.golden_programs import planned
from tests.programs.life import TEXT as LIFE
from workbench.backends.compile_pool import vectorised_lines
from workbench.backends.openmp import OpenmpBackend
from workbench.frontend.cell import trace_cell
from workbench.planning import plan_graph


def inner_loops(text):
    """Lines of the loops over cells: the `for` below each pragma inside a sweep."""
    lines = text.splitlines()
    return [n + 2 for n, line in enumerate(lines) if line == "#pragma omp simd" and "int64_t i =" in lines[n + 1]]


@pytest.mark.parametrize("name", ["wave", "hello_delayed", "hello_manifest", "heat", "life"])
def test_inner_loops_are_vectorised(name):
    plan = plan_graph(trace_cell(LIFE, name="life", dim=2).graph) if name == "life" else planned(name)
    program = OpenmpBackend().compile(plan)
    loops = inner_loops(program.source.text)
    assert loops
    built = program.built
    done = vectorised_lines(built.report, re.sub(r"[^A-Za-z0-9_.-]", "_", built.name) + ".cpp")
    print(f"{name}: loops at {loops}, vectorised {done}")
    for line in loops:  # gcc names the first line of the body, clang that of the loop
        assert {line, line + 1} & set(done), f"line {line}: {program.source.text.splitlines()[line - 1].strip()}"
