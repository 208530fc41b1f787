"""The launch view: its summary against the launches that run, its picture, its choices and what it leaves behind."""

import gc
import threading
import weakref
from dataclasses import replace
from math import prod

import numpy as np
import pytest

import workbench as wb
from tests.kit.waiting import wait_for
from workbench.backends.nvrtc import KernelResources
from workbench.backends.occupancy import occupancy
from workbench.errors import PlanError, RunError
from workbench.views.drawing.shapes import to_png, to_svg
from workbench.views.inspection.following import follow, inspect_machine
from workbench.views.inspection.inspection import Measurement
from workbench.views.launch.drawing import draw_launch, footprint, owner_colour, plane_of
from workbench.views.launch.facts import find_facts, known_facts, small_extents
from workbench.views.launch.open import open_launch_view
from workbench.views.launch.summary import ASSUMED_REGISTERS, Findings, describe_launch, summarise_launch
from workbench.views.launch.view import LaunchView

HEAT = wb.trace(
    """\
u = field("u", boundary="periodic")
k = param("k", 0.2)
gx = named(u[+1, 0] - u[0, 0], "gx")
u.next = u + k * (gx[0, 0] - gx[-1, 0] + u[0, +1] + u[0, -1] - 2 * u)
""",
    name="heat",
).annotate("gx", "delayed")
WAVE3 = wb.trace('u = field("u", boundary="periodic")\nu.next = u[+1, 0, 0] + u[0, 0, -2]', name="three")
PATIENCE = 60


def with_plan(machine, **choices):
    return machine.with_choices(replace(machine.choices, plan=machine.choices.plan.changed(**choices))).plan()


def test_cpu_rows_are_the_loops():
    plan = with_plan(HEAT, tile=16, threads=3)
    summary = summarise_launch(plan, extents=(100, 70))
    assert [(row.name, row.cells, row.tasks) for row in summary.rows] == [("step_0_u", 7000, 7)]
    assert (summary.threads, summary.tile, summary.curves, summary.device) == (3, 16, (), None)
    assert "threads 3; a task: 16 rows" in describe_launch(summary)
    assert "in 7 tasks" in describe_launch(summary)


def test_device_rows_have_grid_block_items_and_occupancy():
    plan = with_plan(HEAT, block=128, grid=64)
    found = Findings((KernelResources("sweep_step_0_u", 40, 16, 8, 1024),), "as NVRTC says for sm_90")
    summary = summarise_launch(plan, extents=(512, 512), backend="cuda", findings=found)
    row = summary.rows[summary.shown]
    assert (row.name, row.grid, row.block) == ("sweep_step_0_u", (4, 1, 16), (128, 1, 1))
    assert row.items == 512 * 512 / (prod(row.grid) * prod(row.block)) == 32
    assert row.occupancy == occupancy(summary.device, 128, 40, 1024)
    assert (row.registers, row.spills, row.shared) == (40, 24, 1024)
    assert summary.rows[0].registers == ASSUMED_REGISTERS
    text = describe_launch(summary)
    assert "registers as NVRTC says for sm_90" in text
    assert "32 cells a thread; 40 registers, 24 bytes spilled" in text
    assert "blocks of 64 threads reach 75% already" in text
    assert "registers allow blocks up to 1024" in text


def test_curves_go_through_the_launch():
    summary = summarise_launch(HEAT.plan(), extents=(64, 64), backend="cuda-sim")
    row = summary.rows[summary.shown]
    assert [curve.what.split()[0] for curve in summary.curves] == ["threads", "registers", "shared"]
    for curve in summary.curves:
        assert curve.at[1] == row.occupancy.share
        assert all(0 <= share <= 1 for _, share in curve.points)
    assert dict(summary.curves[0].points)[prod(row.block)] == row.occupancy.share
    assert dict(summary.curves[1].points)[row.registers] == row.occupancy.share


def test_facts_are_recorded_and_kept():
    plan = HEAT.plan()
    found = find_facts(plan)
    assert known_facts(plan) is found is find_facts(plan)
    summary = summarise_launch(plan, extents=(512, 512), backend="cuda-sim", findings=found)
    trace = summary.trace
    assert trace.thread_of.shape == small_extents(2)
    assert set(footprint(trace)) == {(6, 24), (5, 24), (7, 24), (6, 23), (6, 25)}
    assert "coalesced 100%" in describe_launch(summary)
    assert found.told.endswith("sm_90") or "pip install" in found.problem
    drawn = draw_launch(summary)
    assert to_svg(drawn).count("<polygon") == 12 * 48
    assert to_png(drawn)[:4] == b"\x89PNG"


