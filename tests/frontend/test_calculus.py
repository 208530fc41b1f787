"""Calculus: exact weights, the order of every operator by grid refinement, and how few operations are emitted."""

from fractions import Fraction
from itertools import product
from math import factorial

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TraceError
from workbench.frontend.cell import trace_cell
from workbench.language import coefficients

SIDES = ("centre", "forward", "backward")


@pytest.mark.parametrize(
    ("n", "accuracy", "side", "staggered"),
    [
        (n, accuracy, side, staggered)
        for n, accuracy, side, staggered in product(range(7), range(1, 9), SIDES, (False, True))
        if side != "centre" or accuracy % 2 == 0
    ],
)
def test_weights_satisfy_taylors_conditions(n, accuracy, side, staggered):
    """sum w k**m = m! for m = n and 0 for other m below n + accuracy, without rounding."""
    weights = coefficients(n, accuracy, side, staggered)
    assert all(isinstance(w, Fraction) for w in weights.values())
    assert list(weights) == sorted(weights)
    for m in range(n + accuracy):
        assert sum(w * Fraction(k) ** m for k, w in weights.items()) == (factorial(n) if m == n else 0)


def test_known_weights():
    assert coefficients(2) == {-1: 1, 0: -2, 1: 1}
    assert coefficients(1, 4) == {-2: Fraction(1, 12), -1: Fraction(-2, 3), 1: Fraction(2, 3), 2: Fraction(-1, 12)}
    assert coefficients(1, 2, "forward") == {0: Fraction(-3, 2), 1: 2, 2: Fraction(-1, 2)}
    half = Fraction(1, 2)
    assert coefficients(1, staggered=True) == {-half: -1, half: 1}
    assert coefficients(0, staggered=True) == {-half: half, half: half}


def test_centred_formulas_have_the_fewest_points():
    """n + accuracy - 1 points for even n and for odd n with a point at the centre of weight 0."""
    for n, accuracy in product(range(1, 7), (2, 4, 6)):
        width = (n + 1) // 2 + accuracy // 2 - 1
        assert max(coefficients(n, accuracy)) == width


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1,), "there is no derivative n=-1"),
        ((1, 3), "a centred formula has an even order, not accuracy=3"),
        ((1, 0), "accuracy=0 is no order"),
        ((1, 2, "left"), "side='left' is unknown"),
        ((1.0,), "there is no derivative n=1.0"),
    ],
)
def test_bad_weights_are_refused(arguments, message):
    with pytest.raises(TraceError, match=message):
        coefficients(*arguments)


# --- the order of every operator --------------------------------------------------------------------------------------

WAVES = (2 * np.pi, 4 * np.pi, 2 * np.pi)  # one wave number per axis, so that no two axes can be exchanged
SHIFTS = (0.3, 0.5, 0.9)


def wave(points, orders, component=0):
    """The product over the axes of the derivative of this order of sin(k x + shift)."""
    result = 1.0
    for axis, (x, order) in enumerate(zip(points, orders, strict=True)):
        k = WAVES[axis]
        result = result * k**order * np.sin(k * x + SHIFTS[axis] + component + order * np.pi / 2)
    return result


