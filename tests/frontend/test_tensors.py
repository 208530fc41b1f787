"""Tensors: components, arithmetic, algebra, storage and boundaries, traced and on plain arrays alike."""

import copy
import pickle
import textwrap
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.errors import FieldError, ShapeError, TraceError
from workbench.frontend.cell import trace_cell
from workbench.graph.parse import parse
from workbench.graph.verify import verify
from workbench.language import components, compose, contract, cross, delta, dot, einsum, outer


def momentum_flux(m, v, p):
    """The example of Paraiso §2.4: m_i v_j + p delta_ij."""
    return compose(lambda i, j: m[i] * v[j] + p * delta(i, j))


def random(*shape, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 2.0, shape)


def run(text, dim, **values):
    """One step of a cell on the reference backend."""
    machine = wb.trace(text, dim=dim)
    verify(machine.graph)
    assert parse(str(machine.graph)) == machine.graph
    return machine.simulate(backend="reference", **values).run(1)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_one_function_computes_and_generates(dim):
    m, v, p = random(dim, *(4,) * dim), random(dim, *(4,) * dim, seed=1), random(*(4,) * dim, seed=2)
    machine = wb.trace(
        'm, v, p = vector("m"), vector("v"), field("p")\nF = tensor("F")\n'
        "F.next = momentum_flux(m, v, p)\nv.next, m.next, p.next = m, v, p",
        dim=dim,
        namespace={"momentum_flux": momentum_flux},
    )
    traced = machine.simulate(m=m, v=v, p=p, F=0.0, backend="reference").run(1)
    plain = np.asarray(momentum_flux(components(m), components(v), p))
    by_hand = m[:, None] * v[None] + np.eye(dim).reshape(dim, dim, *(1,) * dim) * p
    assert np.array_equal(plain, by_hand)
    assert np.array_equal(traced["F"], plain)


def test_delta_emits_no_operation():
    graph = trace_cell('u = field("u")\nA = compose(lambda a, b: u * delta(a, b))\nu.next = contract(A)', dim=3).graph
    operators = [n.instruction.operator for n in graph.kernels[0].nodes if hasattr(n.instruction, "operator")]
    assert operators == ["add", "add"]


def test_delta_keeps_out_what_is_not_finite():
    bad = components((np.array([np.nan, 1.0]), np.array([np.inf, 2.0])))
    assert np.asarray(compose(lambda a, b: bad[a] * delta(a, b))[0, 1]) == 0


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize(
    ("subscripts", "ranks"),
    [
        ("ab,b->a", (2, 1)),
        ("ab,bc->ac", (2, 2)),
        ("ab,ab->", (2, 2)),
        ("aa->", (2,)),
        ("ab->ba", (2,)),
        ("a,b->ab", (1, 1)),
        ("abc,c->ba", (3, 1)),
        ("ab,b", (2, 1)),
        ("a, a", (1, 1)),
        ("aab->b", (3,)),
    ],
)
def test_einsum_is_numpys(dim, subscripts, ranks):
    arrays = [random(*(dim,) * rank, seed=rank + k) for k, rank in enumerate(ranks)]
    tensors = [components(a, rank) for a, rank in zip(arrays, ranks, strict=True)]
    expected = np.einsum(subscripts, *arrays)
    assert np.allclose(np.asarray(einsum(subscripts, *tensors)), expected, rtol=1e-14)  # the sums' order may differ
    assert np.allclose(np.asarray(einsum(subscripts, *arrays)), expected, rtol=1e-14)


def test_einsum_takes_scalars_without_letters():
    v = components((2.0, 3.0))
    assert np.array_equal(np.asarray(einsum(",a->a", 10.0, v)), [20.0, 30.0])


def test_vector_product():
    a, b = (2.0, -3.0, 5.0), (7.0, 11.0, -13.0)
    assert np.array_equal(np.asarray(cross(a, components(b))), np.cross(a, b))
    assert cross((2, 3), (5, 7)) == -1
    with pytest.raises(TraceError, match="2 or 3 components, not of a tensor of rank 2 in 2 dimensions"):
        cross((1, 2), ((1, 2), (3, 4)))
    with pytest.raises(TraceError, match="2 or 3 components, not of a vector in 4 dimensions"):
        cross((1, 2, 3, 4), (1, 2, 3, 4))


