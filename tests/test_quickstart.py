"""The quickstart's cell: one text wherever it is shown, and an energy that stays at every stable time step."""

from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pytest

import workbench as wb
from tests.programs.wave import fluctuation
from workbench.commands.demo import PAPER_WAVE, WAVE

ROOT = Path(__file__).resolve().parent.parent
CELLS = 1024
X = np.linspace(0, 2 * np.pi, CELLS, endpoint=False)
PULSE = np.exp(-20 * (X - np.pi) ** 2)  # as in the notebook
STEPS = 1000


def notebook_cell(name, magic):
    """The body of the cell of a notebook that begins with `magic`."""
    cells = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells
    (source,) = (cell.source for cell in cells if cell.source.startswith(magic))
    return source.partition("\n")[2] + "\n"


@cache
def at_any_step(text):
    """The machine of a cell with the time step as a share of dx / c, so that one compilation serves all."""
    assert text.count("dt = dx / c\n") == 1
    return wb.trace(text.replace("dt = dx / c\n", 'dt = param("share", 1.0) * dx / c\n'), 1, name="wave")


def energies(text, share):
    with at_any_step(text).simulate(u=PULSE, v=0.0, share=share) as simulation:
        record = simulation.record("energy")
        simulation.run(STEPS)
        return record.values


def test_the_cell_is_the_same_wherever_it_is_shown():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert notebook_cell("00-quickstart", "%%stencil wave") == WAVE
    shown = "    %%stencil wave --dim 1\n" + "".join(f"    {line}".rstrip() + "\n" for line in WAVE.splitlines())
    assert shown in readme


@pytest.mark.parametrize("share", [1.0, 0.9, 0.5, 0.1])
def test_the_energy_stays_at_every_stable_step(share):
    assert fluctuation(energies(notebook_cell("00-quickstart", "%%stencil wave"), share)) <= 1e-13


def test_the_exercise_is_right_about_the_energy_of_the_paper():
    last = PAPER_WAVE.splitlines()[-1]
    notebook = nbformat.read(ROOT / "notebooks" / "00-quickstart.ipynb", as_version=4)
    assert any(f"    {last}\n" in cell.source for cell in notebook.cells if "Exercise" in cell.source)
    assert fluctuation(energies(PAPER_WAVE, 1.0)) <= 1e-13
    assert f"{fluctuation(energies(PAPER_WAVE, 0.5)):.0e}" == "3e-04"


def test_the_energy_of_the_ripples_stays_without_damping():
    ripples = wb.trace(notebook_cell("04-live-workbench", "%%stencil ripples"), name="ripples")
    x, y = np.meshgrid(np.linspace(0, 1, 64), np.linspace(0, 1, 64), indexing="ij")
    drop = np.exp(-400 * ((x - 0.35) ** 2 + (y - 0.6) ** 2))
    with ripples.simulate(u=drop, v=0.0) as simulation:
        record = simulation.record("energy")
        simulation.run(STEPS)
        assert fluctuation(record.values) <= 1e-13
        simulation.set(damping=0.01).run(100)
        assert record.values[-1] < 0.5 * record.values[0]
