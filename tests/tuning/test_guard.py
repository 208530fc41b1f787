"""Guards: what a killed process has started ends with it: commands, workers, builders, candidates and their own."""

import os
import signal
import subprocess
import sys
import textwrap
import uuid
from pathlib import Path

import pytest

from tests.kit.ceilings import make_up_ceilings
from tests.kit.waiting import wait_for
from workbench.tuning.guard import ANNOUNCED, ProcessGuard

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system has no /proc")


@pytest.fixture
def mark():
    """A word in the environment of all processes of a test; those that a fault leaves are killed at its end."""
    word = f"WORKBENCH_MARK_{uuid.uuid4().hex}=1"
    yield word
    for process in marked(word):
        os.kill(process, signal.SIGKILL)


def marked(word):
    """Processes with this word in their environment, without those that have ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def begun(command, mark, folder, **more):
    name, _, value = mark.partition("=")
    environment = {**os.environ, name: value, **more}
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=nowhere, stderr=nowhere, start_new_session=True
    )


def killed(process, mark):
    """Kill -9; all that carries the mark has to end."""
    process.kill()
    process.wait()
    wait_for(lambda: not marked(mark))


@pytest.mark.parametrize("at", ["compiler", "evaluation", "cleanup"])
def test_killed_tuning_leaves_no_command(tmp_path, mark, at):
    """A shell with children of its own, one in the background; in whichever command it is."""
    commands = {"compiler": "true", "evaluation": "echo 1", "cleanup": "true"}
    commands[at] = "sleep 300 & (sleep 301; true); touch never; echo 7"
    text = "\n".join(f"{name} = {command}" for name, command in commands.items())
    (tmp_path / "t.conf").write_text(f"[variables]\nvariables = A\n[values]\nA = 1, 2\n[testing]\n{text}\n")
    process = begun([sys.executable, "-m", "workbench", "tune", "t.conf"], mark, tmp_path)
    wait_for(lambda: len([one for one in marked(mark) if words_of(one).startswith("sleep")]) == 2)
    killed(process, mark)
    assert not (tmp_path / "never").exists()


def words_of(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


def test_killed_group_of_the_tuner_leaves_no_command(tmp_path, mark):
    """`timeout -s KILL` and systems that end a job kill the whole group."""
    (tmp_path / "t.conf").write_text(
        "[variables]\nvariables = A\n[values]\nA = 1\n[testing]\nevaluation = touch begun; sleep 300\n"
    )
    process = begun([sys.executable, "-m", "workbench", "tune", "t.conf"], mark, tmp_path)
    wait_for((tmp_path / "begun").exists)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    wait_for(lambda: not marked(mark))


STUDY = """
import os, sys
import numpy as np
import workbench as wb
if __name__ == "__main__":
    machine = wb.trace('u = field("u", boundary="periodic")\\nu.next = 0.5 * (u[-1] + u[+1])', dim=1, name="mean")
    machine.tune(
        u=np.sin(np.arange(4096.0)), budget=4, strategy="exhaustive", path=sys.argv[1], backend="openmp",
        start=[machine.with_choices(flags=("-funroll-loops",)), machine.with_choices(flags=("-O2",))],
        only=["flags"], workers=2,
    ).wait()
"""
# Stops at what each of two candidates does: a compiler with a child, or a program in which a candidate hangs.
COMPILER = """#!/bin/sh
extra=
for word in "$@"; do
    case "$word" in
    -funroll-loops|-O2)
        if [ AT = builder ]; then touch FOLDER/hangs"$word"; sleep 300; exit 1; fi
        extra="-DHANGS=\\"FOLDER/hangs$word\\" -include FOLDER/hang.h" ;;
    esac
done
exec g++ "$@" $extra
"""
HANG = """#include <cstdio>
#include <unistd.h>
__attribute__((constructor)) static void hang() { std::fclose(std::fopen(HANGS, "w")); for (;;) pause(); }
"""


@pytest.mark.parametrize("at", ["builder", "candidate"])
def test_killed_study_leaves_no_worker_builder_or_candidate(tmp_path, mark, at):
    compiler = tmp_path / "g++-that-hangs"
    compiler.write_text(COMPILER.replace("AT", at).replace("FOLDER", str(tmp_path)))
    compiler.chmod(0o755)
    (tmp_path / "hang.h").write_text(HANG)
    more = {"WORKBENCH_CXX": str(compiler), "WORKBENCH_CACHE": str(tmp_path / "cache")}
    make_up_ceilings(tmp_path / "cache")
    command = [sys.executable, "-c", textwrap.dedent(STUDY), str(tmp_path / "s.sqlite")]
    process = begun(command, mark, None, **more)
    wait_for(lambda: len(list(tmp_path.glob("hangs*"))) >= (2 if at == "builder" else 1))
    assert len(marked(mark)) > 4
    killed(process, mark)


def test_command_tells_of_itself_and_reads_nothing(tmp_path):
    """Whoever starts it may be killed before it can: the shell's first word is for the guard."""
    with ProcessGuard() as guard:
        process = subprocess.Popen(
            f"{ANNOUNCED}cat > read; sleep 300", shell=True, cwd=tmp_path, stdin=guard.handle(), start_new_session=True
        )
        wait_for((tmp_path / "read").exists)
    assert process.wait() == -signal.SIGKILL
    assert (tmp_path / "read").read_text() == ""


def test_group_that_has_ended_is_left_alone(tmp_path):
    """What a command leaves behind is its own, as before."""
    with ProcessGuard() as guard:
        process = subprocess.Popen(
            f"{ANNOUNCED}sleep 300 & echo $! > left",
            shell=True,
            cwd=tmp_path,
            stdin=guard.handle(),
            start_new_session=True,
        )
        process.wait()
        guard.forget(process.pid)
    left = int((tmp_path / "left").read_text())
    os.kill(left, 0)
    os.kill(left, signal.SIGKILL)


def test_guard_that_was_killed_is_followed_by_another():
    with ProcessGuard() as guard:
        guard.handle()
        guard._process.kill()
        guard._process.wait()
        guard.forget(17)
        assert guard.handle() >= 0
        assert guard._process.poll() is None
