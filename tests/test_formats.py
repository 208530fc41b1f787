"""The page of text formats is true: its examples are read, and its grammar has every word that readers know."""

import random
import re

import pytest

import workbench as wb
from tests.kit.collective_programs import ranked, scans, segments
from tests.kit.grammar import Grammar
from tests.kit.random_programs import random_program
from tests.kit.tracked import ROOT
from workbench.errors import StencilError
from workbench.graph.instructions import TRAITS
from workbench.graph.operators import OPERATORS
from workbench.graph.parse import BOUNDS
from workbench.graph.side_rules import RULES
from workbench.graph.text import KEYWORDS
from workbench.graph.types import BY_NAME
from workbench.planning import plan_graph
from workbench.planning.choices import Choices, LoopChoices, PlanChoices
from workbench.planning.exchange import from_json, to_json
from workbench.planning.genome import genome_of

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


STRING = r'"(?:[^"\\]|\\.)*"'
NAME = rf"(?!(?:{'|'.join(KEYWORDS)})(?![\w.]))[^\W\d]\w*(?:\.\w+)*|{STRING}"
OF_GRAPHS = {
    "name": NAME,
    **dict.fromkeys(("before", "begin", "turn", "going"), NAME),
    "string": STRING,
    "integer": r"-?\d+",
    **dict.fromkeys(("line", "column", "end_column"), r"\d+"),
    "float": r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?",
    "operator": rf"(?:{'|'.join(OPERATORS)})(?!\w)",
    "storage_type": rf"(?:{'|'.join(BY_NAME)})(?!\w)",
}
OF_GENOMES = {"name": r"\w+(?:\.\w+)?", "value": r"[\w.+-]+", "key": r"[0-9a-f]{16}"}
WORDS = (*"(),:x", "1", "-1", "1.5", "2_0", "3x", "3:4-5", "@0", "%0", "along", "at", "hint", "local", "masked")
LINES = ("graph", "axis", "static", "region", "kernel", "while", "coordinate", "node")
LOOPING = """
F = field("F", boundary="outflow")
P = field("P", boundary={"x-": "reflect", "x+": fixed(1.0)})
def relax(p):
    return p + 0.25 * (p[+1] + p[-1] - 2 * p)
def far(p):
    return reduce_max(absolute(relax(p) - p)) > 1e-3
P.next = while_loop(far, relax, P, at_most=50)
x = F[+1]
F.next = x + P
"""
SEEN_TWICE = """graph seen
axis i array n
axis j array n
static x field : f64 local(i)
kernel step
  %0 = load x : f64 local(i)
  %1 = load x along j : f64 local(j)
  %2 = replicate to local %1 : f64 local
  %3 = fold sum over (1) %2 : f64 local(i)
  %4 = add %0 %3 : f64 local(i)
  %5 = store x %4
"""


def part(title):
    """A chapter of the page."""
    return re.split("^## ", PAGE, flags=re.MULTILINE)[title]


def graphs():
    """Texts that have every word between them."""
    cells = [wb.trace(LOOPING, name="cell").graph, wb.graph_from_text(SEEN_TWICE)]
    solvers = [wb.solvers.hydro.machine(2).graph, wb.solvers.maxwell.machine(2).graph]
    programs = [random_program(seed)[0] for seed in range(20)]
    return [str(graph) for graph in (*cells, *solvers, *programs, segments(), ranked(), scans(2))]


def test_every_line_of_a_graph_is_one_of_the_grammar_and_no_other_line_is_read():
    grammar = Grammar(part(1), OF_GRAPHS, LINES)
    texts, draw, read = graphs(), random.Random(20261127), 0
    for line in {line for text in texts for line in text.splitlines()}:
        assert any(grammar.accepts(rule, line) for rule in LINES), line
    for _ in range(3000):
        lines = draw.choice(texts).splitlines()
        place = draw.randrange(len(lines))
        parts = re.findall(r'"(?:[^"\\]|\\.)*"|[(),:=#]|[^\s(),:="#]+', lines[place])
        number = draw.randrange(len(parts))
        match draw.randrange(3):
            case 0:
                del parts[number]
            case 1:
                parts.insert(number, parts[number])
            case _:
                parts.insert(number, draw.choice(WORDS))
        lines[place] = " ".join(parts)
        try:
            wb.graph_from_text("\n".join(lines))
        except StencilError:
            continue
        read += 1
        assert any(grammar.accepts(rule, lines[place]) for rule in LINES), lines[place]
    print(f"{read} of 3000 damaged texts are graphs")
    assert read > 5


def test_the_grammar_has_the_genomes_of_plans():
    grammar = Grammar(part(3), OF_GENOMES)
    chosen = {"threads": 3, "schedule": "stepwise", "widths": (4, 8), "flags": ("-O2", "-funroll-loops"), "lanes": 2}
    for seed in range(20):
        plan = PlanChoices().changed(**chosen).with_loop("89ab", LoopChoices(block=64, tile=seed))
        genome = genome_of(plan_graph(random_program(seed)[0], Choices(plan=plan)))
        assert grammar.accepts("genome", genome), genome
        assert not grammar.accepts("genome", genome.replace("/F=", "/X="))
        assert not grammar.accepts("genome", genome.replace("C=A", "C=B"))


def test_the_reserved_words_are_listed():
    listed = re.search(r"^Reserved words: (.*?)\.$", PAGE, re.MULTILINE | re.DOTALL)[1]
    assert listed.split() == sorted(KEYWORDS)


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
    listed = re.search(r"storage_type = (.*)", GRAMMAR)[1]
    assert set(re.findall(r"\w+", listed)) - {"or"} == set(BY_NAME)
