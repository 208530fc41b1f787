"""With WORKBENCH_CHECK=1 graphs and plans are verified as they are made, and a failed check says whose fault it is."""

from dataclasses import replace

import pytest

from tests.kit.paper_graphs import wave
from tests.kit.pass_faults import FAULTS
from tests.kit.random_programs import random_program
from tests.planning.random_graphs import random_choices, random_graph
from workbench.errors import GraphError, PlanError
from workbench.graph import Store
from workbench.graph.types import F32
from workbench.planning import Choices, PlanChoices, checking, passes, plan_graph
from workbench.planning.checking import check_graph, is_checking, set_checking
from workbench.planning.simplify import simplify
from workbench.planning.verify import find_faults


@pytest.fixture(autouse=True)
def from_the_environment():
    yield
    set_checking(None)


@pytest.mark.parametrize(
    ("text", "on"), [("1", True), ("yes", True), ("0", False), ("", False), ("off", False), (None, False)]
)
def test_the_environment_switches_checks(text, on, monkeypatch):
    monkeypatch.delenv("WORKBENCH_CHECK") if text is None else monkeypatch.setenv("WORKBENCH_CHECK", text)
    assert is_checking() is on
    set_checking(not on)
    assert is_checking() is not on
    set_checking(None)
    assert is_checking() is on


def test_the_suite_runs_with_checks(monkeypatch):
    monkeypatch.setattr(passes, "check_plan", lambda plan: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        plan_graph(wave())


def of_another_type(graph):
    """The graph with its first computed value in a type that its operator does not give."""
    kernel = graph.kernels[0]
    number = next(i for i, n in enumerate(kernel.nodes) if n.operands and not isinstance(n.instruction, Store))
    nodes = (*kernel.nodes[:number], replace(kernel.nodes[number], type=F32), *kernel.nodes[number + 1 :])
    return replace(graph, kernels=(replace(kernel, nodes=nodes), *graph.kernels[1:]))


def test_a_pass_that_breaks_the_graph_is_named(monkeypatch):
    broken = passes.Pass("worsen", lambda draft: replace(draft, graph=of_another_type(draft.graph)), rewrites=True)
    monkeypatch.setattr(passes, "PASSES", (*passes.PASSES[:2], broken, *passes.PASSES[2:]))
    with pytest.raises(GraphError) as error:
        plan_graph(wave())
    first, *_, last = str(error.value).splitlines()
    assert first.startswith("a check failed on the graph after the pass worsen: kernel step, node %")
    assert last == "Report this program: the fault is the workbench's. To go on unchecked, set WORKBENCH_CHECK=0."
    set_checking(False)
    plan_graph(wave())  # unnoticed


def test_a_pass_that_rewrites_unannounced_is_refused(monkeypatch):
    unannounced = passes.Pass("share", lambda draft: replace(draft, graph=replace(draft.graph)))
    monkeypatch.setattr(passes, "PASSES", (*passes.PASSES[:2], unannounced, *passes.PASSES[2:]))
    with pytest.raises(PlanError, match="the pass share changes the graph") as error:
        plan_graph(wave())
    assert "REWRITES in planning/simplify" in str(error.value)


def test_a_graph_that_comes_broken_is_noticed_before_the_first_pass():
    with pytest.raises(GraphError, match="on the graph before the first pass: kernel step"):
        plan_graph(of_another_type(wave()))


def test_a_graph_is_checked_once_whatever_it_is_planned_with(monkeypatch):
    checked = []
    monkeypatch.setattr(checking, "_GRAPH_CHECKS", (checked.append,))
    graph = simplify(wave())
    for preset in ("as_delayed", "as_manifest"):
        plan_graph(graph, Choices(plan=PlanChoices().changed(preset=preset)))
    assert len(checked) == 1
    assert checked[0] is graph


def test_a_text_that_reads_back_differently_is_noticed(monkeypatch):
    real = checking.parse
    check_graph(wave(), "as it is")
    monkeypatch.setattr(checking, "parse", lambda text: replace(real(text), name="another"))
    with pytest.raises(GraphError, match="the graph renamed reads back as another graph"):
        check_graph(wave(), "renamed")


NOTICED = 17  # the others make plans that keep every promise and mean something else; the executor notices those


def test_checks_notice_most_faulty_passes():
    graphs = map(random_graph, range(60))
    programs = [(graph, random_choices(graph, seed)) for seed, graph in enumerate(graphs)]
    noticed = {}
    for fault in FAULTS:
        with pytest.MonkeyPatch.context() as patch:
            fault.edit(patch.setattr)
            for graph, choices in programs:
                try:
                    plan_graph(graph, choices)
                except (PlanError, GraphError) as error:
                    if "Report this program" in str(error):
                        noticed[fault.name] = str(error).splitlines()[1]
                        break
                except (AssertionError, KeyError, IndexError, ValueError):
                    continue
    print(*(f"{name}: {line}" for name, line in noticed.items()), sep="\n")
    assert len(noticed) >= NOTICED, set(f.name for f in FAULTS) - set(noticed)


def test_a_value_without_an_axis_is_not_read_beyond_the_domain_along_it():
    """A loop that is grown along x reads a value over y whose ghost cells, in the same array, follow another rule."""
    plan = plan_graph(random_program(1175937268, nodes=(40, 90))[0])
    assert not find_faults(plan)
