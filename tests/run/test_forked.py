"""Forked processes, such as those of multiprocessing.Pool: they compute, or say at once why not; they never hang."""

import subprocess
import sys

import pytest

from tests.kit.capabilities import backends_here

BEGIN = """
import multiprocessing, os, sys, threading, warnings
import numpy as np
import workbench as wb
from workbench.errors import RunError

machine = wb.trace('u = field("u", boundary="periodic")\\nu.next = 0.5 * u[+1] + 0.5 * u[-1]', name="forked")
backend = sys.argv[1]

def simulate(start, threads=2):
    return machine.simulate(u=np.arange(3000.0) + start, backend=backend, threads=threads)

def total(start):
    with simulate(start) as simulation:
        return simulation.run(3).to_numpy("u").tobytes()

def in_child(work):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            sys.stderr.flush()
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

def refused(work):
    try:
        work()
    except RunError as error:
        assert "was running when its process was forked" in str(error), error
    else:
        raise AssertionError("not refused")
"""


FORKABLE = [name for name in backends_here() if name != "cuda"]  # which says that it works in one process only


def run(backend, text):
    """What the program writes to its second channel; it must end by itself."""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + text, backend], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("backend", FORKABLE)
def test_a_pool_after_a_run_computes_the_same(backend):
    text = """
expected = [total(k) for k in range(4)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(total, range(4)) == expected
"""
    said = run(backend, text)
    assert ("runs on one and not on 2" in said and 'get_context("spawn")' in said) == (backend == "openmp")


def test_a_child_that_is_the_first_to_run_has_all_threads():
    assert run("openmp", "in_child(lambda: total(0))") == ""


@pytest.mark.parametrize("backend", FORKABLE)
def test_children_of_a_process_with_a_running_simulation(backend):
    text = """
idle, running = simulate(0).run(2), simulate(1).start()
before = idle.to_numpy("u").tobytes()

def child():
    assert total(0) == total(0)
    assert idle.to_numpy("u").tobytes() == before and idle.run(1).steps == 3
    refused(lambda: running.u)
    refused(lambda: running.run(1))
    refused(running.start)
    refused(lambda: running.set(u=0.0))
    assert not running.running
    running.stop()

in_child(child)
assert running.running and idle.steps == 2
running.stop()
"""
    run(backend, text)


def test_a_child_compiles_what_its_parent_was_compiling(tmp_path):
    text = f"""
from pathlib import Path
from workbench.backends.build_cache import BuildCache, Recipe

cache = BuildCache(Path({str(tmp_path)!r}))
recipe = Recipe("half", "text", (), "compiler", "target", "1")
began, go = threading.Event(), threading.Event()

def make():
    began.set()
    go.wait()
    return b"parent", ""

thread = threading.Thread(target=lambda: cache.obtain(recipe, make))
thread.start()
began.wait()

def child():
    assert cache.obtain(recipe, lambda: (b"child", "")).path.read_bytes() == b"child"

in_child(child)
go.set()
thread.join()
"""
    run("reference", text)