def grid(n, dim, faces=()):
    """Centres of n, 3 n / 2, 2 n cells in the unit cube; along `faces` the lower faces."""
    extents = [n * (2 + axis) // 2 for axis in range(dim)]
    axes = [(np.arange(e) + (0 if a in faces else 0.5)) / e for a, e in enumerate(extents)]
    return np.meshgrid(*axes, indexing="ij"), [1 / e for e in extents]


def unit(dim, axis, n=1):
    return tuple(n * (a == axis) for a in range(dim))


def measured(text, dim, sizes, inputs, exact, namespace=None):
    """Largest errors on two grids, and the order between them."""
    errors = []
    for n in sizes:
        _, dx = grid(n, dim)
        machine = wb.trace(text, dim=dim, namespace={"dx": dx[0], "dxs": tuple(dx), **(namespace or {})})
        sim = machine.simulate(backend="reference", **inputs(n)).run(1)
        errors.append(max(np.max(np.abs(sim[name] - value)) for name, value in exact(n).items()))
    return np.log(errors[0] / errors[1]) / np.log(sizes[1] / sizes[0])


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("accuracy", "side"),
    [(a, "centre") for a in (2, 4, 6)] + [(a, s) for a in (1, 2, 3) for s in ("forward", "backward")],
)
def test_order_of_derivative(n, accuracy, side):
    axis = n % 2
    order = measured(
        f'u = field("u", boundary="periodic")\nu.next = derivative(u, {axis}, dxs, {n}, {accuracy}, "{side}")',
        2,
        (40, 80),
        lambda size: {"u": wave(grid(size, 2)[0], (0, 0))},
        lambda size: {"u": wave(grid(size, 2)[0], unit(2, axis, n))},
    )
    assert order == pytest.approx(accuracy, abs=0.25)


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("to", ["face", "cell"])
@pytest.mark.parametrize("accuracy", [2, 4, 6])
def test_order_of_staggered_derivative(n, to, accuracy):
    before, after = ((), (0,)) if to == "face" else ((0,), ())
    order = measured(
        f'u = field("u", boundary="periodic")\nu.next = derivative(u, 0, dx, {n}, {accuracy}, to="{to}")',
        1,
        (40, 80),
        lambda size: {"u": wave(grid(size, 1, before)[0], (0,))},
        lambda size: {"u": wave(grid(size, 1, after)[0], (n,))},
    )
    assert order == pytest.approx(accuracy, abs=0.1)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("accuracy", [2, 4])
def test_order_of_gradient(dim, accuracy):
    def exact(size):
        points = grid(size, dim)[0]
        return {"g": np.stack([wave(points, unit(dim, a)) for a in range(dim)])}

    order = measured(
        f'u, g = field("u", boundary="periodic"), vector("g")\ng.next = grad(u, dxs, {accuracy})\nu.next = u',
        dim,
        (12, 24),
        lambda size: {"u": wave(grid(size, dim)[0], (0,) * dim), "g": 0.0},
        exact,
    )
    assert order == pytest.approx(accuracy, abs=0.25)


def vectors(size, dim, faces=False):
    return np.stack([wave(grid(size, dim, (a,) if faces else ())[0], (0,) * dim, a) for a in range(dim)])


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("accuracy", [2, 4])
@pytest.mark.parametrize("to", [None, "cell"])
def test_order_of_divergence(dim, accuracy, to):
    order = measured(
        f'v, d = vector("v", boundary="periodic"), field("d")\nd.next = div(v, dxs, {accuracy}, to={to!r})\nv.next = v',
        dim,
        (12, 24),
        lambda size: {"v": vectors(size, dim, to == "cell"), "d": 0.0},
        lambda size: {"d": sum(wave(grid(size, dim)[0], unit(dim, a), a) for a in range(dim))},
    )
    assert order == pytest.approx(accuracy, abs=0.25)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("accuracy", [2, 4])
def test_order_of_curl(dim, accuracy):
    def exact(size):
        points = grid(size, dim)[0]

        def part(b, c):
            return wave(points, unit(dim, b), c) - wave(points, unit(dim, c), b)

        return {"w": part(0, 1) if dim == 2 else np.stack([part(1, 2), part(2, 0), part(0, 1)])}

    declared = 'field("w")' if dim == 2 else 'vector("w")'
    order = measured(
        f'v, w = vector("v", boundary="periodic"), {declared}\nw.next = curl(v, dxs, {accuracy})\nv.next = v',
        dim,
        (12, 24),
        lambda size: {"v": vectors(size, dim), "w": 0.0},
        exact,
    )
    assert order == pytest.approx(accuracy, abs=0.25)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("accuracy", [2, 4, 6])
