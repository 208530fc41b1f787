"""What a cell means: nodes, names, types, captured names."""

import numpy as np
import pytest

from workbench.frontend.cell import trace_cell
from workbench.graph import (
    Arith,
    Extend,
    Fixed,
    Imm,
    Load,
    Periodic,
    Reduce,
    Shift,
    Store,
)

WAVE = """\
# du/dt = v,  dv/dt = c² u''  on a periodic line
u, v   = fields("u v", boundary="periodic")
energy = scalar("energy")
c      = param("c", 3.43)
dx = 2 * pi / size(0)
dt = dx / c

u1 = u + dt * v
v1 = v + dt * c**2 / dx**2 * (u1[+1] - 2 * u1 + u1[-1])
u.next, v.next = u1, v1
energy.next = reduce_sum(0.5 * (c**2 * ((u1[+1] - u1[-1]) / (2 * dx))**2 + ((v + v1) / 2)**2) * dx)
"""
HELLO = """\
density = field("density")
x = density
y = x * x
z = y + y
density.next = z
"""
HEAT = """\
u = field("u", boundary=fixed(0.5))
alpha = param("alpha", 0.1)
u.next = u + alpha * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)
"""


def kernel_of(text, **options):
    return trace_cell(text, **options).graph.kernels[0]


def stored(text, name="u", **options):
    """The node that `name` takes."""
    kernel = kernel_of(text, **options)
    return kernel.nodes[dict(kernel.stores())[name]], kernel


def operators(kernel):
    return [n.instruction.operator for n in kernel.nodes if isinstance(n.instruction, Arith)]


def test_wave_has_its_statics_names_and_lines():
    traced = trace_cell(WAVE, name="wave", first_line=2)
    graph = traced.graph
    assert (graph.name, graph.dim) == ("wave", 1)
    assert [(s.name, s.role, s.type.name, s.default) for s in graph.statics] == [
        ("u", "field", "f64", None),
        ("v", "field", "f64", None),
        ("energy", "scalar", "f64", 0.0),
        ("c", "param", "f64", 3.43),
    ]
    kernel = graph.kernel("step")
    assert [name for name, _ in kernel.stores()] == ["u", "v", "energy"]
    named = {name: node for node in kernel.nodes for name in node.names}
    assert set(named) == {"dx", "dt", "u1", "v1"}
    assert named["u1"].spans[0].line == 9
    assert named["v1"].is_local
    assert named["dt"].is_global
    assert [n.instruction.offset for n in kernel.nodes if isinstance(n.instruction, Shift)] == [(-1,), (1,)]
    assert [n.instruction.sides for n in kernel.nodes if isinstance(n.instruction, Extend)] == [
        ((Periodic(), Periodic()),)
    ] * 2
    assert (traced.captured, traced.promotions, traced.warnings) == ((), (), ())


def test_wave_is_evaluated_as_written():
    """The whole cell by hand, cell by cell, against the nodes evaluated in order."""
    kernel = kernel_of(WAVE)
    n, c = 8, 3.43
    rng = np.random.default_rng(1)
    u, v = rng.random(n), rng.random(n)
    values = []
    stores = {}
    for node in kernel.nodes:
        given = [values[i] for i in node.operands]
        match node.instruction:
            case Load(name):
                values.append({"u": u, "v": v, "c": np.float64(c)}[name])
            case Extend():
                values.append(given[0])
            case Shift((offset,)):
                values.append(np.roll(given[0], offset))
            case Imm(value):
                values.append(np.float64(value))
            case Arith("cast"):
                values.append(np.float64(given[0]))
            case Arith(operator):
                from workbench.graph import OPERATORS

                values.append(OPERATORS[operator].meaning(*given))
            case Reduce():
                values.append(given[0].sum())
            case Store(name):
                stores[name] = given[0]
                values.append(None)
            case _:
                values.append(given[0] if given else np.int64(n))
    dx = 2 * np.pi / n
    dt = dx / c
    u1 = u + dt * v
    v1 = v + dt * (c * c) / (dx * dx) * (np.roll(u1, -1) - 2 * u1 + np.roll(u1, 1))
    assert (stores["u"] == u1).all()
    assert (stores["v"] == v1).all()
    slope = (np.roll(u1, -1) - np.roll(u1, 1)) / (2 * dx)
    energy = (0.5 * (c * c * (slope * slope) + ((v + v1) / 2) ** 2) * dx).sum()
    assert stores["energy"] == pytest.approx(energy, rel=1e-15)


def test_hello_shares_its_nodes():
    kernel = kernel_of(HELLO)
    assert [type(n.instruction).__name__ for n in kernel.nodes] == ["Load", "Arith", "Arith", "Store"]
    assert operators(kernel) == ["multiply", "add"]
    assert [n.names for n in kernel.nodes] == [("x",), ("y",), ("z",), ()]


def test_heat_takes_its_dimension_from_the_reads():
    graph = trace_cell(HEAT, name="heat").graph
    assert graph.dim == 2
    shifts = [n.instruction.offset for n in graph.kernels[0].nodes if isinstance(n.instruction, Shift)]
    assert sorted(shifts) == [(-1, 0), (0, -1), (0, 1), (1, 0)]
    extends = [n for n in graph.kernels[0].nodes if isinstance(n.instruction, Extend)]
    assert [n.instruction.sides for n in extends] == [((Fixed(1), Fixed(1)),) * 2]
    assert graph.static("u").boundary == "fixed(0.5)"
