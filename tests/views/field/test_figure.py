"""Pictures as SVG text, GIF and other files."""

import io
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import workbench as wb
from tests.views.field.pictures import decode
from workbench.errors import RunError
from workbench.run.snapshots import Snapshot
from workbench.views.drawing.bitmap_font import small_letters
from workbench.views.drawing.numbers import apart, beside, short, ticks
from workbench.views.field.animation import MOST_FRAMES, Recorder
from workbench.views.field.curves import Chart, ChartLine
from workbench.views.field.figure import CURVE_COLOURS, chart_svg, chart_words, svg_of
from workbench.views.field.palettes import colour_table
from workbench.views.field.still import png_of
from workbench.views.field.summary import Look, plain_axes, summarise

SVG = "{http://www.w3.org/2000/svg}"


def summary_of(values, look=None, unit="m", step=7):
    return summarise(Snapshot("u", np.asarray(values, float), {}, step), plain_axes(np.shape(values)), unit, look)


def texts(svg):
    return [node.text for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def images(svg):
    return list(ElementTree.fromstring(svg).iter(f"{SVG}image"))


def chart_of(*curves, group="probes"):
    made = tuple(
        ChartLine(name, np.asarray(places, float), np.asarray(values, float)) for name, places, values in curves
    )
    return Chart(group, "u <here>", "t", "s", "u", "m", made)


def test_plane_has_picture_colour_bar_numbers_and_names():
    svg = svg_of(summary_of(np.arange(200.0).reshape(20, 10)))
    assert len(images(svg)) == 2
    assert {"u, step 7", "x (cells)", "y (cells)", "u (m)", "0", "10", "100"} <= set(texts(svg))


def test_line_is_a_path_and_nan_breaks_it():
    svg = svg_of(summary_of([0.0, 1.0, np.nan, 3.0, 2.0]))
    (path,) = [node for node in ElementTree.fromstring(svg).iter(f"{SVG}path")]
    assert path.get("d").count("M") == 2
    assert not images(svg)


def test_volume_has_three_pictures_and_one_bar():
    summary = summary_of(np.random.default_rng(1).random((4, 3, 2)), Look(volume=True, cuts={0: 3}))
    assert [plane.shown for plane in summary.planes] == [(0, 1), (2, 1), (0, 2)]
    assert len(images(svg_of(summary))) == 4
    assert "x = cell 3" in texts(svg_of(summary))


def test_planes_of_a_volume_share_limits_and_show_their_cells():
    values = np.random.default_rng(2).random((5, 4, 3))
    summary = summary_of(values, Look(volume=True, cuts={0: 1, 1: 2, 2: 0}))
    for plane in summary.planes:
        assert (plane.low, plane.high) == (summary.low, summary.high)
        rows, columns = plane.values.shape
        for column, row in ((0, 0), (columns - 1, rows - 1), (1, 1)):
            assert plane.value_at(column, row) == values[plane.cell_at(column, row)]
        assert plane.cell_at(columns, 0) is None
    assert summary.low == min(plane.minimum for plane in summary.planes)


def test_chart_has_legend_with_last_values_and_escapes_names():
    svg = chart_svg(chart_of(("a & b", [0, 1], [2, 3]), ("c", [0, 1], [4, np.nan])), 400)
    assert {"u <here>", "a & b: 3", "c: NaN", "t (s)", "u (m)"} <= set(texts(svg))
    assert "a & b now 3" in chart_words(chart_of(("a & b", [0, 1], [2, 3])))


@pytest.mark.parametrize("places", [[], [3.0]])
def test_chart_of_little_is_drawn_too(places):
    svg = chart_svg(chart_of(("c", places, places)), 300)
    assert len(list(ElementTree.fromstring(svg).iter(f"{SVG}circle"))) == len(places)


@pytest.mark.parametrize(
    ("places", "numbers"),
    [([0], ["0"]), ([3, 4], ["3", "4"]), ([0, 0.25], ["0", "0.05", "0.1", "0.15", "0.2", "0.25"])],
)
def test_counted_places_of_a_chart_have_whole_numbers(places, numbers):
    found = texts(chart_svg(chart_of(("c", places, [7] * len(places))), 500))
    assert found[: len(numbers) + 3] == [*numbers, "6.5", "7", "7.5"]  # those of the values follow


def test_probes_on_the_page_have_the_colours_of_their_curves():
    style = (Path(__file__).resolve().parents[3] / "labextension" / "style" / "field.css").read_text()
    found = re.findall(r"\.swb-probe-(\d) \{ --swb-curve: (#[0-9a-f]{6}); \}", style)
    assert [(int(number), colour) for number, colour in found] == list(enumerate(CURVE_COLOURS))


def test_values_without_a_finite_one_are_drawn():
    assert "no finite value" in svg_of(summary_of(np.full((2, 2), np.nan)))
    ElementTree.fromstring(svg_of(summary_of(np.full(3, np.inf))))


def test_ticks_and_numbers_are_those_of_the_page():
    assert ticks(0, 511, 6) == [0, 200, 400]
    assert ticks(1, -1, 5) == [-1, -0.5, 0, 0.5, 1]
    assert ticks(0.005, 0.955, 4) == [0.2, 0.4, 0.6, 0.8]
    assert ticks(0.5, 1.5, 2) == [1]
    assert ticks(3, 3, 5) == [3]
    assert ticks(0, 2, 6, 1.0) == [0, 1, 2]
    assert ticks(np.nan, np.nan, 5) == []
    written = [short(value) for value in (0, 0.1 + 0.2, -1234.6, 1e20, 1.25e-7, 12346)]
    assert written == ["0", "0.3", "\u22121235", "1e20", "1.25e\u22127", "12350"]


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (1.0, 1.0 + 2**-52, ["1", "1.0000000000000002"]),
        (101324.999, 101325.001, ["101324.999", "101325", "101325.001"]),
        (-1e308, 1e308, ["\u22121e308", "1e308"]),
        (0.0, 5e-324, ["0", "4.94e\u2212324"]),
        (-1.00001e-7, -1e-7, ["\u22121.00001e\u22127", "\u22121.000005e\u22127", "\u22121e\u22127"]),
    ],
)
def test_numbers_that_hardly_differ_or_are_huge_are_told_apart(low, high, texts):
    assert apart(ticks(low, high, 4)) == texts
    assert "nan" not in svg_of(summary_of(np.array([low, high])))


