"""The launch map: which pair it shows, what a cell says, and that a picture has all of it."""

from pathlib import Path

import pytest

from workbench.tuning.study import Study
from workbench.tuning.trials import Individual, Outcome
from workbench.views.drawing.shapes import Label, to_svg
from workbench.views.study.drawing import draw_study
from workbench.views.study.frame import BEST, FAILED
from workbench.views.study.launch_drawing import launch_shapes, launches_height
from workbench.views.study.launch_map import LaunchMap, launches_of_study
from workbench.views.study.summary import summarise_study

TUNABLES = ["flags", "grid", "block", "tile"]
VALUES = [["none", "-O2"], ["0", "66", "132"], ["32", "64", "128"], ["0", "8"]]


def study(points, tunables=TUNABLES, values=VALUES):
    """Individuals with these points and Gcells/s."""
    found = Study(
        Path("s"), {"program": "p", "backend": "cuda", "extents": [8], "tunables": tunables, "values": values}
    )
    for number, (point, score) in enumerate(points, start=1):
        outcome = Outcome("success", (8 / (1e9 * score),)) if score else Outcome("compile", tail="no")
        rate = 1e9 * score if score else None
        found._individuals.append(Individual(number, point, "{}", "", "sweep", "proposed", (), outcome, rate, 0, 0.0))
    return found


MANY = study([((0, 0, 2, 0), 1.0), ((0, 2, 2, 0), 3.0), ((1, 2, 2, 0), 4.0), ((0, 2, 0, 0), None), ((0, 0, 0, 1), 2.0)])


def test_cells_have_the_best_of_each_pair_that_was_tried():
    shown = launches_of_study(MANY)
    assert (shown.across, shown.columns) == ("grid", ("0", "132"))
    assert (shown.upwards, shown.rows) == ("block", ("32", "128"))
    cells = {(cell.across, cell.upwards): cell for cell in shown.cells}
    assert {place: (cell.tried, cell.failed, cell.number, cell.score) for place, cell in cells.items()} == {
        (0, 0): (1, 0, 5, pytest.approx(2.0)),
        (0, 1): (1, 0, 1, pytest.approx(1.0)),
        (1, 0): (1, 1, 0, 0.0),
        (1, 1): (2, 0, 3, pytest.approx(4.0)),
    }
    assert shown.best == cells[1, 1]
    assert cells[1, 0].colour == ""
    assert len({cells[1, 1].colour, cells[0, 0].colour}) == 2
    assert shown.text() == "launches: best with grid 132, block 128; 4 of 4 pairs tried"


def test_of_a_pair_of_which_one_is_fixed_there_is_a_row():
    shown = launches_of_study(study([((0,), 1.0), ((1,), 2.0)], ["tile"], [["0", "8"]]))
    assert (shown.across, shown.columns, shown.upwards, shown.rows) == ("tile", ("0", "8"), "", ("",))
    assert shown.text() == "launches: best with tile 8, of 2 that were tried"


@pytest.mark.parametrize(
    "points", [[], [((0, 0, 0, 0), 1.0)], [((0, 0, 0, 0), 1.0), ((1, 0, 0, 0), 2.0)]], ids=["none", "one", "other"]
)
def test_without_another_launch_there_is_no_map(points):
    shown = launches_of_study(study(points))
    assert shown == LaunchMap()
    assert (shown.text(), launch_shapes(shown, 700, 0), launches_height(shown)) == ("", [], 0)


def test_where_all_failed_no_launch_is_best():
    shown = launches_of_study(study([((0, 0, 0, 0), None), ((0, 1, 0, 0), None)]))
    assert (shown.best, shown.text(), len(shown.cells)) == (None, "", 2)
    assert sum(shape.fill == FAILED for shape in launch_shapes(shown, 700, 0) if hasattr(shape, "fill")) == 2


def test_picture_has_every_cell_with_its_score_and_names_both_axes():
    summary = summarise_study(MANY)
    drawing = draw_study(summary)
    words = [shape.text for shape in drawing.shapes if isinstance(shape, Label)]
    assert {"grid", "block", "132", "128", "4", "3", "2", "1 failure"} <= set(words)
    assert sum(getattr(shape, "fill", "") == BEST for shape in drawing.shapes) >= 2  # the individual and its launch
    points = [point for shape in drawing.shapes for point in getattr(shape, "points", ())]
    assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in points)
    assert "nan" not in to_svg(drawing)
    assert "launches: best with grid 132" in summary.text()
