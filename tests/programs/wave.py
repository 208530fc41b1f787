"""The paper's worked example (Paraiso §2.3, Table 2): a linear wave whose energy (Eq. 8) stays, at dt = dx / c."""

import numpy as np

from workbench.commands.demo import PAPER_WAVE

TEXT = PAPER_WAVE
STEPS = 40


def start(cells=37):
    x = np.arange(cells) * (2 * np.pi / cells)
    return {"u": np.sin(x), "v": np.cos(3 * x)}


def check(simulation):
    record = simulation.record("energy")
    simulation.run(20)
    assert fluctuation(record.values) <= 1e-13


def fluctuation(energies):
    return (energies.max() - energies.min()) / abs(energies.mean())