def test_axes_tell_long_numbers_by_their_distance_from_a_short_one():
    assert beside(ticks(101324.9999, 101325.0001, 4)) == ["\u22121e\u22124", "101325", "+1e\u22124"]
    assert beside([1.0, 1.0 + 2**-52]) == ["1", "+2.22e\u221216"]
    assert beside([101325.0000084, 101325.0000085]) == ["≈101325", "+1e\u22127"]
    assert beside([0.0, 200.0]) == ["0", "200"]
    assert ">+2.22e\u221216</text>" in svg_of(summary_of(np.array([1.0, 1.0 + 2**-52])))


def test_png_of_a_volume_holds_its_pictures_side_by_side():
    from_one = png_of(summary_of(np.zeros((4, 3, 2))))
    from_three = png_of(summary_of(np.zeros((4, 3, 2)), Look(volume=True)))
    wide = [int.from_bytes(png[16:20], "big") for png in (from_one, from_three)]
    assert wide[1] > 2 * wide[0]


def test_gif_has_the_colours_of_the_view():
    recorder = Recorder()
    for step in range(3):
        recorder.append(summary_of(np.eye(300) * step, Look(limits=(0, 2)), step=step))
    with Image.open(io.BytesIO(recorder.gif())) as gif:
        assert gif.n_frames == 3
        gif.seek(2)
        pixels = np.asarray(gif.convert("RGB"))
    table = np.frombuffer(colour_table("viridis"), np.uint8).reshape(-1, 3)
    assert (pixels[299, 0] == table[254]).all()
    assert (pixels[0, 0] == table[0]).all()


