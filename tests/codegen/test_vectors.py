"""Loops whose neighbours are shifted in registers: which they are, and that their bits are those of the reference."""

import random
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.kit.backend_agreement import assert_agrees
from workbench.backends.base import MarchRequest
from workbench.backends.compile_pool import default_compiler
from workbench.backends.openmp import OpenmpBackend
from workbench.codegen.cpp.render import render_openmp
from workbench.planning import plan_graph
from workbench.solvers import heat, wave

FOURTH = "8 * (u[0, +1] + u[0, -1]) - u[0, +2] - u[0, -2]"
SIDES = 'u = field("u", boundary="periodic", dtype="{}")\nk = param("k", 0.1, dtype="{}")\n'


def plan_of(formula, dtype="f64", dim=2):
    return plan_graph(wb.trace(f"{SIDES.format(dtype, dtype)}u.next = {formula}", dim=dim, name="tried").graph)


def rows_in(plan):
    """The rows whose neighbours are shifted, of the loops that do that."""
    lines = render_openmp(plan).text.split("\n")
    calls = [line.split("whole_vectors(first, last, ")[1] for line in lines if "whole_vectors(" in line]
    return [call.removesuffix(");").split(", ") for call in calls]


@pytest.mark.parametrize(
    "formula",
    [
        FOURTH,
        f"-({FOURTH}) / (k + 1.0)",
        f"u + k * 1e-12 * ({FOURTH})",
        "u[0, 7] + u[0, -7] + u[0, 5] * u[0, -4]",
        f"({FOURTH}) * index(0)",  # the same along the row
        "u[1, 4] + u[1, 3] + u[1, 2] + u[1, 1] - u[-1, 1]",
    ],
)
def test_loops_of_many_neighbours_and_simple_operators(formula):
    assert len(rows_in(plan_of(formula))) == 1


@pytest.mark.parametrize(
    "formula",
    [
        "u[0, +1] + u[0, -1] + u[+1, 0] + u[-1, 0]",  # two of a row
        "u[1, 1] + u[1, -1] + u[0, 1] + u[0, -1]",
        f"{FOURTH} + u[0, 8]",  # too far
        f"where(u > 0, {FOURTH}, u)",
        f"sqrt({FOURTH})",
        f"maximum(u, {FOURTH})",
        f"astype(astype({FOURTH}, 'f32'), 'f64')",
        f"({FOURTH}) * index(1)",
    ],
)
def test_other_loops_stay_as_they_are(formula):
    plan = plan_of(formula)
    assert rows_in(plan) == []
    assert "stencil_vectors.h" not in render_openmp(plan).text


def test_loops_of_whole_numbers_of_two_types_and_of_one_axis_stay_as_they_are():
    whole = wb.trace(f'u = field("u", dtype="i64", boundary="periodic")\nu.next = {FOURTH}', dim=2, name="whole")
    assert rows_in(plan_graph(whole.graph)) == []
    both = f'u = field("u", boundary="periodic")\nv = field("v", dtype="f32")\nu.next = {FOURTH} + astype(v, "f64")'
    assert rows_in(plan_graph(wb.trace(f"{both}\nv.next = v", dim=2, name="both").graph)) == []
    assert rows_in(plan_of("u[1] + u[2] + u[-1] + u[-2]", dim=1)) == []


def test_solvers_of_order_four_and_of_three_axes_have_such_loops():
    assert rows_in(plan_graph(heat.machine(2).graph)) == []
    assert rows_in(plan_graph(heat.machine(3).graph)) == [["u"], ["t1"]]
    for dtype in ("f32", "f64"):
        assert len(rows_in(plan_graph(wave.machine(3, order=4, time_order=2, dtype=dtype).graph))) == 1


