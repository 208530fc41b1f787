"""Loops over pairs with reciprocal square roots: cut where roots are taken, with the same bits however they are cut."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.codegen.roots import stages_at_roots
from workbench.codegen.statement import Statement
from workbench.pipeline import render

# Names that the text has itself, roots inside of formulas, of roots, and of what is the same for all targets.
CELL = """
x, lane, width = targets("x lane width", dtype="{dtype}")
outer_at, between, m = sources("x y m", dtype="{dtype}")
first, last = totals("f g", dtype="{dtype}")
root = rsqrt((outer_at - x)**2 + (between - lane)**2 + width)
first += m * root**3 * (outer_at - x) * rsqrt(m)
last += root + rsqrt(root + abs(lane) * rsqrt(width + between * between)) * (between - lane)
"""


def given(n, dtype):
    draw = np.random.default_rng(n)
    values = {name: draw.normal(size=n) for name in ("x", "y", "lane")}
    values |= {"m": draw.random(n) + 0.1, "width": draw.random(n) + 0.01}
    return {name: value.astype(dtype) for name, value in values.items()}


@pytest.mark.parametrize(("dtype", "type_"), [("f32", np.float32), ("f64", np.float64)])
def test_roots_have_the_same_bits_however_a_loop_is_cut(dtype, type_):
    machine = wb.trace(CELL.format(dtype=dtype), name="roots")
    for n in (1, 5, 16, 37, 1025):
        values = given(n, type_)
        found = machine(backend="openmp", threads=1, **values)
        x, y, lane, m, width = (values[name].astype(float) for name in ("x", "y", "lane", "m", "width"))
        root = 1 / np.sqrt((x - x[:, None]) ** 2 + (y - lane[:, None]) ** 2 + width[:, None])
        f = (m * root**3 * (x - x[:, None]) / np.sqrt(m)).sum(axis=1)
        inner = np.abs(lane)[:, None] / np.sqrt(width[:, None] + y * y)
        g = (root + (y - lane[:, None]) / np.sqrt(root + inner)).sum(axis=1)
        scale = 1e-3 if dtype == "f32" else 1e-12
        for name, exact in (("f", f), ("g", g)):
            np.testing.assert_allclose(found[name], exact, rtol=scale, atol=scale * np.abs(exact).max())
        for lanes, sources, threads in ((0, 1, 3), (5, 1, 1), (64, 1, 2), (16, 2, 1)):
            again = machine.with_choices(lanes=lanes, sources=sources)(backend="openmp", threads=threads, **values)
            for name, expected in found.items():
                assert_same_bits(again[name], expected, f"{n} elements, {lanes} lanes, {sources} sources: {name}")


def test_a_root_is_taken_for_all_lanes_between_two_loops():
    text = render(wb.trace(CELL.format(dtype="f64"), name="roots").plan("openmp"), "openmp").text
    assert text.count("take_roots(between.") == 3  # that of m is the same for all targets
    assert text.count('#include "stencil_roots.h"') == 1
    plain = wb.trace('x, = targets("x")\ny, = sources("x")\nt, = totals("t")\nt += 1 / sqrt(x - y)')
    text = render(plain.plan("openmp"), "openmp").text
    assert "between" not in text
    assert "stencil_roots.h" not in text


def test_stages_take_up_what_they_use():
    lines = ("const float a = x[i];", "const float b = reciprocal_sqrt(a + 1.0f);", "t[i] = a * b;")
    first, last = stages_at_roots(tuple(Statement(line, (n,)) for n, line in enumerate(lines)))
    assert [s.text for s in first.cell] == ["const float a = x[i];", "const float b = a + 1.0f;"]
    assert first.put == (("float", "a"), ("float", "b"))
    assert (first.taken, first.root) == ((), "b")
    assert last.taken == (("float", "a"), ("float", "b"))
    assert (last.put, last.root) == ((), "")
    assert [s.nodes for s in (*first.cell, *last.cell)] == [(0,), (1,), (2,)]
    assert stages_at_roots((Statement("const float b = 2.0f * reciprocal_sqrt(a);", (0,)),)) == ()


@pytest.mark.parametrize(("dtype", "number"), [("f32", "float"), ("f64", "double")])
def test_targets_side_by_side_are_those_of_the_processor(dtype, number):
    machine = wb.trace(CELL.format(dtype=dtype), name="roots")
    text = render(machine.plan("openmp"), "openmp").text
    assert f"constexpr int lanes = lanes_of_roots<{number}>;" in text
    assert f"cut_lanes(shape_i, grown, team.size, lanes_of_roots<{number}>)" in text
    chosen = render(machine.with_choices(lanes=64).plan("openmp"), "openmp").text
    assert "constexpr int lanes = 64;" in chosen
    assert "constexpr int lanes = 8;" in render(machine.with_choices(lanes=8).plan("openmp"), "openmp").text
