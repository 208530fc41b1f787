"""Maxwell: plane waves and cavities against exact solutions, no divergence, walls, the same bits everywhere."""

from math import sqrt

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from workbench.errors import StencilError
from workbench.solvers import maxwell


def places(name, a, extents, dx):
    """Coordinates of one component, as the docstring of the machine has them."""
    along = []
    for axis, n in enumerate(extents):
        on_face = (axis == a) == (name == "magnetic")
        along.append((np.arange(n) + (0.0 if on_face else 0.5)) * dx[axis])
    return np.meshgrid(*along, indexing="ij")


def start(machine, exact, extents, dx, early=0.0):
    """Every component of the machine at t = 0, magnetic ones `early` before."""
    values = {}
    for field in machine.graph.fields:
        name, a = field.name[:-1], int(field.name[-1])
        time = -early if name == "magnetic" else 0.0
        values[field.name] = exact(name, a, places(name, a, extents, dx), time)
    return values


def error(machine, exact, extents, dx, end, cfl=0.9, early=0.0):
    values = start(machine, exact, extents, dx, early)
    widths = {f"dx{axis}": width for axis, width in enumerate(dx)}
    simulation = machine.simulate(**values, **widths, cfl=cfl, backend="openmp")
    simulation.run(until=end, time="time")
    worst = 0.0
    for field in machine.graph.fields:
        name, a = field.name[:-1], int(field.name[-1])
        # A last step that was cut short leaves B half of that before E.
        time = end - 0.5 * simulation.dt if early and name == "magnetic" else end
        worst = max(worst, np.abs(simulation[field.name] - exact(name, a, places(name, a, extents, dx), time)).max())
    return worst


def plane_wave(dim, polarisation):
    """E = p f(k.x - w t), B = (k x p) / w f: a wave along k with p perpendicular to it, c = 1."""
    k = 2 * np.pi * np.array({1: (1, 0, 0), 2: (1, 2, 0), 3: (1, -2, 2)}[dim])
    omega = float(np.linalg.norm(k))
    p = np.cross(np.cross(k, polarisation), k) / omega**2
    b = np.cross(k, p) / omega

    def exact(name, a, x, time):
        phase = sum(k[axis] * x[axis] for axis in range(dim)) - omega * time
        return (p if name == "electric" else b)[a] * np.cos(phase)

    return exact


