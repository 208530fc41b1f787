"""Whose line an error names: that of a cell stands alone, that of a solver or a user's function names its file."""

import linecache
from pathlib import Path

import numpy as np
import pytest

from workbench.errors import NonFiniteError, StencilError, TraceError
from workbench.frontend.cell import trace_cell
from workbench.language import delayed, manifest
from workbench.machine import trace
from workbench.solvers import burgers, heat, hydro

HERE = rf"line (\d+) of {Path(__file__).relative_to(Path.cwd()).as_posix()}: "


def wrong_offsets(variable, axis):
    return variable[+1, 0, 0], variable


def wrong_choice(variable, axis):
    return (variable, variable) if variable > 0 else variable


def unknown_name(variable, axis):
    return nothing_of_that_name, variable  # noqa: F821  # on purpose


def wrong_number(variable, axis):
    return variable, float(variable)


def test_fault_of_a_solver_names_its_file_and_the_line():
    with pytest.raises(TraceError) as caught:
        heat.machine(2, boundary="hello")
    first, source, *_ = str(caught.value).splitlines()
    line = caught.value.line
    assert first.startswith(f"line {line} of workbench/solvers/heat.py: field 'u': 'hello'")
    assert source.strip() == linecache.getline(heat.__file__, line).strip()
    assert 'field("u"' in source


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (wrong_offsets, r"variable\[\+1, 0, 0\] has 3 offsets"),
        (wrong_choice, "'if' needs one true or false, but variable > 0 has one value per cell"),
        (unknown_name, "the name nothing_of_that_name is not defined"),
        (wrong_number, r"float\(variable\): float needs one number"),
    ],
)
@pytest.mark.parametrize("solver", [hydro, burgers])
def test_fault_of_a_users_function_in_a_solver_names_the_users_file(solver, function, message):
    with pytest.raises(TraceError, match=f"^{HERE}{message}") as caught:
        solver.machine(2, reconstruction=function)
    assert caught.value.line == function.__code__.co_firstlineno + 1
    assert "variable" in caught.value.source


def test_fault_of_a_function_of_a_notebook_names_the_function(monkeypatch):
    text = "def steep(variable, axis):\n    return variable[0], variable\n"
    monkeypatch.setitem(linecache.cache, "/tmp/ipykernel_1/2.py", (len(text), None, text.splitlines(True), "2.py"))
    scope = {}
    exec(compile(text, "/tmp/ipykernel_1/2.py", "exec"), scope)
    with pytest.raises(TraceError, match=r"^line 2 of steep\(\): variable\[0\] has 1 offset"):
        burgers.machine(2, reconstruction=scope["steep"])


def test_lines_of_a_cell_need_no_owner_also_where_it_calls_other_functions():
    text = 'u = field("u", boundary="periodic")\nlower, upper = outer(u, 0)\nu.next = lower'
    with pytest.raises(TraceError, match=r"^line 3: ") as caught:
        trace_cell(text, dim=2, first_line=2, namespace={"outer": wrong_offsets})
    assert caught.value.origin == ""


def test_a_plan_that_is_refused_names_the_solvers_file():
    with pytest.raises(StencilError, match=r"^line \d+ of workbench/solvers/heat\.py: u is read 1 cell outside at"):
        heat.machine(2, boundary={"x": "periodic"}).plan()


def test_hints_that_contradict_each_other_name_the_users_file():
    def twice(variable, axis):
        manifest(variable * 2)
        return delayed(variable * 2), variable

    with pytest.raises(TraceError, match=HERE + r"delayed\(variable \* 2\) contradicts line"):
        burgers.machine(1, reconstruction=twice)


def test_a_value_that_is_lost_names_the_solvers_file():
    with np.errstate(all="ignore"):
        sim = burgers.machine(1).simulate(u=np.array([1.0, 1e300, 2.0]), backend="reference")
    with pytest.raises(NonFiniteError, match=r"^line \d+ of workbench/solvers/burgers\.py: u becomes "):
        sim.run(20, finite=True)


def test_a_value_that_is_lost_in_a_cell_names_its_line_alone():
    sim = trace('u = field("u")\nu.next = u * u').simulate(u=np.array([1e200]), backend="reference")
    with pytest.raises(NonFiniteError, match=r"^line 2: u becomes "):
        sim.run(20, finite=True)