def test_algebra_of_plain_tensors():
    a, b = components((1.0, 2.0, 3.0)), components((4.0, 5.0, 6.0))
    matrix = components(((1, 2), (3, 4)))
    assert dot(a, b) == 32
    assert np.array_equal(np.asarray(outer(a, b)), np.outer([1, 2, 3], [4, 5, 6]))
    assert contract(outer(a, b)) == 32
    assert contract(lambda i: a[i] * b[i]) == 32
    assert np.array_equal(np.asarray(dot(matrix, matrix)), np.array([[1, 2], [3, 4]]) @ np.array([[1, 2], [3, 4]]))
    assert np.array_equal(np.asarray(dot((1, 2), matrix)), [7, 10])
    assert np.array_equal(np.asarray(compose(delta, dim=3)), np.eye(3))
    assert sum((a, b))[2] == 9


def test_levi_civita_by_contraction():
    """epsilon_abc epsilon_abd = 2 delta_cd."""
    epsilon = compose(lambda a, b, c: (a - b) * (b - c) * (c - a) // 2, dim=3)
    assert np.array_equal(np.asarray(einsum("abc,abd->cd", epsilon, epsilon)), 2 * np.eye(3))


def test_arithmetic_goes_by_component():
    x, y = random(3, 5), random(3, 5, seed=1)
    a, b = components(x), components(y)
    for value, expected in [
        (a + b, x + y),
        (2 - a, 2 - x),
        (a * b[0], x * y[0]),
        (1 / a, 1 / x),
        (a / 3.0, x / 3),
        (a**2, x**2),
        (-a, -x),
        (abs(-a), x),
        (a < b, x < y),
        (~(a < b) & (a > 1), (x >= y) & (x > 1)),
        (np.sqrt(a), np.sqrt(x)),
        (np.where(a < b, a, b), np.minimum(x, y)),
        (np.arange(5.0) * a, np.arange(5.0) * x),
        (a - (1, 2, 3), x - [[1], [2], [3]]),
        ((1, 2, 3) * a, x * [[1], [2], [3]]),
    ]:
        assert np.array_equal(np.asarray(value), expected)


def test_traced_arithmetic_is_that_of_arrays():
    x, s = random(2, 4, 4), random(4, 4, seed=1)
    sim = run(
        'v, s = vector("v", boundary="periodic"), field("s")\n'
        "w = where(v > 1, sqrt(v) * s, s - v) + maximum(v, s) ** 2\n"
        "v.next = (2 * w - v.at(+1, 0)) / s + (1, -1)\ns.next = s",
        2,
        v=x,
        s=s,
    )
    w = np.where(x > 1, np.sqrt(x) * s, s - x) + np.maximum(x, s) ** 2
    assert np.array_equal(sim["v"], (2 * w - np.roll(x, -1, 1)) / s + np.array([1, -1]).reshape(2, 1, 1))


def test_conditions_are_joined_by_component():
    x, y = random(3, 5), random(3, 5, seed=1)
    a, b = components(x), components(y)
    assert np.array_equal(np.asarray((a > b) ^ (b > 1)), (x > y) ^ (y > 1))
    assert np.array_equal(np.asarray((True, False, True) ^ (b > 1)), np.array([[1], [0], [1]]) ^ (y > 1))


@pytest.mark.parametrize("values", [(1, (2, 3)), (1.0, None), ("a", "b"), (components((1, 2)), components((3, 4)))])
def test_what_is_no_component_is_refused(values):
    with pytest.raises(TraceError, match="no component"):
        components(values)


def test_components_need_a_rank_that_there_is():
    for rank in (0, -1, 1.5, True):
        with pytest.raises(TraceError, match=f"no tensor has rank {rank}"):
            components(np.ones((2, 2)), rank)
    with pytest.raises(TraceError, match="ndarray has no components"):
        components(np.ones(()))
    with pytest.raises(TraceError, match="compose: None is no component"):
        compose(lambda a: None, dim=2)


def test_indices_are_whole_numbers_of_any_kind_but_no_conditions():
    m = components(((1, 2), (3, 4)))
    assert m[np.int64(1), 0] == 3
    assert contract(m, np.int64(0), np.int64(1)) == 5
    with pytest.raises(TraceError, match="whole number known when the cell is traced, not True"):
        m[True, 0]


def test_plain_tensors_are_copied_and_pickled():
    tensor = outer(components((1.0, 2.0)), components((3.0, 4.0)))
    for twin in (copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor))):
        assert np.array_equal(np.asarray(twin), np.asarray(tensor))


def test_component_then_offset():
    x = random(2, 4, 5)
    sim = run('v = vector("v", boundary="periodic")\nv[0].next = v[1][+1, 0]\nv[1].next = v[0].at(-1, 1)', 2, v=x)
    assert np.array_equal(sim["v"][0], np.roll(x[1], -1, 0))
    assert np.array_equal(sim["v"][1], np.roll(x[0], 1, 1))


