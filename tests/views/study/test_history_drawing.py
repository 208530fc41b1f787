"""Pictures of a history: every individual is there, the family tree is joined, and a mix is a line."""

from dataclasses import replace

import pytest

from workbench.amounts import COLUMNS
from workbench.errors import TuningError
from workbench.tuning.history import Member, history_of
from workbench.tuning.history_births import MixRuns
from workbench.views.drawing.shapes import Disc, Label, Line, to_png, to_svg
from workbench.views.study.history_drawing import draw_high_scores, draw_history, draw_mixes

MEMBERS = [
    Member(1, "start", (), 1e6, 1e5),
    Member(2, "random", (), 0.0, 0.0),
    Member(3, "mutation", (1,), 2e6, 1e5),
    Member(4, "crossover", (3, 1), 3e6, 1e5),
    Member(5, "mutation", (4,), 1.5e6, 1e5),
]
FOUND = history_of(MEMBERS, "hand")


def test_family_of_the_best_is_joined_and_the_others_are_dots():
    drawing = draw_history(FOUND)
    dots = [shape for shape in drawing.shapes if isinstance(shape, Disc) and shape.radius < 5]
    assert len(dots) == 2  # 2 and 5
    joined = [shape for shape in drawing.shapes if isinstance(shape, Line) and shape.colour == "#8a949f"]
    assert len(joined) == 3  # 3 to 1, 4 to 3 and to 1
    crosses = [shape for shape in drawing.shapes if isinstance(shape, Line) and shape.width == 1.8]
    assert len(crosses) == 2 * 3
    assert [s.centre for s in drawing.shapes if isinstance(s, Disc) and s.radius == 5]
    words = {shape.text for shape in drawing.shapes if isinstance(shape, Label)}
    assert {"mutation", "crossover", "unbred", "individual", "Mcells/s"} <= words
    assert "triangulation" not in words


def test_enlarged_view_has_bars_and_what_lies_in_it():
    drawing = draw_history(FOUND, 3, 4, errors=True)
    heights = [shape.points[0][1] - shape.points[1][1] for shape in drawing.shapes if isinstance(shape, Line)]
    assert sum(height > 1 for height in heights) >= 2
    assert "3 to 4" in drawing.title
    inside = [point for shape in drawing.shapes if isinstance(shape, Line) for point in shape.points]
    assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in inside)


def test_history_is_a_picture_in_a_notebook_and_words_elsewhere():
    assert str(FOUND).startswith("history of hand: 5 individuals, 2 by mutation, 1 by crossover")
    assert "number 4" in str(FOUND)
    assert max(map(len, str(replace(FOUND, program="a program of a long name")).splitlines())) <= COLUMNS
    bundle = draw_history(FOUND)._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith('<svg class="swb-drawing" ')


@pytest.mark.parametrize("members", [MEMBERS[:1], MEMBERS[1:2], [Member(n, "random", (), 0.0, 0.0) for n in (1, 2)]])
def test_any_history_can_be_drawn(members):
    plain = [Member(n, one.birth, (), one.mean, one.sigma) for n, one in enumerate(members, start=1)]
    found = history_of(plain, "edge")
    for errors in (False, True):
        drawing = draw_history(found, errors=errors)
        assert "nan" not in to_svg(drawing)
        assert to_png(drawing).startswith(b"\x89PNG")


def test_each_mix_has_its_seeds_and_their_mean():
    mixes = (MixRuns("a", ((0.1, 0.5, 1.0), (0.3, 0.3, 0.4))), MixRuns("b", ((0.2, 0.2, 0.2), (0.4, 0.8, 0.9))))
    assert mixes[0].mean == pytest.approx((0.2, 0.4, 0.7))
    drawing = draw_mixes(mixes)
    lines = [shape for shape in drawing.shapes if isinstance(shape, Line)]
    assert sum(line.width == 3.0 for line in lines) == 2
    assert sum(line.width == 0.7 for line in lines) == 4
    inside = [point for line in lines for point in line.points]
    assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in inside)


def test_high_scores_of_studies_are_beside_that_of_their_first():
    slow = history_of([Member(1, "random", (), 0.0, 0.0), Member(2, "random", (), 5e5, 0.0)], "slow")
    failed = history_of([Member(1, "random", (), 0.0, 0.0)], "failed")
    drawing = draw_high_scores({"hand": FOUND, "slow": slow, "failed": failed})
    first, second = (s.points for s in drawing.shapes if isinstance(s, Line) and s.width == 2.0)
    assert [y for _, y in first] == sorted((y for _, y in first), reverse=True)
    assert len(first) == 1 + 2 * 3  # 1, 3, 4 and the end
    assert second[0][1] == first[0][1]  # both begin with 1
    assert {"hand", "slow", "failed"} <= {s.text for s in drawing.shapes if isinstance(s, Label)}
    assert "nan" not in to_svg(drawing)
    with pytest.raises(TuningError, match="no history"):
        draw_high_scores({})