def test_order_of_laplacian(dim, accuracy):
    order = measured(
        f'u = field("u", boundary="periodic")\nu.next = laplacian(u, dxs, {accuracy})',
        dim,
        (16, 32),
        lambda size: {"u": wave(grid(size, dim)[0], (0,) * dim)},
        lambda size: {"u": sum(wave(grid(size, dim)[0], unit(dim, a, 2)) for a in range(dim))},
    )
    assert order == pytest.approx(accuracy, abs=0.25)


def cube(n, dim):
    return np.meshgrid(*((np.arange(n) + 0.5) / n,) * dim, indexing="ij")


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize(("form", "accuracy"), [("cross", 2), ("cross", 4), ("box", 2)])
def test_order_of_laplacian_with_one_spacing(dim, form, accuracy):
    order = measured(
        f'u = field("u", boundary="periodic")\nu.next = laplacian(u, dx, {accuracy}, "{form}")',
        dim,
        (16, 32),
        lambda size: {"u": wave(cube(size, dim), (0,) * dim)},
        lambda size: {"u": sum(wave(cube(size, dim), unit(dim, a, 2)) for a in range(dim))},
    )
    assert order == pytest.approx(accuracy, abs=0.25)


@pytest.mark.parametrize("dim", [2, 3])
def test_error_of_the_box_has_no_direction(dim):
    """For plane waves of equal length along an axis and a diagonal the box errs alike to 4th order, the cross not."""

    def error(form, k, size=32):
        k = np.array(k)
        u = np.sin(sum(a * x for a, x in zip(k, cube(size, dim), strict=True)))
        machine = wb.trace(
            f'u = field("u", boundary="periodic")\nu.next = laplacian(u, {1 / size}, form="{form}")', dim=dim
        )
        inside = (slice(1, -1),) * dim
        lap = machine.simulate(u=u, backend="reference").run(1)["u"][inside] / u[inside]
        return float(np.median(lap)) / -float(k @ k) - 1

    length = 3.0
    axis, diagonal = (length,) + (0.0,) * (dim - 1), (length / dim**0.5,) * dim
    assert error("box", axis) == pytest.approx(error("box", diagonal), rel=0.01)
    assert error("cross", axis) == pytest.approx(dim * error("cross", diagonal), rel=0.01)


def test_divergence_of_a_tensor_and_gradient_of_a_vector():
    """div(grad v) of a vector, staggered, is its Laplacian."""
    text = (
        'v, w = vector("v", boundary="periodic"), vector("w")\n'
        'G = grad(v, dxs, to="face")\nw.next = div(G, dxs, to="cell") - laplacian(v, dxs)\nv.next = v'
    )
    machine = wb.trace(text, dim=2, namespace={"dxs": (0.5, 0.25)})
    v = np.random.default_rng(1).integers(-8, 8, (2, 5, 6)).astype(float)
    assert not machine.simulate(v=v, w=1.0, backend="reference").run(1)["w"].any()  # exact for whole numbers


@pytest.mark.parametrize("dtype", ["u8", "i16", "i64"])
def test_differences_of_whole_numbers_do_not_wrap_around(dtype):
    u = np.array([[0, 200, 7, 90], [3, 1, 250, 0], [40, 255, 128, 127]])
    cell = (
        f'u, slope, bend = field("u", "{dtype}", boundary="periodic"), field("slope"), field("bend")\n'
        "slope.next, bend.next = derivative(u, 0, 0.5), laplacian(u, 0.5)"
    )
    given = {"u": u.astype({"u8": "u1", "i16": "i2", "i64": "i8"}[dtype]), "slope": 0.0, "bend": 0.0}
    sim = wb.trace(cell, dim=2).simulate(**given, backend="reference").run(1)
    w = u.astype(float)
    assert np.array_equal(sim["slope"], np.roll(w, -1, 0) - np.roll(w, 1, 0))
    around = sum(np.roll(w, s, a) for s in (-1, 1) for a in (0, 1))
    assert np.array_equal(sim["bend"], 4 * (around - 4 * w))


