"""LULESH: a whole run beside a reference of other formulas, LLNL's figures, equal bits, and formulas of hexahedra."""

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from workbench.commands.bench.peers import numpy_lulesh
from workbench.errors import RunError
from workbench.programs import hexahedra, lulesh
from workbench.programs.lulesh import advanced, asymmetry, blast, run


def elements(array):
    """Those of an array of elements, along x first."""
    return array[:-1, :-1, :-1].ravel()


def assert_is(found, exact):
    """The same blast but for roundings, which a run repeats some hundred times."""
    gas = found.gas
    assert found.cycles == exact.cycles
    assert found.time == pytest.approx(exact.time, rel=1e-12)
    pairs = [
        *((part.ravel(), exact.place[:, k]) for k, part in enumerate(gas[:3])),
        *((part.ravel(), exact.speed[:, k]) for k, part in enumerate(gas[3:6])),
        *((elements(part), other) for part, other in zip(gas[6:], exact[2:7], strict=True)),
    ]
    for mine, other in pairs:
        np.testing.assert_allclose(mine, other, atol=1e-10 * np.abs(other).max())


def test_a_whole_run_is_that_of_the_reference():
    found = run(blast(5), backend="openmp")
    assert_is(found, numpy_lulesh.run(5))
    assert found.time == 1e-2
    assert found.cycles > 50
    assert max(asymmetry(found.gas.energy)) < 1e-9
    gas, mass = found.gas, lulesh.masses(*blast(5).gas[:3])
    moving = 0.5 * (mass * (gas.u**2 + gas.v**2 + gas.w**2)).sum()
    heat = (elements(gas.energy) * elements(lulesh.volumes(*blast(5).gas[:3]))).sum()
    put_in = lulesh.ENERGY * (5 / 45) ** 3 * (lulesh.EDGE / 5) ** 3
    assert 0.8 * put_in < moving + heat < put_in  # the scheme does not keep the sum; so few elements lose an eighth


@pytest.mark.parametrize(
    ("n", "cycles", "energy", "limit"),  # limit: of relative differences, largest where the blast has just arrived
    [
        (5, 72, "7.853665e+03", 1e-12),
        (10, 231, "2.720531e+04", 1e-12),
        pytest.param(30, 932, "2.025075e+05", 1e-12, marks=pytest.mark.proof),
        pytest.param(45, 1477, "4.234875e+05", 2e-12, marks=pytest.mark.proof),
    ],
)
def test_figures_are_those_that_llnl_publishes(n, cycles, energy, limit):
    found = run(blast(n), backend="openmp")
    assert found.cycles == cycles
    assert f"{found.gas.energy[0, 0, 0]:.6e}" == energy
    most, total, relative = asymmetry(found.gas.energy)
    rounding = np.spacing(1.0) * found.gas.energy[0, 0, 0]  # of the largest energy, with which differences grow
    assert 0 < most < 2.2 * rounding
    assert total < 220 * rounding
    assert relative < limit  # LLNL asks for 1e-8 of all three


@pytest.mark.parametrize(
    ("backend", "threads"),
    [("openmp", 3), *(pytest.param(name, 0, marks=pytest.mark.proof) for name in ("reference", "cuda-sim"))],
)
def test_backends_have_equal_bits_and_a_run_may_be_cut(backend, threads):
    whole = run(blast(4), cycles=9, backend="openmp", threads=1)
    half = run(blast(4), cycles=4, backend=backend, threads=threads)
    again = run(half, cycles=5, backend=backend, threads=threads)
    assert again[1:] == whole[1:]
    for mine, bits in zip(again.gas, whole.gas, strict=True):
        assert_same_bits(mine, bits)


def test_another_size_is_the_same_program_and_a_cycle_has_ten_loops():
    for n in (3, 4):
        run(blast(n), cycles=2, backend="openmp")
    assert len(advanced._traced) == 1
    (traced,) = advanced._traced.values()
    (machine,) = traced.machines
    turn = machine.plan("openmp").kernels[-1]
    assert len(turn.observed.subkernels) == 10
    forces = turn.observed.subkernels[0]
    assert len(forces.outputs) <= 24  # of eight corners along three axes, and nothing else of an element


def test_an_element_that_turns_inside_out_ends_the_run():
    start = blast(3)
    gas = start.gas._replace(u=start.gas.u + np.where(start.gas.x > 0.5, -1e4, 0.0))
    with pytest.raises(RunError, match="an element has the volume -"):
        run(start._replace(gas=gas), backend="openmp")


def hexahedra_at(seed, count=20):
    """Cubes whose corners are moved at random: for x, y and z the values at eight corners."""
    draw = np.random.default_rng(seed)
    corners = np.array(hexahedra.CORNERS, float)[:, ::-1]
    return [list(corners[:, k, None] + draw.uniform(-0.15, 0.15, (8, count))) for k in range(3)]


def test_volumes_derivatives_and_normals_belong_together():
    place = hexahedra_at(1)
    volume, change = hexahedra.volume_of(*place), hexahedra.volume_derivatives(*place)
    moment = sum(sum(p * c for p, c in zip(*pair, strict=True)) for pair in zip(place, change, strict=True))
    np.testing.assert_allclose(moment, 3 * volume, rtol=1e-13)  # Euler: a volume is of third degree in all places
    nudged = [[part.copy() for part in parts] for parts in place]
    nudged[1][6] += 1e-6
    slope = (hexahedra.volume_of(*nudged) - volume) / 1e-6
    np.testing.assert_allclose(slope, change[1][6], atol=1e-9)  # linear in one coordinate, so roundings alone
    np.testing.assert_allclose(np.sum(change, axis=1), 0.0, atol=1e-15)
    np.testing.assert_allclose(np.sum(hexahedra.face_normals(*place), axis=1), 0.0, atol=1e-15)


def test_even_motion_has_its_rate_and_no_hourglass_force():
    place, slope = hexahedra_at(2), np.random.default_rng(3).normal(size=(3, 3))
    speed = [[sum(a * place[m][c] for m, a in enumerate(row)) for c in range(8)] for row in slope]
    np.testing.assert_allclose(hexahedra.stretch_rates(place, speed), np.trace(slope), rtol=1e-12)
    volume, change = hexahedra.volume_of(*place), hexahedra.volume_derivatives(*place)
    still = hexahedra.hourglass_forces(place, speed, change, volume, -1.0)
    np.testing.assert_allclose(still, 0.0, atol=1e-13)
    twisted = [[part + 0.1 * sign for part, sign in zip(speed[0], hexahedra._MODES[1], strict=True)], *speed[1:]]
    force = hexahedra.hourglass_forces(place, twisted, change, volume, -1.0)[0]
    power = sum(f * v for f, v in zip(force, twisted[0], strict=True))
    assert (power < -0.01).all()  # against the mode


def test_lengths_and_widths_of_boxes_are_their_edges():
    box = [[edge * place[2 - k] * np.ones(1) for place in hexahedra.CORNERS] for k, edge in enumerate((1.0, 2.0, 3.0))]
    volume = hexahedra.volume_of(*box)
    assert volume == pytest.approx(6)
    assert hexahedra.length_of(box, volume) == pytest.approx(1)
    grown = [[rate * part for part in parts] for rate, parts in zip((0.5, 0.25, -1.0), box, strict=True)]
    found = hexahedra.edge_velocities(box, grown, volume, 1e-36)
    np.testing.assert_allclose([width for _, width in found], [[1], [2], [3]])
    np.testing.assert_allclose([jump for jump, _ in found], [[0.5], [0.25], [-1.0]])