def test_dimension_is_found_from_components():
    assert trace_cell('v = vector("v")\nv.next = -v\nw = v[2]').graph.dim == 3
    assert trace_cell('v = vector("v")\nv.next = v + (1, 2)').graph.dim == 2
    assert trace_cell('v = vector("v", boundary="periodic")\nv.next = compose(lambda a: v[a][0, 0, +1])').graph.dim == 3


def test_names_and_groups():
    graph = trace_cell(
        'S = tensor("S", symmetric=True)\nu = field("u")\nv = vector("v")\n'
        'flux = v * u\nnamed(flux, "F")\nS.next = outer(flux, flux)\nu.next = manifest(flux)[0]\nv.next = v',
        dim=2,
    ).graph
    assert [(s.name, s.group, s.component) for s in graph.fields] == [
        ("S00", "S", (0, 0)),
        ("S01", "S", (0, 1)),
        ("S11", "S", (1, 1)),
        ("u", "", ()),
        ("v0", "v", (0,)),
        ("v1", "v", (1,)),
    ]
    kernel = graph.kernels[0]
    assert {"flux0", "F0", "flux1", "F1"} <= {name for node in kernel.nodes for name in node.names}
    assert [n.hint.allocation for n in kernel.nodes if "F1" in n.names] == ["manifest"]


def test_hint_on_a_vector_is_a_hint_on_each_component():
    graph = trace_cell('v = vector("v")\nv.next = sync(delayed(2 * v))', dim=3).graph
    hints = [n.hint for n in graph.kernels[0].nodes if n.hint.allocation]
    assert [(h.allocation, h.sync_before) for h in hints] == [("delayed", True)] * 3


def test_symmetric_tensor_is_stored_once_and_given_whole():
    sim = run(
        'S, v = tensor("S", symmetric=True), vector("v")\nS.next = S + outer(v, v)\nv.next = dot(S, v)',
        3,
        S=2.0,
        v=(1.0, 2.0, 3.0),
        shape=(2, 2, 2),
    )
    expected = 2 + np.outer([1, 2, 3], [1, 2, 3])
    assert np.array_equal(sim["S"], np.broadcast_to(expected[..., None, None, None], (3, 3, 2, 2, 2)))
    assert np.array_equal(sim["v"][:, 0, 0, 0], 2 * 6 * np.ones(3))
    sim["S"] = sim["S"] + 1
    assert sim.S01[0, 0, 0] == 5
    with pytest.raises(FieldError, match=r"S is symmetric, but component \(1, 0\) given differs from \(0, 1\)"):
        sim["S"] = np.arange(9.0).reshape(3, 3, 1, 1, 1) * np.ones((2, 2, 2))


def test_symmetry_survives_what_keeps_it():
    a = outer(components((1.0, 2.0)), components((1.0, 2.0)))
    v = components((1.0, 2.0))
    s = outer(v, v)
    assert s.symmetric
    assert (2 * s + s).symmetric
    assert not a.symmetric
    assert not (a + s).symmetric
    assert np.array_equal(np.asarray(a + s), 2 * np.outer([1, 2], [1, 2]))


def test_computed_tensors_are_evaluated_by_their_name():
    x = random(2, 3, 4)
    sim = run('v = vector("v")\nflux = outer(v, v)\nw = 3 * v\nv.next = dot(flux, w)', 2, v=x)
    now = sim["v"]
    assert np.array_equal(sim.evaluate("w"), 3 * now)
    assert np.array_equal(sim.evaluate("flux"), now[:, None] * now[None])
    with pytest.raises(FieldError, match="fluxx"):
        sim.evaluate("fluxx")


def test_simulate_takes_arrays_tuples_and_numbers():
    machine = wb.trace('v = vector("v")\nv.next = 2 * v', dim=2)
    whole = random(2, 3, 4)
    assert np.array_equal(machine.simulate(v=whole, backend="reference").run(1)["v"], 2 * whole)
    assert np.array_equal(machine.simulate(v=components(whole), backend="reference")["v"], whole)
    mixed = machine.simulate(v=(whole[0], 7.0), backend="reference")
    assert np.array_equal(mixed["v"][1], np.full((3, 4), 7.0))
    assert (machine.simulate(v=3.0, shape=(3, 4), backend="reference")["v"] == 3).all()
    with pytest.raises(ShapeError, match=r"v has components of shape \(2,\), but was given an array of shape \(3, 4\)"):
        machine.simulate(v=whole[0])
    with pytest.raises(ShapeError, match=r"v has components of shape \(2,\), but was given 3"):
        machine.simulate(v=(1, 2, 3))


