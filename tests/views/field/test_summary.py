"""The summary of a field: orientation, levels, limits, cuts, thinning, words."""

import json
import math

import numpy as np
import pytest
from matplotlib import colormaps

import workbench as wb
from workbench.errors import FieldError
from workbench.run.snapshots import Snapshot, take_snapshot
from workbench.views.field.messages import frame_message, point_message
from workbench.views.field.palettes import DIVERGING, LEVELS, NAN_COLOUR, NOT_A_NUMBER, PALETTES, colour_table
from workbench.views.field.summary import LARGEST_SIDE, Clock, Look, plain_axes, quantise, summarise, thinner
from workbench.views.field.words import describe


def summary_of(values, look=None, **numbers):
    snapshot, clock = Snapshot("u", np.asarray(values), numbers, 7), Clock("t", "s") if "t" in numbers else None
    return summarise(snapshot, plain_axes(np.shape(values)), "m", look, clock=clock)


def test_first_axis_points_right_and_second_up():
    values = np.zeros((3, 2))
    values[2, 0] = 1.0  # x = 2, y = 0: the lower right corner
    summary = summary_of(values)
    assert summary.codes.tolist() == [[0, 0, 0], [0, 0, LEVELS - 1]]
    assert summary.value_at(2, 1) == 1.0
    assert (summary.across.name, summary.up.name) == ("x", "y")


def test_turned_picture_swaps_the_axes():
    values = np.arange(6.0).reshape(3, 2)
    turned = summary_of(values, Look(across=1, up=0))
    assert turned.values.tolist() == [[4, 5], [2, 3], [0, 1]]
    assert (turned.across.name, turned.up.name) == ("y", "x")


@pytest.mark.parametrize(("across", "up", "cut"), [(0, 1, 2), (0, 2, 1), (1, 2, 0)])
def test_slice_is_the_plane_cut_out_of_the_volume(across, up, cut):
    values = np.random.default_rng(1).random((5, 4, 3))
    summary = summary_of(values, Look(across=across, up=up, cuts={cut: 1}))
    assert np.array_equal(summary.values, np.take(values, 1, axis=cut).T[::-1])
    assert [(c.axis, c.index) for c in summary.cuts] == [(cut, 1)]


def test_cut_outside_the_domain_is_moved_to_its_border():
    summary = summary_of(np.zeros((4, 4, 3)), Look(cuts={2: 99}))
    assert summary.cuts[0].index == 2


def test_levels_span_the_limits_and_nan_has_its_own():
    codes = quantise(np.array([[-9.0, 0.0, 1.0, 2.0, 9.0, np.nan, np.inf, -np.inf]]), 0.0, 2.0)
    assert codes.tolist() == [[0, 0, 127, LEVELS - 1, LEVELS - 1, NOT_A_NUMBER, LEVELS - 1, 0]]


@pytest.mark.parametrize("low", [0.0, -3.5, 1e9])
def test_values_known_to_lie_inside_have_the_same_levels(low):
    values = low + np.random.default_rng(4).random((20, 30))
    limits = float(values.min()), float(values.max())
    assert np.array_equal(quantise(values, *limits, inside=True), quantise(values, *limits))


def test_one_value_everywhere_is_the_middle_colour():
    assert set(quantise(np.full((2, 2), 5.0), 5.0, 5.0).ravel()) == {127}


def test_limits_of_the_values_ignore_what_is_not_finite():
    summary = summary_of([[1.0, np.nan], [np.inf, 3.0]])
    assert (summary.low, summary.high, summary.not_numbers, summary.infinite) == (1.0, 3.0, 1, 1)
    assert "1 NaN, 1 infinite" in describe(summary)


def test_no_finite_value_is_said():
    summary = summary_of(np.full((2, 2), np.nan))
    assert summary.minimum is None
    assert "no finite value" in describe(summary)
    assert (summary.codes == NOT_A_NUMBER).all()


def test_limits_reach_as_far_as_they_did():
    look = Look(reach=(0.5, 1.5))
    assert (summary_of([[1.0, 2.0]], look).low, summary_of([[1.0, 2.0]], look).high) == (0.5, 2.0)
    assert (summary_of([[np.nan, np.nan]], look).low, summary_of([[np.nan, np.nan]], look).high) == (0.5, 1.5)


