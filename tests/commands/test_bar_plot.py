"""A bar plot is well-formed SVG whose bars are as long as their values."""

import xml.etree.ElementTree as ElementTree

import pytest

from workbench.commands.bar_plot import Bar, bar_plot

NAMESPACE = {"s": "http://www.w3.org/2000/svg"}
BARS = (Bar("a < b", 4.0, 3.0, 5.0, "4 Gcell/s", ours=True), Bar("c", 1.0, 0.5, 1.5, "1 Gcell/s"))


def test_bars_are_as_long_as_values():
    svg = ElementTree.fromstring(bar_plot(BARS, "rates"))
    first, second = (float(e.get("width")) for e in svg.findall("s:rect", NAMESPACE))
    assert first == pytest.approx(4 * second, rel=1e-2)
    texts = [e.text for e in svg.iter()]
    assert {"a < b", "c", "4 Gcell/s", "1 Gcell/s"} <= set(texts)


def test_a_bound_is_a_line_beyond_shorter_bars():
    svg = ElementTree.fromstring(bar_plot(BARS, "rates", bound=2.0, bound_label="bound"))
    (dashed,) = (e for e in svg.findall("s:path", NAMESPACE) if e.get("stroke-dasharray"))
    x = float(dashed.get("d")[1:].split()[0])
    ends = [float(e.get("x")) + float(e.get("width")) for e in svg.findall("s:rect", NAMESPACE)]
    assert ends[1] < x < ends[0]
    assert "bound" in [e.text for e in svg.iter()]


def test_long_labels_have_room():
    """Each letter takes 0.6 of its size here, as in DejaVu Sans, which is a wide one."""
    longest = "workbench, auto (diamond)"
    svg = ElementTree.fromstring(bar_plot((*BARS, Bar(longest, 2.0, 1.0, 3.0, "2 Gcell/s")), "rates"))
    (label,) = (e for e in svg.findall("s:text", NAMESPACE) if e.text == longest)
    assert float(label.get("x")) > 0.6 * 13 * len(longest)
    bars = svg.findall("s:rect", NAMESPACE)
    assert {float(e.get("x")) for e in bars} == {float(label.get("x")) + 10}
    assert max(float(e.get("x")) + float(e.get("width")) for e in bars) < 640 - 100
