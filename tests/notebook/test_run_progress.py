"""A long run in a cell shows its progress and how to stop; a short one nothing; at the end one line remains."""

import itertools
import re
import threading

import pytest

from workbench.events import Progress, RunEnded
from workbench.notebook import run_progress
from workbench.notebook.run_progress import STOP_HINT, CellOutput, ProgressDisplay, ProgressDisplays, ended_text
from workbench.run.progress import ProgressLine, new_listener


class Clock:
    """A clock that the test turns."""

    now = 0.0

    def perf_counter(self):
        return self.now


class Handle:
    def __init__(self, number, shown):
        self.number, self.shown = number, shown

    def update(self, value, raw=False):
        assert raw
        self.shown.append((self.number, value))


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(run_progress, "time", clock)
    return clock


@pytest.fixture
def shown(monkeypatch):
    """What was displayed, as (number of the display, data); an update has the number of its display."""
    found, numbers = [], itertools.count()

    def display(value, raw=False, display_id=None):
        assert raw
        assert display_id
        handle = Handle(next(numbers), found)
        found.append((handle.number, value))
        return handle

    monkeypatch.setattr(run_progress, "display", display)
    return found


def tell(listener, clock, seconds, steps=30, of=100):
    clock.now = seconds
    listener(Progress("wave", steps, of, seconds, 10.0))


def test_a_short_run_shows_nothing(clock, shown):
    listener = ProgressDisplay(CellOutput(1))
    tell(listener, clock, 0.2)
    tell(listener, clock, 0.99)
    listener(RunEnded("wave", 100, 0.99, "done"))
    assert shown == []


def test_a_long_run_shows_how_far_it_is_and_how_to_stop(clock, shown):
    listener = ProgressDisplay(CellOutput(1))
    tell(listener, clock, 1.01)
    assert [number for number, _ in shown] == [0]
    data = shown[0][1]
    assert data["text/plain"] == f"wave: step 30 of 100, 10 steps/s, 7 s left\n{STOP_HINT}"
    assert 'value="30" max="100"' in data["text/html"]
    assert "7 s left" in data["text/html"]
    assert "■" in data["text/html"]


def test_updates_are_few_and_in_one_place(clock, shown):
    listener = ProgressDisplay(CellOutput(1))
    for tick in range(200):  # ten seconds of slices
        tell(listener, clock, 0.05 * tick, steps=tick)
    assert {number for number, _ in shown} == {0}
    assert 30 <= len(shown) <= 40


def test_a_run_without_an_end_has_a_bar_without_one(clock, shown):
    listener = ProgressDisplay(CellOutput(1))
    tell(listener, clock, 2.0, of=None)
    assert "<progress aria-label" in shown[0][1]["text/html"]
    assert "left" not in shown[0][1]["text/plain"]


def test_at_the_end_one_line_takes_the_place(clock, shown):
    listener = ProgressDisplay(CellOutput(1))
    tell(listener, clock, 1.5)
    listener(RunEnded("wave", 100, 12.0, "done"))
    number, data = shown[-1]
    assert number == 0
    assert data["text/plain"] == "wave: 100 steps in 12 s, 8.33 steps/s"
    assert "<progress" not in data["text/html"]
    assert STOP_HINT not in data["text/html"]


def test_a_name_is_no_markup(clock, shown):
    listener = ProgressDisplay(CellOutput(1))
    clock.now = 2.0
    listener(Progress('<b>"x', 1, 2, 2.0, 1.0))
    listener(RunEnded("<b>", 2, 2.0, "done"))
    assert all("<b>" not in data["text/html"] for _, data in shown)


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        ("until", "ended as until= says"),
        ("stopped", "run again to go on"),
        ("failed", "the last whole step"),
        ("done", "steps/s"),
    ],
)
def test_the_last_line_says_why_no_more(reason, end):
    assert ended_text(RunEnded("wave", 7, 2.0, reason)).endswith(end)


class FakeShell:
    kernel, execution_count = object(), 1


def test_runs_of_one_cell_take_turns_in_one_place(clock, shown):
    shell = FakeShell()
    displays = ProgressDisplays(shell)
    for begin in (0.0, 10.0):
        clock.now = begin
        listener = displays.new_listener()
        tell(listener, clock, begin + 2.0)
        listener(RunEnded("wave", 100, 2.0, "done"))
    assert {number for number, _ in shown} == {0}
    shell.execution_count = 2
    tell(displays.new_listener(), clock, 30.0)
    clock.now = 40.0
    tell(displays.new_listener(), clock, 50.0)
    assert {number for number, _ in shown} == {0, 1}


def test_a_terminal_and_other_threads_get_a_line_of_text(shell, shown):
    assert isinstance(ProgressDisplays(shell.ip).new_listener(), ProgressLine)
    made = []
    thread = threading.Thread(target=lambda: made.append(ProgressDisplays(FakeShell()).new_listener()))
    thread.start()
    thread.join()
    assert isinstance(made[0], ProgressLine)
    assert isinstance(ProgressDisplays(FakeShell()).new_listener(), ProgressDisplay)


def test_loading_puts_it_in_place_and_unloading_takes_it_away(shell, monkeypatch):
    shell.ip.run_line_magic("load_ext", "workbench")
    monkeypatch.setattr(type(shell.ip), "kernel", object(), raising=False)
    assert isinstance(new_listener(), ProgressDisplay)
    shell.ip.run_line_magic("unload_ext", "workbench")
    assert isinstance(new_listener(), ProgressLine)


CELL = """
from workbench.notebook import run_progress
run_progress.PATIENCE_SECONDS = 0.0
import workbench, numpy
sim = workbench.trace('u = field("u")\\nu.next = u + 1', name="count").simulate(u=numpy.zeros(3), backend="reference")
"""


def test_in_a_kernel_process_without_widgets(kernel):
    assert kernel.run(CELL) == []
    messages = kernel.run("sim.run(3); sim.run(4); 'ipywidgets' in __import__('sys').modules")
    kinds = [kind for kind, _ in messages]
    assert kinds.count("display_data") == 1
    assert kinds.count("update_display_data") >= 2
    identifiers = {c["transient"]["display_id"] for kind, c in messages if "display_data" in kind}
    assert len(identifiers) == 1
    last = [c for kind, c in messages if kind == "update_display_data"][-1]
    assert last["data"]["text/plain"].startswith("count: 4 steps in ")
    assert messages[-1][1]["data"]["text/plain"] == "False"


def test_an_interrupted_run_says_so_where_its_bar_was(kernel):
    kernel.run(CELL)
    messages = kernel.run("sim.run(10**12)", on_first="display_data")
    assert [kind for kind, _ in messages][-1] == "error"
    assert messages[-1][1]["ename"] == "KeyboardInterrupt"
    told = "\n".join(messages[-1][1]["traceback"])
    assert re.search(r"KeyboardInterrupt: count is at step \d+\. Run it again to go on\.$", told)
    assert "sim.run(10**12)" in told
    assert "simulation.py" not in told
    last = [c for kind, c in messages if kind == "update_display_data"][-1]
    assert last["data"]["text/plain"].endswith("stopped at a whole step, run again to go on")
    assert "<progress" not in last["data"]["text/html"]
    assert kernel.run("sim.running, bool(sim.u[0] == sim.steps)")[-1][1]["data"]["text/plain"] == "(False, True)"
