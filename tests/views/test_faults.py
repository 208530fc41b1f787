"""Whatever fails in a thread of a view is said in the view, with what to do; the thread and all others go on."""

import threading

import numpy as np
import pytest

import workbench as wb
from tests.kit.waiting import wait_for
from workbench.errors import PlanError
from workbench.views.faults import fault_text
from workbench.views.inspection.following import Following
from workbench.views.inspection.inspection import Inspection
from workbench.views.launch import facts as launch_facts
from workbench.views.page.feeder import Feeder

MACHINE = wb.trace(
    """\
u = field("u", boundary="periodic")
slope = named(u[+1] - u[-1], "slope")
u.next = u + 0.1 * (slope[+1] - slope[-1])
""",
    name="steep",
).annotate("slope", "delayed")


def break_down(*_):
    return {}["nothing"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PlanError("no", advice="Yes."), "no\nYes."),
        (KeyError("x"), "KeyError: 'x'; all goes on\nReport this, and run the cell again if it shows wrong things."),
        (MemoryError(), "MemoryError; all goes on\nClose other views, or take fewer cells."),
    ],
)
def test_text_says_what_happened_and_what_to_do(error, told):
    assert fault_text(error, "all goes on") == told


def test_text_says_where():
    with pytest.raises(KeyError) as caught:
        break_down()
    assert "KeyError: 'nothing' in test_faults.py, line " in fault_text(caught.value)


class Fed:
    """A feeder whose page hears what it tells."""

    def __init__(self, fail):
        self.done = threading.Semaphore(0)
        self.feeder = Feeder(break_down, lambda: None, fail)

    def do_another(self):
        self.feeder.post(self.done.release)
        assert self.done.acquire(timeout=60)

    def end(self):
        self.feeder.end()
        assert not self.feeder.alive


def test_feeder_tells_a_fault_of_commands_and_of_frames_and_goes_on():
    heard = []
    fed = Fed(heard.append)
    fed.feeder.post(lambda: 1 // 0)
    fed.do_another()
    wait_for(lambda: len(heard) >= 2)
    fed.end()
    assert heard[0].startswith("ZeroDivisionError: integer division or modulo by zero in test_faults.py, line ")
    assert heard[1].startswith("KeyError: 'nothing' in test_faults.py, line ")


def test_feeder_goes_on_when_nobody_can_be_told():
    fed = Fed(break_down)
    fed.feeder.post(lambda: 1 // 0)
    fed.do_another()
    fed.end()


def test_feeder_tells_what_fails_for_each_frame_once_a_second():
    heard = []
    fed = Fed(heard.append)
    for _ in range(20):
        fed.feeder.post(break_down)
    fed.do_another()
    fed.end()
    assert 1 <= len(heard) <= 4  # the same fault from two places, a machine under load


def test_fault_of_one_view_is_said_in_all_and_they_hear_the_rest():
    inspection, heard = Inspection(MACHINE), []
    inspection.on("plan", break_down)
    inspection.on("plan", lambda seen: heard.append(len(seen.plan.subkernels)))
    inspection.on("status", break_down)
    inspection.on("status", lambda seen: heard.append(seen.status.text))
    with pytest.raises(KeyError):
        inspection.flip("slope")
    assert heard[0] == 2
    assert "KeyError: 'nothing' in test_faults.py, line " in heard[1]
    assert "the other views and the simulation go on\nReport this" in heard[1]
    assert inspection.status.problem


@pytest.mark.parametrize("backend", ["reference", "openmp"])
def test_fault_of_a_view_ends_neither_the_run_nor_later_wishes(backend):
    with MACHINE.simulate(u=np.sin(np.arange(500.0)), backend=backend) as simulation:
        inspection = Inspection(MACHINE, simulation=simulation)
        following = Following(inspection)
        leave = [inspection.on(topic, break_down) for topic in ("status", "measured")]
        simulation.start()
        inspection.flip("slope")
        wait_for(lambda: len(simulation.compiled.plan.subkernels) == 2)
        wait_for(lambda: inspection.measured() is not None)
        wait_for(lambda: "KeyError" in inspection.status.text)
        for each in leave:
            each()
        inspection.undo()
        wait_for(lambda: len(simulation.compiled.plan.subkernels) == 1)
        wait_for(lambda: "new code runs" in inspection.status.text)
        seen = simulation.steps
        wait_for(lambda: simulation.steps > seen)
        simulation.stop(60)
        following.close()


def test_fault_in_the_search_for_launch_facts_is_told(monkeypatch):
    told = threading.Event()
    plan = MACHINE.plan()
    monkeypatch.setattr(launch_facts, "_find", break_down)
    monkeypatch.setattr(launch_facts, "_known", type(launch_facts._known)())
    launch_facts.FactSearch(plan, told.set).wait(60)
    assert told.is_set()
    problem = launch_facts.known_facts(plan).problem
    assert "KeyError: 'nothing' in test_faults.py, line " in problem
    assert "registers are assumed\nReport this" in problem


def test_fault_while_the_compiler_reports_is_told(monkeypatch):
    from tests.kit.ear import Ear
    from workbench.views.source import view as source_view

    ear = Ear()
    monkeypatch.setattr(source_view, "known_report", lambda *_: None)
    monkeypatch.setattr(source_view, "report_of", break_down)
    view = source_view.SourceView(Inspection(MACHINE, backend="openmp"), ear)
    ear.listener.ready()
    ear.wait("status", lambda m: "KeyError: 'nothing' in test_faults.py, line " in m.content["text"])
    view.close()
