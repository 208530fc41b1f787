"""A run in the background lets others go first; nobody else is touched."""

import contextlib
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import workbench as wb
from workbench.run import scheduling
from workbench.run.scheduling import SHORT_TURN, let_others_go_first, page_first

policy = pytest.mark.skipif(sys.platform != "linux", reason="no scheduling policy of one thread")
MACHINE = wb.trace('u = field("u", boundary="periodic")\nu.next = u[+1] + 1\n', name="scheduled")


def policies():
    """Of all threads of this process; one of another test may end meanwhile."""
    found = {}
    for thread in map(int, os.listdir("/proc/self/task")):
        with contextlib.suppress(ProcessLookupError):
            found[thread] = os.sched_getscheduler(thread)
    return found


def noted_by(run):
    """Policy of the thread that runs, and of all threads that have come since, once steps were done."""
    before, noted = policies(), []

    def progress(event):
        if event.steps:
            noted.append((os.sched_getscheduler(0), {n: p for n, p in policies().items() if n not in before}))

    run(progress)
    return noted[-1]


@policy
def test_thread_of_a_background_run_and_its_workers_let_others_go_first():
    with MACHINE.simulate(u=np.zeros(100_000), backend="openmp", threads=2) as simulation:
        own, new = noted_by(lambda progress: simulation.start(20, progress=progress).wait(60))
    assert own == os.SCHED_BATCH
    assert len(new) >= 2
    assert set(new.values()) == {os.SCHED_BATCH}
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


@policy
def test_run_in_front_is_not_touched():
    with MACHINE.simulate(u=np.zeros(100_000), backend="openmp", threads=2) as simulation:
        own, new = noted_by(lambda progress: simulation.run(20, progress=progress))
    assert own == os.SCHED_OTHER
    assert set(new.values()) <= {os.SCHED_OTHER}


def in_a_thread(action):
    results = []
    thread = threading.Thread(target=lambda: results.append(action()))
    thread.start()
    thread.join()
    return results[0]


@policy
def test_chosen_policy_is_kept():
    def chosen():
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        let_others_go_first()
        return os.sched_getscheduler(0)

    assert in_a_thread(chosen) == os.SCHED_IDLE


@policy
def test_sandbox_that_forbids_it_is_no_failure(monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    with MACHINE.simulate(u=np.zeros(10)) as simulation:
        simulation.start(5).wait(60)
        assert simulation.steps == 5


@pytest.fixture
def interval(monkeypatch):
    """The usual one, with nobody who wants another, and again at the end."""
    fresh = scheduling.Meanwhile(sys.getswitchinterval, sys.setswitchinterval, scheduling.short_turns._choose)
    monkeypatch.setattr(scheduling, "short_turns", fresh)
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.005)
    yield sys.getswitchinterval()
    sys.setswitchinterval(before)


def test_turns_are_short_as_long_as_anybody_wants_them(interval):
    with page_first():
        with page_first():
            assert sys.getswitchinterval() == pytest.approx(SHORT_TURN)
        assert sys.getswitchinterval() == pytest.approx(SHORT_TURN)
    assert sys.getswitchinterval() == interval


def test_turns_that_are_shorter_still_are_kept(interval):
    sys.setswitchinterval(SHORT_TURN / 4)
    with page_first():
        assert sys.getswitchinterval() == pytest.approx(SHORT_TURN / 4)
    assert sys.getswitchinterval() == pytest.approx(SHORT_TURN / 4)


def test_turns_that_somebody_sets_meanwhile_are_kept(interval):
    with page_first():
        sys.setswitchinterval(0.02)
    assert sys.getswitchinterval() == pytest.approx(0.02)


PRIORITIES = """
import os, pathlib
from workbench.run.scheduling import page_first
def priorities():
    session = pathlib.Path("/proc/self/autogroup")  # its niceness, on Linux
    return os.nice(0), os.sched_getscheduler(0), session.read_text() if session.exists() else ""
before = priorities()
with page_first():
    print(priorities() == before)
"""


@policy
def test_priority_of_the_process_is_not_touched():
    """In a session of its own, as jupyter_client starts a kernel process."""
    command = [sys.executable, "-c", PRIORITIES]
    ran = subprocess.run(command, capture_output=True, text=True, start_new_session=True, check=True)
    assert ran.stdout == "True\n"
