"""A schedule is a value of workbench/planning/schedules; code elsewhere that knows one by itself says why."""

import ast
from collections import defaultdict
from pathlib import Path
from typing import get_args

from workbench.planning.choices import ScheduleName, TilingChoices
from workbench.planning.kernel_plan import Blocking
from workbench.planning.schedules import table
from workbench.planning.schedules.table import SCHEDULES

ROOT = Path(__file__).resolve().parent.parent
PLACE = "workbench/planning/schedules/"
MODULES = sorted(
    path for path in (ROOT / "workbench").rglob("*.py") if not path.relative_to(ROOT).as_posix().startswith(PLACE)
)
NAMES = {row.name for row in SCHEDULES}
VALUES = {name for name, value in vars(table).items() if value in SCHEDULES}
RECORDS = {kind.__module__.rpartition(".")[2] for kind in get_args(Blocking)}
OF_ONE = {"diamond", "diamond_schedule", "diamondtorre", "torre", "tower_table"} | RECORDS
PARTS = {"tiling", "towers"}  # of the plan of a kernel
WORDS = NAMES | VALUES | OF_ONE | PARTS

_CODE = "the code of one schedule"
# (file, or room): (what it knows of a schedule: its name, value, module or part of a plan, "why")
ALLOWED = {
    "workbench/planning/choices.py": (
        NAMES,
        "the words that people write; a test compares them with the table",
    ),
    "workbench/planning/kernel_plan.py": (RECORDS, "the union of their records, and its members for their code"),
    "workbench/planning/plan.py": ({"STEPWISE"}, "what a plan has of which nothing else is said"),
    "workbench/planning/tiled.py": ({"diamond"}, "what is done along an axis"),
    "workbench/codegen/cpp/": ({"tiled", "tiling"}, _CODE),
    "workbench/codegen/cuda/": ({"towered", "towers"}, _CODE),
    "workbench/backends/tile_sizes.py": ({"diamond_schedule"}, "numbers that the code of one schedule is run with"),
    "workbench/backends/tower_sequence.py": (
        {"diamondtorre", "torre", "towers"},
        "launches of that code",
    ),
    "workbench/backends/launch_text.py": ({"towers"}, "these launches, in the key of a text"),
    "workbench/tuning/tile_space.py": ({"STEPWISE"}, "what every tuner tries beside the others"),
    "workbench/tuning/comparison_grid.py": (
        {"tiled", "towered"},
        "where tiles have borders: a match over all records",
    ),
    "workbench/tuning/constraints.py": ({"towers"}, "registers that a device has for the code of one schedule"),
    "workbench/tuning/launch_features.py": ({"towered", "towers"}, "the same, as a share of what there is"),
    "workbench/views/tiles/": ({"diamond", "torre", "tiled", "towered"}, "pictures of each: a match over all records"),
    "workbench/views/graph/marks.py": ({"diamond"}, "a shape that is drawn"),
    "workbench/commands/bench/contenders.py": (NAMES, "a contender is a schedule by its name"),
    "workbench/commands/bench/results.py": ({"stepwise"}, "a contender by its name"),
    "workbench/commands/bench/model.py": ({"tiling"}, "least traffic of tiles that leave the same axes whole"),
}


def known_in(text):
    """(line, what) of each thing in a module's text that knows one schedule."""
    tree = ast.parse(text)
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    told = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, owners) and ast.get_docstring(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(word)) if word in NAMES and id(node) not in told:
                yield node.lineno, word
            case ast.ImportFrom(module=str(module), names=imported) if module.startswith("workbench.planning"):
                words = {module.rpartition(".")[2], *(each.name for each in imported)}
                yield from ((node.lineno, word) for word in sorted(words & (OF_ONE | VALUES)))
            case ast.Attribute(attr=part, value=owner) if part in PARTS:
                if ast.unparse(owner).rpartition(".")[2] in ("kernel", "main"):
                    yield node.lineno, part
            case _:
                pass


def test_what_knows_a_schedule_is_seen_however_it_is_written():
    ways = {
        'if plan.schedule == "diamond": pass': "diamond",
        "from workbench.planning.schedules import diamondtorre": "diamondtorre",
        "from workbench.planning.schedules.torre import Torre": "torre",
        "from workbench.planning.schedules.table import STEPWISE": "STEPWISE",
        "from workbench.planning.towered import Towers": "towered",
        "if plan.main.tiling is not None: pass": "tiling",
        "if self.kernel.towers: pass": "towers",
    }
    assert {way: [what for _, what in known_in(way)] for way in ways} == {way: [what] for way, what in ways.items()}
    for other in ('"""diamond"""', "choices.plan.tiling.depth", "instance.tiling", '"towers of diamond"'):
        assert not list(known_in(other)), other


def test_only_schedules_know_schedules():
    """All else asks the value, so that another schedule edits none of it; where its code differs, a match is told."""
    assert len(MODULES) > 500
    found, used = [], defaultdict(set)
    for path in MODULES:
        name = path.relative_to(ROOT).as_posix()
        allowed = next((key for key in ALLOWED if name.startswith(key)), "")
        text = path.read_text(encoding="utf-8")
        if not any(word in text for word in WORDS):
            continue
        for line, what in known_in(text):
            if allowed and what in ALLOWED[allowed][0]:
                used[allowed].add(what)
            else:
                found.append(f"{name}:{line}: {what}")
    print(f"{len(MODULES)} files looked at; {len(used)} of them or of their rooms know a schedule")
    assert not found, f"ask the value of the schedule (planning/schedules/table): {found}"
    assert used == {key: words for key, (words, _) in ALLOWED.items()}  # no allowance that is not used


def test_the_words_of_choices_are_those_of_the_table():
    assert get_args(ScheduleName) == (TilingChoices().schedule, *(row.name for row in SCHEDULES))


def test_each_value_is_in_the_table():
    """A module of planning/schedules that makes a Schedule has it there; one outside of it never runs."""
    made = set()
    for path in sorted((ROOT / PLACE).glob("*.py")):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="Schedule"))):
                    made.add(name)
    assert made == VALUES
    assert len(made) == len(SCHEDULES) == len(NAMES)
