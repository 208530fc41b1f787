"""Pictures: what a PNG file holds, and lines."""

import numpy as np

from tests.views.field.pictures import decode, summary_of
from workbench.views.drawing.png import encode_png
from workbench.views.field.palettes import colour_table
from workbench.views.field.picture import line_pixels


def test_indexed_png_keeps_codes_and_table():
    codes = np.arange(12, dtype=np.uint8).reshape(3, 4)
    palette, pixels = decode(encode_png(codes, colour_table("cividis")))
    assert palette == colour_table("cividis")
    assert np.array_equal(pixels[:, :, 0], codes)


def test_line_is_drawn_through_its_points():
    codes, _ = line_pixels(summary_of(np.linspace(0, 1, 64)))
    assert codes.any(axis=0).all()
    assert codes[:, 0].argmax() > codes[:, -1].argmax()


def test_line_of_many_cells_is_no_wider_than_a_screen_and_keeps_a_peak():
    values = np.zeros(100_000)
    values[50_001] = 1.0
    codes, _ = line_pixels(summary_of(values))
    assert codes.shape[1] <= 1024
    assert codes[2].any()


def test_line_of_nan_is_empty():
    codes, _ = line_pixels(summary_of(np.full(9, np.nan)))
    assert not codes.any()
