"""memory=: what users do with fields larger than memory, what they are told, and that files are gone in the end."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import workbench as wb
from tests.kit.in_files import folder_of_fields, lies_in_file
from tests.kit.random_tileable import HEAT, WAVE
from workbench.errors import BackendError, FieldError, NoRoomError, PlanError, RunError, StencilError
from workbench.solvers import hydro

EXTENTS = {3: (500, 14, 20)}


@pytest.fixture
def folder(monkeypatch):
    with folder_of_fields(monkeypatch) as made:
        yield made


def heat():
    return wb.trace(HEAT, name="heat", dim=3)


def start(folder, shape=EXTENTS[3]):
    values = np.random.default_rng(2).random(shape)
    np.save(folder / "u.npy", values)
    return values, np.load(folder / "u.npy", mmap_mode="r")


def test_a_simulation_larger_than_memory_says_so_and_has_the_same_bits(folder, tmp_path):
    values, mapped = start(tmp_path)
    simulation = heat().simulate(u=mapped, backend="openmp", memory="512 KiB").run(50)
    right = heat().simulate(u=values, backend="openmp").run(50)
    assert np.array_equal(simulation.u, right.u)
    text = " ".join(str(simulation).split())
    assert f"arrays: in files in {folder}, at most 524 kB of them in memory; windows of" in text
    assert "planes do" in text
    assert "streamed so far" in text
    simulation.set(u=mapped)
    assert np.array_equal(simulation.u, values)


def test_what_is_read_is_a_copy_in_a_file_that_cannot_be_written(folder, tmp_path):
    values, mapped = start(tmp_path)
    simulation = heat().simulate(u=mapped, backend="openmp", memory="512 KiB")
    before = simulation.u
    simulation.run(3)
    simulation.close()
    assert np.array_equal(before, values)
    with pytest.raises(ValueError, match="read-only"):
        before[0] = 0.0


def test_vectors_and_tensors_are_read_into_a_file_too(folder):
    text = """
v = vector("v")
q = tensor("q", symmetric=True)
s = field("s", boundary="periodic")
for i in range(3):
    v[i].next = v[i] + s[+1, 0, 0]
    for j in range(i, 3):
        q[i, j].next = q[i, j] + v[i] * v[j]
