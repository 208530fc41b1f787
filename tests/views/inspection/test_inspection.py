"""The one controller that all views of a machine share."""

import threading

import numpy as np
import pytest

from tests.kit.cells import CHAIN, HELLO
from tests.views.plan.summaries import FIGURES
from workbench.errors import PlanError, RunError
from workbench.machine import trace
from workbench.pipeline import plan_for
from workbench.planning.choices import Choices, PlanChoices
from workbench.planning.cost import step_cost
from workbench.planning.kernel_plan import Storage
from workbench.planning.plan_figures import memory_bytes
from workbench.views.graph.summary import summarise_graph
from workbench.views.inspection.flipping import storage_changes
from workbench.views.inspection.inspection import Inspection, Measurement, Status
from workbench.views.inspection.selection import CellLine, SubkernelRef, ValueRef, cell_lines_of, value_named, values_of
from workbench.views.plan.summary import summarise_plan

FLUXES = """
u = field("u", boundary="periodic")
flux = sqrt(u[+1, 0] * u + u[0, +1])
u.next = u + flux[-1, 0] - flux[0, -1]
"""


@pytest.fixture
def hello():
    return Inspection(trace(HELLO, name="hello"))


def storage_of(plan, name):
    value = value_named(plan, name)
    return plan.kernel(value.kernel).storage[value.node]


def test_flip_changes_storage_and_sub_kernels(hello):
    assert len(hello.plan.subkernels) == 1
    plan = hello.flip("y")
    assert plan is hello.plan
    assert storage_of(plan, "y") is Storage.MANIFEST
    assert len(plan.subkernels) == 2
    hello.flip("y")
    assert storage_of(hello.plan, "y") is Storage.DELAYED


def test_flip_is_what_annotate_does(hello):
    hello.flip("y")
    machine = trace(HELLO, name="hello").annotate("y", "manifest")
    assert hello.plan.kernels == machine.plan().kernels
    assert hello.machine.plan() == hello.plan


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_flip_changes_no_other_value(name):
    inspection = Inspection(trace(CHAIN, name="chain"))
    before = inspection.plan
    after = inspection.flip(name)
    assert [value for value, _, _ in storage_changes(before, after)] == [value_named(before, name)]


def test_forced_value_refuses_and_says_why(hello):
    assert hello.refusal("z") == "its array becomes field density"
    before = hello.plan
    with pytest.raises(
        PlanError, match=r"z cannot be flipped: it is Manifest, because its array becomes field density"
    ):
        hello.flip("z")
    with pytest.raises(PlanError, match="a field is an array already"):
        hello.flip(ValueRef("step", 0))
    assert hello.plan is before
    assert not hello.can_undo


def test_value_that_is_not_there_is_refused(hello):
    with pytest.raises(PlanError, match="computes nothing called 'w'"):
        hello.flip("w")
    with pytest.raises(PlanError, match="has no value 99"):
        hello.flip(ValueRef("step", 99))


def test_undo_and_redo_walk_the_plans(hello):
    plans = [hello.plan, hello.flip("y"), hello.mark_sync("y")]
    assert hello.previous is plans[1]
    assert hello.undo()
    assert hello.undo()
    assert hello.plan is plans[0]
    assert not hello.undo()
    assert hello.redo()
    assert hello.redo()
    assert hello.plan is plans[2]
    assert not hello.redo()
    hello.undo()
    hello.flip("y")
    assert not hello.can_redo


def test_sync_mark_is_set_and_dropped(hello):
    hello.flip("y")
    assert any(s.sync_after for s in hello.mark_sync("y").subkernels)
    assert not any(s.sync_after for s in hello.mark_sync("y").subkernels)
    assert any(s.sync_before for s in hello.mark_sync("y", "before").subkernels)
    with pytest.raises(PlanError, match="takes no barrier"):
        hello.mark_sync(ValueRef("step", 0))


def test_listeners_hear_their_topic_after_the_change_in_the_callers_thread(hello):
    heard = []
    hello.on("plan", lambda i: heard.append(("plan", len(i.plan.subkernels), threading.current_thread())))
    leave = hello.on("source", lambda i: heard.append("source"))
    hello.flip("y")
    assert heard == [("plan", 2, threading.current_thread()), "source"]
    leave()
    leave()
    hello.undo()
    assert len(heard) == 3
    with pytest.raises(RunError, match="topic 'colour' is unknown"):
        hello.on("colour", print)


def test_all_listeners_hear_although_one_refuses(hello):
    heard = []

    def refuse(_):
        raise RunError("closed", advice="Open it.")

    hello.on("plan", refuse)
    hello.on("plan", lambda _: heard.append("plan"))
    with pytest.raises(RunError, match="closed"):
        hello.flip("y")
    assert heard == ["plan"]


def test_source_is_that_of_the_plan_and_is_rendered_once(hello):
    first = hello.source
    assert hello.source is first
    hello.flip("y")
    assert hello.source.text != first.text
    assert hello.source_of(hello.previous) is first
    assert hello.source.language == "c++"
    hello.show_backend("cuda")
    assert hello.source.language == "cuda"
    with pytest.raises(RunError, match="no backend is called 'opencl'"):
        hello.show_backend("opencl")


def test_selection_by_value_line_and_sub_kernel(hello):
    heard = []
    hello.on("selection", lambda i: heard.append(i.selection))
    hello.select("y")
    y = value_named(hello.plan, "y")
    assert hello.selection == y
    assert cell_lines_of(hello.plan, y) == (4,)
    hello.select(CellLine(4))
    assert values_of(hello.plan, hello.selection) == (y,)
    hello.flip("y")
    name = hello.plan.subkernels[0].name
    hello.select(SubkernelRef("step", name))
    assert values_of(hello.plan, hello.selection) == (y,)
    hello.undo()  # now there is one sub-kernel with another name
    assert hello.selection is None
    assert heard == [y, CellLine(4), SubkernelRef("step", name), None]
    hello.select(None)
    assert len(heard) == 4


