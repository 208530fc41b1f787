"""Kill -9 at random moments: a study goes on as if nothing had happened; what it has told of is in the file once."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

LANDSCAPE = Path(__file__).parent / "landscapes" / "jac3d.npz"

# A study of a recorded landscape in a process that is forked again and again, and killed but for the last time. The
# child says a byte for each individual that it has told of; it is killed a moment after so many of them.
SCRIPT = """
import json, os, random, signal, sys, time
from pathlib import Path
from workbench.tuning.budget import Budget
from workbench.tuning.experiment import ExperimentPlan
from workbench.tuning.ledger import read_ledger
from workbench.tuning.replay import Recorded, Replayer, read_landscape
from workbench.tuning.study import begin_study

folder, landscape = Path(sys.argv[1]), read_landscape(Path(sys.argv[2]))
count, kills, seed = map(int, sys.argv[3:])
candidates = Recorded(landscape, next(iter(landscape.space)))
draw = random.Random(seed)


def kept(path):
    if not path.exists():
        return 0
    with read_ledger(path) as ledger:
        return len(ledger.individuals())


def study(path, heard=lambda study: None):
    budget = Budget(count - kept(path))
    plan = ExperimentPlan(candidates, lambda: Replayer(landscape), 1, "portfolio", budget, 7)
    about = {"program": "jac3d", "key": "k", "backend": "replay", "extents": [1]}
    begin_study(path, plan, about, [heard]).wait()


def acknowledged(path):
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        known = kept(path)

        def heard(study):
            nonlocal known
            while known < len(study.individuals):
                known += 1
                os.write(tell, b".")
                time.sleep(0.002)

        try:
            study(path, heard)
        finally:
            os._exit(0)
    os.close(tell)
    wanted, seen = draw.randrange(count // kills + 1), 0
    while seen < wanted and os.read(told, 1):
        seen += 1
    time.sleep(0.006 * draw.random())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while os.read(told, 1):
        seen += 1
    os.close(told)
    return seen


study(folder / "whole.sqlite")
path, ends = folder / "killed.sqlite", []
for _ in range(kills):
    before = kept(path)
    seen = acknowledged(path)
    ends.append([before, seen, kept(path)])
study(path)
print(json.dumps(ends))
"""


def rows_of(path):
    """All rows of all tables of a study but for its times."""
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    tables = [
        name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    ]
    found = {}
    for table in tables:
        rows = connection.execute(f"SELECT * FROM {table}").fetchall()
        found[table] = [{name: row[name] for name in row.keys() if name != "told"} for row in rows]  # noqa: SIM118
    connection.close()
    return found


@pytest.mark.parametrize(("kills", "count"), [(5, 100), pytest.param(100, 600, marks=pytest.mark.proof)])
def test_killed_study_ends_as_one_that_nobody_has_killed(tmp_path, kills, count):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), str(LANDSCAPE), *map(str, (count, kills, 1))]
    ends = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=580).stdout)
    assert len(ends) == kills
    assert all(before + seen <= after for before, seen, after in ends)  # what was told of is there
    assert sum(after < count for _, _, after in ends) > kills / 2
    whole, killed = rows_of(tmp_path / "whole.sqlite"), rows_of(tmp_path / "killed.sqlite")
    assert set(whole) == {"about", "individual", "race", "final", "search", "now"}
    assert len(whole["individual"]) == count
    assert len(whole["final"]) >= 3
    assert killed == whole