s.next = 0.5 * s
"""
    shape, rng = (160, 14, 20), np.random.default_rng(2)
    start = {"v": rng.random((3, *shape)), "q": rng.random(shape) * np.ones((3, 3, 1, 1, 1)), "s": rng.random(shape)}
    there, here = (
        wb.trace(text, dim=3).simulate(**start, backend="openmp", memory=memory).run(4) for memory in ("4 MiB", None)
    )
    assert "in files" in str(there)
    for name, components in (("v", (3,)), ("q", (3, 3))):
        assert there[name].shape == (*components, *shape)
        assert there[name].tobytes() == here[name].tobytes()
        assert lies_in_file(there[name])
        assert not lies_in_file(here[name])


def test_fields_may_be_set_to_views_of_themselves_and_of_each_other(folder):
    values = {"u": np.random.default_rng(2).random(EXTENTS[3]), "w": 0.5}
    simulation = wb.trace(WAVE, dim=3).simulate(**values, backend="openmp", memory="512 KiB").run(3)
    u, w = simulation.u, simulation.w
    simulation.set(u=simulation.device("w"), w=simulation.device("u")[::-1])
    assert np.array_equal(simulation.u, w)
    assert np.array_equal(simulation.w, u[::-1])


def test_arrays_that_memory_has_room_for_are_not_in_files(folder):
    simulation = heat().simulate(u=0.5, shape=EXTENTS[3], backend="openmp", memory="1 GiB")
    assert "files" not in str(simulation)


def test_a_checkpoint_is_continued_with_and_without_files(folder, tmp_path):
    values, mapped = start(tmp_path)
    heat().simulate(u=mapped, backend="openmp", memory="512 KiB").run(9).save(tmp_path / "state.npz")
    right = heat().simulate(u=values, backend="openmp").run(20)
    for memory in ("512 KiB", None):
        restored = heat().restore(tmp_path / "state.npz", backend="openmp", memory=memory)
        assert ("in files" in str(restored)) == (memory is not None)
        assert np.array_equal(restored.run(11).u, right.u)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_machine_without_tiles_runs_step_by_step_from_files(threads, folder):
    shape = (900, 50)
    rng = np.random.default_rng(1)
    values = {f.name: 1.0 + 0.1 * rng.random(shape) for f in hydro.machine(2).graph.fields}
    simulation = hydro.machine(2).simulate(**values, backend="openmp", memory="512 KiB", threads=threads).run(2)
    right = hydro.machine(2).simulate(**values, backend="openmp", schedule="stepwise").run(2)
    for field in simulation.graph.fields:
        assert np.array_equal(simulation[field.name], right[field.name])
    text = " ".join(str(simulation).split())
    assert (
        "one step after the other, each of which moves all arrays from the disk and back: dt needs the maximum" in text
    )
    assert "each step moves all of them" in text


def test_init_writes_to_files(folder):
    text = HEAT + "\n@kernel\ndef init():\n    u.next = sin(index(0) + 0.1 * index(1))\n"
    machine = wb.trace(text, name="heat", dim=3)
    simulation = machine.simulate(shape=EXTENTS[3], backend="openmp", memory="512 KiB").run(5)
    right = machine.simulate(shape=EXTENTS[3], backend="openmp").run(5)
    assert np.array_equal(simulation.u, right.u)


REFUSED = {
    "evaluate": (lambda simulation: simulation.evaluate("v"), "the value v takes whole fields"),
    "finite": (lambda simulation: simulation.run(1, finite=True), "finite=True takes whole fields"),
    "record": (lambda simulation: simulation.record("u"), "a record of u takes whole fields"),
    "view": (lambda simulation: simulation.view("v"), "the value v takes whole fields"),
    "replan": (lambda simulation: simulation.replan(simulation.choices), "another plan takes whole fields"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_take_whole_fields_is_refused(name, folder):
    act, message = REFUSED[name]
    machine = wb.trace(HEAT.replace("u.next = u +", "v = u\nu.next = v +"), name="heat", dim=3)
    simulation = machine.simulate(u=0.5, shape=EXTENTS[3], backend="openmp", memory="512 KiB")
    with pytest.raises(RunError, match=message):
        act(simulation)
    simulation.run(1)


MISTAKES = {
    "text": ({"memory": "2 Mio"}, RunError, "memory='2 Mio' is no amount"),
    "nothing": ({"memory": 0}, RunError, "memory=0 is no amount"),
    "little": ({"memory": "60 kB"}, NoRoomError, "has room for . planes along x, too few for a window of two steps"),
    "backend": (
        {"memory": "512 KiB", "backend": "reference"},
        StencilError,
        "backend reference keeps no arrays in files",
    ),
    "disk": ({"memory": "512 KiB", "shape": (10**6, 10**4, 100)}, NoRoomError, "free there\nName another folder"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told(name, folder):
    changes, kind, message = MISTAKES[name]
    with pytest.raises(kind, match=message):
        heat().simulate(**{"u": 0.5, "shape": EXTENTS[3], "backend": "openmp", **changes})


def test_a_folder_in_memory_or_that_is_not_there_is_refused(folder, monkeypatch):
    simulate = {"u": 0.5, "shape": EXTENTS[3], "backend": "openmp", "memory": "512 KiB"}
    monkeypatch.setenv("WORKBENCH_FIELDS", str(folder / "none"))
    with pytest.raises(NoRoomError, match=r"cannot lie in files in .*none: No such file"):
        heat().simulate(**simulate)
    monkeypatch.setattr("workbench.backends.array_files.lies_in_memory", lambda folder: True)
    monkeypatch.setenv("WORKBENCH_FIELDS", str(folder))
    with pytest.raises(NoRoomError, match=r"it lies in memory itself\nName another folder by WORKBENCH_FIELDS"):
        heat().simulate(**simulate)


def test_arrays_that_would_be_converted_as_a_whole_are_refused(folder):
    with pytest.raises(FieldError, match="u is float64, the array is float32 and larger than memory"):
        heat().simulate(u=np.zeros(EXTENTS[3], "f4"), backend="openmp", memory="512 KiB")


def test_loops_that_read_anywhere_are_refused_with_the_line():
    text = "u = field('u')\nplace = (7 * index(0)) % size(0)\nu.next = gather(u, place, index(1))\n"
    with pytest.raises(PlanError, match="but u is read at computed places") as caught:
        wb.trace(text, dim=2).simulate(u=np.zeros((300, 300)), backend="openmp", memory="512 KiB")
    assert caught.value.line == 3


def test_a_while_loop_is_refused():
    text = "u = field('u')\nv = while_loop(lambda v: reduce_max(v) < 9, lambda v: v + 1, u, at_most=9)\nu.next = v\n"
    with pytest.raises(BackendError, match="has a while_loop, and arrays in files are not built for loops yet"):
        wb.trace(text, dim=2).simulate(u=np.zeros((300, 300)), backend="openmp", memory="512 KiB")


def open_files():
    return sum("(deleted)" in os.readlink(f"/proc/self/fd/{name}") for name in listed_files())


def listed_files():
    return [name for name in os.listdir("/proc/self/fd") if os.path.islink(f"/proc/self/fd/{name}")]


@pytest.mark.parametrize("ends", ["closed", "forgotten"])
def test_files_are_gone_with_the_simulation(ends, folder):
    gc.collect()
    before = open_files()
    simulation = heat().simulate(u=0.5, shape=EXTENTS[3], backend="openmp", memory="512 KiB").run(3)
    assert open_files() > before
    if ends == "closed":
        simulation.close()
    else:
        del simulation
    gc.collect()
    assert open_files() == before


def test_files_have_no_name_that_a_killed_process_could_leave(folder):
    text = """
import os, signal
import workbench as wb
from tests.kit.random_tileable import HEAT
wb.trace(HEAT, dim=3).simulate(u=0.5, shape=(500, 14, 20), backend="openmp", memory="512 KiB").run(1)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_an_interrupt_ends_a_run_in_the_middle_of_a_pass(folder):
    """Although its steps are known to be short: a pass is not."""
    simulation = heat().simulate(u=0.5, shape=(400, 60, 70), backend="openmp", memory="2 MiB", threads=1).run(30)
    begin = time.monotonic()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        simulation.run(100_000)
    took, steps = time.monotonic() - begin, simulation.steps
    assert took < 60  # all steps would take hours
    right = heat().simulate(u=0.5, shape=(400, 60, 70), backend="openmp").run(steps)
    assert np.array_equal(simulation.u, right.u)
