"""A plasma as particles in cells: its frequency, energy and charge, and equal bits on every backend."""

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from workbench.programs import plasma

CELLS, DT = 32, 0.1


def start(n=512, push=1e-3):
    place = (np.arange(n) + 0.5) / n
    return {"x": place + push * np.sin(2 * np.pi * place), "v": 0.0, "E": np.zeros(CELLS), "charge": 0.0, "dt": DT}


@pytest.mark.parametrize(("backend", "threads"), [("openmp", 1), ("openmp", 3), ("cuda-sim", 0)])
def test_steps_have_the_bits_of_the_reference(backend, threads):
    one, two = (
        plasma.machine().simulate(**start(), backend=b, threads=t).run(9)
        for b, t in (("reference", 0), (backend, threads))
    )
    for name in ("x", "v", "E", "charge", "energy"):
        assert_same_bits(two[name], one[name], name)


def test_a_small_wave_swings_at_the_frequency_of_the_grid():
    sim, seen = plasma.machine().simulate(**start(), backend="openmp"), []
    for _ in range(200):
        seen.append(sim.run(1).E[CELLS // 4])
    seen = np.array(seen)
    turns = np.flatnonzero(seen[1:] * seen[:-1] < 0)
    times = (turns + seen[turns] / (seen[turns] - seen[turns + 1])) * DT
    found = np.pi / np.diff(times).mean()  # zeros lie between two steps on a straight line, not on a sine
    assert found == pytest.approx(plasma.frequency(CELLS, DT), rel=1e-4)
    assert plasma.frequency(CELLS, DT) == pytest.approx(1, abs=0.01)
    assert plasma.frequency(CELLS, DT) != pytest.approx(1, abs=1e-3)


def test_charge_and_energy_are_kept():
    sim = plasma.machine().simulate(**start(push=1e-2), backend="openmp")
    record = sim.record("energy")
    sim.run(300)
    assert abs(sim.charge.mean()) < 1e-14
    energies = np.asarray(record.values)
    assert np.ptp(energies) < 0.03 * energies.max()
