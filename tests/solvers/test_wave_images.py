"""The wave of high order stores ghost cells that are images of cells, and its results stay those of the formula."""

import numpy as np
import pytest

from workbench.language import constant, fixed, periodic, reflect
from workbench.solvers import wave

IMAGES = ["periodic", "reflect", "mirror", periodic(sign=-1), reflect(sign=-1), {"x": "mirror", "y": "periodic"}]


def farthest(machine):
    """Cells outside the domain that its arrays have, on any side."""
    return max(max(side) for side in machine.plan("openmp").halo)


@pytest.mark.parametrize(("boundary", "order"), [*((rule, 4) for rule in IMAGES), ("periodic", 8)], ids=str)
def test_ghost_cells_are_those_of_one_laplacian(order, boundary):
    assert farthest(wave.machine(2, order, boundary=boundary)) == order // 2


@pytest.mark.parametrize(
    "boundary", ["outflow", fixed(0.0), constant(1.0), {"x": "periodic", "y": fixed(0.0)}], ids=str
)
def test_other_rules_keep_their_formula(boundary):
    assert farthest(wave.machine(2, 4, boundary=boundary)) == 10  # five Laplacians, each with two cells


@pytest.mark.parametrize("boundary", IMAGES, ids=str)
def test_images_are_what_the_formula_gives(monkeypatch, boundary):
    values = np.random.default_rng(4).normal(size=(2, 13, 9))
    start = {"u": values[0], "v": values[1], "dx0": 0.3, "dx1": 0.2}

    def after_steps():
        return wave.machine(2, 4, boundary=boundary).simulate(**start, backend="reference").run(2)

    imaged = after_steps()
    monkeypatch.setattr(wave, "maps_images", lambda _: False)
    continued = after_steps()
    for name in ("u", "v"):
        np.testing.assert_array_equal(imaged[name], continued[name])
