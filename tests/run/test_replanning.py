"""Other code for a running simulation: the same bits, the latest request, and the old code where the new one fails."""

import threading
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.kit.capabilities import backends_here
from tests.kit.waiting import PATIENCE, wait_for
from tests.programs.wave import TEXT, start
from workbench import events
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.reference import ReferenceBackend, ReferenceProgram
from workbench.errors import BuildError, StencilError
from workbench.planning.choices import Choices, Meaning, PlanChoices
from workbench.planning.sites import storage_sites

WAVE = wb.trace(TEXT, name="wave")
FREE = [site.key for site in storage_sites(WAVE.plan().graph)]
# After every step all cells hold the step's number; Rows are padded otherwise once the narrow `slope` is Manifest.
COUNT = wb.trace(
    """\
u = field("u", boundary="periodic")
n = scalar("n", dtype="i64")
top = scalar("top")
slope = named(astype((u[+2] - u[-1]) * 3, "f32"), "slope")
u.next = u + 1 + slope[+3] - slope[-3]
n.next = n + 1
top.next = reduce_max(u) + 1
""",
    name="count",
)


def manifest(*keys):
    return Choices(plan=PlanChoices().changed(manifest=frozenset(keys)))


def same_bits(a, b):
    for name, value in a.to_dict().items():
        assert np.asarray(value).tobytes() == np.asarray(b[name]).tobytes(), name
    return True


@pytest.fixture(params=backends_here())
def backend(request):
    return request.param


def test_other_plan_between_two_runs_keeps_every_bit(backend):
    values = start(37)
    with WAVE.simulate(**values, backend=backend) as one, WAVE.simulate(**values, backend=backend) as other:
        mine, whole = one.record("energy"), other.record("energy")
        for steps, choices in ((5, manifest(FREE[2])), (4, manifest(*FREE)), (3, manifest(FREE[-1])), (6, Choices())):
            one.run(steps)
            report = one.replan(choices).wait(PATIENCE)
            assert (report.stage, report.step) == ("running", one.steps)
            assert one.compiled.plan == replace(report.plan, choices=choices)
            other.run(steps)
            assert same_bits(one, other)
        one.run(7)
        other.run(7)
        assert same_bits(one, other)
        assert np.array_equal(mine.values, whole.values)
        assert np.array_equal(mine.steps, whole.steps)


def test_code_that_is_there_is_not_compiled_again():
    with WAVE.simulate(**start(16), backend="openmp") as simulation:
        simulation.replan(manifest(FREE[0])).wait(PATIENCE)
        simulation.replan(Choices()).wait(PATIENCE)
        before = wb.pipeline.counters().compiled
        report = simulation.replan(manifest(FREE[0])).wait(PATIENCE)
    assert (report.from_cache, report.compile_seconds) == (True, 0.0)
    assert wb.pipeline.counters().compiled == before


def test_layouts_may_differ(backend):
    with COUNT.simulate(u=0.0, shape=50, backend=backend) as simulation:
        other = COUNT.annotate("slope", "manifest")
        assert {slot.itemsize for slot in other.plan().slots} == {4, 8}
        for machine in (other, COUNT.annotate("slope", "delayed"), other):
            simulation.run(3)
            simulation.replan(machine.choices).wait(PATIENCE)
        assert simulation.u.tolist() == [9.0] * 50
        assert simulation.top == simulation.n == 9


def test_running_simulation_goes_on_with_whole_steps(backend):
    with COUNT.simulate(u=0.0, shape=500, backend=backend) as simulation:
        simulation.start()
        wait_for(lambda: simulation.steps > 0)
        for allocation in ("manifest", "delayed", "manifest"):
            report = simulation.replan(COUNT.annotate("slope", allocation).choices).wait(PATIENCE)
            assert report.stage == "running"
            wait_for(lambda seen=report.step: simulation.steps > seen)
            state = simulation.to_dict()
            assert state["u"].min() == state["u"].max() == state["n"] == state["top"]
        simulation.stop(PATIENCE)
        state = simulation.to_dict()
        assert simulation.steps == state["n"] == state["u"].min() == state["u"].max() == state["top"]


def test_new_code_waits_for_a_step_and_not_for_a_slice(monkeypatch):
    monkeypatch.setattr("workbench.run.marching.SLICE_SECONDS", 1000.0)
    with COUNT.simulate(u=0.0, shape=500, backend="openmp") as simulation:
        simulation.start()
        report = simulation.replan(COUNT.annotate("slope", "manifest").choices).wait(PATIENCE)
        assert report.stage == "running"
        simulation.stop(PATIENCE)
        assert not simulation.running


