"""memory=: arrays larger than memory lie in files and steps run in windows, with the bits of steps in memory."""

import random
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from tests.kit.in_files import disk_folder, folder_of_fields, resident_bytes
from tests.kit.random_tileable import (
    BOTH_SIDES,
    FACES,
    HEAT,
    LEAPING,
    RINGED,
    SKEWED,
    STAGED,
    TURNING,
    WATCHED,
    WAVE,
)
from tests.run.tiled import program, start_of, state_of
from workbench import solvers
from workbench.backends.base import MarchRequest, StopFlag
from workbench.backends.in_files import FileStorage
from workbench.backends.openmp import OpenmpBackend
from workbench.pipeline import plan_for

CAP = 512 << 10  # bytes
EXTENTS = {1: (150_001,), 2: (1801, 75), 3: (500, 14, 20)}
TEXTS = {
    "heat": HEAT,
    "wave": WAVE,
    "turning": TURNING,
    "ringed": RINGED,
    "leaping": LEAPING,
    "skewed": SKEWED,
    "staged": STAGED,
    "watched": WATCHED,
    "both sides": BOTH_SIDES,
    "faces": FACES,
}
CASES = [("heat", 1), ("heat", 2), ("heat", 3), ("wave", 2), ("wave", 3), ("turning", 3), ("ringed", 2), ("ringed", 3)]
CASES += [("leaping", 3), ("skewed", 2), ("staged", 2), ("watched", 2), ("both sides", 2), ("faces", 2)]
SOLVERS = {
    "wave of order 2": solvers.wave.machine(3, order=2, time_order=2),
    "wave of order 4": solvers.wave.machine(3, order=4, time_order=2),
    "wave of order 8": solvers.wave.machine(3, order=8, time_order=2),
    "maxwell": solvers.maxwell.machine(2),
}


@pytest.fixture
def folder(monkeypatch):
    with folder_of_fields(monkeypatch) as made:
        yield made


def tiled(machine):
    choices = replace(machine.choices, plan=machine.choices.plan.changed(schedule="diamond"))
    return OpenmpBackend().compile(plan_for(machine.graph, choices, "openmp"))


def in_files(compiled, extents, threads, folder, memory=CAP):
    instance = compiled.instantiate_in_files(extents, threads, FileStorage(folder, memory))
    assert instance.memory_bytes >= 4 * memory
    return instance


def agree(compiled, extents, folder, counts=(1, 2, 3), memory=CAP):
    """Marches from files and in memory, one step after the other there; remainders and observed steps among them."""
    right = compiled.instantiate(extents, 2)
    right.tiles = tuple(None for _ in right.tiles)
    marches = [(24, 0, True), (1, 0, False), (5, 3, True)]
    start_of(right, np.random.default_rng(7))
    states = []
    for steps, every, last in marches:
        right.march(MarchRequest("step", steps, observe_every=every, observe_last=last))
        states.append(state_of(right))
    for threads in counts:
        found = in_files(compiled, extents, threads, folder, memory)
        start_of(found, np.random.default_rng(7))
        for (steps, every, last), state in zip(marches, states, strict=True):
            found.march(MarchRequest("step", steps, observe_every=every, observe_last=last))
            assert all(np.array_equal(a, b) for a, b in zip(state, state_of(found), strict=True)), f"{threads} threads"
        found.close()


@pytest.mark.parametrize(("name", "dim"), CASES)
def test_arrays_in_files_have_the_bits_of_those_in_memory(name, dim, folder):
    counts = (1, 2, 3) if (name, dim) == ("heat", 3) else (1 + dim % 2,)  # in two dimensions one
    agree(program(TEXTS[name], dim), EXTENTS[dim], folder, counts)


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_have_the_same_bits_from_files(name, folder):
    dim = SOLVERS[name].graph.dim
    extents = {2: (1203, 80), 3: (700, 14, 12)}[dim]
    agree(tiled(SOLVERS[name]), extents, folder, counts=(2,))