def test_comparison_lists_what_is_stored_differently(hello):
    one = hello.plan
    hello.flip("y")
    hello.compare(one)
    assert [ref for ref, _, _ in storage_changes(hello.compared, hello.plan)] == [value_named(one, "y")]
    hello.compare(hello.choices)
    assert storage_changes(hello.compared, hello.plan) == ()
    with pytest.raises(PlanError, match="cannot be compared"):
        hello.compare(trace(CHAIN, name="chain").plan())
    hello.compare(None)
    assert hello.compared is None


def test_measurements_belong_to_their_plan(hello):
    heard = []
    hello.on("measured", lambda i: heard.append(i.measured()))
    timed = Measurement(hello.choices, "openmp", (8,), 1e-3)
    hello.report_measured(timed)
    assert heard == [timed]
    hello.flip("y")
    assert hello.measured() is None
    assert hello.measured(hello.previous) == timed
    assert hello.measured(hello.previous, "cuda") is None


def test_status_and_simulation_are_told(hello):
    heard = []
    hello.on("status", lambda i: heard.append(i.status.text))
    hello.on("simulation", lambda i: heard.append(i.simulation))
    hello.report_status(Status("compiling", busy=True))
    hello.report_status(Status("compiling", busy=True))
    assert hello.extents == (1 << 20,)
    with trace(HELLO, name="hello").simulate(density=1.0, shape=8, backend="reference") as simulation:
        hello.attach(simulation)
        hello.attach(simulation)
        assert heard == ["compiling", simulation]
        assert hello.extents == (8,)
        assert hello.backend == "reference"
        assert hello.language == "openmp"
    assert hello.extents == (8,)  # of a simulation that was closed


def test_choices_of_another_view_are_a_step_that_can_be_undone(hello):
    machine = trace(HELLO, name="hello").annotate("y", "manifest")
    assert hello.choose(machine.choices) == machine.plan()
    assert hello.choose(machine.choices) is hello.plan
    assert hello.undo()
    assert not hello.can_undo


class TestBackends:
    """What is shown for a backend is what that backend runs with."""

    @pytest.fixture
    def together(self):
        """A program whose loops run together on openmp only."""
        return trace(FLUXES, name="fluxes").with_choices(Choices(plan=PlanChoices().changed(preset="as_manifest")))

    def test_views_plan_as_the_backend_that_runs(self, together):
        simulation = together.simulate(u=np.linspace(0, 1, 40 * 6).reshape(40, 6), backend="cuda-sim")
        run = simulation.compiled.plan
        for backend in ("cuda", "cuda-sim"):
            inspection = Inspection(together, backend=backend)
            shown = summarise_graph(inspection.plan, (40, 6))
            assert inspection.plan == run
            assert shown.bytes_moved == step_cost(run.main.observed).bytes_moved
            assert shown.arrays == len(run.array_slots)
            assert shown.memory == memory_bytes(run, (40, 6))
            listed = summarise_plan(inspection.plan, extents=(40, 6), figures=FIGURES, backend=backend)
            assert listed.allocated == memory_bytes(run, (40, 6))
            assert len(listed.arrays) == len(run.array_slots)
            padded = memory_bytes(run, (600_000, 1), on_device=True)
            assert summarise_graph(inspection.plan, (600_000, 1), backend=backend).memory == padded
            listed = summarise_plan(inspection.plan, extents=(600_000, 1), figures=FIGURES, backend=backend)
            assert listed.allocated == padded > 2 * memory_bytes(run, (600_000, 1))
        assert together.plan("cuda") == run
        simulation.close()

    def test_another_backend_has_other_figures_and_the_same_choices(self, together):
        inspection = Inspection(together, backend="openmp")
        heard = []
        for topic in ("plan", "source"):
            inspection.on(topic, lambda _, topic=topic: heard.append(topic))
        before = inspection.plan
        inspection.show_backend("cuda")
        assert heard == ["plan", "source"]
        assert inspection.choices == before.choices
        assert step_cost(inspection.plan.main.plain).bytes_moved > step_cost(before.main.plain).bytes_moved
        inspection.show_backend("openmp")
        assert inspection.plan == before

    def test_undo_and_comparison_hold_for_the_backend_looked_at(self, together):
        inspection = Inspection(together, backend="openmp")
        inspection.compare(together.choices)
        inspection.flip("flux")
        inspection.show_backend("cuda")
        assert inspection.previous == plan_for(together.graph, together.choices, "cuda")
        assert inspection.compared == inspection.previous
        inspection.undo()
        assert inspection.plan == together.plan("cuda")

    def test_arrays_of_rolling_values_are_not_counted_where_loops_run_together(self, together):
        plan = Inspection(together, backend="openmp").plan
        assert plan.main.plain.chains
        assert summarise_graph(plan, (40, 6)).arrays == len(plan.array_slots) < len(plan.slots)
        listed = summarise_plan(plan, extents=(40, 6), figures=FIGURES)
        assert len(listed.arrays) == len(plan.array_slots)
        for row, subkernel in zip(listed.rows, plan.main.plain.subkernels, strict=True):
            assert row.bytes_read >= 0
            assert row.bytes_read + row.bytes_written == subkernel.cost.bytes_moved
        assert [row.bytes_written for row in listed.rows][:-1] == [0.0] * (len(listed.rows) - 1)
        assert {life.array for life in listed.lives} == set(range(len(listed.arrays)))
