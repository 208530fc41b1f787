"""A vector of particles as points: where each is drawn, its colour, what one learns of it; the window stays."""

import io

import numpy as np
import pytest
from PIL import Image

import workbench as wb
from tests.views.field.pictures import decode
from workbench.errors import RunError
from workbench.views.field import scatter
from workbench.views.field.messages import frame_message
from workbench.views.field.palettes import colour_table
from workbench.views.field.particles import BACKGROUND, SIDE, Particles, disc, raster, window_of
from workbench.views.field.picture import drawn

DRIFT = """
x, v = particles("x v", dim=3, unit="m")
m, = particles("m", unit="kg")
half = x + 0.5 * v
x.next, m.next = half + 0.5 * v, m
"""


@pytest.fixture
def sim():
    draw = np.random.default_rng(0)
    made = wb.trace(DRIFT, name="drift").simulate(
        x=draw.normal(2.0, 1.0, (3, 5000)), v=np.full((3, 5000), 0.25), m=draw.random(5000), backend="reference"
    )
    yield made
    made.close()


def drawn_by_hand(view, places, values):
    """Pixels of the picture, RGB, painted one after the other."""
    seen = view.summary
    pixels = np.zeros((SIDE, SIDE, 3), np.uint8)
    table = np.frombuffer(colour_table(seen.palette), np.uint8).reshape(-1, 3)
    for x, y, value in zip(places[0], places[1], values, strict=True):
        column = (x - seen.across.first) / (seen.across.last - seen.across.first) * SIDE
        row = SIDE - (y - seen.up.first) / (seen.up.last - seen.up.first) * SIDE
        if not (0 <= column < SIDE and 0 < row <= SIDE):
            continue
        level = round(254 * (value - seen.low) / (seen.high - seen.low))
        for down, right in disc(seen.particles.radius):
            at = int(np.ceil(row)) - 1 + down, int(column) + right
            if min(at) >= 0 and max(at) < SIDE:
                pixels[at] = table[0 if level == BACKGROUND else level]
    return pixels


def live_pixels(summary):
    codes, table = drawn(summary)
    return np.frombuffer(table, np.uint8).reshape(-1, 3)[codes]


def test_each_particle_is_a_disc_in_the_colour_of_its_third_component(sim):
    view = sim.view("x")
    seen = view.summary
    assert (seen.kind, seen.subject, seen.name, seen.unit) == ("points", "x", "x2", "m")
    assert [(axis.name, axis.unit) for axis in (seen.across, seen.up)] == [("x0", "m"), ("x1", "m")]
    assert seen.particles.radius == 2
    expected = drawn_by_hand(view, sim.x, sim.x[2])
    assert (expected.any(axis=2)).mean() > 0.1
    np.testing.assert_array_equal(live_pixels(seen), expected)


def test_png_svg_and_gif_hold_the_pixels_of_the_live_picture(sim, tmp_path):
    view = sim.view("x")
    pixels = live_pixels(view.summary)
    still = decode(view.png)[1]
    found = [
        (row, column)
        for row in range(still.shape[0] - SIDE + 1)
        for column in range(69, 70)
        if np.array_equal(still[row : row + SIDE, column : column + SIDE, :3], pixels)
    ]
    assert found == [(22, 69)]
    assert "x, step 0" in view.svg
    view.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text().count("<image") == 2
    view.record(tmp_path / "x.gif", frames=2)
    with Image.open(io.BytesIO((tmp_path / "x.gif").read_bytes())) as gif:
        np.testing.assert_array_equal(np.asarray(gif.convert("RGB")), pixels)


def test_a_frame_holds_places_and_levels_of_all_particles(sim):
    view = sim.view("x").probe(17)
    summary = view.summary
    message = frame_message(3, summary, view._looking.probes)
    (plane,), (body,) = message.content["planes"], message.buffers
    assert message.apart
    assert (message.content["kind"], message.content["subject"], plane["packed"]) == ("points", "x", False)
    assert (plane["rows"], plane["columns"], plane["particles"]["count"]) == (SIDE, SIDE, 5000)
    assert len(body) == 5 * 5000
    places = np.frombuffer(body, "<u2", 10000).reshape(2, 5000)
    levels = np.frombuffer(body, np.uint8, offset=20000)
    np.testing.assert_array_equal(places, summary.particles.places)
    np.testing.assert_array_equal(levels, summary.particles.levels)
    column = int((sim.x[0, 17] - summary.across.first) / (summary.across.last - summary.across.first) * SIDE)
    assert plane["particles"]["followed"][0][0] == column


def test_the_view_stays_while_particles_go_and_says_how_many_left(sim):
    view = sim.view("x")
    axes = (view.summary.across, view.summary.up)
    before = view.summary.particles.outside
    sim.run(8)
    assert view.png
    seen = view.summary
    assert (seen.across, seen.up, seen.step) == (*axes, 8)
    low, high = axes[0].first, axes[0].last
    inside = ((sim.x[0] >= low) & (sim.x[0] < high)) & ((sim.x[1] >= axes[1].first) & (sim.x[1] < axes[1].last))
    assert seen.particles.outside == 5000 - np.count_nonzero(inside) > before
    assert f"{seen.particles.outside} of 5000 lie outside" in str(view)


