"""The README keeps its promises: each block runs as a reader pastes it, and gives what is written beside it.

Sizes and budgets are made smaller by `SMALLER`, which names each text that it replaces. A section starts with the
imports of the quickstart; `NEEDED` names the sections whose blocks it continues.
"""

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest

from workbench import solvers
from workbench.backends.registry import backend_names
from workbench.commands.bench.accelerate.rows import ROWS
from workbench.commands.parser import build_parser
from workbench.graph.operators import OPERATORS
from workbench.notebook.server import StencilWorkbench
from workbench.tuning.configuration import parse_configuration
from workbench.tuning.strategies.registry import STRATEGIES

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SMALLER = {
    "1 << 22": "1 << 12",
    'budget="10 min"': 'budget=2, only=["storage"], path=PATH',
    "shape=1 << 20": "shape=1 << 10",
    "(2048, 2048)": "(64, 64)",
    "(64, 64, 64)": "(8, 8, 8)",
    'backend="cuda"': 'backend="cuda-sim"',
    "(2, 10_000)": "(2, 500)",
    "np.full(10_000": "np.full(500",
    "size=(3, 1000)": "size=(3, 100)",
    "sim.run(1000).x": "sim.run(10).x",
    'np.load("start.npy", mmap_mode="r")': "np.zeros((64, 64))",
}
NEEDED = {"Tune": ("Quickstart",)}
FILE = "[variables]"  # the first line of a configuration of `workbench tune`
SHOWN = "line 5: subtract"  # the beginning of what a block prints


class Block(NamedTuple):
    section: str
    text: str

    @property
    def kind(self):
        first = self.text.partition("\n")[0]
        if first.startswith(("sudo ", "make ")):
            return "shell"
        if first.startswith("workbench "):
            return "commands"
        return {FILE: "file", SHOWN: "shown"}.get(FILE if first == FILE else first[: len(SHOWN)], "cell")


def read_blocks(text):
    """The indented blocks below each heading; an empty line ends none."""
    section, found, lines = "", [], []
    for line in [*text.splitlines(), "end"]:
        if line.startswith("    ") or (lines and not line):
            lines.append(line)
            continue
        if lines:
            found.append(Block(section, textwrap.dedent("\n".join(lines)).strip("\n")))
            lines = []
        if line.startswith("## "):
            section = line[3:]
    return found


BLOCKS = read_blocks(README)
SECTIONS = tuple(dict.fromkeys(block.section for block in BLOCKS if block.kind == "cell"))


def of_kind(kind):
    return [block for block in BLOCKS if block.kind == kind]


def test_blocks_are_told_apart():
    assert [b.kind for b in read_blocks("## A\n\n    make x\n\n    y = 1\n\nand\n\n    workbench demo\n")] == [
        "shell",
        "commands",
    ]
    assert len(of_kind("cell")) > 20
    assert [len(of_kind(kind)) for kind in ("shell", "commands", "file", "shown")] == [1, 1, 1, 1]


def test_each_text_that_is_made_smaller_is_there():
    assert [text for text in SMALLER if text not in README] == []


@pytest.mark.parametrize("section", SECTIONS)
def test_what_is_pasted_runs(section, loaded, tmp_path):
    loaded.run("import numpy as np")
    loaded.ip.user_ns["PATH"] = tmp_path / "study.sqlite"
    last = None
    for block in (b for b in of_kind("cell") if b.section in (section, *NEEDED.get(section, ()))):
        text = block.text
        for large, small in SMALLER.items():
            text = text.replace(large, small)
        last = loaded.run(text)
        assert last.error is None, f"{block.text}\n\n{last.text}"
        for line in re.findall(r"^(\S.*?)  +# ([-+\d.e, ]+)$", text, re.MULTILINE):  # a line with what it gives
            assert [float(x) for x in loaded.ip.ev(line[0])] == [float(x) for x in line[1].split(",")], line
        for name in ("large", "sim", "study"):
            if name in loaded.names and hasattr(loaded.ip.user_ns[name], "stop"):
                loaded.ip.user_ns[name].stop()
    if section == of_kind("shown")[0].section:
        printed = last.outputs[-1].data["text/plain"] if last.outputs else last.text
        for line in of_kind("shown")[0].text.splitlines():
            assert line.removesuffix("...") in printed


def options_of(parser):
    return {option for action in parser._actions for option in action.option_strings}


def test_commands_and_their_options_exist_and_none_is_missing():
    (commands,) = (action.choices for action in build_parser()._actions if action.dest == "command" or action.choices)
    (block,) = of_kind("commands")
    entries = re.split(r"\n(?=workbench )", block.text)
    assert {entry.split()[1] for entry in entries} == set(commands)
    for entry in entries:
        named = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", entry))
        assert named <= options_of(commands[entry.split()[1]]), entry


def test_targets_of_make_exist():
    named = set(re.findall(r"(?:`|^    )make ([a-z-]+)", README, re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert len(named) >= 6
    assert named <= targets


def test_the_file_of_a_tuned_program_is_read(tmp_path):
    (block,) = of_kind("file")
    configuration = parse_configuration(block.text, tmp_path)
    assert (configuration.repeat, configuration.notes()) == (3, ())


def test_the_setting_of_the_server_exists():
    (line,) = re.findall(r"^```python\n(.*?)\n```$", README, re.MULTILINE | re.DOTALL)
    name = line.removeprefix("c.StencilWorkbench.").removesuffix(" = True")
    assert StencilWorkbench.class_traits()[name].default_value is False


def first_columns(section):
    """What stands in the first column of the tables of a section, in backquotes."""
    text = README.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return [
        name for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for name in re.findall(r'`"?([\w-]+)"?`', row)
    ]


def test_tables_and_lists_are_complete():
    assert sorted(first_columns("Backends")) == sorted(backend_names())
    assert sorted(first_columns("Tune")) == sorted(STRATEGIES)
    assert first_columns("Notebooks and the command line") == sorted(
        p.stem for p in (ROOT / "notebooks").glob("*.ipynb")
    )
    prose = " ".join(README.split())
    assert f"For {sum(row.ulp > 0 for row in OPERATORS.values())} functions (" in prose
    *others, last = (row.title for row in ROWS)
    assert f"{', '.join(others)} and {last}." in prose
    machines = {name for name in solvers.NAMES if hasattr(getattr(solvers, name), "machine")}
    listed = re.search(r"in the same language: (.*?)\. `sim", prose)[1]
    assert set(re.findall(r"`(\w+)`", listed)) == machines
