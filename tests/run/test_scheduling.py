"""A run in the background lets others go first; nobody else is touched."""

import contextlib
import os
import sys
import threading

import numpy as np
import pytest

import workbench as wb
from workbench.run.scheduling import let_others_go_first

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no scheduling policy of one thread")
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


def test_thread_of_a_background_run_and_its_workers_let_others_go_first():
    with MACHINE.simulate(u=np.zeros(100_000), backend="openmp", threads=2) as simulation:
        own, new = noted_by(lambda progress: simulation.start(20, progress=progress).wait(60))
    assert own == os.SCHED_BATCH
    assert len(new) >= 2
    assert set(new.values()) == {os.SCHED_BATCH}
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


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


def test_chosen_policy_is_kept():
    def chosen():
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        let_others_go_first()
        return os.sched_getscheduler(0)

    assert in_a_thread(chosen) == os.SCHED_IDLE


def test_sandbox_that_forbids_it_is_no_failure(monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    with MACHINE.simulate(u=np.zeros(10)) as simulation:
        simulation.start(5).wait(60)
        assert simulation.steps == 5