# --- boundaries: brute force, one cell at a time ----------------------------------------------------------------------


def reflected(i, n, doubled=True):
    """(index, sign) of a cell outside after reflections about the faces."""
    sign = 1
    while not 0 <= i < n:
        i, sign = (-doubled - i if i < 0 else 2 * n - 2 + doubled - i), -sign
    return i, sign


def mirrored(i, n):
    """As `reflected`, about the first and last cell."""
    return reflected(i, n, doubled=False)


@pytest.mark.parametrize("extents", [(5,), (4, 3), (3, 4, 2)])
@pytest.mark.parametrize(("rule", "image"), [("reflect", reflected), ("mirror", mirrored)])
@pytest.mark.parametrize("rank", [1, 2])
def test_reflection_reflects_the_tensor(extents, rule, image, rank):
    """An index along the normal changes its sign, in cells one and two outside, also in corners."""
    dim, reach = len(extents), (-2, 1, 2)[: len(extents)]
    values = random(*(dim,) * rank, *extents)
    offset = ", ".join(map(str, reach))
    letters = ", ".join("ab"[:rank])
    sim = run(
        f'T = tensor("T", {rank}, boundary="{rule}")\nT.next = compose(lambda {letters}: T[{letters}][{offset}])',
        dim,
        T=values,
    )
    expected = np.empty_like(values)
    for index in product(range(dim), repeat=rank):
        for cell in np.ndindex(extents):
            images = [image(c + r, n) for c, r, n in zip(cell, reach, extents, strict=True)]
            sign = np.prod([images[axis][1] for axis in index])
            expected[index + cell] = sign * values[(*index, *(i for i, _ in images))]
    assert np.array_equal(sim["T"], expected)


def test_sign_given_holds_for_every_component():
    values = random(2, 3, 3)
    sim = run('v = vector("v", boundary=reflect(sign=1))\nv.next = v.at(-1, 0)', 2, v=values)
    assert np.array_equal(sim["v"], values[:, [0, 0, 1]])


def test_boundary_by_component_and_side():
    values = random(2, 3, 2)
    inflow = 'inflow = (5.0, 6.0)\nv = vector("v", boundary=lambda a: {"x-": constant(inflow[a]), "x+": "outflow", '
    sim = run(inflow + '"y": "periodic"})\nv.next = v.at(-1, 0)', 2, v=values)
    assert np.array_equal(
        sim["v"], np.concatenate([np.array([5.0, 6.0])[:, None, None] * np.ones((2, 1, 2)), values[:, :-1]], 1)
    )


def test_extend_reflects_a_computed_vector():
    values = random(2, 3, 2)
    sim = run('v = vector("v")\nw = extend(2 * v, {"x": "reflect", "y": "outflow"})\nv.next = w.at(-1, 0)', 2, v=values)
    assert np.array_equal(sim["v"], np.stack([2 * values[0][[0, 0, 1]] * [[-1], [1], [1]], 2 * values[1][[0, 0, 1]]]))


def test_components_on_their_faces():
    graph = trace_cell('B = vector("B", location=lambda a: ("face", a))\nB.next = B', dim=3).graph
    assert [s.face_axes for s in graph.fields] == [(0,), (1,), (2,)]


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_cell_of_the_readme_keeps_the_mass(dim):
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    cell = readme.partition("    %%stencil sound --dim 2\n")[2].partition("`m[0]`")[0]
    machine = wb.trace(textwrap.dedent(cell), dim=dim)
    rho = random(*(6,) * dim)
    sim = machine.simulate(rho=rho, m=0.0, backend="reference").run(20)
    assert sim["m"].any()
    assert sim["rho"].sum() == pytest.approx(rho.sum(), rel=1e-13)  # the sum of as many rounded numbers
    assert sim["rho"].std() < 3 * rho.std()  # and it is stable


def test_plain_tensors_of_different_kind_do_not_meet():
    with pytest.raises(TraceError, match=r"a vector in 2 dimensions cannot be combined with a vector in 3 dimensions"):
        components((1, 2)) + components((1, 2, 3))
    with pytest.raises(TraceError, match=r"a vector cannot be combined with a tensor of rank 2"):
        components((1, 2)) + components(((1, 2), (3, 4)))
    with pytest.raises(TraceError, match=r"dot: tensors in 2 and 3 dimensions cannot be combined"):
        dot((1, 2), (1, 2, 3))
    with pytest.raises(TraceError, match=r"compose cannot see the dimension"):
        compose(lambda a: a)
    with pytest.raises(TraceError, match=r"a plain array has no neighbours"):
        components(np.ones((2, 3))).at(1, 0)