@pytest.mark.filterwarnings("ignore:the listener of a request failed")
def test_listener_that_fails_stops_no_request():
    def fail(event):
        raise KeyError(event)

    with COUNT.simulate(u=0.0, shape=50, backend="reference") as simulation:
        for allocation in ("manifest", "delayed"):
            request = simulation.replan(COUNT.annotate("slope", allocation).choices, progress=fail)
            assert request.wait(PATIENCE).stage == "running"


def test_held_simulation_takes_over_and_stays_held(backend):
    with COUNT.simulate(u=0.0, shape=50, backend=backend) as simulation:
        simulation.start().pause()
        held = simulation.steps
        assert simulation.replan(COUNT.annotate("slope", "manifest").choices).wait(PATIENCE).step == held
        assert simulation.paused
        assert simulation.step().steps == held + 1


class SlowBackend(OpenmpBackend):
    """Compilers that wait until the test lets them go on, or that fail."""

    def __init__(self):
        super().__init__()
        self.begun = threading.Event()
        self.gate = threading.Event()
        self.error = None
        self.held = True

    def compile(self, plan, cancel=None):
        if cancel is not None and self.held:
            self.begun.set()
            while not self.gate.wait(0.01):
                if cancel.is_set():
                    return super().compile(plan, cancel)
            if self.error is not None:
                raise self.error
        return super().compile(plan)


@pytest.fixture
def slow(monkeypatch):
    backend = SlowBackend()
    monkeypatch.setattr("workbench.pipeline._programs", type(wb.pipeline._programs)())
    with WAVE.simulate(**start(64), backend="openmp") as simulation:
        selection = replace(simulation.compiled.selection, backend=backend)
        simulation._state.compiled = replace(simulation.compiled, selection=selection)
        yield simulation, backend
        backend.gate.set()


def test_newer_request_stops_the_compiler_of_the_older(slow):
    simulation, backend = slow
    first = simulation.replan(manifest(FREE[0]))
    assert backend.begun.wait(PATIENCE)
    second, third = simulation.replan(manifest(FREE[1])), simulation.replan(manifest(FREE[2]))
    assert second.wait(PATIENCE).stage == "overtaken"
    assert first.wait(PATIENCE).stage == "overtaken"
    backend.gate.set()
    assert third.wait(PATIENCE).stage == "running"
    assert simulation.compiled.plan.choices == manifest(FREE[2])


def test_failure_leaves_the_old_code_at_work(slow):
    simulation, backend = slow
    before = simulation.compiled
    backend.error = BuildError("the compiler refused", advice="Report this.")
    backend.gate.set()
    request = simulation.replan(manifest(FREE[0]))
    with pytest.raises(BuildError, match="the compiler refused"):
        request.wait(PATIENCE)
    assert request.report.stage == "failed"
    assert "the old code goes on" in str(request.report)
    assert simulation.compiled is before
    assert simulation.run(3).steps == 3
    backend.error = None
    assert simulation.replan(manifest(FREE[0])).wait(PATIENCE).stage == "running"


def test_fault_of_the_program_is_told_as_an_error(slow):
    simulation, backend = slow
    backend.error = ZeroDivisionError("oops")
    backend.gate.set()
    with pytest.raises(StencilError, match="ZeroDivisionError: oops"):
        simulation.replan(manifest(FREE[0])).wait(PATIENCE)
    assert simulation.run(1).steps == 1


def test_run_may_stop_while_the_compiler_works(slow):
    simulation, backend = slow
    simulation.start()
    request = simulation.replan(manifest(FREE[0]))
    assert backend.begun.wait(PATIENCE)
    simulation.stop(PATIENCE)
    done = simulation.steps
    backend.gate.set()
    assert request.wait(PATIENCE).step == done
    assert simulation.run(1).steps == done + 1


def test_cancelled_request_changes_nothing(slow):
    simulation, backend = slow
    before = simulation.compiled
    request = simulation.replan(manifest(FREE[0]))
    assert backend.begun.wait(PATIENCE)
    request.cancel()
    assert request.wait(PATIENCE).stage == "cancelled"
    assert simulation.compiled is before


def test_closing_ends_the_compiler_and_its_thread(slow):
    simulation, backend = slow
    request = simulation.replan(manifest(FREE[0]))
    assert backend.begun.wait(PATIENCE)
    simulation.close()
    assert request.report.stage == "cancelled"
    assert not [thread for thread in threading.enumerate() if thread.name == "replanning"]
    with pytest.raises(StencilError, match="was closed"):
        simulation.replan(manifest(FREE[0]))