def test_fixed_limits_stay():
    assert summary_of([[1.0, 2.0]], Look(limits=(-5.0, 5.0))).low == -5.0


def test_large_planes_are_thinned_from_the_lower_left():
    values = np.arange(2 * LARGEST_SIDE * 3.0).reshape(2 * LARGEST_SIDE, 3)
    summary = summary_of(values)
    assert summary.stride == 2
    assert summary.values[-1, 0] == values[0, 0]
    assert max(summary.codes.shape) <= LARGEST_SIDE
    assert np.array_equal(summary.values, values[::2, ::2].T[::-1])


def test_line_keeps_its_values():
    summary = summary_of(np.array([1.0, 4.0, 2.0]))
    assert summary.kind == "line"
    assert summary.points.tolist() == [1.0, 4.0, 2.0]
    assert "x to the right, u up" in describe(summary)


def test_line_with_more_cells_than_are_shown_keeps_its_peaks():
    values = np.zeros(40 * LARGEST_SIDE + 7)
    values[[1003, 20_000]] = 1.0, -2.0
    summary = summary_of(values)
    assert summary.stride > 1
    assert summary.points.size == 2 * summary.values.size
    assert (summary.points.min(), summary.points.max()) == (summary.minimum, summary.maximum) == (-2.0, 1.0)
    column = 1003 // summary.stride
    assert summary.points[2 * column : 2 * column + 2].tolist() == [0.0, 1.0]
    message = frame_message(1, summary)
    assert len(message.buffers[0]) == 4 * 2 * message.content["planes"][0]["columns"]


def test_extremes_are_those_of_all_cells_also_where_not_all_are_shown():
    values = np.zeros((2 * LARGEST_SIDE, 3))
    values[1, 1], values[3, 1] = 5.0, np.nan
    summary = summary_of(values)
    assert (summary.maximum, summary.not_numbers) == (5.0, 1)
    assert not (summary.values == 5.0).any()


@pytest.mark.parametrize(("low", "high"), [(-1e308, 1e308), (0.0, 5e-324), (1.0, 1.0 + 2**-52), (1e15, 1e15 + 1)])
def test_levels_and_lines_reach_from_end_to_end_whatever_the_limits(low, high):
    assert set(quantise(np.array([[low, high]]), low, high).ravel()) == {0, LEVELS - 1}
    line = frame_message(1, summary_of(np.array([low, high])))
    assert np.frombuffer(line.buffers[0], "<f4").tolist() == [0.0, 1.0]
    assert len(set(describe(summary_of(np.array([low, high]))).splitlines()[1].split(" m")[0].split()[1::2])) == 2


def test_numbers_and_vectors_have_no_picture():
    with pytest.raises(FieldError, match="u is a number"):
        summary_of(np.float64(1.0))
    with pytest.raises(FieldError, match='such as "u0"'):
        summarise(Snapshot("u", np.zeros((2, 3, 3)), {}, 0), plain_axes((3, 3)))


def test_words_name_step_time_and_colours():
    text = describe(summary_of([[0.0, 1.0]], t=0.5))
    assert text.splitlines() == ["u: 1 x 2 cells at step 7, t = 0.5 s", "values 0 to 1 m", text.splitlines()[2]]
    assert text.splitlines()[2] == "x to the right, y up; colours viridis, 0 to 1"


def test_frame_is_json_and_as_long_as_it_says():
    message = frame_message(3, summary_of([[1.0, np.nan, np.inf], [0.0, 2.0, 3.0]], t=math.inf))
    content = json.loads(json.dumps(message.content, allow_nan=False))
    assert len(message.buffers[0]) == content["planes"][0]["rows"] * content["planes"][0]["columns"] == 6
    assert content["time"] == "t = ∞ s"
    line = frame_message(1, summary_of(np.array([1.0, 2.0, 5.0])))
    assert np.frombuffer(line.buffers[0], "<f4").tolist() == [0.0, 0.25, 1.0]


