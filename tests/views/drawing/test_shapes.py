"""Drawings as SVG and PNG."""

import io
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from PIL import Image

from workbench.views.drawing.bitmap_font import CHARACTER_HEIGHT, CHARACTER_WIDTH, CHARACTERS, letters
from workbench.views.drawing.shapes import Disc, Drawing, Label, Line, Polygon, rectangle, text_width, to_png, to_svg

BLUE, RED = "#0000ff", "#ff0000"


def pixels(drawing):
    """The PNG read back, shape (rows, columns, 3)."""
    image = Image.open(io.BytesIO(to_png(drawing)))
    assert (image.format, image.mode) == ("PNG", "RGB")
    return np.asarray(image)


def is_blue(image):
    return (image == (0, 0, 255)).all(axis=2)


def drawn(*shapes):
    return Drawing(40, 30, shapes, "a title & more")


def test_rectangle_fills_its_pixels():
    blue = is_blue(pixels(drawn(rectangle(5, 10, 20, 8, BLUE))))
    expected = np.zeros((30, 40), bool)
    expected[10:18, 5:25] = True
    np.testing.assert_array_equal(blue, expected)


def test_line_joins_its_ends():
    image = pixels(drawn(Line(((5, 15), (35, 15)), BLUE, 3)))
    assert is_blue(image)[15, 6:34].all()
    assert not is_blue(image)[:12].any()
    dashed = pixels(drawn(Line(((0, 15), (40, 15)), BLUE, 3, dashed=True)))
    assert 20 <= is_blue(dashed)[15].sum() <= 35


def test_disc_has_its_area():
    area = is_blue(pixels(drawn(Disc((20, 15), 10, BLUE)))).sum()
    assert 0.9 * 314 < area < 315  # pixels on its edge are mixed


def test_hole_of_a_crossing_outline_stays_free():
    star = ((5, 5), (35, 5), (5, 25), (35, 25))
    image = pixels(drawn(Polygon(star, BLUE)))
    assert is_blue(image)[7, 20]
    assert not is_blue(image)[15, 8]


@pytest.mark.parametrize(("align", "columns"), [("left", (20, 40)), ("right", (0, 20)), ("centre", (10, 30))])
def test_words_are_where_they_are_aligned(align, columns):
    ink = (pixels(drawn(Label((20, 15), "ab", "#000000", 14, align))) < 200).all(axis=2)
    where = np.flatnonzero(ink.any(axis=0))
    assert where.size
    assert columns[0] <= where[0]
    assert where[-1] <= columns[1]


def test_words_upwards_are_turned():
    ink = (pixels(drawn(Label((20, 28), "abc", "#000000", 14, upwards=True))) < 200).all(axis=2)
    rows, columns = np.nonzero(ink)
    assert np.ptp(rows) > np.ptp(columns)
    assert rows.max() < 29


def test_what_lies_outside_is_cut_off():
    pixels(drawn(rectangle(-10, -10, 100, 100, BLUE, RED), Label((0, 0), "far out", RED), Disc((99, 99), 5, RED)))


def test_letters_of_every_character_differ_and_unknown_ones_are_question_marks():
    ascii_ones = [character for character in CHARACTERS if character.isascii()]
    assert len(ascii_ones) == 95
    assert len({letters(character).tobytes() for character in ascii_ones}) == 95
    assert letters("ab").shape == (CHARACTER_HEIGHT, 2 * CHARACTER_WIDTH)
    np.testing.assert_array_equal(letters("漢"), letters("?"))


def test_svg_is_xml_with_a_title_and_escaped_words():
    svg = to_svg(drawn(Label((1, 2), "a < b", RED, 12, "right"), Line(((0, 0), (1, 1)), BLUE, 1, dashed=True)))
    root = ElementTree.fromstring(svg)
    assert root.get("aria-label") == "a title & more"
    texts = [node.text for node in root.iter() if node.tag.endswith("text")]
    assert texts == ["a < b"]
    assert text_width("four", 12) == pytest.approx(4 * text_width("f", 12))
