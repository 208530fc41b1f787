"""The table, the memory and the predictions of a plan's steps, by hand for small programs."""

import math
import re

import pytest

import workbench as wb
from tests.views.machines import trade_off, wave
from tests.views.plan.summaries import FIGURES, summary_of
from workbench.amounts import bytes_text, seconds_text
from workbench.errors import PlanError
from workbench.planning.cost import HostFigures, bound_seconds, step_cost
from workbench.planning.plan_figures import memory_bytes
from workbench.views.graph.summary import describe_graph, summarise_graph
from workbench.views.graph.words import storage_text
from workbench.views.inspection.selection import values_of
from workbench.views.plan.messages import COLUMNS, cells_of, notes_of
from workbench.views.plan.summary import Variant, describe_plan, measured_text, spread_text, summarise_plan, variants_of

ROLLING = """
u = field("u", boundary="periodic")
y = manifest(exp(-u * u))
u.next = 0.25 * (y[-1, 0] + y[+1, 0] + y[0, -1] + y[0, +1])
"""


def test_one_sub_kernel_if_b_is_delayed_and_two_if_it_is_stored():
    (one,) = summary_of(trade_off()).rows
    assert (one.bytes_read, one.bytes_written, one.names) == (8, 8, ("u.next",))
    first, second = summary_of(trade_off("manifest")).rows
    assert (first.names, first.halo, first.cells) == (("b",), "1+1", 1002)
    assert (first.bytes_read, first.bytes_written) == (8, 8)
    assert (second.bytes_read, second.bytes_written, second.halo) == (16, 8, "0+0")
    assert one.flops > second.flops


def test_rows_add_up_to_the_cost_of_the_step():
    for machine in (wave(), trade_off(), trade_off("manifest")):
        plan = machine.plan()
        for variant in variants_of(plan):
            summary = summary_of(machine, variant=variant)
            kernel = plan.kernel(variant.kernel)
            step = kernel.observed if variant.observed else kernel.plain
            cost = step_cost(step)
            assert sum(r.bytes_read + r.bytes_written for r in summary.rows) == cost.bytes_moved
            assert sum(r.flops for r in summary.rows) == cost.flops
            assert math.isclose(summary.predicted, bound_seconds(step, (1000,), FIGURES))
            assert len(summary.launches) == len(step.launches) == len(summary.live)


def test_the_ceiling_that_binds_is_named():
    (row,) = summary_of(trade_off()).rows
    assert row.limit == "arithmetic"  # 1 Gflop/s is little
    assert row.rate(row.predicted) == pytest.approx(1e9)
    plan = trade_off().plan()
    (row,) = summarise_plan(plan, extents=(1000,), figures=HostFigures(1e9, 1e12, "")).rows
    assert row.limit == "memory"
    assert row.rate(row.predicted) == pytest.approx(row.intensity * 1e9)


def test_observed_steps_are_a_variant_of_their_own():
    plan = wave().plan()
    assert [str(v) for v in variants_of(plan)] == ["step", "step, observed"]
    observed = summary_of(wave(), variant=Variant("step", True))
    assert any("energy.next" in row.names for row in observed.rows)
    assert observed.launches[-1] == "finish energy.next"
    assert not any("energy.next" in row.names for row in summary_of(wave()).rows)


def test_an_unknown_step_is_refused():
    with pytest.raises(PlanError, match="no step init"):
        summary_of(wave(), variant=Variant("init", False))


def test_measured_times_reach_their_rows():
    (row,) = summary_of(trade_off(), measured={"step_0_u": 2e-6}, step_measured=3e-6).rows
    assert row.measured == 2e-6
    assert row.rate(row.measured) == pytest.approx(row.flops * 1000 / 2e-6)
    assert summary_of(trade_off()).rows[0].measured is None


def test_lives_fit_into_the_arrays():
    for machine in (wave(), trade_off(), trade_off("manifest")):
        summary = summary_of(machine)
        assert summary.allocated == memory_bytes(machine.plan(), (1000,))
        assert max(summary.live) <= summary.allocated
        for life in summary.lives:
            assert -1 <= life.first <= life.last <= len(summary.launches)
            assert life.name
            assert life.size > 8 * 1000


