"""Graphs that somebody wrote: read, verified, and refused in our words whatever the text is."""

import random

import pytest

from tests.graph.gathered import gather
from workbench.errors import GraphError, StencilError
from workbench.graph.from_text import graph_from_text, is_graph_text

LINE = """graph ends
axis x grid n
static u field : f64 local
kernel step
  %0 = load u : f64 local
  %1 = store u %0
"""


def test_a_graph_comes_back():
    assert graph_from_text(str(gather())) == gather()
    assert graph_from_text(LINE).kernels[0].stores() == (("u", 0),)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("load u", "lead u", "line 5: unknown instruction lead"),
        ("%1 = store u %0", "%1 = store u %7", "node %1: operand %7 does not stand above"),
        ("load u : f64", "load u : f32", "node %0: u is f64 of rank 1, the node differs"),
        ("static u field", "static w field", "node %0: "),
        ("axis x grid n\n", "", "no axis"),
        ("kernel step", "kernel step again", "line 4: the end of the line expected, found again"),
        ("graph ends", "graph ends here", "line 1: the end of the line expected, found here"),
        ("axis x grid n", "axis x grid n n", "line 2: the end of the line expected, found n"),
        ("store u %0", "store %0", "line 6: a name expected, found %0"),
        ("store u", "store v", "node %1: "),
        ("kernel step\n  %0 = load u : f64 local\n  %1 = store u %0\n", "", "ends has no kernel"),
        ("load u : f64 local", "load u : f32 local  # at 70:2-3", "line 5: kernel step, node %0: u is f64"),
    ],
)
def test_what_is_wrong_is_named(old, new, error):
    with pytest.raises(GraphError) as caught:
        graph_from_text(LINE.replace(old, new))
    assert error in str(caught.value)
    assert caught.value.advice


def test_a_loop_that_is_wrong_is_named_by_its_line_of_the_text():
    with pytest.raises(GraphError, match=r"^line 7: the loop before step runs 'turn', which is not a kernel"):
        graph_from_text(f"{LINE}while step turn turn going 3 at 70:2-3\n")


def test_places_in_the_cell_are_kept():
    text = LINE.replace("load u : f64 local", "load u : f64 local  # at 70:2-3")
    assert str(graph_from_text(text)) == text


def test_damaged_texts_are_refused_in_our_words():
    draw, text, refused = random.Random(20261123), str(gather()), 0
    words = sorted(set(text.split()))
    for _ in range(400):
        lines = text.splitlines()
        number = draw.randrange(len(lines))
        parts = lines[number].split(" ")
        parts[draw.randrange(len(parts))] = draw.choice([*words, "", "-1", "%99", "(", '"', "9" * 30])
        lines[number] = " ".join(parts)
        try:
            graph_from_text("\n".join(lines))
        except StencilError:
            refused += 1
    assert refused > 200


@pytest.mark.parametrize(
    ("text", "is_one"),
    [(LINE, True), ("\n\n  graph g\n", True), ("graph = field('graph')\n", False), ("", False), ("u = field()", False)],
)
def test_cells_and_graphs_are_told_apart(text, is_one):
    assert is_graph_text(text) == is_one