def test_a_tuple_is_a_tensor():
    text = (
        'u, w = fields("u w", boundary="periodic")\nu.next = div({0}, 0.5)\nw.next = curl({0}, 1) + grad({0}, 1)[0, 1]'
    )
    one, other = (wb.trace(text.format(v), dim=2).graph for v in ("(u, w)", "components((u, w))"))
    assert one.fingerprint() == other.fingerprint()


def test_divergence_of_the_curl_vanishes_on_yees_grid():
    text = (
        'E, d = vector("E", boundary="periodic"), field("d")\n'
        'd.next = div(curl(E, 0.5, to="cell"), 0.5, to="cell")\nE.next = E'
    )
    v = np.random.default_rng(1).integers(-8, 8, (3, 4, 5, 3)).astype(float)
    assert not wb.trace(text, dim=3).simulate(E=v, d=1.0, backend="reference").run(1)["d"].any()


@pytest.mark.parametrize("accuracy", [2, 4, 6])
def test_constants_have_no_derivative(accuracy):
    text = f'u = field("u", boundary="periodic")\nu.next = laplacian(u, 0.1, {accuracy}) + derivative(u, 0, 0.1)'
    assert not wb.trace(text, dim=2).simulate(u=3.0, shape=(8, 8), backend="reference").run(1)["u"].any()


# --- what is emitted --------------------------------------------------------------------------------------------------


def operations(expression, dim=1):
    text = 'u = field("u", boundary="periodic")\nv = vector("v", boundary="periodic")\nh = param("h", 0.1)\n'
    graph = trace_cell(text + f"u.next = {expression}\nv.next = v", dim=dim).graph
    nodes = graph.kernels[0].nodes
    return [n.instruction.operator for n in nodes if n.is_local and hasattr(n.instruction, "operator")]


@pytest.mark.parametrize(
    ("expression", "dim", "expected"),
    [
        ("derivative(u, 0, 0.1)", 1, "subtract multiply"),
        ("derivative(u, 0, h)", 1, "subtract multiply"),
        ("derivative(u, 0, 0.5)", 1, "subtract"),  # (u[+1] - u[-1]) * 1.0
        ("derivative(u, 0, 1, 2)", 1, "add multiply subtract"),
        ("laplacian(u, h)", 1, "add multiply subtract multiply"),
        ("laplacian(u, 0.1)", 2, "add add add multiply subtract multiply"),
        ("laplacian(u, 0.1)", 3, "add add add add add multiply subtract multiply"),
        ("laplacian(u, 0.1, 4)", 1, "add add multiply subtract multiply subtract multiply"),
        ("div(v, 0.1)", 2, "subtract subtract add multiply"),
        ('derivative(u, 0, 0.1, n=0, to="face")', 1, "add multiply"),
        ('derivative(u, 0, 1, to="face")', 1, "subtract"),
    ],
)
def test_few_operations_are_emitted(expression, dim, expected):
    assert sorted(operations(expression, dim)) == sorted(expected.split())


# --- bad input --------------------------------------------------------------------------------------------------------

