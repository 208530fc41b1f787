"""Names of a drawn graph: readable at every scale, none cut at the border, none over another."""

import itertools
from functools import cache

import pytest

from tests.programs import hello, wave
from workbench.machine import trace
from workbench.solvers import hydro
from workbench.views.drawing.shapes import Label, text_width
from workbench.views.graph.drawing import draw_graph
from workbench.views.graph.label_places import SCALES, lettered, letterings, mark_size, overlap, symbol_mark
from workbench.views.graph.layout import LETTER, LONGEST_NAME, default_folds, drawn_title, lay_out_graph, shortened
from workbench.views.graph.summary import summarise_graph

HIGHEST = 520  # pixels of the live figure
GRAPHS = ("table 3", "wave", "hydro 2-D", "hydro 3-D", "hydro 2-D, open")


@cache
def drawn(name):
    if name.startswith("hydro"):
        machine = hydro.machine(dim=int(name[6]))
    else:
        machine = trace((hello if name == "table 3" else wave).TEXT, name="m")
    summary = summarise_graph(machine.plan(), (64,) * machine.graph.dim)
    return summary, lay_out_graph(summary, () if "open" in name else default_folds(summary))


def at_first(layout, width, height=HIGHEST):
    """Scale of the frame that a page shows at first, and the frame in the pixels of that scale."""
    left, top, right, bottom = layout.frame
    scale = (width / (right - left), min(height, bottom - top) / (bottom - top))
    return scale, (left * scale[0], top * scale[1], right * scale[0], bottom * scale[1])


def shown(summary, layout, scale):
    """As the page chooses."""
    fitting = [each for each in letterings(summary, layout) if each.scale[0] <= scale[0] and each.scale[1] <= scale[1]]
    return fitting[-1].words if fitting else ()


@pytest.mark.parametrize("width", [310, 440, 700, 1340])
@pytest.mark.parametrize("name", GRAPHS)
def test_no_name_that_is_shown_covers_another_or_leaves_the_frame(name, width):
    summary, layout = drawn(name)
    scale, frame = at_first(layout, width)
    boxes = [word.box(scale) for word in shown(summary, layout, scale)]
    for one, other in itertools.combinations(boxes, 2):
        assert not overlap(one, other)
    for left, top, right, bottom in boxes:
        assert frame[0] <= left
        assert frame[1] <= top
        assert right <= frame[2]
        assert bottom <= frame[3]


@pytest.mark.parametrize("name", ["hydro 2-D", "hydro 3-D"])
def test_folded_sub_kernels_and_state_have_names_on_a_wide_page(name):
    summary, layout = drawn(name)
    scale, _ = at_first(layout, 1340)
    texts = [word.text for word in shown(summary, layout, scale)]
    for group in range(len(summary.groups)):
        assert any(text.startswith(f"{group + 1}: ") for text in texts)
    for state in ("density", "energy", "momentum0"):
        assert any(text.startswith(state[:4]) for text in texts)


@pytest.mark.parametrize(("name", "state"), [("hydro 2-D", 4), ("hydro 3-D", 5)])
def test_state_keeps_its_names_on_a_narrow_page(name, state):
    summary, layout = drawn(name)
    scale, _ = at_first(layout, 310)
    words = shown(summary, layout, scale)
    whole = [word.text for word in words if word.text in ("density", "energy", "momentum0", "momentum1", "momentum2")]
    assert len(whole) >= state - 1


@pytest.mark.parametrize("width", [310, 440, 700, 1340])
def test_short_names_of_fields_stand_above_marks_that_are_too_small_for_them(width):
    summary, layout = drawn("wave")
    scale, _ = at_first(layout, width)
    words = {word.text for word in shown(summary, layout, scale)}
    inside = {node.symbol for node in summary.nodes if mark_size(scale) >= symbol_mark(node.symbol)}
    assert {"u", "v"} <= words | inside


@pytest.mark.parametrize(
    ("name", "width", "nameless"),
    [("hydro 2-D", 310, 1), ("hydro 2-D", 440, 1), ("hydro 2-D", 600, 0), ("hydro 3-D", 310, 1)],
)
def test_folded_sub_kernels_have_names_beside_them_on_a_narrow_page(name, width, nameless):
    summary, layout = drawn(name)
    scale, _ = at_first(layout, width)
    texts = [word.text for word in shown(summary, layout, scale)]
    named = [n for n in range(1, len(summary.groups) + 1) if any(text.startswith(f"{n}: ") for text in texts)]
    assert len(named) == len(summary.groups) - nameless


@pytest.mark.parametrize("name", ["table 3", "wave", "hydro 2-D"])
def test_names_appear_where_there_is_room(name):
    summary, layout = drawn(name)
    near = {word.text for word in lettered(summary, layout, (1.0, 1.0))}
    named = [summary.nodes[n] for n, _, _ in layout.places if drawn_title(summary.nodes[n])]
    assert named
    for node in named:
        assert shortened(drawn_title(node), LONGEST_NAME) in near
    counts = [len(lettered(summary, layout, (scale, scale))) for scale in SCALES]
    assert counts[0] < counts[-1]


def test_names_keep_off_marks():
    summary, layout = drawn("wave")
    for scale in SCALES:
        radius = mark_size((scale, scale)) / 2
        for word in lettered(summary, layout, (scale, scale)):
            box = word.box((scale, scale))
            for _, x, y in layout.places:
                mark = (x * scale - radius, y * scale - radius, x * scale + radius, y * scale + radius)
                assert not overlap(box, mark)


@pytest.mark.parametrize("name", GRAPHS)
def test_words_of_the_picture_lie_inside_and_apart(name):
    picture = draw_graph(*drawn(name))
    boxes = []
    for label in (shape for shape in picture.shapes if isinstance(shape, Label)):
        width = text_width(label.text, label.size)
        left = label.at[0] - {"left": 0.0, "centre": width / 2, "right": width}[label.align]
        boxes.append((left, label.at[1] - 6, left + width, label.at[1] + 6))
        assert left >= 0
        assert left + width <= picture.width
        assert label.at[1] - 6 >= 0
        assert label.at[1] + 6 <= picture.height
    assert not any(overlap(one, other) for one, other in itertools.combinations(boxes, 2))


def test_letters_of_the_picture_are_no_wider_than_was_laid_out():
    assert text_width("m" * 10, 12.5) <= 10 * LETTER


def test_long_names_end_with_an_ellipsis():
    assert shortened("reconstruction", 8) == "reconst…"
    assert shortened("energy", 8) == "energy"
