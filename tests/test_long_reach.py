"""Reads a million cells away: no stack is too small for them, and none of them takes a step for each reflection."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import workbench as wb
from tests.kit.capabilities import backends_here
from workbench.errors import ShapeError
from workbench.planning.extents import MOST_REFLECTIONS

FAR = 1_000_000
SIDES = {
    "around": ('"periodic"', '"periodic"'),
    "crossing": ("periodic(sign=-1)", "periodic(sign=-1)"),
    "about_face": ('"reflect"', "reflect(sign=-1)"),
    "about_cell": ("mirror(sign=-1)", '"mirror"'),
    "mixed": ("mirror(sign=-1)", "reflect(sign=-1)"),
    "wall": ("reflect(sign=-1)", "mirror(sign=-1)"),
    "open": ('"reflect"', '"outflow"'),
    "held": ("mirror(sign=-1)", "constant(7)"),
}


UP, DOWN = 901, -1204


def machine():
    """A field for each pair of rules, read far away at both sides."""
    lines = []
    for name, (below, above) in SIDES.items():
        location = ', location=("face", 0)' if name == "wall" else ""
        lines.append(f'{name} = field("{name}", boundary={{"x-": {below}, "x+": {above}}}{location})')
        lines.append(f"{name}.next = {name}[{UP:+d}] + 1000 * {name}[{DOWN:+d}]")
    return wb.trace("\n".join(lines), name="far")


def by_steps(name, i, values):
    """The value at index i, one reflection at a time, from the text of the semantics."""
    n, sign = len(values), 1.0
    while not 0 <= i < n:
        rule = SIDES[name][i >= n]
        if "constant" in rule:
            return sign * 7.0
        if "outflow" in rule:
            i = 0 if i < 0 else n - 1
            continue
        if "periodic" in rule:
            crossed, i = divmod(i, n)
            return values[i] * (-1.0 if "sign=-1" in rule and crossed % 2 else 1.0)
        minus = -1.0 if "sign=-1" in rule else 1.0
        if name == "wall":
            if i == n:
                if minus < 0:
                    return sign * 0.0
                i = n - 1
                continue
            i = -i if i < 0 else 2 * n - i
        elif "mirror" in rule:
            i = 0 if n == 1 else -i if i < 0 else 2 * n - 2 - i
        else:
            i = -1 - i if i < 0 else 2 * n - 1 - i
        sign *= minus
    return sign * values[i]


@pytest.mark.parametrize("backend", backends_here())
def test_every_rule_means_the_same_far_away(backend):
    made = machine()
    for cells in (1, 2, 5, 300):
        values = 1.0 + np.arange(cells)
        with made.simulate(**dict.fromkeys(SIDES, values), backend=backend) as simulation:
            simulation.run(1)
            for name in SIDES:
                ups, downs = ([by_steps(name, i + reach, values) for i in range(cells)] for reach in (UP, DOWN))
                expected = [up + 1000 * down for up, down in zip(ups, downs, strict=True)]
                assert simulation.to_numpy(name).tolist() == expected, (name, cells)


@pytest.mark.parametrize("backend", backends_here())
def test_a_million_cells_away(backend):
    made = wb.trace(
        'u = field("u", boundary="periodic")\nv = field("v", boundary=reflect(sign=-1))\n'
        f"u.next = u[+{FAR}]\nv.next = v[+{FAR}]",
        name="million",
    )
    values = np.array([1.0, 2.0, 3.0])
    with made.simulate(u=values, v=values, backend=backend) as simulation:
        simulation.run(1)
        assert simulation.u.tolist() == [values[(i + FAR) % 3] for i in range(3)]
        folded = [(i + FAR) % 6 for i in range(3)]
        assert simulation.v.tolist() == [values[j] if j < 3 else -values[5 - j] for j in folded]


def test_threads_with_small_stacks():
    text = (
        "import threading, numpy as np, workbench as wb\n"
        f'made = wb.trace(\'u = field("u", boundary="periodic")\\nu.next = u[+{FAR}] + u[-{FAR}]\', name="both")\n'
        "u, found = np.arange(4000.0), []\n"
        "def work():\n"
        '    with made.simulate(u=u, backend="openmp", threads=2) as simulation:\n'
        "        found.append(simulation.run(1).u)\n"
        "work()\n"  # the compiler's own needs are met on the main thread
        "threading.stack_size(256 << 10)\n"
        "thread = threading.Thread(target=work)\n"
        "thread.start(); thread.join()\n"
        f"assert all((each == np.roll(u, -{FAR}) + np.roll(u, {FAR})).all() for each in found) and len(found) == 2\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text],
        env=os.environ | {"OMP_STACKSIZE": "64k"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"{done.returncode} {done.stderr}"
    assert threading.stack_size() == 0


def test_a_fixed_face_is_reflected_a_bounded_number_of_times():
    reach = 2 * MOST_REFLECTIONS
    made = wb.trace(f'u = field("u", boundary=fixed(2))\nu.next = u[+{reach}]', name="face")
    for backend in backends_here():
        with pytest.raises(
            ShapeError, match=f"(?s)u is read {reach} cells outside at side x\\+.*2 cells.*at least 3 cells"
        ):
            made.simulate(u=np.zeros(2), backend=backend)
        values = np.arange(3.0)
        with made.simulate(u=values, backend=backend) as simulation:
            assert simulation.run(1).u.tolist() == [fixed(i + reach, values) for i in range(3)]


def fixed(i, values):
    n, about = len(values), []
    while not 0 <= i < n:
        i = -1 - i if i < 0 else 2 * n - 1 - i
        about.append(4.0)
    value = values[i]
    for twice in about:
        value = twice - value
    return value
