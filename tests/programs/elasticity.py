"""Elastic waves in a periodic box in one, two and three dimensions from the same text, and sound in a closed box."""

import numpy as np

ELASTICITY = """\
v = vector("v", boundary="periodic")
S = tensor("S", symmetric=True, boundary="periodic")
first, shear = param("first", 1.0), param("shear", 0.5)
v1 = v + 0.25 * div(S, 1)
G = grad(v1, 1)
strain = compose(lambda a, b: G[a, b] + G[b, a], symmetric=True)
S.next = S + 0.25 * compose(lambda a, b: first * contract(G) * delta(a, b) + shear * strain[a, b], symmetric=True)
v.next = v1
"""
SOUND = """\
rho = field("rho", boundary="reflect")
m = vector("m", boundary="reflect")
rho1 = rho - 0.25 * div(m, 1)
rho.next = rho1
m.next = m - 0.25 * grad(extend(rho1, "reflect"), 1)
mass = scalar("mass")
mass.next = reduce_sum(rho)
"""
STEPS = 4
_SHAPES = ((11,), (5, 8), (4, 3, 6))


def programs():
    rows = (
        (f"elasticity_{len(shape)}d", ELASTICITY, STEPS, lambda shape=shape: elastic(shape), momentum)
        for shape in _SHAPES
    )
    return (*rows, ("sound_2d", SOUND, STEPS, lambda: sound(_SHAPES[1]), mass))


def elastic(shape):
    return {"shape": shape, "v": whole_numbers((len(shape), *shape)), "S": 0.0}


def sound(shape):
    return {"shape": shape, "rho": whole_numbers(shape), "m": whole_numbers((len(shape), *shape))}


def whole_numbers(shape):
    return np.random.default_rng(11).integers(-9, 9, shape).astype(float)


def momentum(simulation):
    # Forces between cells cancel; all numbers are multiples of small powers of two, so that they do exactly.
    axes = tuple(range(1, 1 + len(simulation.shape)))
    assert np.array_equal(simulation["v"].sum(axes), elastic(simulation.shape)["v"].sum(axes))
    stress = simulation["S"]
    assert np.array_equal(stress, stress.swapaxes(0, 1))
    assert stress.any()


def mass(simulation):
    # Walls reflect the momentum's normal component, so nothing flows through them.
    assert simulation["rho"].sum() == sound(simulation.shape)["rho"].sum()
    assert not np.array_equal(simulation["rho"], sound(simulation.shape)["rho"])
