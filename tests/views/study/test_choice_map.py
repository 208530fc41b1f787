"""The choice map: which rows are shown in which order, what a cell says, births and the family of the best."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from workbench.amounts import span_text
from workbench.tuning.configuration import parse_configuration
from workbench.tuning.general_study import begin_general_study
from workbench.tuning.importance import importance
from workbench.tuning.study import Study
from workbench.tuning.trials import Individual, Outcome
from workbench.views.drawing.shapes import Label, Polygon, to_svg
from workbench.views.study.choice_map import MOST_ROWS, Births, map_of_study
from workbench.views.study.drawing import draw_study
from workbench.views.study.general_summary import summarise_general
from workbench.views.study.launch_map import LaunchMap
from workbench.views.study.summary import summarise_study

ABOUT = {"program": "p", "backend": "openmp", "extents": [100], "tunables": ["tile", "threads", "fixed"]}
VALUES = [["8", "16", "32"], ["1", "2"], ["a", "b"]]


def individual(number, point, score, birth="mutation", parents=()):
    outcome = Outcome("success", (100 / score, 200 / score)) if score else Outcome("timeout", tail="too long")
    return Individual(number, point, "{}", "", "paraiso", birth, parents, outcome, score, 0, 0.0)


@pytest.fixture
def study():
    """The tile decides: 10, 20, 40; threads do next to nothing; one fails."""
    study = Study(Path("s"), {**ABOUT, "values": VALUES})
    study._individuals = [
        individual(1, (0, 0, 0), 10.0, "start"),
        individual(2, (1, 0, 0), 20.0, parents=(1,)),
        individual(3, (0, 1, 0), 10.1, parents=(1,)),
        individual(4, (2, 1, 0), None, "crossover", (2, 3)),
        individual(5, (2, 0, 0), 40.0, parents=(2,)),
        individual(6, (1, 1, 0), 20.1, "crossover", (2, 3)),
        individual(7, (2, 1, 0), 39.9, parents=(5,)),
        individual(8, (0, 0, 0), 10.0, "random"),
        individual(9, (2, 0, 0), 39.9, "random"),
    ]
    return study


def test_rows_that_matter_most_come_first_and_constant_ones_never(study):
    shown = map_of_study(study, 5)
    assert [row.name for row in shown.rows] == ["tile", "threads"]
    assert [row.start for row in shown.rows] == ["8", "1"]
    assert shown.rows[0].share > 0.99 > 0.01 > shown.rows[1].share
    assert shown.rows[0].label == "tile  100 %"
    assert shown.text().startswith("share of the scores' variance: tile 100 %")


def test_few_scores_have_no_shares(study):
    study._individuals = study.individuals[:4]  # one of which failed
    shown = map_of_study(study, 2)
    assert [(row.label, row.share) for row in shown.rows] == [("tile", None), ("threads", None)]
    assert "variance" not in shown.text()


def test_cells_are_what_differs_from_the_first(study):
    shown = map_of_study(study, 5)
    tiles = {cell.number: cell for cell in shown.cells if cell.row == 0}
    assert {number: cell.value for number, cell in tiles.items()} == {
        2: "16", 4: "32", 5: "32", 6: "16", 7: "32", 9: "32",
    }  # fmt: skip
    assert tiles[2].place == 0.5
    assert tiles[5].colour != tiles[2].colour
    assert {cell.number for cell in shown.cells if cell.row == 1} == {3, 4, 6, 7}


def test_births_are_counted_by_what_came_of_them(study):
    births = {one.kind: one for one in map_of_study(study, 5).births}
    assert births["mutation"] == Births("mutation", 2, 2, 0)
    assert births["crossover"] == Births("crossover", 0, 1, 1)
    assert births["start"] == Births("start", 1, 0, 0)
    assert "crossover 0 of 2" in map_of_study(study, 5).text()


def test_family_is_the_best_and_its_ancestors(study):
    assert map_of_study(study, 5).family == ((1, 2), (2, 5))
    assert set(map_of_study(study, 6).family) == {(1, 2), (1, 3), (2, 6), (3, 6)}
    assert map_of_study(study, None).family == ()


def test_values_without_names_are_numbers(study):
    del study.about["values"]
    assert map_of_study(study, 5).rows[0].values == ("0", "1", "2")


def test_many_rows_are_cut_and_long_names_stay_apart():
    names = [f"storage of step.multiply (value {k})" for k in range(40)]
    study = Study(Path("s"), {**ABOUT, "tunables": names, "values": [["no", "yes"]] * 40})
    generator = np.random.default_rng(1)
    points = [(0,) * 40, *(tuple(map(int, generator.integers(0, 2, 40))) for _ in range(30))]
    study._individuals = [individual(k + 1, point, 1.0 + 3 * point[7] + point[9]) for k, point in enumerate(points)]
    shown = map_of_study(study, 1)
    assert len(shown.rows) == MOST_ROWS
    assert shown.hidden == 40 - MOST_ROWS
    assert shown.rows[0].name == names[7]
    assert len({row.label for row in shown.rows}) == MOST_ROWS
    assert f"{shown.hidden} choices of less share not shown" in shown.text()


def test_rows_are_called_by_labels_where_a_study_has_them(study):
    study.about["labels"] = ["storage of u[+1, 0] - 2 * u + u[-1, 0] (line 3)", "threads", "fixed"]
    shown = map_of_study(study, 5)
    assert shown.rows[0].name == "tile"
    assert shown.rows[0].label == "u[+1, 0] - 2 *…, 0] (line 3)  100 %"
    assert shown.text().startswith(
        "share of the scores' variance: storage of u[+1, 0] - 2 * u + u[-1, 0] (line 3) 100 %"
    )


def test_shares_alone_where_there_are_more_terms_than_half_the_tests():
    """One fit of all would explain everything by anything."""
    generator = np.random.default_rng(2)
    points = [tuple(map(str, generator.integers(0, 2, 30))) for _ in range(31)]
    names = [f"n{k}" for k in range(30)]
    shares = importance(names, [(point, float(point[3] == "1")) for point in points])
    assert shares["n3"] == pytest.approx(1.0)
    assert max(share for name, share in shares.items() if name != "n3") < 0.5


def test_picture_has_a_bar_for_each_cell(study):
    summary = replace(summarise_study(study), launches=LaunchMap())
    drawing = draw_study(summary)
    assert (
        drawing.height > draw_study(replace(summary, chosen=map_of_study(Study(Path("s"), study.about), None))).height
    )
    words = [shape.text for shape in drawing.shapes if isinstance(shape, Label)]
    assert "tile, 100 % of variance" in words
    bars = [shape for shape in drawing.shapes if isinstance(shape, Polygon)]
    assert len(bars) == len(summary.chosen.cells) + len(summary.chosen.rows)
    assert "nan" not in to_svg(drawing)


def test_study_without_individuals_has_an_empty_map():
    summary = summarise_study(Study(Path("s"), {**ABOUT, "values": VALUES}))
    assert summary.chosen.rows == summary.chosen.cells == summary.chosen.births == ()
    draw_study(summary)


def test_general_tuning_has_a_map_too(tmp_path):
    text = "[variables]\nvariables = {{A}, {B}}\n[values]\nA = 1, 2, 3\nB = 4, 5\n[testing]\n"
    setting = parse_configuration(f"{text}evaluation = echo $((10 * %A% + %B%))\noptimal = min\n", tmp_path)
    summary = summarise_general(begin_general_study("g", setting).wait(60))
    assert {row.name for row in summary.chosen.rows} == {"A", "B"}
    assert summary.chosen.births == ()
    assert "share of the scores' variance: A" in summary.text()


@pytest.mark.parametrize(("seconds", "text"), [(0.2, "1 s"), (40, "40 s"), (720, "12 min"), (9000, "2.5 h")])
def test_time_left_in_words(seconds, text):
    assert span_text(seconds) == text