@pytest.mark.parametrize(
    ("dim", "mode", "polarisation", "sizes"),
    [
        (1, "tm", (0, 0, 1), (32, 64)),
        (1, "all", (0, 1, 2), (32, 64)),
        (2, "tm", (0, 0, 1), (32, 64)),
        (2, "te", (1, 0, 0), (32, 64)),
        (2, "all", (1, 0, 1), (32, 64)),
        (3, "all", (0, 1, 0.5), (24, 48)),
    ],
)
def test_plane_wave_has_order_2(dim, mode, polarisation, sizes):
    machine, exact = maxwell.machine(dim, mode), plane_wave(dim, polarisation)
    coarse, fine = (
        error(
            machine, exact, tuple(n + n // 4 * a for a in range(dim)), [1 / (n + n // 4 * a) for a in range(dim)], 0.5
        )
        for n in sizes
    )
    print(dim, mode, coarse, fine, np.log2(coarse / fine))
    assert np.log2(coarse / fine) > 1.9


@pytest.mark.parametrize("dim", [1, 2])
def test_staggered_in_time_has_order_2(dim):
    machine, exact = maxwell.machine(dim, staggered=True), plane_wave(dim, (0, 0, 1))

    def found(n):
        step = 0.9 / (sqrt(dim) * n)
        end = step * round(0.5 / step)  # whole steps, for the time between E and B is half of a step
        return error(machine, exact, (n,) * dim, [1 / n] * dim, end * (1 - 1e-12), early=0.5 * step)

    assert np.log2(found(32) / found(64)) > 1.9


def to_the_right(pulse):
    """B_y = -E_z; it lies in the middle of the cell and half a step before, so at (i + 1/2) dx + dt/2 = (i + 1) dx."""
    return -np.roll(pulse, -1)


def test_on_a_line_at_the_limit_of_stability_it_is_exact():
    """c dt = dx is the magic time step: whatever runs to the right arrives as it was."""
    n = 32
    pulse = np.random.default_rng(0).standard_normal(n)
    machine = maxwell.machine(1, staggered=True)
    simulation = machine.simulate(electric2=pulse, magnetic1=to_the_right(pulse), cfl=1.0, backend="openmp").run(n + 5)
    np.testing.assert_allclose(simulation.electric2, np.roll(pulse, 5), atol=1e-12)


def cavity(dim, mode, lengths):
    """A standing wave between conducting walls: E_a ~ cos(k_a x_a) prod_b sin(k_b x_b), k.A = 0, B from its curl."""
    counts = np.array({1: (2, 0, 0), 2: (1, 2, 0), 3: (1, 2, 1)}[dim], float)
    k = np.pi * counts / np.array([*lengths, *(1.0,) * (3 - dim)])
    omega = float(np.linalg.norm(k))
    amplitude = {
        "tm": np.array([0.0, 0.0, 1.0]),
        "te": np.array([k[1], -k[0], 0.0]),
        "all": np.array([1.0, -0.5, 0.0]) + np.array([0, 0, (-k[0] + 0.5 * k[1]) / k[2] if k[2] else 1.0]),
    }[mode]
    if dim == 2 and mode == "all":
        amplitude = np.array([k[1], -k[0], 1.0])
    rotation = np.cross(k, amplitude) / omega

    def exact(name, a, x, time):
        value = np.cos(omega * time) * amplitude[a] if name == "electric" else np.sin(omega * time) * rotation[a]
        for axis in range(dim):
            wave = np.cos if (axis == a) == (name == "electric") else np.sin
            value = value * wave(k[axis] * x[axis])
        return value

    def signed(name, a, x, time):
        """dB/dt = -curl E: differentiating cos gives -sin, which the signs of the components below hold."""
        return exact(name, a, x, time) if name == "electric" else curl_sign(a, k, amplitude, omega, dim, x, time)

    return signed


def curl_sign(a, k, amplitude, omega, dim, x, time):
    """B_a = -(sin(w t) / w) (d_b E_c - d_c E_b) with the space part of E, written out."""
    b, c = (a + 1) % 3, (a + 2) % 3

    def derivative(of, by):
        """d/dx_by of cos(k_of x_of) prod sin: cos gives -k sin, sin gives k cos; 0 along an axis that is not there."""
        if by >= dim:
            return 0.0
        value = amplitude[of] * k[by]
        for axis in range(dim):
            along = k[axis] * x[axis]
            if axis == by:
                value = value * (-np.sin(along) if axis == of else np.cos(along))
            else:
                value = value * (np.cos(along) if axis == of else np.sin(along))
        return value

    return -np.sin(omega * time) / omega * (derivative(c, b) - derivative(b, c)) + 0 * x[0]


@pytest.mark.parametrize(
    ("dim", "mode", "sizes"), [(1, "tm", (32, 64)), (2, "tm", (20, 40)), (2, "te", (20, 40)), (3, "all", (10, 20))]
)
def test_cavity_has_order_2(dim, mode, sizes):
    lengths = (1.0, 1.5, 0.75)[:dim]
    exact = cavity(dim, mode, lengths)
    machine = maxwell.machine(dim, mode, boundary="conductor")
    coarse, fine = (error(machine, exact, (n,) * dim, [w / n for w in lengths], 0.6) for n in sizes)
    print(dim, mode, coarse, fine, np.log2(coarse / fine))
    assert np.log2(coarse / fine) > 1.9


@pytest.mark.parametrize("boundary", ["periodic", "conductor"])
@pytest.mark.parametrize(("dim", "mode"), [(2, "tm"), (3, "all")])
def test_divergence_of_b_stays_0_and_energy_bounded(dim, mode, boundary):
    generator = np.random.default_rng(dim)
    extents = (8, 9, 7)[:dim]
    machine = maxwell.machine(dim, mode, boundary=boundary)
    values = {field.name: 0.0 for field in machine.graph.fields}
    for field in machine.graph.fields:
        if field.name.startswith("electric"):
            noise = generator.standard_normal(extents)
            for axis in field.face_axes:
                if boundary == "conductor":
                    noise[(slice(None),) * axis + (0,)] = 0.0  # on the wall
            values[field.name] = noise
    simulation = machine.simulate(**values, shape=extents, backend="openmp")
    energies = [simulation.run(10).energy for _ in range(40)]
    assert simulation.divergence < 1e-13
    assert max(abs(simulation[f.name]).max() for f in machine.graph.fields if f.name.startswith("magnetic")) > 0.1
    assert max(energies) < 3 * energies[0]
    assert abs(np.mean(energies[20:]) / np.mean(energies[:20]) - 1) < 0.1
    if boundary == "conductor":
        for field in machine.graph.fields:
            for axis in field.face_axes:
                if field.name.startswith("electric") or axis == int(field.name[-1]):
                    assert np.all(np.take(simulation[field.name], 0, axis) == 0)


def test_a_static_field_with_divergence_keeps_it():
    """div B is what it was: no monopole is made or lost."""
    generator = np.random.default_rng(5)
    machine = maxwell.machine(3)
    values = {"electric": generator.standard_normal((3, 6, 6, 6)), "magnetic": generator.standard_normal((3, 6, 6, 6))}

    def divergence(b):
        return sum(np.roll(b[a], -1, a) - b[a] for a in range(3))

    simulation = machine.simulate(**values, backend="openmp").run(30)
    np.testing.assert_allclose(divergence(simulation.magnetic), divergence(values["magnetic"]), atol=1e-12)
    assert simulation.divergence == pytest.approx(np.abs(divergence(values["magnetic"])).max(), abs=1e-12)


def test_a_pulse_is_turned_over_by_a_wall_and_comes_back():
    """At the magic time step a pulse in a box of n cells is back after 2 n steps, turned over after n."""
    n = 24
    pulse = np.zeros(n)
    pulse[5:9] = (1.0, 3.0, -2.0, 0.5)
    machine = maxwell.machine(1, staggered=True, boundary="conductor")
    simulation = machine.simulate(electric2=pulse, magnetic1=to_the_right(pulse), cfl=1.0, backend="openmp").run(2 * n)
    np.testing.assert_allclose(simulation.electric2, pulse, atol=1e-12)
    flipped = simulation.run(n).electric2
    np.testing.assert_allclose(flipped[1:], -pulse[1:][::-1], atol=1e-12)


def test_walls_along_one_axis_and_periodic_along_the_other():
    machine = maxwell.machine(2, "te", boundary={"x": "conductor", "y": "periodic"})
    assert machine.graph.static("electric1").boundary == "x: reflect(sign=-1), y: periodic"
    assert machine.graph.static("electric0").boundary == "x: reflect(sign=1), y: periodic"


@pytest.mark.parametrize("backend", [b for b in backends_here() if b != "reference"])
@pytest.mark.parametrize(("dim", "mode"), [(1, "all"), (2, "te"), (3, "all")])
def test_backends_compute_the_reference_to_the_bit(dim, mode, backend):
    generator = np.random.default_rng(7)
    machine = maxwell.machine(dim, mode, boundary="conductor", staggered=dim == 2)
    values = {f.name: generator.standard_normal((5, 4, 6)[:dim]) for f in machine.graph.fields}
    one, other = (machine.simulate(**values, backend=b).run(3) for b in ("reference", backend))
    for name, value in one.to_dict().items():
        assert_same_bits(np.asarray(other[name]), np.asarray(value), name)


def test_what_there_is_not_is_refused():
    with pytest.raises(StencilError, match="dim=4"):
        maxwell.machine(4)
    with pytest.raises(StencilError, match="mode='tem'"):
        maxwell.machine(2, "tem")
    with pytest.raises(StencilError, match="mode='te' is unknown in 3"):
        maxwell.machine(3, "te")
    with pytest.raises(StencilError, match="boundary 'open'"):
        maxwell.machine(2, boundary="open")
