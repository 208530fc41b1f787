"""The page of all words is that of the words there are; and a cell written from the page alone does what it should."""

import json
from pathlib import Path

import numpy as np

import workbench as wb
from workbench import cli
from workbench.commands.language_page import COMMAND, escaped, page
from workbench.frontend.words import groups

NOTEBOOK = Path(__file__).resolve().parent.parent.parent / "notebooks" / "language.ipynb"


def test_the_page_is_up_to_date():
    assert NOTEBOOK.read_text(encoding="utf-8") == page(), f"Type: {COMMAND}"


def test_the_page_has_every_word_once():
    text = ["".join(cell["source"]) for cell in json.loads(page())["cells"]]
    for group in groups():
        for word in group.words:
            own = f"### {escaped(word.name)}\n"
            row = f"| `{word.signature}` |"
            assert sum(part.startswith(own) or row in part for part in text) == 1, word.name


def test_the_command_writes_the_page_and_explains_words(tmp_path, capsys):
    assert cli.main(["words", "--notebook", str(tmp_path / "page.ipynb")]) == 0
    assert (tmp_path / "page.ipynb").read_text(encoding="utf-8") == page()
    assert cli.main(["words", "laplacian"]) == 0
    assert "The sum of the second derivatives along all axes" in capsys.readouterr().out
    assert cli.main(["words"]) == 0
    assert "Calculus: derivative, grad" in capsys.readouterr().out
    assert cli.main(["words", "laplace"]) == 1
    assert "workbench: laplace is no word of a cell\nAsk for laplacian." in capsys.readouterr().err


def test_marks_of_markdown_are_escaped_outside_code():
    assert escaped("a*b_c `u[+1] * 2` <0>") == r"a\*b\_c `u[+1] * 2` \<0\>"


# Written from the page alone, by somebody who knows Python and partial differential equations:
# dc/dt + w . grad c = D lap c + a source that moves along x; c is given where the wind comes in, walls are at y.
PLUME = """
t = scalar("t", unit="s")
total = scalar("total")
D = param("D", 0.01, at_least=0)
wind = param("wind", 1.0, above=0)
inlet = param("inlet", 0.25)
c = field("c", boundary={"x-": constant(inlet), "x+": "outflow", "y": "reflect"}, unit="kg/m³")

dx = 1 / size(0)
x, y = cell_centre(0, dx), cell_centre(1, dx)
coordinate(0, x, "x", "m")
coordinate(1, y, "y", "m")
dt = 0.2 * minimum(dx / wind, dx**2 / (4 * D))

place = 0.2 + 0.5 * t
source = 10 * exp(-((x - place)**2 + (y - 0.25)**2) / (2 * 0.05**2))
flow = wind * derivative(c, 0, dx, accuracy=1, side="backward")
c1 = c + dt * (D * laplacian(c, dx) - flow + source)
c.next, t.next = c1, t + dt
total.next = reduce_sum(c1) * dx**2
"""


def plume_by_numpy(c, steps, diffusivity=0.01, wind=1.0, inlet=0.25):
    """The same by NumPy, with ghost cells."""
    t, dx = 0.0, 1 / c.shape[0]
    x, y = np.meshgrid(*((np.arange(n) + 0.5) * dx for n in c.shape), indexing="ij")
    dt = 0.2 * min(dx / wind, dx**2 / (4 * diffusivity))
    for _ in range(steps):
        wide = np.pad(c, 1, mode="edge")  # outflow and reflection of one cell are both a copy of the edge
        wide[0, 1:-1] = inlet
        spread = wide[2:, 1:-1] + wide[:-2, 1:-1] + wide[1:-1, 2:] + wide[1:-1, :-2] - 4 * c
        source = 10 * np.exp(-((x - 0.2 - 0.5 * t) ** 2 + (y - 0.25) ** 2) / (2 * 0.05**2))
        c = c + dt * (diffusivity * spread / dx**2 - wind * (c - wide[:-2, 1:-1]) / dx + source)
        t += dt
    return c, t