def test_gif_of_a_volume_has_the_three_planes_side_by_side():
    values = np.zeros((256, 128, 64))
    values[255, 64, 32] = values[128, 127, 32] = values[128, 64, 63] = 1.0  # one at an end of each axis
    recorder = Recorder()
    recorder.append(summary_of(values, Look(volume=True)))
    with Image.open(io.BytesIO(recorder.gif())) as gif:
        pixels = np.asarray(gif.convert("RGB"))
    table = np.frombuffer(colour_table("viridis"), np.uint8).reshape(-1, 3)
    name = 7 * len("y (cells)") + 4  # pixels for the name of the axis up
    assert pixels.shape == (128 + 4 + 13, 3 * name + 256 + 12 + 64 + 12 + 256, 3)
    highest = (pixels == table[254]).all(axis=2)
    # x-y, then z-y, then x-z, each with its second axis up
    assert np.argwhere(highest).tolist() == [
        [0, 128 + name], [0, 300 + 2 * name], [0, 472 + 3 * name], [31, 599 + 3 * name],
        [63, 255 + name], [63, 331 + 2 * name],
    ]  # fmt: skip
    assert (pixels[:, 256 + name : 268 + name] == 255).all()
    assert (pixels[127, name] == table[0]).all()


def test_gif_of_a_volume_names_the_axes():
    recorder = Recorder()
    recorder.append(summary_of(np.zeros((256, 128, 64)), Look(volume=True)))
    with Image.open(io.BytesIO(recorder.gif())) as gif:
        black = np.asarray(gif.convert("RGB")).max(axis=2) < 0xFF
    left, name = 0, 7 * len("y (cells)")
    for (across, up), columns, rows in zip(("xy", "zy", "xz"), (256, 64, 256), (128, 128, 64), strict=True):
        top, middle = (rows - 13) // 2, left + name + 4 + (columns - name) // 2
        assert np.array_equal(black[top : top + 13, left : left + name], small_letters(f"{up} (cells)") > 0.2)
        assert np.array_equal(black[rows + 4 :, middle : middle + name][:13], small_letters(f"{across} (cells)") > 0.2)
        left += name + 4 + columns + 12


def test_cells_that_are_not_drawn_are_told_in_pictures():
    long = np.zeros((1500, 4))
    assert "one cell of 2 drawn" in svg_of(summary_of(long))
    assert "drawn" not in svg_of(summary_of(np.zeros((4, 4))))
    wide, narrow = (decode(png_of(summary_of(values)))[1] for values in (long, long[:750]))
    told, silent = ((pixels[:22, 200:] < 100).any() for pixels in (wide, narrow))
    assert told
    assert not silent


def test_long_recordings_are_thinned_and_one_step_counts_once():
    recorder = Recorder()
    for step in range(3 * MOST_FRAMES):
        recorder.append(summary_of(np.zeros((2, 2)), step=step // 2))
    assert MOST_FRAMES / 2 <= len(recorder) < MOST_FRAMES
    with pytest.raises(RunError, match="nothing was recorded"):
        Recorder().gif()


@pytest.fixture
def view():
    text = (
        "u = field('u', boundary='periodic')\nenergy = scalar('energy')\nu.next = u[+1, 0]\nenergy.next = reduce_sum(u)"
    )
    with wb.trace(text).simulate(u=np.arange(6.0).reshape(3, 2), backend="reference") as simulation:
        made = simulation.view("u")
        yield made
        made.close()


def test_view_writes_files_by_their_ending(view, tmp_path):
    view.probe(1, 1)
    for name in ("u.png", "u.svg", "u.npy", "u.csv"):
        view.save(tmp_path / name)
    assert (tmp_path / "u.png").read_bytes().startswith(b"\x89PNG")
    assert "u in probed cells" in texts((tmp_path / "u.svg").read_text())
    assert np.load(tmp_path / "u.npy").tolist() == [[0, 1], [2, 3], [4, 5]]
    lines = (tmp_path / "u.csv").read_text().splitlines()
    assert lines[0] == "chart,curve,place,value"
    assert '"u in probed cells","(1, 1)",0.0,3.0' in lines
    with pytest.raises(RunError, match=r"no 'jpg' files\nUse one of \.png"):
        view.save(tmp_path / "u.jpg")


def test_view_records_a_gif_while_it_runs(view, tmp_path):
    view.record(tmp_path / "u.gif", frames=4, every=2)
    with Image.open(tmp_path / "u.gif") as gif:
        assert gif.n_frames >= 2  # equal pictures become one


def test_view_shows_what_it_is_told_to(view):
    assert view.look(limits=(0.0, 9.0), plane=(1, 0)).summary.high == 9.0
    assert view.summary.across.name == "y"
    assert len(view.charts) == 3