@pytest.mark.parametrize(
    ("name", "dim", "threads"),
    [("heat", 3, 1), ("heat", 3, 2), ("ringed", 3, 1), ("watched", 2, 1), ("watched", 2, 2), ("staged", 2, 1)],
)
def test_no_more_than_memory_is_resident(name, dim, threads, folder):
    """By the system's count of pages, all the time: in windows, observed steps, fills before them, initial values."""
    instance = in_files(program(TEXTS[name], dim), EXTENTS[dim], threads, folder)
    most, over = [], threading.Event()

    def watch():
        while not over.is_set():
            most.append(resident_bytes(instance.files))
            over.wait(0.002)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for static in instance.plan.graph.fields:
            instance.write_field(static.name, np.broadcast_to(static.type.numpy.type(0.5), EXTENTS[dim]))
        for steps in (30, 1, 2):
            instance.march(MarchRequest("step", steps))
    finally:
        over.set()
        watcher.join()
    assert len(most) > 10
    assert 0 < max(most) <= CAP


PEAK = r"""
import re, sys
import numpy as np
import workbench as wb
from tests.kit.random_tileable import HEAT

def kilobytes(word):
    return int(re.search(rf"{word}:\s+(\d+)", open("/proc/self/status").read())[1])

source = np.memmap(sys.argv[1], np.float64, "w+", shape=(512, 64, 64))
for plane in range(0, 512, 16):
    source[plane : plane + 16] = np.sin(plane + np.arange(16.0))[:, None, None]
    source.flush()
machine = wb.trace(HEAT, dim=3)
machine.simulate(u=0.5, shape=(8, 8, 8), backend="openmp", schedule="diamond", threads=2).run(9).save(sys.argv[2])
source = np.memmap(sys.argv[1], np.float64, "r", shape=(512, 64, 64))
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
before = kilobytes("VmRSS")
simulation = machine.simulate(u=source, memory="4 MiB", backend="openmp", threads=2)
simulation.run(70).save(sys.argv[2])
machine.restore(sys.argv[2], memory="4 MiB", backend="openmp", threads=2).run(5)
print(1024 * (kilobytes("VmHWM") - before))
"""


def test_the_peak_of_a_process_stays_below_memory_and_what_it_copies_at_a_time(folder, tmp_path):
    """34 MB of arrays, a memory-mapped start of 17 MB, a checkpoint written and read, with memory="4 MiB"."""
    paths = [tmp_path / "u.bin", tmp_path / "state.npz"]
    done = subprocess.run([sys.executable, "-c", PEAK, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    copied = 8 << 20  # eight pieces of 1 MB of the checkpoint's reader, and code that runs for the first time
    assert int(done.stdout) <= (4 << 20) + copied


@pytest.mark.parametrize(("name", "dim"), [("heat", 3), ("ringed", 3), ("staged", 2), ("ringed", 2)])
def test_a_march_that_is_left_in_a_window_goes_on_to_the_same_bits(name, dim):
    leave_and_go_on(TEXTS[name], dim)


def leave_and_go_on(text, dim):
    """Wherever in a march that is: the flag is set after any time."""
    with disk_folder() as folder:
        leave_in(folder, text, dim)


def leave_in(folder, text, dim):
    compiled, rng = program(text, dim), random.Random(3)
    one, other = in_files(compiled, EXTENTS[dim], 2, folder), compiled.instantiate(EXTENTS[dim], 2)
    other.tiles = tuple(None for _ in other.tiles)
    for instance in (one, other):
        start_of(instance, np.random.default_rng(5))
    windows, done, left = set(), 0, 0
    while left < 8 or not any(windows):
        stop = StopFlag()
        timer = threading.Timer(rng.uniform(0.0, 0.06), stop.words.__setitem__, (slice(None), 1))
        timer.start()
        result = one.march(MarchRequest("step", 25, done, stop=stop, observe_last=False))
        timer.join()
        other.march(MarchRequest("step", result.steps, done, observe_last=False))
        done += result.steps
        if one._last.march.paused:
            windows.add(one._last.march.paused_window)
            left += 1
        if left % 3 == 2:  # else the next march ends the steps
            assert all(np.array_equal(a, b) for a, b in zip(state_of(other), state_of(one), strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(state_of(other), state_of(one), strict=True))


def test_the_end_of_a_march_that_was_left_may_be_left_too(folder):
    instance = in_files(program(HEAT, 3), EXTENTS[3], 1, folder)
    start_of(instance, np.random.default_rng(5))
    stop = StopFlag()
    stop.words[1] = 1
    assert instance.march(MarchRequest("step", 20, stop=stop, observe_last=False)).steps > 1
    stop.words[0] = 1
    result = instance.march(MarchRequest("step", 20, stop=stop))
    assert (result.steps, result.ended) == (0, "stopped")
    assert instance._last.march.paused