def test_results_and_the_farthest_planes_are_asked_for_ahead():
    wide = "v[+2, 0, 0] + v[-1, 0, 0] + v[+1, 1, 0] + " + " + ".join(
        f"u[{z}, 0, {x}]" for z in (1, -3) for x in range(-2, 3)
    )
    cell = f'u, v = fields("u v", boundary="periodic")\nu.next = {wide}\nv.next = v'
    text = render_openmp(plan_graph(wb.trace(cell, dim=3, name="planes").graph)).text
    (asked,) = [line for line in text.split("\n") if "prefetch(" in line]
    assert set(asked.strip(" );").removeprefix("prefetch(i, ").split(", ")) == {
        "out_u", "v_xp2", "v_xm1", "u_xp1", "u_xm3",
    }  # fmt: skip
    assert "prefetch(" not in render_openmp(plan_of(FOURTH)).text


def test_a_result_that_is_the_same_in_all_cells_is_no_vector():
    cell = f'u, v = fields("u v", boundary="periodic")\nk = param("k", 0.1)\nu.next = {FOURTH}\nv.next = k + 1'
    plan = plan_graph(wb.trace(cell, dim=2, name="constant").graph)
    assert rows_in(plan) == []


def backend(flag):
    """The backend with the compiler of this machine; vectors that its processor has not are made of shorter ones."""
    compiler = default_compiler()
    toolchain = replace(compiler.toolchain, flags=(*compiler.toolchain.flags, flag))
    return OpenmpBackend(replace(compiler, toolchain=toolchain))


def random_formula(draw):
    """Sums and products of cells around, as a user may write them."""
    terms = [f"u[{draw.randint(-1, 1)}, {draw.randint(-7, 7)}]" for _ in range(draw.randint(6, 14))]
    text = terms[0]
    for term in terms[1:]:
        operator = draw.choice(["+", "-", "*", "+ k *", "- 0.5 *", "/ 3.0 +"])
        text = f"({text}) {operator} {term}" if draw.random() < 0.5 else f"{text} {operator} {term}"
    return text


@pytest.mark.parametrize("flag", ["-DSTENCIL_SHIFTED", "-USTENCIL_SHIFTED"])
def test_results_have_the_bits_of_the_reference(flag):
    draw = random.Random(3)
    plans, tried = [], 0
    while len(plans) < 10:
        tried += 1
        plan = plan_of(random_formula(draw), draw.choice(["f32", "f64"]))
        if rows_in(plan):
            plans.append(plan)
    assert tried < 40
    plans.append(plan_graph(wave.machine(3, order=8, time_order=2, dtype="f32").graph))
    mixed = " + ".join(f"u[{z}, 0, {x}] * {x + 3}.0" for z in (1, -1) for x in range(-2, 3))  # neighbours of far planes
    plans.append(plan_graph(wb.trace(f"{SIDES.format('f64', 'f64')}u.next = {mixed}", dim=3, name="mixed").graph))
    for plan, program in zip(plans, backend(flag).compile_many(plans), strict=True):
        extents = [(9, 8), (5, 37), (8, 64), (7, 130)] if plan.graph.dim == 2 else [(9, 10, 8), (8, 8, 67)]
        for number, each in enumerate(extents):
            assert_agrees(program, each, MarchRequest("step", 3), threads=1 + number % 2)


def test_rows_that_begin_elsewhere_than_at_a_line_have_the_same_bits(monkeypatch):
    monkeypatch.setattr("workbench.planning.layout.LARGE_BYTES", 1)
    plan = plan_of(FOURTH, "f32")
    program = backend("-DSTENCIL_SHIFTED").compile(plan)
    for width in (37, 64, 70):
        assert_agrees(program, (6, width), MarchRequest("step", 2))


def test_tiles_have_the_bits_of_steps():
    machine = wave.machine(3, order=4, time_order=2, dtype="f32", boundary="reflect")
    start = np.random.default_rng(0).random((17, 21, 45)).astype("f4")
    tiled, steps = (machine.simulate(u=start, before=start, schedule=name).run(9) for name in ("diamond", "stepwise"))
    assert tiled.u.tobytes() == steps.u.tobytes()
