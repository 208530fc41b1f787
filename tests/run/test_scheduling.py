"""A run in the background lets others go first; nobody else is touched."""

import contextlib
import os
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

import workbench as wb
from workbench.run import scheduling
from workbench.run.scheduling import SHORT_TURN, SMALLER_SHARE, let_others_go_first, page_first

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
    monkeypatch.setattr(scheduling, "short_turns", fresh(scheduling.short_turns))
    monkeypatch.setattr(scheduling, "smaller_share", scheduling.Meanwhile(lambda: None, pytest.fail, pytest.fail))
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.005)
    yield sys.getswitchinterval()
    sys.setswitchinterval(before)


def fresh(setting):
    return scheduling.Meanwhile(setting._read, setting._write, setting._wish)


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


class Autogroup:
    """What Linux has for a session; `busy` writes are refused first, as those that follow too soon are."""

    def __init__(self, niceness=0, busy=0, error=BlockingIOError):
        self.niceness, self.busy, self.error = niceness, busy, error

    def read_text(self):
        return f"/autogroup-17 nice {self.niceness}\n"

    def write_text(self, text):
        if self.busy:
            self.busy -= 1
            raise self.error
        self.niceness = int(text)


@pytest.fixture
def session(monkeypatch):
    """A function that gives this process a session with an autogroup."""
    monkeypatch.setattr(os, "getsid", lambda _: os.getpid(), raising=False)
    monkeypatch.setattr(scheduling, "AUTOGROUP_SECONDS", 0.0)
    monkeypatch.setattr(scheduling, "smaller_share", fresh(scheduling.smaller_share))

    def made(**found):
        autogroup = Autogroup(**found)
        monkeypatch.setattr(scheduling, "AUTOGROUP", autogroup)
        return autogroup

    return made


def test_share_of_the_session_is_smaller_as_long_as_a_page_looks(session):
    autogroup = session(busy=2)
    with page_first():
        with page_first():
            assert autogroup.niceness == SMALLER_SHARE
        assert autogroup.niceness == SMALLER_SHARE
        autogroup.busy = 2
    assert autogroup.niceness == 0


@pytest.mark.parametrize("chosen", [-5, 2, 10])
def test_share_that_somebody_has_chosen_is_kept(session, chosen):
    autogroup = session(niceness=chosen)
    with page_first():
        assert autogroup.niceness == chosen
    assert autogroup.niceness == chosen


def test_share_that_somebody_sets_meanwhile_is_kept(session):
    autogroup = session()
    with page_first():
        autogroup.niceness = 7
    assert autogroup.niceness == 7


def test_share_that_cannot_be_set_is_no_failure(session, monkeypatch):
    for refused in (session(busy=99), session(busy=99, error=PermissionError)):
        with page_first():
            assert refused.niceness == 0
    monkeypatch.setattr(scheduling, "AUTOGROUP", pathlib.Path("/nowhere"))
    with page_first():
        pass


def test_share_of_a_session_with_others_is_not_touched(session, monkeypatch):
    monkeypatch.setattr(os, "getsid", lambda _: os.getpid() + 1)
    autogroup = session()
    with page_first():
        assert autogroup.niceness == 0


ASK = """
from workbench.run import scheduling
def now(): return int(scheduling.AUTOGROUP.read_text().split()[-1])
with scheduling.page_first(): print(now())
print(now())
"""


@pytest.mark.skipif(not scheduling.AUTOGROUP.exists(), reason="no scheduling policy of one session")
def test_linux_gives_a_session_a_smaller_share():
    """As jupyter_client starts a kernel process."""
    ran = subprocess.run(
        [sys.executable, "-c", ASK], capture_output=True, text=True, start_new_session=True, check=True
    )
    assert ran.stdout.split() == [str(SMALLER_SHARE), "0"]