def test_a_plume_written_from_the_page_alone():
    start = np.zeros((40, 20))
    with wb.trace(PLUME, 2, name="plume").simulate(c=start, backend="reference") as sim:
        sim.run(150)
        expected, time = plume_by_numpy(start, 150)
        assert sim.t == time
        np.testing.assert_allclose(sim.c, expected, rtol=1e-12, atol=1e-14)
        assert abs(sim.total - expected.sum() / 40**2) < 1e-12
        assert sim.c[0].min() > 0.1  # what the wind brings in
        peak = np.unravel_index(sim.c.argmax(), sim.c.shape)
        assert 0.2 < (peak[0] + 0.5) / 40 < 0.2 + 0.5 * time + 0.2  # near the source, downwind of where it began
        sim.set(inlet=0.5, wind=2.0)
        sim.run(10)
        assert sim.t > time


# The same reader's second cell: a pulsing jet through the side, a source that circles, stages with times of their own.
JET = """
t = scalar("t", unit="s")
wind, D = param("wind", 1.0), param("D", 0.01, at_least=0)
dx, dy = 2.0 / size(0), 1.0 / size(1)
x, y = coordinate(spacing=(dx, dy))

def sides(time):
    jet = analytic(lambda i, j: (1 + 0.5 * sin(time)) * exp(-(((j + 0.5) * dy - 0.5) / 0.1)**2))
    return {"x-": jet, "x+": "outflow", "y": "reflect"}

def rates(c, time):
    source = 2 * exp(-((x - 1.0 - 0.4 * cos(time))**2 + (y - 0.5 - 0.3 * sin(time))**2) / 0.02)
    return D * laplacian(c, (dx, dy)) - wind * derivative(c, 0, dx, accuracy=1, side="backward") + source

c = field("c", boundary=sides(t))
dt = courant_step((wind, 0.0), (dx, dy), 0.2)
c.next = ssp_rk3(c, rates, dt, boundary=sides, time=t)
t.next = t + dt
"""


def jet_by_numpy(shape, steps):
    t, dx, dy = 0.0, 2.0 / shape[0], 1.0 / shape[1]
    x, y = np.meshgrid((np.arange(shape[0]) + 0.5) * dx, (np.arange(shape[1]) + 0.5) * dy, indexing="ij")
    c, dt = np.zeros(shape), 0.2 * dx

    def rates(c, t):
        wide = np.pad(c, 1, mode="edge")
        wide[0, 1:-1] = (1 + 0.5 * np.sin(t)) * np.exp(-(((y[0] - 0.5) / 0.1) ** 2))
        across, up = (wide[2:, 1:-1] - 2 * c + wide[:-2, 1:-1]), (wide[1:-1, 2:] - 2 * c + wide[1:-1, :-2])
        source = 2 * np.exp(-((x - 1 - 0.4 * np.cos(t)) ** 2 + (y - 0.5 - 0.3 * np.sin(t)) ** 2) / 0.02)
        return 0.01 * (across / dx**2 + up / dy**2) - (c - wide[:-2, 1:-1]) / dx + source

    for _ in range(steps):
        first = c + dt * rates(c, t)
        second = 0.75 * c + 0.25 * (first + dt * rates(first, t + dt))
        c = c / 3 + 2 / 3 * (second + dt * rates(second, t + 0.5 * dt))
        t += dt
    return c, t


def test_stages_with_sides_and_a_source_that_change_with_the_time():
    with wb.trace(JET, 2, name="jet").simulate(c=0.0, shape=(32, 16), backend="reference") as sim:
        sim.run(40)
        expected, time = jet_by_numpy((32, 16), 40)
        assert abs(sim.t - time) < 1e-14
        np.testing.assert_allclose(sim.c, expected, rtol=1e-12, atol=1e-14)
        assert sim.c[0].max() > 0.5  # the jet has come in
