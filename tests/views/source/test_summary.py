"""Every line of a generated text knows what it computes and where that was written, both ways."""

import itertools

import pytest

from tests.views.machines import trade_off, wave
from workbench.views.inspection.selection import CellLine, SubkernelRef, ValueRef, value_named, values_of
from workbench.views.source.summary import describe_source, functions_of, short_name, summarise_source, summarise_text


def summary_of(machine, backend, **more):
    plan = machine.plan()
    cell = tuple(enumerate(machine.traced.lines, start=machine.traced.first_line))
    return summarise_source(plan, machine.source(backend), backend=backend, cell=cell, **more)


@pytest.mark.parametrize("backend", ["openmp", "cuda"])
def test_the_summary_keeps_the_text(backend):
    assert summary_of(wave(), backend).text.plain == wave().source(backend).text.rstrip("\n")


@pytest.mark.parametrize("backend", ["openmp", "cuda"])
def test_a_line_selects_the_value_it_makes_and_back(backend):
    machine = trade_off("manifest")
    summary = summary_of(machine, backend)
    b = value_named(machine.plan(), "b")
    lines = [summary.text.lines[number - 1] for number in summary.lines_of(b)]
    assert any("b = " in line.text for line in lines)
    assert [line for line in summary.text.lines if line.values and not line.makes] == []
    assert all(line.makes == b and 4 in line.cell_lines for line in lines)
    assert all("b" in line.label for line in lines)


def test_a_value_read_at_an_offset_is_the_value_itself():
    """`b_xp1 = ...` computes b for a neighbour: it selects b, not the shift."""
    machine = trade_off()
    summary = summary_of(machine, "openmp")
    (line,) = [line for line in summary.text.lines if "b_xp1 = " in line.text]
    assert line.makes == value_named(machine.plan(), "b")


def test_a_line_of_the_cell_leads_to_lines_of_the_text_and_values():
    machine = trade_off()
    summary = summary_of(machine, "openmp")
    written = summary.cell[3]
    assert (written.number, written.text, written.label) == (4, "b = a * a + 2.0", "b")
    assert written.makes == value_named(machine.plan(), "b")
    found = summary.lines_of(CellLine(4))
    assert found
    assert all("b_x" in summary.text.lines[number - 1].text for number in found)
    assert set(values_of(machine.plan(), CellLine(4))) == set(written.values)


def test_a_sub_kernel_is_a_function():
    machine = trade_off("manifest")
    summary = summary_of(machine, "openmp")
    for subkernel in machine.plan().subkernels:
        ref = SubkernelRef("step", subkernel.name)
        (function,) = [f for f in summary.text.functions if ref in f.subkernels]
        assert short_name(function.name) == subkernel.name
        assert summary.lines_of(ref) == tuple(range(function.first, function.last + 1))
        assert summary.text.lines[function.last - 1].text == "}"
        assert summary.text.function_at(function.first) is function


@pytest.mark.parametrize("backend", ["openmp", "cuda"])
def test_functions_cover_all_lines_that_compute(backend):
    source = wave().source(backend)
    functions = functions_of(source)
    assert all(any(f.first <= o.line <= f.last for f in functions) for o in source.lines)
    assert all(a.last < b.first for a, b in itertools.pairwise(functions))


def test_nothing_and_unknown_values_have_no_lines():
    summary = summary_of(trade_off(), "openmp")
    assert summary.lines_of(None) == ()
    assert summary.lines_of(ValueRef("step", 10_000)) == ()


def test_a_flip_is_shown_side_by_side():
    before = trade_off("manifest").source("openmp")
    summary = summary_of(trade_off(), "openmp", before=before)
    assert summary.before is not None
    assert summary.before.plain == before.text.rstrip("\n")
    assert len(summary.folds) > 1
    changed = [summary.text.lines[row.after - 1].text for row in summary.rows if row.kind == "added"]
    assert any("b_xm1 = " in line for line in changed)
    assert "compared with before: " in describe_source(summary)


def test_the_description_names_sub_kernels_with_reports():
    summary = summary_of(trade_off(), "openmp", reports={"sweep_step_0_u": "inner loop vectorised"})
    text = describe_source(summary)
    assert "trade, openmp: " in text
    assert "step_0_u: inner loop vectorised" in text
    assert text.endswith(summary.text.plain)


def test_a_text_alone_has_colours_and_functions():
    source = wave().source("cuda")
    summary = summarise_text(source, "generated text")
    assert summary.text.plain == source.text.rstrip("\n")
    assert [f.name for f in summary.text.functions] == [f.name for f in summary_of(wave(), "cuda").text.functions]
    assert describe_source(summary).startswith("generated text: ")
