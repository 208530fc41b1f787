"""The PNG of a field: colours where they belong, and words."""

import numpy as np
import pytest

from tests.views.field.pictures import decode, summary_of
from workbench.run.snapshots import Snapshot
from workbench.views.field.palettes import colour_table
from workbench.views.field.still import png_of
from workbench.views.field.summary import Look, plain_axes, summarise

LEFT, TOP, BOTTOM, SIDE = 69, 22, 20, 256


def pixels_of(summary):
    return decode(png_of(summary))[1]


def test_plane_has_its_highest_value_where_it_is_and_a_bar_with_the_highest_on_top():
    values = np.zeros((8, 8))
    values[7, 7] = 1.0  # upper right
    pixels = pixels_of(summary_of(values))
    highest, lowest = (list(colour_table("viridis")[3 * k : 3 * k + 3]) for k in (254, 0))
    assert pixels[TOP, LEFT + SIDE - 1].tolist() == highest
    assert pixels[TOP + SIDE - 1, LEFT].tolist() == lowest
    bar = LEFT + SIDE + 12 + 7
    assert pixels[TOP, bar].tolist() == highest
    assert pixels[TOP + SIDE - 1, bar].tolist() == lowest


def inked(pixels, rows, columns):
    return bool((pixels[rows, columns] < 100).all(axis=-1).any())


def test_title_ends_of_axes_and_limits_are_written():
    pixels = pixels_of(summary_of(np.arange(64.0).reshape(8, 8)))
    assert inked(pixels, slice(0, TOP), slice(LEFT, None))
    assert inked(pixels, slice(TOP, TOP + 14), slice(0, LEFT))
    assert inked(pixels, slice(TOP + SIDE - 14, TOP + SIDE), slice(0, LEFT))
    assert inked(pixels, slice(TOP + SIDE, None), slice(LEFT, LEFT + 14))
    assert inked(pixels, slice(TOP, TOP + 14), slice(LEFT + SIDE + 12 + 18, None))


@pytest.mark.parametrize("values", [np.full((2, 2), np.nan), np.full(3, np.inf), np.zeros((1, 1)), np.zeros((300, 2))])
def test_odd_fields_have_a_picture_too(values):
    assert pixels_of(summary_of(values)).shape[0] > TOP


def test_pictures_of_a_volume_stand_side_by_side():
    snapshot = Snapshot("u", np.zeros((4, 3, 2)), {}, 0)
    one, three = (pixels_of(summarise(snapshot, plain_axes((4, 3, 2)), "m", Look(volume=v))) for v in (False, True))
    assert three.shape[1] > 2 * one.shape[1]