def test_many_threads_may_ask_at_once():
    with COUNT.simulate(u=0.0, shape=200, backend="reference") as simulation:
        simulation.start()
        requests = []

        def request():
            for allocation in ("manifest", "delayed") * 4:
                requests.append(simulation.replan(COUNT.annotate("slope", allocation).choices))

        threads = [threading.Thread(target=request) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        reports = [each.wait(PATIENCE) for each in requests]
        simulation.stop(PATIENCE)
        assert {report.stage for report in reports} <= {"running", "overtaken"}
        last = max(reports, key=lambda report: report.request)
        assert last.stage == "running"
        assert simulation.compiled.plan.choices == last.choices
        state = simulation.to_dict()
        assert state["u"].min() == state["u"].max() == state["n"] == state["top"] == simulation.steps


def test_cost_is_told_before_the_compiler_ends_and_time_after(slow):
    simulation, backend = slow
    simulation.run(2000)
    heard, measured = [], threading.Event()

    def listen(event):
        heard.append(event)
        if isinstance(event, events.Measured):
            measured.set()

    request = simulation.replan(manifest(FREE[2]), progress=listen)
    assert backend.begun.wait(PATIENCE)
    (planned,) = heard
    assert planned.bound_seconds == request.report.bound_seconds > 0
    assert planned.expected_seconds == request.report.expected_seconds > 0
    assert planned.subkernels == len(request.report.plan.subkernels)
    assert "is expected to take" in str(request.report)
    backend.gate.set()
    report = request.wait(PATIENCE)
    assert report.seconds >= report.compile_seconds
    parts = (report.compile_seconds, report.from_cache, report.planning_seconds, report.waiting_seconds)
    assert heard[1] == events.Swapped("wave", 1, 2000, report.seconds, *parts)
    assert report.seconds >= report.planning_seconds + report.compile_seconds + report.waiting_seconds
    simulation.start()
    assert measured.wait(PATIENCE)
    simulation.stop(PATIENCE)
    assert heard[2] == events.Measured("wave", 1, request.report.measured_seconds)
    assert not simulation._state.watches._all


def test_subscribers_hear_of_new_code_and_of_ends():
    heard = []
    unsubscribe = events.subscribe(heard.append)
    events.subscribe(lambda event: 1 / 0)
    with WAVE.simulate(**start(16), backend="reference") as simulation:
        simulation.replan(manifest(FREE[0])).wait(PATIENCE)
        wait_for(lambda: len(heard) == 3)
        simulation.run(3)
        simulation.close()
        unsubscribe()
    WAVE.simulate(**start(16), backend="reference").close()
    assert heard[0] == events.SimulationOpened("wave", "reference", (16,))
    assert [type(event) for event in heard[1:4]] == [events.Planned, events.Swapped, events.RunEnded]
    assert heard[4:] == [events.SimulationClosed("wave")]


def test_plan_that_cannot_be_is_refused(slow):
    simulation, _ = slow
    with pytest.raises(StencilError, match="no value of wave has the key zz"):
        simulation.replan(manifest("zz")).wait(PATIENCE)
    with pytest.raises(StencilError, match="another meaning"):
        simulation.replan(Choices(meaning=Meaning(precision=(("u", "f32"),))))
    with pytest.raises(StencilError, match="no number of threads"):
        simulation.replan(Choices(), threads=-1)


def test_precision_of_the_first_plan_is_kept():
    halved = Choices(meaning=Meaning(precision=(("v1", "f32"),)))
    values = start(20)
    with (
        WAVE.simulate(**values, choices=halved, backend="reference") as one,
        WAVE.simulate(**values, choices=halved, backend="reference") as other,
    ):
        one.run(3)
        stored = replace(halved, plan=PlanChoices().changed(preset="as_manifest"))
        assert one.replan(stored).wait(PATIENCE).stage == "running"
        assert one.compiled.plan.choices.meaning == halved.meaning
        one.run(3)
        other.run(6)
        assert same_bits(one, other)


def test_threads_are_as_before_or_as_asked_for():
    with WAVE.simulate(**start(64), backend="openmp", threads=2) as simulation:
        simulation.replan(manifest(FREE[0])).wait(PATIENCE)
        assert simulation._state.instance.threads == 2
        simulation.replan(manifest(FREE[0]), threads=1).wait(PATIENCE)
        assert simulation._state.instance.threads == 1
        simulation.replan(Choices()).wait(PATIENCE)
        assert simulation._state.instance.threads == 1


def test_arrays_that_do_not_fit_are_refused_and_freed(monkeypatch):
    class Greedy(ReferenceBackend):
        def compile(self, plan, cancel=None):
            class Program(ReferenceProgram):
                def instantiate(self, extents, threads=0, beside=None):
                    raise MemoryError("none left")

            return Program(plan)

    monkeypatch.setattr("workbench.pipeline._programs", type(wb.pipeline._programs)())
    with WAVE.simulate(**start(16), backend="reference") as simulation:
        selection = replace(simulation.compiled.selection, backend=Greedy())
        simulation._state.compiled = replace(simulation.compiled, selection=selection)
        with pytest.raises(StencilError, match="MemoryError: none left"):
            simulation.replan(manifest(FREE[0])).wait(PATIENCE)
        assert simulation.run(2).steps == 2
