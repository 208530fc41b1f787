"""What the type checker finds when something is added, and that CONTRIBUTING names the files."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.kit.tracked import ROOT

INSTRUCTIONS, RULES, BOUNDARIES = "graph/instructions.py", "graph/side_rules.py", "frontend/boundaries.py"
KIND = "@dataclass(frozen=True, slots=True)\nclass Newcomer:\n    pass\n\n\n"
EDITS = {
    "instruction": (
        (INSTRUCTIONS, "@dataclass(frozen=True, slots=True)\nclass Shift:", KIND),
        (INSTRUCTIONS, "Replicate | Gather | Shift", "Newcomer | "),
    ),
    "boundary rule": (
        (RULES, "@dataclass(frozen=True, slots=True)\nclass Reflect:", KIND),
        (RULES, "Periodic | Outflow | Reflect", "Newcomer | "),
        (BOUNDARIES, '"periodic", "outflow", "reflect", "mirror"]', '"newcomer", '),
    ),
    "rule for values": (
        (RULES, "@dataclass(frozen=True, slots=True)\nclass Reflect:", KIND.replace("pass", "operand: int")),
        (RULES, "Prescribed | Fixed | Neumann", "Newcomer | "),
        (BOUNDARIES, '"constant", "analytic", "fixed", "neumann"]', '"newcomer", '),
    ),
}


def named(item):
    """What the item says mypy lists, as paths of modules."""
    text = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
    listed = re.search(rf"- \*\*{item}\*\*:.*?what mypy lists \((.*?)\)", text)
    assert listed, f"CONTRIBUTING does not say what mypy lists for a new {item}"
    return {f"{name}.py" for name in re.findall(r"`([\w/]+)`", listed[1])}


def checked(tmp_path, edits):
    """What mypy says of a copy of the package in which texts stand before others."""
    shutil.copytree(ROOT / "workbench", tmp_path / "workbench", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for file, before, new in edits:
        path = tmp_path / "workbench" / file
        text = path.read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{before!r} is in {file} {text.count(before)} times"
        path.write_text(text.replace(before, new + before), encoding="utf-8")
    paths = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "MYPYPATH")}
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=tmp_path, env=paths, capture_output=True, text=True)
    print(done.stdout)
    return done.stdout


def unmatched(tmp_path, kind):
    """The modules in which mypy misses a case, once the new kind is there."""
    said = checked(tmp_path, EDITS[kind])
    return set(re.findall(r"^workbench/([\w/]+\.py):\d+: error: Match statement", said, re.MULTILINE))


@pytest.mark.proof
@pytest.mark.parametrize(
    ("kind", "item"),
    [("instruction", "instruction"), ("boundary rule", "boundary rule"), ("rule for values", "boundary rule")],
)
def test_mypy_lists_what_contributing_says(tmp_path, kind, item):
    assert unmatched(tmp_path, kind) == named(item)


@pytest.mark.proof
def test_mypy_says_what_a_view_lacks(tmp_path):
    view = "class Newcomer:\n    def close(self) -> None: ...\n\n\n"
    row = 'ViewKind("new", "machine", "", summarise, Newcomer),\n        '
    said = checked(
        tmp_path,
        (("views/kinds.py", "class View(Protocol):", view), ("views/kinds.py", 'ViewKind("graph"', row)),
    )
    assert re.search(r"views/kinds.py:\d+: error: Argument 5 .*Newcomer", said)
