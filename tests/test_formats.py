"""The page of text formats is true: its examples are read, and its grammar has every word that readers know."""

import re

import pytest

import workbench as wb
from tests.kit.tracked import ROOT
from workbench.graph.instructions import TRAITS
from workbench.graph.parse import BOUNDS
from workbench.graph.side_rules import RULES
from workbench.graph.text import KEYWORDS
from workbench.graph.types import BY_NAME
from workbench.planning.choices import Choices
from workbench.planning.exchange import from_json, to_json

PAGE = (ROOT / "workbench" / "FORMATS.md").read_text(encoding="utf-8")
GRAMMAR = "\n".join(line for line in PAGE.splitlines() if line.startswith("    "))


def example(kind):
    return re.search(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]


def test_the_graph_is_read_and_written_as_it_stands():
    graph = wb.graph_from_text(example("graph"))
    assert str(graph) == example("graph")
    sim = wb.Machine(graph).simulate(u=[0.0, 1.0, 0.0], backend="reference").run(1)
    assert sim.u.tolist() == pytest.approx([0.2, 0.6, 0.6])  # the wall at 1 is a cell of 2 outside
    assert sim.top == 1.0


def test_the_choices_are_read():
    choices = from_json(example("json"))
    assert choices.plan.device.block == 128
    assert choices.meaning.precision == (("u", "f32"),)
    assert from_json(to_json(choices)) == choices
    assert set(re.findall(r'"(\w+)":', to_json(Choices()))) == set(re.findall(r'"(\w+)":', example("json")))


def test_the_genome_is_one_of_the_graph():
    machine = wb.Machine(wb.graph_from_text(example("graph")))
    assert machine.genome == example("genome").strip()
    assert machine.with_genome(example("genome").strip()).genome == machine.genome


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("keywords", KEYWORDS),
        ("instructions", {traits.word for traits in TRAITS.values() if traits.word}),
        ("boundary rules", set(RULES)),
        ("limits of params", set(BOUNDS)),
    ],
)
def test_the_grammar_has_every_word(what, words):
    spelled = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"'([^']*)'", GRAMMAR))))
    assert not {word for word in words if word not in spelled}, what


def test_the_storage_types_are_listed():
    listed = re.search(r"a storage type: (.*)", GRAMMAR)[1]
    assert all(name in listed or re.fullmatch("[iu](16|32)", name) for name in BY_NAME)
