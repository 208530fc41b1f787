"""Small cells traced, verified, interpreted and compared with NumPy: does the graph mean what the cell says."""

import numpy as np
import pytest

from tests.frontend.programs import PROGRAMS
from workbench.backends.interpreter import interpret
from workbench.frontend.cell import trace_cell
from workbench.graph.parse import parse
from workbench.graph.verify import verify


@pytest.mark.parametrize("name", PROGRAMS)
def test_graph_is_legal_and_survives_its_text(name):
    graph = trace_cell(PROGRAMS[name], name=name).graph
    verify(graph)
    assert parse(str(graph)) == graph


def step(name, extents, kernel="step", steps=1, **state):
    graph = trace_cell(PROGRAMS[name], name=name).graph
    given = {s.name: np.asarray(state.get(s.name, s.default), s.type.numpy) for s in graph.statics if s.role != "field"}
    fields = {
        s.name: np.asarray(state[s.name] if s.name in state else np.zeros(extents), s.type.numpy) for s in graph.fields
    }
    return interpret(graph, kernel, extents, {**given, **fields}, steps)


def test_multiplication_table_and_its_sum():
    a = step("table", (10, 20), "init")["a"]
    assert (a == np.outer(np.arange(1, 11), np.arange(1, 21))).all()
    assert step("table", (10, 20), a=a)["total"] == a.sum()


def test_index_continues_outside_unless_extended():
    i = np.arange(8)
    assert (step("shift", (8,))["a"] == 10000 * (i - 1) + 100 * i + (i + 1)).all()
    assert (step("cyclic", (8,))["a"] == 10000 * np.roll(i, 1) + 100 * i + np.roll(i, -1)).all()


def test_heart_curve():
    x, y = np.meshgrid(*(np.arange(n) * (3 / n) + 0.5 * (3 / n) - 1.5 for n in (12, 9)), indexing="ij")
    expected = np.arctan((1 - x**2 - (y - np.cbrt(x**2)) ** 2) * 10)
    np.testing.assert_allclose(step("heart", (12, 9))["u"], expected, rtol=1e-10)  # same formula, other rounding


def test_glider_moves_by_one_cell_in_four_steps():
    alive = np.zeros((8, 8), np.uint8)
    for cell in ((0, 1), (1, 2), (2, 0), (2, 1), (2, 2)):
        alive[cell] = 1
    result = step("life", (8, 8), steps=4, alive=alive)
    assert (result["alive"] == np.roll(alive, (1, 1), (0, 1))).all()
    assert result["population"] == 5


def test_upwind_takes_the_side_the_wind_comes_from():
    q = np.random.default_rng(0).random((5, 7))
    wide = np.pad(q, 1, mode="edge")
    fx = (q - wide[:-2, 1:-1]) * 0.5
    fy = (wide[1:-1, 2:] - q) * -0.25
    assert (step("upwind", (5, 7), q=q)["q"] == q - 0.1 * (fx + fy)).all()


def test_leapfrog_rotates():
    old, new = np.random.default_rng(0).random((2, 6))
    wide = np.pad(new, 1, mode="reflect")
    result = step("leapfrog", (6,), old=old, new=new)
    assert (result["old"] == new).all()
    assert (result["new"] == 2 * new - old + 0.25 * (wide[2:] - 2 * new + wide[:-2])).all()


def test_last_step_is_clipped():
    u = np.ones(3)
    result = step("clipped", (3,), steps=3, u=u, until=0.25)
    assert result["t"] == 0.25
    assert step("clipped", (3,), u=u)["t"] == 0.1


def test_float32_rounds_the_global_once():
    u = np.random.default_rng(0).random(5).astype(np.float32)
    right = np.append(u[1:], np.float32(0.1))
    assert (step("single", (5,), u=u)["u"] == np.float32(0.1) * right + np.float32(0.1)).all()


def test_value_rules_hold_at_their_sides():
    a = np.array([1.0, 2.0, 4.0])
    result = step("walls", (3,), a=a, b=a)
    assert (result["a"] == [2.0 + 2.0, 1.0 + 4.0, 2.0 + (2 * 3.0 - 4.0)]).all()
    assert (result["b"] == [(1.0 - 0.5 * 2.0) + 2.0, 1.0 + 4.0, 2.0 + 300.0]).all()


AXES = """
u = field("u", boundary="periodic")
w = field("w", dtype="f32", boundary="outflow")
mean = reduce_sum(u, axis=1) / size(1)
top = np.max(w, axis=(0, 2))
ends = extend(mean, {"x": "outflow"})
u.next = u - mean[+1, 0] + mean.at(-1, 2) * top - ends[-1, 0]
w.next = where(mean > 0, w, top)
spread = scalar("spread", 0.0)
spread.next = reduce_max(mean) - reduce_min(mean)
"""


def test_folds_meet_values_of_more_axes():
    graph = trace_cell(AXES, dim=3, name="axes", namespace={"np": np}).graph
    verify(graph)
    assert parse(str(graph)) == graph
    draw = np.random.default_rng(3)
    u, w = draw.integers(-9, 9, (4, 5, 3)).astype(float), draw.integers(-9, 9, (4, 5, 3)).astype(np.float32)
    state = {"u": u, "w": w, "spread": np.asarray(0.0)}
    found = interpret(graph, "step", u.shape, state)
    mean, top = u.sum(axis=1) / 5, w.max(axis=(0, 2))
    before, after = np.concatenate([mean[:1], mean[:-1]]), np.roll(mean, -1, 0)
    across = np.roll(mean, 1, 1)
    expected = u - after[:, None] + across[:, None] * top[None, :, None].astype(float) - before[:, None]
    np.testing.assert_array_equal(found["u"], expected)
    np.testing.assert_array_equal(found["w"], np.where(mean[:, None] > 0, w, top[None, :, None]))
    assert found["spread"] == mean.max() - mean.min()


def test_a_fold_keeps_the_element_type_and_over_all_axes_it_is_a_reduction():
    graph = trace_cell('w = field("w", dtype="f32")\nw.next = w - reduce_sum(w, axis=1)', name="typed").graph
    assert "fold sum over (1) %0 : f32 local(x)" in str(graph)
    graph = trace_cell('w = field("w", dtype="f32")\nw.next = w - reduce_sum(w, axis=0)', name="typed").graph
    assert "reduce sum over (0)" in str(graph)