def test_picture_of_launches_on_the_cpu_has_a_bar_for_each_loop():
    summary = summarise_launch(HEAT.plan(), extents=(512, 512), backend="openmp")
    assert len(summary.rows) > 0
    assert to_svg(draw_launch(summary)).count("<polygon") == len(summary.rows)


def test_volumes_show_the_plane_of_the_probed_cell():
    (trace,) = find_facts(WAVE3.plan()).traces
    plane, cuts = plane_of(trace)
    assert plane.shape == small_extents(3)[1:]
    assert cuts == (2,)
    assert np.array_equal(plane, trace.thread_of[2])
    assert footprint(trace) == ((4, 18),)  # the other read lies in another plane


def test_neighbouring_blocks_and_warps_differ_in_colour():
    assert owner_colour(0, 64) == owner_colour(31, 64) != owner_colour(32, 64) != owner_colour(64, 64)
    assert owner_colour(-1, 64) == "#ffffff"


@pytest.fixture
def followed():
    with HEAT.simulate(u=np.random.default_rng(1).random((40, 30)), backend="openmp", threads=1) as simulation:
        view = open_launch_view(HEAT, simulation=simulation)
        yield view, simulation
        view.close()
        follow(view.inspection).close()


def test_a_choice_runs_in_the_simulation_and_changes_no_bit(followed):
    view, simulation = followed
    before = simulation.run(5).u
    view.choose(tile=3, threads=2)
    wait_for(lambda: simulation.compiled.plan.choices.plan.cpu.tile == 3)
    assert simulation._state.instance.threads == 2
    assert np.array_equal(simulation.u, before)
    simulation.run(5)
    with HEAT.simulate(u=np.random.default_rng(1).random((40, 30)), backend="reference") as other:
        assert np.array_equal(other.run(10).u, simulation.u)
    view.inspection.undo()
    wait_for(lambda: simulation.compiled.plan.choices.plan.cpu.tile == 0)


def test_what_cannot_be_launched_is_refused_and_told(followed):
    view, simulation = followed
    for wrong in ({"block": 2000}, {"grid": -1}, {"threads": -1}):
        with pytest.raises(PlanError):
            view.choose(**wrong)
    view.attempt(lambda: view.choose(block=0))
    assert "block is 0" in view.words()
    with pytest.raises(RunError, match="not known here"):
        view.look_at_device("5.5")
    with pytest.raises(RunError, match="launches nothing"):
        open_launch_view(HEAT, backend="reference")
    with pytest.raises(RunError, match="the simulation runs heat, which is not this three"):
        open_launch_view(WAVE3, simulation=simulation)


def test_times_are_told_in_a_unit_that_needs_no_exponent():
    view = open_launch_view(HEAT, backend="openmp")
    view.inspection.report_measured(Measurement(view.inspection.choices, "openmp", (64, 64), 1.27e-2))
    assert "measured 13 ± 1 ms a step on openmp" in view.words()
    view.close()


def test_view_is_text_and_picture_everywhere():
    view = LaunchView(inspect_machine(HEAT))
    bundle = view._repr_mimebundle_()
    assert bundle["text/plain"].startswith("launches of heat, 1024 x 1024 cells")
    assert "pip install" in bundle["text/plain"]
    assert view.svg.startswith("<svg")
    view.close()
    view.close()


def test_selected_sub_kernel_is_shown():
    view = open_launch_view(HEAT.annotate("gx", "manifest"), backend="cuda")
    from workbench.views.inspection.selection import SubkernelRef

    view.inspection.select(SubkernelRef("step", "step_1_u"))
    assert view.summary.rows[view.summary.shown].name == "sweep_step_1_u"
    view.close()


def test_closing_leaves_no_thread_and_no_view():
    view = open_launch_view(wb.trace('u = field("u")\nu.next = u + 17.25', name="new"), backend="cuda-sim")
    inspection, gone = view.inspection, weakref.ref(view)
    view.close()
    wait_for(lambda: not [thread for thread in threading.enumerate() if thread.name in ("launch facts", "bokeh pane")])
    del view
    gc.collect()
    assert gone() is None
    assert not any(inspection._listeners.values())
