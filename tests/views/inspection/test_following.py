"""A flip in an inspection runs in its simulation, and the views hear what came of it."""

import gc
import threading
import weakref

import numpy as np
import pytest

import workbench as wb
from tests.kit.waiting import wait_for
from workbench.errors import BuildError
from workbench.events import Swapped
from workbench.run import schedules
from workbench.views.inspection.following import Following, swap_text
from workbench.views.inspection.inspection import Inspection

# Paraiso's Table 3: the same program in one sub-kernel or in two.
MACHINE = wb.trace(
    """\
u = field("u", boundary="periodic")
slope = named(u[+1] - u[-1], "slope")
u.next = u + 0.1 * (slope[+1] - slope[-1])
""",
    name="steep",
)
PATIENCE = 60


@pytest.fixture(params=["reference", "openmp"])
def followed(request):
    with MACHINE.annotate("slope", "delayed").simulate(
        u=np.sin(np.arange(5000.0)), backend=request.param
    ) as simulation:
        inspection = Inspection(MACHINE.annotate("slope", "delayed"), simulation=simulation)
        heard = []
        inspection.on("status", lambda seen: heard.append(seen.status))
        following = Following(inspection)
        yield simulation, inspection, heard
        following.close()


def test_flip_runs_in_the_running_simulation(followed):
    simulation, inspection, heard = followed
    simulation.start()
    wait_for(lambda: inspection.measured() is not None)
    inspection.flip("slope")
    wait_for(lambda: simulation.compiled.plan == inspection.plan)
    wait_for(lambda: inspection.measured() is not None)
    assert len(simulation.compiled.plan.subkernels) == 2
    inspection.undo()
    wait_for(lambda: simulation.compiled.plan == inspection.plan)
    simulation.stop(PATIENCE)
    wait_for(lambda: len(heard) >= 6)
    assert [status.busy for status in heard[:3]] == [True, True, False]
    assert heard[1].text.startswith("compiling 2 sub-kernels, 40 bytes a cell: a step will take about ")
    assert "new code runs since step" in heard[2].text
    with MACHINE.simulate(u=np.sin(np.arange(5000.0)), backend=simulation.backend) as other:
        other.run(simulation.steps)
        assert np.array_equal(other.u, simulation.u)


def test_a_simulation_stays_in_tiles_while_it_is_looked_at(monkeypatch):
    """What was asked for counts, not what its size made of it: so it is measured, and a flip ends in tiles again."""
    monkeypatch.setattr(schedules, "last_figures", lambda: None)  # of this machine, where steps may be as fast
    monkeypatch.setattr(schedules, "cache_bytes", lambda: 2 << 20)
    monkeypatch.setattr(schedules, "third_cache_is_near", lambda: False)
    extent = 1 << 20
    with MACHINE.simulate(u=np.sin(np.arange(float(extent))), backend="openmp", threads=1) as simulation:
        assert simulation.choices.plan.tiling.schedule == "diamond"
        plan, inspection = simulation.compiled.plan, Inspection(MACHINE, simulation=simulation)
        following = Following(inspection)
        simulation.start()
        wait_for(lambda: inspection.measured() is not None)
        assert simulation.compiled.plan is plan
        assert inspection.measured().where == "openmp, diamond tiles"
        assert inspection.choices == MACHINE.choices
        inspection.flip("slope")
        wait_for(lambda: simulation.compiled.plan is not plan)
        wait_for(lambda: inspection.measured() is not None)
        assert simulation.choices.plan.tiling.schedule == "diamond"
        simulation.stop(PATIENCE)
        following.close()


def test_sub_kernels_are_measured(followed):
    simulation, inspection, _ = followed
    if simulation.backend == "reference":
        simulation.run(200)
        wait_for(lambda: inspection.measured() is not None or simulation.run(200) is None)
        assert inspection.measured().subkernels == ()
        return
    inspection.flip("slope")
    wait_for(lambda: simulation.compiled.plan == inspection.plan)
    simulation.start()
    wait_for(lambda: inspection.measured(inspection.plan) is not None)
    simulation.stop(PATIENCE)
    measured = inspection.measured()
    assert [name for name, _ in measured.subkernels] == [s.name for s in inspection.plan.subkernels]
    assert all(seconds > 0 for _, seconds in measured.subkernels)
    assert sum(seconds for _, seconds in measured.subkernels) <= 2 * measured.seconds


def test_a_plan_is_measured_again_and_again(followed, monkeypatch):
    simulation, inspection, _ = followed
    monkeypatch.setattr("workbench.run.timing.WINDOW_SECONDS", 0.01)
    inspection.flip("slope")
    wait_for(lambda: simulation.compiled.plan == inspection.plan)
    heard = []
    inspection.on("measured", lambda seen: heard.append(seen.measured()))
    steps = {"reference": 50, "openmp": 5000}[simulation.backend]  # which take about as long
    wait_for(lambda: len(heard) >= 3 or simulation.run(steps) is None)
    assert {measurement.choices for measurement in heard} == {inspection.choices}


def test_failure_is_told_and_the_old_code_goes_on(followed, monkeypatch):
    simulation, inspection, heard = followed
    before = simulation.compiled

    def refuse(*_):
        raise BuildError("the compiler refused", advice="Report this.")

    monkeypatch.setattr("workbench.run.replanning.find_built", lambda *_: None)
    monkeypatch.setattr("workbench.run.replanning.build", refuse)
    inspection.flip("slope")
    wait_for(lambda: heard and heard[-1].problem)
    assert "the old code goes on: the compiler refused" in heard[-1].text
    assert simulation.compiled is before
    assert simulation.run(2).steps == 2


def test_simulation_that_runs_another_plan_is_given_the_plan_of_now(followed):
    simulation, inspection, _ = followed
    with MACHINE.annotate("slope", "manifest").simulate(u=0.0, shape=16, backend=simulation.backend) as other:
        inspection.attach(other)
        wait_for(lambda: other.compiled.plan == inspection.plan)


def test_launches_are_timed_while_somebody_looks(followed):
    simulation, inspection, _ = followed
    assert simulation._state.timing
    with MACHINE.simulate(u=0.0, shape=16, backend=simulation.backend) as other:
        inspection.attach(other)
        assert (simulation._state.timing, other._state.timing) == (False, True)
        wait_for(lambda: other.compiled.plan == inspection.plan)
        assert other._state.timing
        inspection.attach(simulation)


def test_closed_simulation_is_told(followed):
    simulation, inspection, heard = followed
    simulation.close()
    inspection.flip("slope")
    assert "was closed" in heard[-1].text


def test_closing_leaves_nothing_behind():
    simulation = MACHINE.simulate(u=0.0, shape=16, backend="reference")
    inspection = Inspection(MACHINE, simulation=simulation)
    following = Following(inspection)
    following.close()
    assert not simulation._state.watches._all
    inspection.flip("slope")
    assert not [thread for thread in threading.enumerate() if thread.name == "replanning"]
    gone = weakref.ref(inspection), weakref.ref(simulation)
    del following, inspection, simulation
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


@pytest.mark.parametrize(
    ("times", "text"),
    [
        ((0.02, 0.0, True, 0.01, 0.001), "20 ms after the request: it was compiled before"),
        ((1.8, 0.0, True, 0.01, 1.7), "it was compiled before, the run needed 1.7 s to get between two steps"),
        ((2.0, 1.4, False, 0.55, 0.0), "planning took 550 ms, the compiler took 1.4 s"),
    ],
)
def test_words_about_new_code_say_what_took_so_long(times, text):
    assert swap_text(Swapped("steep", 1, 12, *times)).endswith(text)