def test_rows_refer_to_their_values_and_sub_kernels():
    plan = trade_off("manifest").plan()
    for row in summary_of(trade_off("manifest")).rows:
        assert values_of(plan, row.ref) == row.makes


def test_the_description_tells_all_of_it():
    text = describe_plan(summary_of(trade_off("manifest")))
    assert "2 sub-kernels" in text
    assert "step_0_b: makes b; a cell: 8 bytes read, 8 written" in text
    assert "halo 1+1" in text
    assert "not measured" in text
    assert "memory 10 GB/s, peak 1 Gflop/s (made up)" in text


def test_numbers_have_units():
    assert [seconds_text(s) for s in (2.0, 1.5e-3, 2e-6, 3.21e-8)] == ["2 s", "1.5 ms", "2 µs", "32.1 ns"]
    assert [seconds_text(s) for s in (0.9999, 9.999e-4, 9.999e-7)] == ["1 s", "1 ms", "1 µs"]
    assert [bytes_text(n) for n in (12, 2048, 3 << 20, 5 << 30)] == ["12 bytes", "2.05 kB", "3.15 MB", "5.37 GB"]
    assert [bytes_text(n) for n in (999, 999_499, 999_500)] == ["999 bytes", "999 kB", "1 MB"]
    assert measured_text(None) == "not measured"
    assert measured_text(1e-3) == "measured 1 ms"


def test_every_number_of_the_table_has_a_unit():
    (row,) = summary_of(trade_off()).rows
    for column, text in zip(COLUMNS, cells_of(row), strict=True):
        told = f"{column.label} {text}"
        assert not column.numeric or re.search(r"bytes|flops|cells|[mµn]s", told) or text == "not measured", told


@pytest.mark.parametrize(
    ("seconds", "spread", "text"),
    [
        (1.26e-3, 0.04e-3, "1.3 ± 0.1 ms"),
        (1.26e-3, 0.24e-3, "1.3 ± 0.3 ms"),
        (132e-6, 3e-6, "130 ± 10 µs"),
        (0.999e-3, 0.0, "1.0 ± 0.1 ms"),
        (12.6, 2.0, "13 ± 2 s"),
        (280e-6, 1620e-6, "about 280 µs"),
        (3e-8, 2e-9, "30 ± 2 ns"),
        (4e-10, 0.0, "0.40 ± 0.01 ns"),
        (0.0, 0.0, "0 ns"),
    ],
)
def test_measured_times_have_two_digits_and_a_spread(seconds, spread, text):
    assert spread_text(seconds, spread) == text


def test_a_value_in_a_rolling_buffer_is_said_to_have_no_array():
    """Of all views: 0 bytes and no array are not left unexplained."""
    machine = wb.trace(ROLLING, 2, name="smooth")
    words = "kept in a rolling buffer of 4 planes; no array"
    plan = machine.plan("openmp")
    summary = summarise_plan(plan, extents=(64, 64), figures=FIGURES)
    assert (summary.rows[0].bytes_written, summary.rows[1].bytes_read) == (0.0, 0.0)
    assert f"; y is {words}" in describe_plan(summary)
    assert cells_of(summary.rows[0])[6].endswith("→ y (rolling buffer)")
    assert cells_of(summary.rows[1])[6].startswith("y (rolling buffer) →")
    assert f"y is {words}." in notes_of(summary)
    graph = summarise_graph(plan, (64, 64))
    (node,) = [node for node in graph.nodes if node.rolling]
    assert (node.label, storage_text(node)) == ("y", f"Manifest: {words}")
    assert f"{words}: y" in describe_graph(graph)
    apart = summarise_plan(machine.plan("reference"), extents=(64, 64), figures=FIGURES)
    assert "rolling" not in describe_plan(apart)
    assert apart.rows[0].bytes_written == 8.0
