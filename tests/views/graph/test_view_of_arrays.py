"""A click in the graph of a program of arrays: the value is stored or computed again, as the words and annotate do."""

import re

import pytest

import workbench as wb
from tests.kit.annotated_arrays import CASES, CELL, FORCED, HINTS, PLACES, A, X, plain
from tests.kit.array_plans import array_of, loops_of_plan
from workbench.views.graph.view import GraphView
from workbench.views.inspection.inspection import Inspection


@pytest.fixture
def open_view():
    """The view of a machine, as `machine.view()` opens it, without a page."""
    opened = []

    def made(machine):
        opened.append(GraphView(Inspection(machine)))
        opened[-1].inspection.show_backend("openmp")
        return opened[-1]

    yield made
    for view in opened:
        view.close()


def machine_of(function):
    return wb.collective(function).machine(A, X, PLACES)


def number_of(view, name, allocation=""):
    """The number of the node that shows a value; the one that is not stored so, if there are several."""
    shown = [(number, node) for number, node in enumerate(view.summary.nodes) if node.title == name]
    return next(number for number, node in shown if node.storage.lower() != allocation)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_click_stores_an_array_or_computes_it_again_and_a_second_one_takes_it_back(open_view, case):
    machine = machine_of(case.written(plain))
    view = open_view(machine)
    inspection, before = view.inspection, len(view.summary.groups)
    assert loops_of_plan(inspection.plan) == case.own
    number = number_of(view, case.name, case.allocation)
    view.flip(number)
    assert not view.trouble
    assert loops_of_plan(inspection.plan) == case.other
    assert (array_of(inspection.plan, case.name) is None) == (case.allocation == "delayed")
    assert len(view.summary.groups) - before == case.other[0] - case.own[0]
    assert inspection.plan.kernels == machine.annotate(case.name, case.allocation).plan("openmp").kernels
    assert re.search(rf"{case.name} \(line \d+.*\): write {case.allocation}\(\.\.\.\) around it", view.hints())
    assert loops_of_plan(machine_of_choices(machine, inspection)) == case.other  # what a call takes: choices=
    view.flip(number)
    assert loops_of_plan(inspection.plan) == case.own
    view.undo()
    assert loops_of_plan(inspection.plan) == case.other


def machine_of_choices(machine, inspection):
    return machine.with_choices(inspection.machine.choices).plan("openmp")


@pytest.mark.parametrize("written", FORCED, ids=lambda written: written.__name__)
def test_a_click_on_an_array_that_must_be_stored_says_why(open_view, written):
    view = open_view(machine_of(written(plain)))
    view.flip(number_of(view, written.__name__))
    assert f"{written.__name__} cannot be flipped: it is Manifest, because {FORCED[written]}" in view.words()
    assert loops_of_plan(view.inspection.plan) == (2, 1)


def test_a_hint_in_the_function_can_be_clicked_away(open_view):
    case = CASES[0]
    view = open_view(machine_of(case.written(HINTS[case.allocation])))
    assert loops_of_plan(view.inspection.plan) == case.other
    view.flip(number_of(view, case.name))
    assert loops_of_plan(view.inspection.plan) == case.own


def test_words_and_picture_of_a_cell_of_arrays_follow_a_click(open_view):
    view = open_view(wb.trace(CELL, name="ranges"))
    picture = view.png
    view.flip(number_of(view, "centred"))
    before, now = view.words().splitlines()[:2]
    assert before.startswith("before: ranges: 2 sub-kernels; ")
    assert now.startswith("now: ranges: 3 sub-kernels; ")
    assert view.png != picture
    assert view.hints().endswith("\nmanifest(centred)")
    view.compare("as it was opened")
    assert view.summary.changed == (number_of(view, "centred"),)
