"""Float types in the graph view: their outlines, and the menu that changes them."""

import pytest

from tests.views.page.pane_ear import Ear
from workbench.graph import Arith
from workbench.machine import trace
from workbench.views.graph.marks import DOUBLE_DOUBLE, SINGLE
from workbench.views.graph.open import open_graph_view
from workbench.views.graph.view import GraphView
from workbench.views.inspection.inspection import Inspection
from workbench.views.inspection.retyping import AS_DECLARED, asked_type

CELL = """
u = field("u", boundary="periodic")
flux = u[+1] - u
heat = 0.1 * flux
moved = heat - heat[-1]
n = index(0)
u.next = u + moved * n
"""


@pytest.fixture
def view():
    made = GraphView(Inspection(trace(CELL, name="heated"), backend="reference"))
    yield made
    made.close()


def of(view, name):
    inspection = view.inspection
    inspection.select(name)
    return inspection.selection


def type_of(view, name):
    kernel = view.inspection.plan.main.kernel
    return kernel.nodes[kernel.find(name)].type.name


def test_a_chosen_type_is_drawn_and_undone(view):
    before = view.png
    assert SINGLE not in view.svg
    of(view, "heat")
    view.set_type("f32")
    assert view.trouble == ""
    assert type_of(view, "heat") == "f32"
    assert SINGLE in view.svg
    assert view.png != before
    of(view, "flux")
    view.set_type("dd")
    assert (type_of(view, "flux"), DOUBLE_DOUBLE in view.svg) == ("dd", True)
    view.undo()
    view.undo()
    view.select(None)
    assert view.png == before
    view.redo()
    assert type_of(view, "heat") == "f32"


def test_the_selected_value_stays_selected_although_its_number_changes(view):
    of(view, "moved")
    number = view.current
    view.set_type("dd")
    assert view.current != number
    assert view.summary.nodes[view.current].label == "moved"
    assert asked_type(view.inspection.plan, view.inspection.selection) == "dd"
    view.set_type(AS_DECLARED)
    assert view.current == number
    assert view.inspection.choices.meaning.precision == ()


def test_the_type_of_a_field_is_that_of_its_memory(view):
    load = next(i for i, node in enumerate(view.summary.nodes) if node.instruction == "Load")
    view.set_type("f32", load)
    assert view.inspection.plan.graph.static("u").type.name == "f32"
    assert view.inspection.machine.choices.meaning.precision == (("u", "f32"),)


def test_what_was_stored_by_choice_stays_stored(view):
    of(view, "heat")
    view.flip()
    heat = view.current
    assert view.summary.nodes[heat].storage == "Manifest"
    view.compare("all Delayed")
    view.set_type("f32")
    assert view.trouble == ""
    assert view.summary.nodes[view.current].storage == "Manifest"
    assert view.inspection.compared is None  # it was a plan of other types


def test_a_flip_leaves_types_alone():
    """A Global of dd meets the result of exp, of f64, is rounded, and what is stored is dd again."""
    text = 'u, k = field("u"), param("k", 0.1)\nw = 2 * u\nu.next = where(w > 0, k, exp(w))'
    inspection = Inspection(trace(text, name="met").with_precision("dd"), backend="reference")
    before = inspection.plan.graph
    inspection.flip("w")
    assert inspection.plan.graph == before
    assert inspection.plan == inspection.machine.plan("reference")


def test_refusals_become_words(view):
    of(view, "n")
    view.set_type("f32")
    assert "the type of n cannot change: it is i64, which is no float" in view.words()
    nodes = view.inspection.plan.main.kernel.nodes
    product = max(i for i, node in enumerate(nodes) if node.instruction == Arith("multiply") and not node.names)
    view.set_type("dd", product)
    assert "cannot change: it has no name in the cell" in view.words()
    view.select(None)
    view.set_type("f32")
    assert view.words().endswith("select a value first")


def test_a_running_simulation_goes_on_and_the_views_say_why():
    machine = trace(CELL, name="heated")
    with machine.simulate(u=[1.0, 2.0, 4.0], backend="reference") as simulation:
        view = open_graph_view(machine, simulation=simulation)
        view.inspection.select("heat")
        view.set_type("f32")
        assert "other results" in view.inspection.status.text
        assert simulation.compiled.plan.graph.static("u").type.name == "f64"
        simulation.run(1)
        view.close()


def test_the_menu_of_the_page_sets_the_type():
    view = open_graph_view(trace(CELL, name="heated"))
    ear = Ear(view.page._pane)
    ear.open()

    def state():
        return [s for m in ear.of("tools") for s in m.content["states"] if s["name"] == "type"][-1]

    ear.wait("tools")
    assert state()["disabled"]
    assert state()["options"] == (AS_DECLARED, "f32", "f64", "dd")
    view.inspection.select("heat")
    ear.pane.widget.hear({"type": "tool", "name": "type", "value": "f32"})
    with ear.more:
        assert ear.more.wait_for(lambda: state()["value"] == "f32", 10)
    assert not state()["disabled"]
    assert type_of(view, "heat") == "f32"
    view.close()
