"""The processes of contenders: what they have started ends with them."""

from pathlib import Path

import pytest

from tests.kit.waiting import wait_for
from workbench.commands.bench.contenders import contender_named
from workbench.commands.bench.crew import ContenderError, Crew

# Hangs where it is to compile the problem; what it is asked when it is looked for, it answers.
COMPILER = """#!/bin/sh
case "$*" in *heat*.cpp*) echo $$ > FOLDER/number && mv FOLDER/number FOLDER/hangs && sleep 300 ;; esac
exec g++ "$@"
"""


def test_a_contender_without_time_takes_its_compiler_along(monkeypatch, tmp_path):
    compiler, hangs = tmp_path / "g++-that-hangs", tmp_path / "hangs"
    compiler.write_text(COMPILER.replace("FOLDER", str(tmp_path)))
    compiler.chmod(0o755)
    monkeypatch.setenv("WORKBENCH_CXX", str(compiler))
    members = Crew("heat2d", "f64", 1, tmp_path)
    with members.process(contender_named("stepwise"), cache=tmp_path / "cache") as member:
        with pytest.raises(ContenderError, match="no answer within 0 s"):
            member.ask("open", within=0.0, shape=(32, 32))
        wait_for(hangs.exists)
        status = Path("/proc", hangs.read_text().strip(), "stat")
        assert is_running(status)
    wait_for(lambda: not is_running(status))


def is_running(status):
    """Whether a process whose status this is has not ended; nobody may have waited for one that has."""
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
