"""The slot: one measurement at a time on a device, and groups of processes that build stand still meanwhile."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import tempfile

import pytest

from tests.kit.waiting import wait_for
from workbench.tuning import slot


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Locks of this test only."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@contextlib.contextmanager
def running(code):
    """A process that leads a group of its own, with two pipes."""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdin.close()
        process.stdout.close()


# Says a line when it builds, and at the end of its input goes on to the rest.
BUILDER = """
import sys
from workbench.tuning.slot import Builder
with Builder():
    print("builds", flush=True)
    sys.stdin.readline()
"""
MEASURER = """
import sys
from workbench.tuning.slot import measuring
with measuring("cpu"):
    print("measures", flush=True)
    sys.stdin.readline()
"""


# The same in a process that nobody here has started: its parent has ended.
FOREIGN = f"import os\nif os.fork(): os._exit(0)\nprint(os.getpid(), flush=True)\n{MEASURER}"


def state_of(process, kind):
    """Whether a child has stopped (WUNTRACED) or gone on (WCONTINUED) since it was last asked."""
    found, status = os.waitpid(process.pid, kind | os.WNOHANG)
    return found == process.pid and (os.WIFSTOPPED(status) or os.WIFCONTINUED(status))


def test_builder_stands_still_while_something_is_measured():
    with running(BUILDER) as builder:
        assert builder.stdout.readline() == "builds\n"
        with slot.measuring("cpu"):
            wait_for(lambda: state_of(builder, os.WUNTRACED))
        wait_for(lambda: state_of(builder, os.WCONTINUED))
        builder.stdin.write("\n")
        builder.stdin.flush()
        assert builder.wait(60) == 0


def test_builders_have_stopped_before_the_registry_is_free_again():
    """One that waits for it would else take it along: two studies at a time stood still for ever."""
    registering = """
import sys
from workbench.tuning import slot
with slot.Builder():
    print("builds", flush=True)
    while True:
        with slot._registering():
            pass
"""
    with running(registering) as first, running(registering) as second:
        builders = (first, second)
        assert [builder.stdout.readline() for builder in builders] == ["builds\n"] * 2
        for _ in range(50):
            with slot.measuring("cpu"):
                assert [slot._state(builder.pid) for builder in builders] == ["T", "T"]
                os.close(slot._locked("registry", fcntl.LOCK_EX | fcntl.LOCK_NB))


def test_measurement_ends_though_a_builder_that_stands_still_has_the_registry(monkeypatch):
    """It can where the system does not tell whether a process has stopped."""
    code = """
import sys
from workbench.tuning import slot
with slot.Builder(), slot._registering():
    print("has it", flush=True)
    sys.stdin.readline()
"""
    with running(code) as builder:
        assert builder.stdout.readline() == "has it\n"
        with monkeypatch.context() as patch:
            patch.setattr(slot, "_registering", contextlib.nullcontext)
            measuring = slot.measuring("cpu")
            measuring.__enter__()
        wait_for(lambda: state_of(builder, os.WUNTRACED))
        slot.let_go_on(builder.pid)
        assert not state_of(builder, os.WCONTINUED)
        measuring.__exit__(None, None, None)
        wait_for(lambda: state_of(builder, os.WCONTINUED))


def test_builder_that_has_ended_is_not_stopped():
    with running(BUILDER + 'print("over", flush=True)\nsys.stdin.readline()') as builder:
        assert builder.stdout.readline() == "builds\n"
        builder.stdin.write("\n")
        builder.stdin.flush()
        assert builder.stdout.readline() == "over\n"
        with slot.measuring("cpu"):
            builder.stdin.write("\n")
            builder.stdin.flush()
            assert builder.wait(60) == 0


def test_builder_that_was_killed_leaves_nothing_that_is_stopped(folder):
    """Its file stays, and the number of its process may be another one's by now."""
    with running(BUILDER) as builder:
        assert builder.stdout.readline() == "builds\n"
    assert len(list(folder.rglob("builder-*"))) == 1
    with slot.measuring("cpu"):
        assert not list(folder.rglob("builder-*"))


def test_builder_begins_only_when_nothing_is_measured(folder):
    code = f"import os\n{BUILDER}\nprint(os.path.exists({str(folder / 'flag')!r}), flush=True)"
    with contextlib.ExitStack() as stack:
        with slot.measuring("cpu"):
            builder = stack.enter_context(running(code.replace('print("builds", flush=True)', "")))
            wait_for(lambda: list(folder.rglob("builder-*")))
            (folder / "flag").touch()
        builder.stdin.write("\n")
        builder.stdin.flush()
        assert builder.stdout.readline() == "True\n"


def test_builders_of_a_measurer_that_was_killed_go_on():
    with running(BUILDER) as builder:
        assert builder.stdout.readline() == "builds\n"
        with running(MEASURER) as measurer:
            assert measurer.stdout.readline() == "measures\n"
            wait_for(lambda: state_of(builder, os.WUNTRACED))
            slot.let_go_on(builder.pid)  # not yet
            assert not state_of(builder, os.WCONTINUED)
        slot.let_go_on(builder.pid)
        wait_for(lambda: state_of(builder, os.WCONTINUED))


def test_time_counts_for_the_one_that_is_measured_only():
    with running(MEASURER) as measurer:
        assert measurer.stdout.readline() == "measures\n"
        assert slot.is_held_up(os.getpid())
        assert not slot.is_held_up(measurer.pid)
    assert not slot.is_held_up(os.getpid())


def test_measurements_on_a_device_do_not_overlap(folder):
    code = """
import os, sys
from workbench.tuning.slot import measuring
for _ in range(100):
    with measuring(sys.argv[1]):
        os.close(os.open(sys.argv[2], os.O_CREAT | os.O_EXCL))
        os.unlink(sys.argv[2])
"""
    processes = [subprocess.Popen([sys.executable, "-c", code, "cpu", str(folder / "inside")]) for _ in range(3)]
    assert [process.wait(120) for process in processes] == [0, 0, 0]


def test_devices_have_a_slot_each():
    with running(MEASURER) as measurer:
        assert measurer.stdout.readline() == "measures\n"
        with slot.measuring("cuda"):
            assert slot.is_held_up(measurer.pid)
            assert slot.is_held_up(os.getpid())


def test_compilers_of_a_candidate_are_in_its_group():
    """So that they stand still with it, and end with it."""
    code = """
import os, sys
from pathlib import Path
from workbench.backends import compile_pool
command = [sys.executable, "-c", "import os; print(os.getpgrp())"]
for _ in range(2):
    print(int(compile_pool._run(command, Path("."), "unit", 60.0, lambda: False)[1]) == os.getpgrp())
    compile_pool.keep_compilers_in_group()
"""
    with running(code) as process:
        assert process.stdout.read() == "False\nTrue\n"


def test_a_process_that_measures_for_somebody_else_is_named():
    assert slot.measured_by_others() is None
    with slot.measuring("cpu"):
        assert slot.measured_by_others() is None
    with running(FOREIGN) as other:
        number = int(other.stdout.readline())
        assert other.stdout.readline() == "measures\n"
        assert slot.measured_by_others() == number