def test_points_are_told_exactly():
    assert point_message((0, 0), 0.1 + 0.2).content["text"] == "0.30000000000000004"
    assert point_message((9, 9), None).content["text"] == ""


@pytest.mark.parametrize("name", PALETTES)
def test_palette_has_256_different_colours(name):
    table = np.frombuffer(colour_table(name), np.uint8).reshape(256, 3)
    assert len(np.unique(table, axis=0)) > 240
    assert table[NOT_A_NUMBER].tobytes().hex() == NAN_COLOUR
    assert np.abs(table[:-1].astype(int) - table[NOT_A_NUMBER]).sum(axis=1).min() > 100


@pytest.mark.parametrize("name", ["viridis", "cividis"])
def test_lightness_grows_along_sequential_palettes(name):
    table = np.frombuffer(PALETTES[name], np.uint8).reshape(LEVELS, 3).astype(float)
    lightness = table @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(lightness) > -1.0).all()
    assert lightness[-1] > lightness[0] + 100


@pytest.mark.parametrize("name", PALETTES)
def test_palette_is_that_of_its_name_in_matplotlib(name):
    table = np.frombuffer(PALETTES[name], np.uint8).reshape(LEVELS, 3)
    theirs = colormaps[name](np.linspace(0, 1, LEVELS), bytes=True)[:, :3]
    assert np.abs(table.astype(int) - theirs).max() <= 12


@pytest.mark.parametrize("name", sorted(DIVERGING))
def test_middle_of_a_diverging_palette_is_zero(name):
    summary = summary_of([[-1.0, 0.0], [3.0, np.nan]], Look(name))
    assert (summary.low, summary.high) == (-3.0, 3.0)
    middle = np.frombuffer(colour_table(name), np.uint8).reshape(256, 3)[summary.codes[summary.values == 0.0]]
    assert (middle > 230).all()
    assert summary_of([[1.0, 2.0]], Look(name, reach=(-4.0, 3.0))).high == 4.0
    fixed = summary_of([[-1.0, 3.0]], Look(name, (0.0, 2.0)))
    assert (fixed.low, fixed.high) == (0.0, 2.0)


def test_snapshot_is_of_one_whole_step():
    machine = wb.trace("u = field('u', boundary='periodic')\nc = param('c', 2.0)\nw = c * u\nu.next = w + 1")
    with machine.simulate(u=np.zeros(4), backend="reference") as simulation:
        simulation.run(2)
        snapshot = take_snapshot(simulation, "w")
        assert (snapshot.steps, snapshot.numbers) == (2, {"c": 2.0})
        assert snapshot.values.tolist() == [6.0] * 4
        assert take_snapshot(simulation, "c").values.ndim == 0


def test_a_thinned_field_keeps_its_lowest_row_and_says_so():
    values = np.random.default_rng(3).random((50, 41))
    small = thinner(summary_of(values), 300)
    assert small.stride == 3
    assert np.array_equal(small.values, values[::3, ::3].T[::-1])
    assert small.cell_at(1, 0) == (3, 39)
    assert "drawn: one cell of 3 along each axis" in describe(small)
    assert small.maximum == values.max()
    assert "drawn:" not in describe(summary_of(values))


@pytest.mark.parametrize(("cells", "words"), [(1500, "drawn: one cell of 2 along each axis; min and"), (15, "")])
def test_a_page_is_told_whether_all_cells_are_drawn(cells, words):
    told = frame_message(1, summary_of(np.zeros((cells, 4)))).content["thinning"]
    assert told.startswith(words)
    assert bool(told) == bool(words)


def test_all_planes_of_a_volume_are_thinned_alike():
    values = np.zeros((30, 20, 10))
    small = thinner(summary_of(values, Look(volume=True)), 300)
    assert [plane.stride for plane in small.planes] == [2, 2, 2]
    assert sum(plane.codes.size for plane in small.planes) <= 300


def test_a_thinned_line_says_what_is_drawn():
    assert "least and greatest of each 2 cells" in describe(summary_of(np.zeros(8 * LARGEST_SIDE)))
