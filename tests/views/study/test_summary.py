"""What a study's view says: of individuals, and of the tests of a general tuning."""

from dataclasses import replace
from pathlib import Path

import pytest
from bokeh.models import Plot

from workbench.errors import TuningError
from workbench.planning.choices import Choices
from workbench.planning.exchange import to_json
from workbench.tuning.configuration import parse_configuration
from workbench.tuning.general_study import begin_general_study
from workbench.tuning.log import Log
from workbench.tuning.study import Study
from workbench.tuning.trials import Individual, Outcome
from workbench.views.drawing.shapes import Label, Line, to_svg
from workbench.views.study.drawing import draw_study, score_range
from workbench.views.study.figure import StudyFigure
from workbench.views.study.general_summary import summarise_general
from workbench.views.study.summary import summarise_study


def individual(number, score, changes=""):
    outcome = Outcome("success", (1e-3, 2e-3)) if score else Outcome("timeout", tail="longer than its limit")
    return Individual(number, (number,), to_json(Choices()), changes, "paraiso", "mutation", (), outcome, score, 0, 0.0)


def test_hundreds_of_changes_are_told_in_few_words():
    study = Study(Path("s"), {"program": "p", "backend": "openmp", "extents": [100], "tunables": ["tile"]})
    many = ", ".join(f"storage of v{k} = delayed" for k in range(300))
    study._individuals = [individual(1, 1e5), individual(2, None), individual(3, 2e5, "tile = 2, threads = 1")]
    assert summarise_study(study).marks[2].changes == "tile = 2, threads = 1"
    study._individuals = [individual(1, 1e5, many)]
    changes = summarise_study(study).marks[0].changes
    assert changes.startswith("storage of v0 = delayed, ")
    assert changes.endswith("storage of v5 = delayed and 294 more")


def test_whom_a_study_waits_for_is_said():
    summary = summarise_study(Study(Path("s"), {"program": "p", "backend": "openmp", "extents": [100], "tunables": []}))
    assert "waits" not in summary.text()
    assert "waits while process 77 measures for another study" in replace(summary, waits_for=77).text().splitlines()


@pytest.mark.parametrize("usable", [True, False])
def test_titles_of_figures_are_whole_on_a_narrow_page(usable):
    summary = summarise_study(Study(Path("s"), {"program": "p", "backend": "openmp", "extents": [100], "tunables": []}))
    shown = StudyFigure(lambda: summary, picture=lambda: draw_study(summary), text=summary.text, usable=usable)
    titles = [plot.title.text for plot in shown._pane._root.select({"type": Plot}) if plot.title]
    assert len(titles) == 3 + usable  # births only where they are bred
    assert all(len(line) <= 32 for title in titles for line in title.split("\n"))
    shown.close()


def general(folder, evaluation, goal="min"):
    text = "[variables]\nvariables = {{A}, {B}}\n[values]\nA = 1, 2, 3\nB = 4, 5\n[testing]\n"
    setting = parse_configuration(f"{text}evaluation = {evaluation}\noptimal = {goal}\n", folder)
    return begin_general_study("g", setting).wait(60)


@pytest.mark.parametrize(("goal", "best"), [("min", "A = 1, B = 4"), ("max", "A = 3, B = 5")])
def test_line_of_a_general_tuning_goes_towards_its_goal(tmp_path, goal, best):
    summary = summarise_general(general(tmp_path, "echo $((10 * %A% + %B%))", goal))
    scores = [score for _, score in summary.line]
    assert scores == sorted(scores, reverse=goal == "min")
    assert summary.best.changes == best
    assert summary.text().splitlines()[0] == "tuning of g: done, 4 tests of 6 combinations"
    assert f": {best}" in summary.text()
    words = [shape.text for shape in draw_study(summary).shapes if isinstance(shape, Label)]
    assert {"test", "score"} <= set(words)


def test_negative_scores_and_failures_lie_in_the_picture(tmp_path):
    summary = summarise_general(general(tmp_path, "[ %A% != 2 ] && echo -%A%%B%"))
    low, high = score_range(summary)
    assert low <= -35
    assert high >= 0
    assert "failed: 1 runtime" in summary.text()
    assert "nan" not in to_svg(draw_study(summary))


def test_one_sample_far_off_leaves_the_scores_apart(tmp_path):
    summary = summarise_general(general(tmp_path, "echo %A%%B%"))
    best = max(mark.score for mark in summary.marks)
    odd = replace(summary, marks=(replace(summary.marks[0], high=50 * best), *summary.marks[1:]))
    assert score_range(odd)[1] <= 2.2 * best
    inside = [y for shape in draw_study(odd).shapes if isinstance(shape, Line) for _, y in shape.points]
    assert min(inside) >= 0


def test_tuning_in_which_nothing_passed_has_no_best(tmp_path):
    study = general(tmp_path, "false")
    assert study.optimum is None
    assert "nothing passed" in repr(study)
    summary = summarise_general(study)
    assert summary.best is None
    assert "best" not in summary.text()
    draw_study(summary)


def test_general_tuning_that_fails_says_why(tmp_path, monkeypatch):
    """The disk is full once the first test has passed."""
    real = Log.add

    def add(log, test):
        if test.number > 1:
            raise TuningError("the log cannot be written: the disk is full")
        real(log, test)

    monkeypatch.setattr(Log, "add", add)
    text = "[variables]\nvariables = A\n[values]\nA = 1, 2\n[testing]\nevaluation = echo %A%\nlog = l.csv"
    study = begin_general_study("g", parse_configuration(text, tmp_path))
    with pytest.raises(TuningError, match="the disk is full"):
        study.wait(60)
    for said in (repr(study), summarise_general(study).text()):
        assert "the log cannot be written: the disk is full" in said
        assert "best" in said