U = 'u, v = field("u", boundary="periodic"), vector("v", boundary="periodic")\ns = scalar("s")\n'
BAD = [
    ("u.next = derivative(u, 2, 1)", "there is no axis 2 in 2 dimensions", "Use an axis below 2"),
    ("u.next = derivative(u, 0, 0)", "derivative: dx is 0", "Give the distance of two cells"),
    ("u.next = derivative(u, 0, nan)", "derivative: dx is nan", "Give the distance"),
    ("u.next = derivative(u, 0, -0.1)", "derivative: dx is -0.1", "positive and finite"),
    ("u.next = derivative(u, 0, inf)", "derivative: dx is inf", "positive and finite"),
    ("u.next = derivative(u, 1, (0.1, -1))", "derivative: dx is -1", "positive and finite"),
    ("v.next = grad(u, -1.0)", "grad: dx is -1.0", "positive and finite"),
    ("u.next = div(v, (0.1, -0.1))", "div: dx is -0.1", "positive and finite"),
    ("u.next = curl(v, -0.1)", "derivative: dx is -0.1", "positive and finite"),
    ("u.next = laplacian(u, -0.1)", "laplacian: dx is -0.1", "positive and finite"),
    ('u.next = laplacian(u, -0.1, form="box")', "laplacian: dx is -0.1", "positive and finite"),
    ("u.next = u * courant_step(u, (0.1, -0.1), 0.5)", "courant_step: dx is -0.1", "positive and finite"),
    ("u.next = u * courant_step(u, (0.1, 0), 0.5)", "courant_step: dx is 0", "positive and finite"),
    ("u.next = extend(u, neumann(1.0, -0.1))", "neumann: dx is -0.1", "positive and finite"),
    ("u.next = derivative(u, 0, size(0))", "derivative: dx is i64", 'param("dx", 1.0)'),
    ("u.next = derivative(u, 0, (1, 2, 3))", "3 distances dx for 2 axes", "one for each axis"),
    ("u.next = derivative(s, 0, 1)", "derivative needs a value per cell", "Leave it out."),
    ("u.next = derivative(3.0, 0, 1)", "derivative needs a value per cell", "Leave it out."),
    ("u.next = derivative(u, 0, 1, 1, 3)", "has an even order, not accuracy=3", "Use accuracy=4"),
    ("u.next = derivative(u, 0, 1, 99)", "there is no derivative n=99", "Use n from 0"),
    ('u.next = derivative(u, 0, 1, side="up")', "side='up' is unknown", "Use one of centre, forward, backward."),
    ('u.next = derivative(u, 0, 1, to="edge")', "to='edge' is no place", 'Use to="face"'),
    ("u.next = derivative(u, 0, None)", "None cannot be combined with a traced value", "return its result"),
    ("u.next = div(u, 1)", "div needs a vector, not div(u, 1)", "grad of u"),
    ("u.next = curl(u, 1)", "not for one value per cell in 2", "Declare vector(name)"),
    ('u.next = curl(tensor("T"), 1)', "not for the tensor of rank 2 T in 2", "Declare vector(name)"),
    ("v.next = grad(v, 1)", "the vector v cannot be combined with a tensor of rank 2", "compose"),
    ("u.next = laplacian(u, (1, 2, 3))", "laplacian: 3 distances dx for 2 axes", "one for each axis"),
    ('u.next = laplacian(u, 1, form="star")', "form='star' of the Laplacian is unknown", '"cross" or "box"'),
    ('u.next = laplacian(u, (1, 2), form="box")', 'form="box" needs one dx', 'form="cross"'),
    ('u.next = laplacian(u, 1, 4, "box")', "accuracy 4", 'form="cross"'),
    ("u.next = random(1, s, 0)", "the step must be a whole number, not f64", 'dtype="i64"'),
    ("u.next = random(0.5, 1)", "the seed must be a whole number, not 0.5", "Count steps"),
    ("u.next = random(1, 1, u)", "an index must be a whole number, not f64", "Count steps"),
    ('u.next = random(1, 1, index(0), dtype="i64")', "random gives f64 or f32, not i64", "astype(random(...)"),
]


@pytest.mark.parametrize(("cell", "what", "advice"), BAD, ids=[row[0] for row in BAD])
def test_bad_calculus_is_explained(cell, what, advice):
    with pytest.raises(TraceError) as caught:
        trace_cell(U + cell, dim=2)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("line 3: ")
    assert what in lines[0]
    assert lines[1] == "    " + cell
    assert advice in lines[-1]
    assert lines[-1].endswith(".")
