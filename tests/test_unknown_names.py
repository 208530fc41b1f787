"""Unknown names of the package: the error says who has the name, and a module that is not imported yet is none."""

import subprocess
import sys

import pytest

import workbench as wb


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("field", "Write field in a cell that begins with %%stencil NAME"),
        ("simulate", "wave = workbench.trace(text), then wave.simulate."),
        ("pause", "sim = wave.simulate(...), then sim.pause."),
        ("heat", "Write from workbench.solvers import heat."),
        ("poisson", "Write from workbench.programs import poisson."),
        ("tracee", "Did you mean workbench.trace?"),
        ("qqzzy", "dir(workbench) lists what there is."),
        ("no_such_name", "dir(workbench) lists what there is."),
    ],
)
def test_the_advice_names_who_has_it(name, advice):
    with pytest.raises(wb.StencilError, match=f"workbench has no attribute '{name}'") as caught:
        getattr(wb, name)
    assert advice in str(caught.value)
    assert not [line for line in caught.value._render_traceback_() if "workbench/" in line]


def test_asking_for_a_module_loads_no_others():
    code = (
        "import sys, workbench; found = hasattr(workbench, 'machine');"
        "print(found, [name for name in sys.modules if name.startswith('workbench.f')])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split("\n")[0] == "False []"
