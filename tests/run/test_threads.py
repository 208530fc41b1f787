"""Runs in the background and interruption: one owner at a time, whole steps only."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.kit.capabilities import backends_here
from tests.kit.waiting import PATIENCE, wait_for
from tests.run.counting import MACHINE, assert_whole
from workbench.errors import RunError


@pytest.fixture(params=backends_here())
def counting(request):
    with MACHINE.simulate(u=np.zeros(500), backend=request.param) as simulation:
        yield simulation


def test_background_run_ends_by_itself(counting):
    counting.start(200).wait(PATIENCE)
    assert not counting.running
    assert counting.steps == assert_whole(counting) == 200


def test_state_is_whole_while_running(counting):
    counting.start()
    seen = [assert_whole(counting) for _ in range(3)]
    counting.stop(PATIENCE)
    assert seen == sorted(seen)
    assert counting.steps == assert_whole(counting)


def test_pause_holds_and_start_goes_on(counting):
    counting.start()
    wait_for(lambda: counting.steps > 0)
    counting.pause()
    held = counting.steps
    assert counting.paused
    assert assert_whole(counting) == held
    assert counting.steps == held
    counting.start()
    wait_for(lambda: counting.steps > held)
    counting.stop(PATIENCE)
    assert not counting.running


def test_commands_are_served_in_order(counting):
    counting.start()
    for value in (10.0, 20.0, 30.0):
        counting.set(u=value)
    counting.pause()
    counting.set(u=7.0).set(u=1.0 + counting.u)
    assert counting.u[0] == 8.0
    counting.stop(PATIENCE)


def test_error_of_a_command_goes_to_who_posted_it(counting):
    counting.start()
    with pytest.raises(wb.StencilError, match="count has no 'w'"):
        counting.set(w=1)
    assert counting.running
    counting.stop(PATIENCE)


def test_run_from_a_second_thread_is_refused(counting):
    counting.start()
    with pytest.raises(wb.StencilError, match="running already"):
        counting.run(1)
    with pytest.raises(wb.StencilError, match="running already"):
        counting.start(1)
    with pytest.raises(wb.StencilError, match="cannot be lent"):
        counting.device("u")
    counting.stop(PATIENCE)
    assert_whole(counting.run(1))


def test_error_in_the_background_reaches_who_waits(counting):
    def fail(event):
        if event.steps:
            raise ValueError("no more")

    counting.start(10**6, progress=fail)
    with pytest.raises(ValueError, match="no more"):
        counting.wait(PATIENCE)
    assert counting.u.min() == counting.u.max() == counting.n == counting.steps
    assert_whole(counting.step())


def test_many_threads_may_read_and_set(counting):
    failed = []

    def disturb():
        try:
            for _ in range(5):
                assert_whole(counting)
        except BaseException as error:
            failed.append(error)

    counting.start()
    threads = [threading.Thread(target=disturb) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    counting.stop(PATIENCE)
    assert not failed
    assert_whole(counting)


def test_stop_from_another_thread_ends_a_run_in_front(counting):
    stopper = threading.Thread(target=lambda: (wait_for(lambda: counting.steps > 0), counting.stop(PATIENCE)))
    stopper.start()
    counting.run(10**12)
    stopper.join(PATIENCE)
    assert counting.steps == assert_whole(counting) > 0


def test_stop_and_wait_without_a_run_do_nothing(counting):
    assert counting.stop().wait().pause().steps == 0


INTERRUPTED = """
import sys, time, signal, numpy as np, workbench as wb
from tests.run.counting import MACHINE, assert_whole
simulation = MACHINE.simulate(u=np.zeros(500), backend=sys.argv[1])
print("ready", flush=True)
try:
    simulation.run(10**12, progress=lambda event: event.steps and print("running", flush=True))
except KeyboardInterrupt:
    done = time.time()
    assert simulation.steps == assert_whole(simulation) > 0
    assert not simulation.running
    simulation.run(5)
    assert simulation.steps == assert_whole(simulation)
    print(done, flush=True)
"""


@pytest.mark.parametrize("backend", backends_here())
def test_interrupt_ends_a_run_at_a_whole_step(backend):
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, backend],
        cwd=root,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        rest, error = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 0, error
    assert float(rest.splitlines()[-1]) > 0


def test_interpreter_ends_while_a_simulation_runs():
    code = "from tests.run.counting import MACHINE; s = MACHINE.simulate(u=0.0, shape=500).start(); print('out')"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "out\n", "")


LEAVING = """
import atexit

def look():  # after the clean-up, because it was registered before it
    print([simulation.running for simulation in simulations], flush=True)

atexit.register(look)

import sys, threading
import numpy as np
import workbench as wb

machine = wb.trace('u = field("u")\\nu.next = u + 1')
failed = threading.Event()

def fail(event):
    failed.set()
    raise ValueError("the listener fails")

simulations = [machine.simulate(u=np.zeros(500), backend=sys.argv[1]) for _ in range(3)]
simulations[1].start(progress=fail)
failed.wait(60)
simulations[0].start()
simulations[2].start()
"""


@pytest.mark.parametrize("backend", backends_here())
def test_one_failed_run_does_not_keep_others_from_being_stopped_at_exit(backend):
    command = [sys.executable, "-c", LEAVING, backend]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[False, False, False]\n"
    assert "the listener fails" in done.stderr


def test_whoever_waits_for_a_paused_run_is_told_what_to_do(counting):
    counting.start()
    wait_for(lambda: counting.steps > 0)
    counting.pause()
    held = counting.steps
    for ask in (lambda: counting.run(5), lambda: counting.start(5), counting.wait):
        with pytest.raises(RunError, match=rf"count is paused at step {held}\nType sim.start\(\), or press Play"):
            ask()
    assert counting.wait(0.01).steps == held
    counting.start()
    later = threading.Timer(0.1, counting.pause)
    later.start()
    with pytest.raises(RunError, match="is paused at step"):
        counting.wait()
    counting.stop(PATIENCE)
    assert not counting.running


def test_a_run_in_front_that_somebody_pauses_says_so(counting):
    told = []
    later = threading.Timer(0.1, counting.pause)

    def hear(event):
        told.append(event)
        if getattr(event, "paused", False):
            counting._march.stop.set()

    later.start()
    counting.run(until=lambda s: s.n < 0, at_most=2**40, progress=hear)
    assert any(getattr(event, "paused", False) for event in told)
