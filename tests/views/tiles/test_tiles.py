"""Tiles: pieces fill space and time once, respect every dependence, and are drawn turn by turn."""

import re

import pytest
from bokeh.models import Line as BokehLine
from bokeh.models import NoOverlap, Plot

from workbench.errors import RunError
from workbench.machine import trace
from workbench.planning.schedules.shapes import uses_of
from workbench.views.drawing.shapes import to_png, to_svg
from workbench.views.tiles.cones import draw_cones, summarise_cones
from workbench.views.tiles.drawing import draw_tiles
from workbench.views.tiles.figure import TilesFigure
from workbench.views.tiles.summary import describe_tiles, summarise_tiles
from workbench.views.tiles.towers import levels_done
from workbench.views.tiles.view import open_tiles_view

HEAT = 'u = field("u", boundary=constant(0.0))\nu.next = u + 0.1 * laplacian(u, 1.0, {order})\n'
RING = 'u = field("u", boundary="periodic")\nh = extend(0.5 * (u[-1] + u[+1]), "periodic")\nu.next = h[+1] + u\n'


def planned(text=HEAT, dim=2, schedule="diamond", order=2):
    return trace(text.format(order=order), dim, name="heat").with_choices(schedule=schedule).plan("openmp")


@pytest.mark.parametrize("schedule", ["diamond", "stepwise"])
@pytest.mark.parametrize(("text", "dim", "order"), [(HEAT, 2, 2), (HEAT, 3, 4), (RING, 1, 2)], ids=str)
def test_each_cell_of_each_level_is_done_once_after_all_that_it_needs(schedule, text, dim, order):
    plan = planned(text, dim, schedule, order)
    summary = summarise_tiles(plan, rows=60, steps=9, height=3, threads=3)
    turn_of = {}
    for piece in summary.pieces:
        for row in range(piece.first, piece.last):
            assert (piece.level, row) not in turn_of
            turn_of[piece.level, row] = piece.turn
    assert len(turn_of) == summary.rows * summary.levels
    tiling = plan.main.tiling
    axis = tiling.roles.index("diamond") if tiling else 0
    uses = uses_of(plan.main)
    for (level, row), turn in turn_of.items():
        for use in uses[level % len(uses)]:
            source = row + use.offset[axis]
            source = source % 60 if text == RING else source
            if use.back > 0 and (level - use.back, source) in turn_of:
                assert turn_of[level - use.back, source] < turn


def test_a_thread_does_one_level_of_one_tile_at_a_turn():
    summary = summarise_tiles(planned(), rows=64, steps=16, height=4, threads=4)
    at_a_time = {}
    for piece in summary.pieces:
        at_a_time.setdefault((piece.turn, piece.thread), set()).add((piece.band, piece.tile, piece.level))
    assert {len(each) for each in at_a_time.values()} == {1}
    assert {piece.thread for piece in summary.pieces} == {0, 1, 2, 3}
    assert summary.done(summary.turns) == summary.pieces


def in_towers(boundary='"periodic"', **choices):
    """The paper's wave, planned in towers."""
    text = f"""u, w = fields("u w", dtype="f32", boundary={boundary})
u.next, w.next = 2 * u - w + 0.1 * laplacian(u, 1.0), u
"""
    machine = trace(text, 3, name="wave").with_choices(schedule="diamondtorre", diamond_size=2, **choices)
    return machine.plan("cuda-sim")


@pytest.mark.parametrize("boundary", ['"periodic"', "constant(0.0)"])
def test_towers_do_each_cell_of_each_step_once_after_all_that_it_needs(boundary):
    plan = in_towers(boundary)
    summary = summarise_tiles(plan, rows=20, columns=14, steps=6)
    plane, turn_of = summary.plane, {}
    for run in plane.runs:
        for row in range(run.first, run.last):
            assert (run.level, row, run.column) not in turn_of
            turn_of[run.level, row, run.column] = run.turn
    assert len(turn_of) == 20 * 14 * 6
    assert set(summary.pieces) == {run for run in plane.runs if run.column == plane.shown}
    (uses,) = uses_of(plan.main)
    for (level, x, y), turn in turn_of.items():
        for use in uses:
            source = (level - use.back, (x + use.offset[0]) % 20, (y + use.offset[1]) % 14)
            inside = "periodic" in boundary or (0 <= x + use.offset[0] < 20 and 0 <= y + use.offset[1] < 14)
            if inside and source in turn_of:
                assert turn_of[source] < turn
    for turn in range(0, summary.turns, 7):
        done = levels_done(summary, turn)
        assert done.sum() == sum(of < turn for of in turn_of.values())


