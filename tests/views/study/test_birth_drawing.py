"""Pictures of births and of workers: each gene has the colour of the parent it is from, each bar lasts what it took."""

import pytest

from workbench.errors import TuningError
from workbench.tuning.trials import Individual, Outcome
from workbench.views.drawing.shapes import Label, Polygon, to_svg
from workbench.views.study.birth_drawing import draw_births
from workbench.views.study.frame import BEST, FAILED, GRID
from workbench.views.study.worker_drawing import Stay, draw_workers, stays_of

BLUE, GREEN, PINK = "#1a6fb5", "#2c8c5a", "#b0458c"


def individual(number, point, birth="start", parents=(), score=1e6):
    return Individual(number, point, "{}", "", "paraiso", birth, parents, Outcome("success", (1.0,)), score, 0, 0.0)


FAMILY = [
    individual(1, (0, 0, 0, 0, 0, 0)),
    individual(2, (0, 1, 0, 2, 0, 0), "mutation", (1,), 2e6),
    individual(3, (0, 0, 0, 0, 3, 3), "rule", (1,), 9e6),
    individual(4, (0, 1, 0, 2, 3, 3), "crossover", (2, 3), 3e6),
    individual(5, (0, 0, 0, 2, 3, 1), "triangulation", (4, 2, 1), 4e6),
    individual(6, (0, 0, 0, 2, 3, 1), "mutation", (5,), 8e6),  # nothing has changed
]


def strips(drawing):
    """The colours of each strip, gene by gene, of six genes."""
    rows = {}
    for shape in drawing.shapes:
        if isinstance(shape, Polygon):
            (left, top), right = shape.points[0], shape.points[1][0]
            rows.setdefault(top, []).extend([shape.fill] * round((right - left) / ((760 - 226) / 6)))
    return [rows[top] for top in sorted(rows)]


def test_genes_have_the_colour_of_their_parent():
    drawing = draw_births(FAMILY)
    assert strips(drawing) == [
        [GRID, BLUE, GRID, BLUE, GRID, GRID],  # 1, of which 2 was made
        [GRID, BEST, GRID, BEST, GRID, GRID],
        [GRID, BLUE, GRID, BLUE, BLUE, BLUE],  # 2 and 3, of which 4 was made
        [GRID, GREEN, GRID, GREEN, GREEN, GREEN],
        [GRID, BLUE, GRID, BLUE, GREEN, GREEN],
        [GRID, BLUE, GRID, BLUE, BLUE, BLUE],  # 4, 2 and 1, of which 5 was made
        [GRID, GREEN, GRID, GREEN, GREEN, GREEN],
        [GRID, PINK, GRID, PINK, PINK, PINK],
        [GRID, PINK, GRID, BLUE, BLUE, BEST],
    ]
    words = [shape.text for shape in drawing.shapes if isinstance(shape, Label)]
    assert words[0] == "mutation: 6 genes, 2 not equal in all, 2 new in the child"
    assert "Base, 1: 1 Mcells/s" in words
    assert "nan" not in to_svg(drawing)


def test_children_are_named_or_the_best_of_their_kind():
    assert draw_births(FAMILY).title == (
        "Births: individual 2 by mutation, individual 4 by crossover, individual 5 by triangulation"
    )
    assert draw_births(FAMILY, [3]).title == "Births: individual 3 by mutation"
    assert (
        draw_births(FAMILY[:1] + FAMILY[2:3]).title == "Births: individual 3 by mutation"
    )  # a rule, if there is no other


@pytest.mark.parametrize(
    ("count", "numbers", "text"), [(1, (), "has parents"), (6, (1,), "individual 1"), (6, (7,), "7")]
)
def test_who_has_no_parents_is_refused(count, numbers, text):
    with pytest.raises(TuningError, match=text):
        draw_births(FAMILY[:count], numbers)


def spent(number, told, build, run, score=1e6, same_as=0):
    outcome = Outcome("success" if score else "runtime", (1.0,) if score else (), "", build, run)
    return Individual(number, (number,), "{}", "", "paraiso", "mutation", (), outcome, score, same_as, told)


BUSY = [
    spent(1, 103.0, 2.0, 1.0),
    spent(2, 104.0, 3.0, 0.5),
    spent(3, 104.0, 0.0, 0.0, same_as=1),
    spent(4, 109.0, 5.0, 1.0, None),
]


def test_workers_are_who_is_free():
    assert stays_of(BUSY) == (
        Stay(1, 0, 0.0, 2.0, 3.0, False),
        Stay(2, 1, 0.5, 3.5, 4.0, False),
        Stay(4, 0, 3.0, 8.0, 9.0, True),
    )


def test_every_individual_that_was_built_has_its_bars():
    drawing = draw_workers(BUSY)
    assert drawing.title == "3 individuals by 2 workers"
    bars = [shape for shape in drawing.shapes if isinstance(shape, Polygon)][3:]  # behind those of the legend
    assert len(bars) == 2 * 3
    widths = [bar.points[1][0] - bar.points[0][0] for bar in bars]
    assert [width / widths[0] * 2 for width in widths] == pytest.approx([2.0, 1.0, 3.0, 0.5, 5.0, 1.0])
    assert sum(bar.fill == FAILED for bar in bars) == 2
    assert {"1", "2", "4", "worker 2", "seconds"} <= {s.text for s in drawing.shapes if isinstance(s, Label)}
    assert draw_workers(BUSY, 2, 2).title == "1 individual by 1 worker"


def test_where_nobody_was_built_there_is_no_picture():
    with pytest.raises(TuningError, match="none of these"):
        draw_workers([BUSY[2]])
