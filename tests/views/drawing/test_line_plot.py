"""A line plot is well-formed SVG with labelled axes and points where they belong."""

import xml.etree.ElementTree as ElementTree

import pytest

from workbench.views.drawing.line_plot import Curve, _decimal_ticks, _ticks, line_plot

NAMESPACE = {"s": "http://www.w3.org/2000/svg"}


def points(svg):
    lines = ElementTree.fromstring(svg).findall("s:polyline", NAMESPACE)
    return [[tuple(map(float, p.split(","))) for p in line.get("points").split()] for line in lines]


def test_axes_carry_names_and_units():
    texts = [e.text for e in ElementTree.fromstring(line_plot([Curve("a", [0, 1], [0, 2])], "x (m)", "u (K)")).iter()]
    assert {"x (m)", "u (K)", "0", "1", "2"} <= set(texts)


def test_larger_values_lie_higher_and_further_right():
    ((low, high),) = points(line_plot([Curve("a", [0, 1], [0, 2])], "x", "y"))
    assert high[0] > low[0]
    assert high[1] < low[1]


def test_several_curves_share_one_frame_and_have_a_legend():
    svg = line_plot([Curve("a < b", [0, 1], [0, 2]), Curve("c", [0, 1], [0, 1])], "x", "y")
    first, second = points(svg)
    assert first[0] == second[0]
    assert first[1][1] < second[1][1]
    assert "a &lt; b" in svg


def test_a_constant_is_drawn_in_the_middle():
    ((start, end),) = points(line_plot([Curve("a", [0, 1], [0.0, 0.0])], "x", "y"))
    assert start[1] == end[1] == pytest.approx(134, abs=1)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3e-16, 2e-16), (1e5, 3e5), (0, 6.28)])
def test_ticks_are_round_few_and_inside(low, high):
    ticks = _ticks(low, high)
    assert 3 <= len(ticks) <= 7
    assert all(low <= tick <= high for tick in ticks)
    assert len(set(ticks)) == len(ticks)


def test_logarithmic_axes_have_equal_room_for_equal_factors():
    ((a, b, c),) = points(line_plot([Curve("a", [1, 10, 100], [2, 20, 200], marks=True)], "x", "y", logarithmic=True))
    assert b[0] - a[0] == pytest.approx(c[0] - b[0], abs=0.2)
    assert b[1] - a[1] == pytest.approx(c[1] - b[1], abs=0.2)


def test_marks_lie_on_the_points():
    svg = line_plot([Curve("a", [1, 2], [3, 5], marks=True)], "x", "y")
    discs = ElementTree.fromstring(svg).findall("s:circle", NAMESPACE)
    assert [(float(d.get("cx")), float(d.get("cy"))) for d in discs] == points(svg)[0]


@pytest.mark.parametrize(("low", "high"), [(0.3, 4), (1e3, 1e9), (2.1, 2.9), (16384, 262144)])
def test_ticks_of_logarithmic_axes_are_few_and_inside(low, high):
    ticks = _decimal_ticks(low, high)
    assert 2 <= len(ticks) <= 9
    assert all(low <= tick <= high for tick in ticks)


def test_powers_lie_at_equal_distances_on_logarithmic_axes():
    svg = line_plot([Curve("a", [16, 32, 64], [1e-2, 1e-3, 1e-4])], "cells", "error", logarithmic=True, doublings=True)
    (((x0, y0), (x1, y1), (x2, y2)),) = points(svg)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y1 - y0 == pytest.approx(y2 - y1, abs=0.2)
    assert y0 < y1
    texts = {e.text for e in ElementTree.fromstring(svg).iter()}
    assert {"16", "32", "64", "0.01", "0.001", "0.0001"} <= texts


def test_curves_on_each_other_are_all_seen():
    """Equal errors of several plans: the first is drawn widest, below the others."""
    curves = [Curve(name, [16, 32], [1e-2, 1e-3]) for name in "abc"]
    lines = ElementTree.fromstring(line_plot(curves, "x", "y", logarithmic=True, layered=True)).findall(
        "s:polyline", NAMESPACE
    )
    widths = [float(line.get("stroke-width")) for line in lines]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == len({line.get("stroke-dasharray") for line in lines}) == 3


def test_an_axis_within_one_power_of_ten_has_ticks():
    svg = line_plot([Curve("a", [16, 32], [8e-2, 1.1e-2])], "cells", "error", logarithmic=True, doublings=True)
    assert {"0.02", "0.05"} <= {e.text for e in ElementTree.fromstring(svg).iter()}


def test_long_labels_of_a_legend_have_room():
    longest = "workbench, auto (diamond)"
    svg = ElementTree.fromstring(line_plot([Curve(longest, [0, 1], [0, 2]), Curve("b", [0, 1], [0, 1])], "x", "y"))
    (label,) = (e for e in svg.iter() if e.text == longest)
    assert float(label.get("x")) + 0.6 * 12 * len(longest) < 640
    (frame,) = svg.findall("s:rect", NAMESPACE)
    assert float(frame.get("x")) + float(frame.get("width")) < float(label.get("x"))
