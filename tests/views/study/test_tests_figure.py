"""The figure of a tuning's tests: one column a test, one row a variable, failures as gaps."""

from pathlib import Path

import pytest

from workbench.tuning.configuration import parse_configuration
from workbench.tuning.general import Trial, Tuned
from workbench.tuning.importance import importance
from workbench.tuning.independence import Optimum
from workbench.views.drawing.shapes import Label, Line, Polygon, to_png, to_svg
from workbench.views.study.tests_figure import draw_tests, summarise_tests


def tuned(scores, values="A = 1, 2\nB = x, y"):
    text = f"[variables]\nvariables = A, B\n[values]\n{values}\n[testing]\nevaluation = true\n"
    setting = parse_configuration(text, Path())
    tests = [
        Trial(at, valuation, () if score is None else (score,), score, "compile" if score is None else "success")
        for at, (valuation, score) in enumerate(scores.items(), start=1)
    ]
    passed = {valuation: score for valuation, score in scores.items() if score is not None}
    best = min(passed, key=passed.get, default=None)
    return Tuned(setting, tuple(tests), None if best is None else Optimum(best, passed[best]), 4)


SCORES = {("1", "x"): 4.0, ("1", "y"): 2.0, ("2", "x"): 8.0, ("2", "y"): None}


def test_summary_knows_the_best_and_what_matters():
    summary = summarise_tests(tuned(SCORES), "small")
    assert summary.best == 2
    assert summary.shares["A"] > 0.3 < summary.shares["B"]


def test_every_test_has_its_bar_and_its_failure():
    drawing = draw_tests(summarise_tests(tuned(SCORES), "small"))
    bars = [shape for shape in drawing.shapes if isinstance(shape, Polygon) and shape.fill in ("#a9cbe8", "#f0a830")]
    heights = [max(y for _, y in bar.points) - min(y for _, y in bar.points) for bar in bars]
    tall = [height for height in heights if height > 6]  # the others are marks of values
    assert tall[1] / tall[0] == pytest.approx(0.5)
    assert tall[2] / tall[0] == pytest.approx(2.0)
    assert sum(isinstance(s, Polygon) and s.fill == "#c0392b" for s in drawing.shapes) == 1
    words = [shape.text for shape in drawing.shapes if isinstance(shape, Label)]
    assert {"x", "y", "1", "2", "score", "test"} <= set(words)


def test_scores_far_apart_have_a_logarithmic_axis():
    summary = summarise_tests(tuned({("1", "x"): 1e-3, ("1", "y"): 1.0}), "wide")
    words = [shape.text for shape in draw_tests(summary).shapes if isinstance(shape, Label)]
    assert "score (logarithmic)" in words


@pytest.mark.parametrize("scores", [{}, dict.fromkeys(SCORES), {("1", "x"): 0.0}, {("1", "x"): -3.0, ("2", "x"): 5.0}])
def test_anything_can_be_drawn(scores):
    drawing = draw_tests(summarise_tests(tuned(scores), "edge"))
    assert "nan" not in to_svg(drawing)
    assert to_png(drawing).startswith(b"\x89PNG")
    inside = [point for shape in drawing.shapes if isinstance(shape, Line) for point in shape.points]
    assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in inside)


def test_many_values_share_lanes():
    values = "A = " + ", ".join(map(str, range(100))) + "\nB = x"
    drawing = draw_tests(summarise_tests(tuned({(str(n), "x"): n + 1.0 for n in range(100)}, values), "many"))
    assert drawing.height < 1000


def test_importance_of_an_additive_score_is_its_variance():
    tests = [((a, b), 10.0 * int(a) + int(b)) for a in "0123" for b in "0123"]
    shares = importance(("A", "B"), tests)
    assert shares["A"] == pytest.approx(100 / 101)
    assert shares["B"] == pytest.approx(1 / 101)


def test_importance_of_an_interaction_belongs_to_nobody():
    tests = [((a, b), float(int(a) ^ int(b))) for a in "01" for b in "01"]
    assert importance(("A", "B"), tests) == pytest.approx({"A": 0.0, "B": 0.0})


def test_importance_without_variance_is_nothing():
    assert importance(("A",), []) == importance(("A",), [(("1",), 2.0), (("2",), 2.0)]) == {"A": 0.0}
