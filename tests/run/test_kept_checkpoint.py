"""A checkpoint of each format, as it was written when the format was new: it is read, or refused with a reason.

A new format gets a file of its own beside these (`make_checkpoint`); no file is ever written again.
"""

import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.errors import RunError
from workbench.run import checkpoint

KEPT = {2: Path(__file__).parents[1] / "golden" / "checkpoint.2.npz"}
PROGRAM = """\
u = field("u", boundary="periodic")
small = field("small", dtype="f32")
large = field("large", dtype="u64")
above = field("above", dtype="bool")
exact = field("exact", dtype="dd")
most = scalar("most")
turns = scalar("turns", dtype="i64", default=0)
half = param("half", 0.25, above=0)
v = half * (u[-1] + u[+1])
u.next = v
small.next = -small
large.next = large - 1
above.next = v > 16
exact.next = exact + 1
most.next = reduce_max(v)
turns.next = turns + 1
"""
STEPS, LATER, HALF = 3, 2, 0.5
U, SMALL, LARGE = (0.0, 8.0, 16.0, 64.0, 2.0), (0.1, -0.0, np.inf, 1e-40, 3.0), (2**64 - 1, 2**63, 10, 2**53 + 1, 99)


def make_checkpoint(path):
    """How the file of the newest format was made."""
    machine = wb.trace(PROGRAM, name="kept")
    values = {"u": U, "small": np.array(SMALL, np.float32), "large": np.array(LARGE, np.uint64)}
    values |= {"above": np.zeros(5, bool), "exact": np.zeros(5), "half": HALF, "most": 0.0}
    with machine.simulate(backend="reference", **values) as simulation:
        simulation.run(STEPS).save(path)


def expected(steps):
    """The state after so many steps, by NumPy alone."""
    u = np.array(U)
    for _ in range(steps):
        u = HALF * (np.roll(u, 1) + np.roll(u, -1))
    small = np.array(SMALL, np.float32) * np.float32((-1) ** steps)
    large = np.array(LARGE, np.uint64) - np.uint64(steps)
    return {"u": u, "small": small, "large": large, "above": u > 16, "most": u.max(), "turns": steps, "half": HALF}


def compare(simulation, steps):
    state = simulation.to_dict()
    for name, value in expected(steps).items():
        found = np.asarray(state[name])
        assert found.tobytes() == np.asarray(value, found.dtype).tobytes(), name
    assert state["exact"]["hi"].tolist() == [float(steps)] * 5


@pytest.mark.parametrize("layout", KEPT)
def test_a_kept_checkpoint_is_read_and_goes_on_to_the_bit(layout):
    machine = wb.trace(PROGRAM, name="kept")
    with warnings.catch_warnings(action="error"), machine.restore(KEPT[layout], backend="reference") as simulation:
        assert simulation.steps == STEPS
        compare(simulation, STEPS)
        compare(simulation.run(LATER), STEPS + LATER)


def test_there_is_a_file_of_the_format_that_is_written(tmp_path):
    assert checkpoint.FORMAT in KEPT
    make_checkpoint(tmp_path / "now.npz")
    with np.load(tmp_path / "now.npz") as now, np.load(KEPT[checkpoint.FORMAT]) as kept:
        assert now.files == kept.files
        assert all(now[name].dtype == kept[name].dtype and now[name].tobytes() == kept[name].tobytes() for name in now)


def test_a_format_that_is_read_no_longer_is_refused_with_a_reason(monkeypatch, tmp_path):
    shutil.copy(KEPT[2], tmp_path / "old.npz")
    monkeypatch.setattr(checkpoint, "FORMAT", 3)
    monkeypatch.setattr(checkpoint, "_READ", (3,))
    with pytest.raises(RunError, match=r"old\.npz has format 2, this version reads 3"):
        wb.trace(PROGRAM, name="kept").restore(tmp_path / "old.npz")


def test_a_later_version_still_knows_the_keys_of_format_2(monkeypatch):
    monkeypatch.setattr(checkpoint, "FORMAT", 3)
    monkeypatch.setattr(checkpoint, "_READ", (1, 2, 3))
    with warnings.catch_warnings(action="error"):
        wb.trace(PROGRAM, name="kept").restore(KEPT[2], backend="reference").close()
    other = wb.trace(PROGRAM.replace("large - 1", "large - 2"), name="other")
    with pytest.warns(checkpoint.OtherProgramWarning):
        other.restore(KEPT[2], backend="reference").close()