def test_a_pixel_names_the_nearest_particle_and_its_value(sim):
    view = sim.view("x")
    seen = view.summary
    columns, rows = seen.particles.pixels()
    for particle in (0, 17, 4999):
        assert seen.particles.levels[particle] != BACKGROUND
        (found,) = seen.cell_at(int(columns[particle]), int(rows[particle]))
        assert (columns[found], rows[found]) == (columns[particle], rows[particle])
        assert found >= particle  # the one on top
        assert seen.value_at(int(columns[particle]), int(rows[particle])) == sim.x[2, found]
    assert seen.cell_at(0, 0) is None
    assert seen.value_at(0, 0) is None


def test_a_probe_follows_a_particle(sim):
    view = sim.view("x").probe(17)
    for _ in range(3):
        sim.run(1)
        assert view.png
    (chart,) = view.charts
    assert chart.title == "x2 of probed particles"
    np.testing.assert_allclose(chart.curves[0].values, sim.x[2, 17] - 0.25 * np.arange(3, -1, -1), rtol=1e-12)
    with pytest.raises(RunError, match="5000"):
        view.probe(5000)


def test_any_value_that_particles_have_colours_them(sim):
    view = sim.view("x")
    assert view._looking.names == ("x0", "x1", "x2", "v0", "v1", "v2", "m", "half0", "half1", "half2")
    view.look(name="m")
    seen = view.summary
    assert (seen.subject, seen.name, seen.unit) == ("x", "m", "kg")
    np.testing.assert_array_equal(live_pixels(seen), drawn_by_hand(view, sim.x, sim.m))
    sim.run(2)
    view.look(name="half1")
    np.testing.assert_array_equal(live_pixels(view.summary), drawn_by_hand(view, sim.x, sim.x[1] + 0.125))


def test_computed_vectors_and_velocities_have_the_picture_too(sim):
    assert sim.view("half").summary.across.name == "half0"
    resting = sim.view("v").summary  # all in one place
    assert np.unique(np.argwhere(raster(resting.particles) != BACKGROUND), axis=0).shape[0] == len(disc(2))
    assert sim.view("x0").summary.kind == "line"


def test_of_two_components_another_value_is_the_colour():
    flat = wb.trace('x, v = particles("x v", dim=2)\nx.next = x + v').graph
    assert scatter.first_colour(flat, "x") == "v0"
    alone = wb.trace('x, = particles("x", dim=2)\nx.next = x + 1').graph
    assert scatter.first_colour(alone, "x") == "x1"


@pytest.mark.parametrize("name", ["x", "m"])
def test_a_particle_that_is_no_number_is_said(sim, name):
    view = sim.view("x").look(name="m")
    values = sim[name].copy()
    values[..., 7] = np.nan
    sim[name] = values
    assert view.png
    assert "NaN at step 0 at particle 7" in str(view)
    assert view.summary.not_numbers == 1
    shown = view.summary.particles.levels[7]
    assert shown == (BACKGROUND if name == "x" else 255)


def test_many_particles_are_thinned_and_told(sim, monkeypatch):
    monkeypatch.setattr(scatter, "MOST", 2000)
    view = sim.view("x")
    seen = view.summary
    assert (seen.stride, seen.particles.levels.size, seen.values.size) == (3, 1667, 5000)
    assert "one particle of 3" in str(view)
    columns, rows = seen.particles.pixels()
    (found,) = seen.cell_at(int(columns[100]), int(rows[100]))
    assert found % 3 == 0
    assert seen.maximum == sim.x[2].max()
    probed = frame_message(1, seen, ((300,), (301,))).content["planes"][0]["particles"]["followed"]
    assert probed == [[int(columns[100]), int(rows[100])], None]


@pytest.mark.parametrize(("count", "radius"), [(1, 4), (1337, 4), (1338, 3), (10_000, 1), (13_107, 1), (13_108, 0)])
def test_discs_shrink_as_particles_become_many(count, radius):
    made = Particles("x", np.zeros((2, count), np.uint16), np.zeros(count, np.uint8), 0)
    assert made.radius == radius


def test_later_particles_lie_above_and_discs_end_at_the_border():
    places = np.array([[0, 0, 65535], [65535, 65535, 0]], np.uint16)
    codes = raster(Particles("x", places, np.array([9, 30, 200], np.uint8), 0))
    assert set(np.unique(codes)) == {BACKGROUND, 30, 200}
    assert codes[0, 0] == 30
    assert codes[SIDE - 1, SIDE - 1] == 200
    assert np.count_nonzero(codes == 30) == sum(min(pixel) >= 0 for pixel in disc(4))


def test_a_window_for_none_or_for_one_place():
    assert window_of("x", "", np.full((2, 4), np.nan)).half == 1.0
    assert window_of("x", "", np.full((2, 4), 3.0)).centre == (3.0, 3.0)
