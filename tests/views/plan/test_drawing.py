"""Where the marks of the plan's charts are."""

import math
from dataclasses import replace

import pytest

from tests.views.machines import trade_off, wave
from tests.views.plan.summaries import FIGURES, summary_of
from workbench.amounts import bytes_text, scaled
from workbench.planning.cost import CacheLevel
from workbench.views.drawing.shapes import Disc, Label, to_png, to_svg
from workbench.views.plan.drawing import bars_of, draw_plan, roofline_of
from workbench.views.plan.messages import notes_of
from workbench.views.plan.summary import Variant, describe_plan, summarise_plan


def test_a_field_updated_in_place_changes_hands_in_the_middle_of_its_launch():
    summary = summary_of(trade_off("manifest"))
    assert summary.launches == ("ghost cells of u", "step_0_b", "step_1_u")
    bars = {(bar.array, bar.name): bar for bar in bars_of(summary)}
    old, new = bars[0, "u"], next(bar for bar in bars.values() if bar.lasting)
    assert (old.left, old.right, old.lasting) == (0.0, 2.5, False)
    assert (new.array, new.left, new.right) == (0, 2.5, 3.0)
    stored = bars[1, "b"]
    assert (stored.left, stored.right, stored.lasting) == (1.5, 2.5, False)


@pytest.mark.parametrize("machine", [trade_off(), trade_off("manifest"), wave()])
def test_bars_of_one_array_do_not_overlap(machine):
    bars = bars_of(summary_of(machine))
    for one in bars:
        assert 0 <= one.left < one.right <= len(summary_of(machine).launches)
        others = [o for o in bars if o is not one and o.array == one.array]
        assert all(o.right <= one.left or one.right <= o.left for o in others)


def test_predicted_marks_lie_on_the_roof():
    summary = summary_of(wave(), variant=Variant("step", True))
    found = roofline_of(summary)
    assert len(found.marks) == 3
    for mark in found.marks:
        assert mark.speed == pytest.approx(min(FIGURES.flops, FIGURES.bandwidth * mark.intensity))
        assert found.x_range[0] <= mark.intensity <= found.x_range[1]
        assert found.y_range[0] <= mark.speed <= found.y_range[1]
    assert found.roof[1] == (FIGURES.flops / FIGURES.bandwidth, FIGURES.flops)
    assert all(math.log10(limit).is_integer() for limit in (*found.x_range, *found.y_range))


def test_marks_of_small_arrays_lie_on_the_roof_of_a_cache():
    """They lay above the only roof, memory's, and the text said a ceiling that the prediction did not have."""
    levels = (CacheLevel(1 << 10, 4 * FIGURES.bandwidth), CacheLevel(1 << 30, FIGURES.bandwidth))
    summary = summarise_plan(wave().plan(), extents=(1000,), figures=replace(FIGURES, levels=levels))
    found = roofline_of(summary)
    (roof,) = found.cache_roofs
    assert roof[1] == (FIGURES.flops / (4 * FIGURES.bandwidth), FIGURES.flops)
    assert found.roof[1] == (FIGURES.flops / FIGURES.bandwidth, FIGURES.flops)
    for mark in found.marks:
        assert mark.speed == pytest.approx(min(FIGURES.flops, 4 * FIGURES.bandwidth * mark.intensity))
    size = bytes_text(max(row.moved for row in summary.rows))
    said = f"{scaled(4 * FIGURES.bandwidth, 'B/s')} for {size}"
    assert said in describe_plan(summary)
    assert [note for note in notes_of(summary) if said in note]
    assert not roofline_of(summary_of(wave())).cache_roofs


def test_measured_marks_stand_under_the_same_intensity():
    found = roofline_of(summary_of(trade_off(), measured={"step_0_u": 1e-3}))
    predicted, measured = found.marks
    assert (predicted.kind, measured.kind) == ("predicted", "measured")
    assert predicted.intensity == measured.intensity
    assert measured.speed == pytest.approx(summary_of(trade_off()).rows[0].flops * 1000 / 1e-3)
    assert measured.words == "1 ms"


def test_the_drawing_names_everything():
    summary = summary_of(trade_off("manifest"), measured={"step_0_b": 1e-6})
    drawing = draw_plan(summary)
    words = {shape.text for shape in drawing.shapes if isinstance(shape, Label)}
    assert {"0: u, u.next", "1: b", "step_0_b", "speed (Gflop/s)"} <= words
    assert "step_0_b measured 1 µs" in words
    assert len([s for s in drawing.shapes if isinstance(s, Disc)]) == 3
    svg = to_svg(drawing)
    assert "memory over the step" in svg
    assert to_png(drawing).startswith(b"\x89PNG")
    for shape in drawing.shapes:
        for x, y in getattr(shape, "points", ()):
            assert -1 <= x <= drawing.width + 1
            assert -1 <= y <= drawing.height + 1