def test_a_view_of_towers_shows_the_plane_and_a_section():
    view = open_tiles_view(in_towers(), rows=20, columns=12, steps=6)
    whole = view.svg
    view.show(9)
    assert "towers in" in str(view)
    assert "; stage " in str(view)
    assert view.svg != whole
    assert {"x", "y", "step", "x, at y = 6"} <= set(re.findall(r">([^<>]+)</text>", view.svg))
    assert view.png.startswith(b"\x89PNG")
    view.close()


def test_figures_have_room_on_a_narrow_page_and_a_section_that_is_seen():
    """Numbers that would overlap are left out, titles are short; white under dark dashes is seen on every grey."""
    view = open_tiles_view(in_towers(), rows=20, columns=12, steps=6)
    drawn = TilesFigure(view)
    plots = list(drawn._pane._root.select({"type": Plot}))
    assert len(plots) == 3
    for plot in plots:
        assert all(isinstance(axis.major_label_policy, NoOverlap) for axis in plot.xaxis)
        assert all(len(line) <= 16 for line in plot.title.text.split("\n"))
    lines = [each.glyph for plot in plots for each in plot.renderers if isinstance(each.glyph, BokehLine)]
    assert [(line.line_color, line.line_width, line.line_dash) for line in lines] == [
        ("#ffffff", 3.0, []), ("#1c2430", 1.5, [6])
    ]  # fmt: skip
    drawn.close()
    view.close()


@pytest.mark.parametrize("wrong", [{"columns": 4}, {"columns": 13}, {"steps": 1}])
def test_towers_without_room_are_refused(wrong):
    with pytest.raises(RunError, match=r"no room for towers of \d+ steps, diamonds of 8 cells\nUse more rows"):
        summarise_tiles(in_towers(), **{"rows": 20, "steps": 6} | wrong)


def test_words_and_pictures_follow_the_turns():
    summary = summarise_tiles(planned(), rows=40, steps=8, height=4, threads=2)
    assert "turn 3: " in describe_tiles(summary, 3)
    assert "thread 1: level" in describe_tiles(summary, 3)
    pictures = {to_svg(draw_tiles(summary, turn)) for turn in range(summary.turns + 1)}
    assert len(pictures) == summary.turns + 1
    assert to_png(draw_tiles(summary)).startswith(b"\x89PNG")


def test_cones_of_a_star_are_diamonds_that_grow_by_its_reach():
    found = summarise_cones(planned(HEAT, 2, "diamond", 4), levels=3)
    for k, cells in enumerate(found.past, 1):
        assert {max(abs(x), abs(y)) for x, y in cells} == set(range(2 * k + 1))
        assert max(abs(x) + abs(y) for x, y in cells) == 2 * k
        assert {(-x, -y) for x, y in cells} == found.future[k - 1]
    assert found.widest == (6, 6)
    assert to_svg(draw_cones(found)).count("<circle") > 50


def test_a_wind_from_one_side_has_a_cone_to_one_side():
    upwind = 'q = field("q", boundary="periodic")\nq.next = q - 0.5 * (q - q[-1])\n'
    found = summarise_cones(planned(upwind, 1), levels=4)
    assert found.past[3] == {(-c,) for c in range(5)}
    assert found.future[3] == {(c,) for c in range(5)}


@pytest.mark.parametrize(
    "wrong",
    [{"rows": 0}, {"columns": 129}, {"height": 0}, {"rows": 10_000}, {"steps": True}, {"threads": 0}, {"rows": "8"}],
)
def test_what_cannot_be_drawn_is_refused(wrong):
    with pytest.raises(RunError, match="cannot be drawn\nUse a whole number"):
        summarise_tiles(planned(), **wrong)


def test_a_view_moves_plays_and_closes():
    view = open_tiles_view(planned(), rows=40, steps=6, height=3, threads=2)
    assert view.turn == view.summary.turns
    view.show(2)
    assert "turn 2: " in str(view)
    assert view.svg != to_svg(draw_tiles(view.summary))
    view.show(10**6)
    assert view.turn == view.summary.turns
    with pytest.raises(RunError, match="no whole number"):
        view.show(1.5)
    view.play()
    view.pause()
    assert not view.playing
    assert "image/png" in view._repr_mimebundle_() or "text/html" in view._repr_mimebundle_()
    view.close()
    view.close()
    assert "closed" in view._repr_mimebundle_()["text/plain"]
