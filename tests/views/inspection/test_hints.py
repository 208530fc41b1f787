"""Choices as lines for a cell: pasted at its end, the cell alone has the same plan."""

import pytest

import workbench as wb
from tests.views.machines import TRADE_OFF
from workbench.planning.choices import Choices
from workbench.planning.kernel_plan import Storage
from workbench.views.inspection.inspection import Inspection
from workbench.views.inspection.selection import ValueRef

VECTORS = """
rho = field("rho", boundary="reflect")
m = vector("m", boundary="reflect")
flux = 0.25 * (grad(extend(rho, "reflect"), 0.1) + m)
for _ in range(2):
    turned = flux * flux
speed = m * m
rho.next = rho - 0.1 * div(extend(speed + turned, "reflect"), 0.1)
m.next = m - flux
"""
PROGRAMS = {"trade": (TRADE_OFF, 1), "vectors": (VECTORS, 2)}


def free_values(plan):
    main = plan.main
    return [
        ValueRef(main.kernel.name, node)
        for node, (storage, forced) in enumerate(zip(main.storage, main.forced, strict=True))
        if not forced and storage in (Storage.MANIFEST, Storage.DELAYED)
    ]


def pasted(machine, dim=1):
    return wb.trace(f"{machine.text}\n{machine.hints}", dim, name=machine.name)


@pytest.mark.parametrize(
    ("name", "least", "line"), [("trade", 2, "manifest(b)"), ("vectors", 3, "manifest(turned[0])")]
)
def test_pasted_hints_give_the_plan_that_was_chosen(name, least, line):
    text, dim = PROGRAMS[name]
    machine = wb.trace(text, dim, name=name)
    said = []
    for value in free_values(machine.plan()):
        inspection = Inspection(machine)
        inspection.flip(value)
        chosen = inspection.machine
        if "around it" in chosen.hints:  # no name at the end of the cell means this value
            continue
        said.append(chosen.hints)
        again = pasted(chosen, dim)
        assert again.choices == Choices()
        assert again.genome == chosen.genome
    assert len(said) >= least
    assert any(line in hints for hints in said), said


def test_barriers_are_hints_too():
    inspection = Inspection(wb.trace(TRADE_OFF, name="trade").annotate("b", "manifest"))
    inspection.mark_sync("b")
    assert inspection.machine.hints.endswith('\nsync(manifest(b), "after")')
    assert pasted(inspection.machine).genome == inspection.machine.genome
    inspection.mark_sync("b", "before")
    assert inspection.machine.hints.endswith("\nsync(manifest(b))")
    assert pasted(inspection.machine).genome == inspection.machine.genome


def test_what_the_cell_cannot_say_is_said_to_the_reader():
    machine = wb.trace("u = field('u')\ny = u * u\ny = y + 1.0\nw = delayed(exp(u))\nu.next = w + y", name="twice")
    assert machine.hints == "# twice is planned as its cell says; no hints are needed"
    nodes = machine.plan().main.kernel.nodes
    first = ValueRef("step", next(i for i, node in enumerate(nodes) if "y" in node.names))
    inspection = Inspection(machine)
    inspection.flip(first)
    assert "# y (line 2): write manifest(...) around it" in inspection.machine.hints
    assert "# line 4 asks for delayed: write manifest(...) there" in machine.annotate("w", "manifest").hints


def test_choices_that_belong_to_no_cell_are_named():
    machine = wb.trace(TRADE_OFF, name="trade").with_choices(threads=2, block=64)
    assert machine.hints.splitlines() == ["# no hint of a cell: threads=2", "# no hint of a cell: block=64"]


def test_a_simulation_leads_back_to_its_machine():
    machine = wb.trace(TRADE_OFF, name="trade")
    with machine.simulate(u=1.0, shape=8, backend="reference") as simulation:
        assert simulation.machine.plan() == simulation.compiled.plan
        chosen = machine.annotate("b", "manifest")
        simulation.replan(chosen.choices).wait(60)
        simulation.run(1)
        assert simulation.machine.hints == chosen.hints
        assert simulation.machine.text == TRADE_OFF
        inspector = simulation.inspect(field="u")
        assert inspector.inspection.simulation is simulation
        assert inspector.views["graph"].hints() == chosen.hints
        inspector.close()
