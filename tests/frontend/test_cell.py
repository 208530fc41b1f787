"""What a cell means: nodes, names, types, captured names."""

import math

import numpy as np
import pytest

from tests.frontend.traced import kernel_of, operators, stored
from tests.programs.hello import TEXT as HELLO
from tests.programs.wave import TEXT as WAVE
from workbench.errors import TraceError
from workbench.frontend.cell import trace_cell
from workbench.frontend.language import field
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
from workbench.graph.parse import parse
from workbench.graph.types import F64

HEAT = """\
u = field("u", boundary=fixed(0.5))
alpha = param("alpha", 0.1)
u.next = u + alpha * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)
"""


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


# Kernels, hints, coordinates, scope


def test_kernels_share_names_of_the_top_level():
    text = (
        'u = field("u", boundary="periodic")\nx = index(0) * 0.1\n'
        "@kernel\ndef init():\n    u.next = sin(x)\nu.next = u[-1]\n"
    )
    graph = trace_cell(text).graph
    assert [k.name for k in graph.kernels] == ["step", "init"]
    init = graph.kernel("init")
    assert init.find("x") is not None
    assert graph.kernel("step").find("x") is None
    assert init.stores()[0][0] == "u"


def test_next_reads_the_assigned_value():
    text = 'u, v = fields("u v")\nu.next = u + 1.0\nv.next = u.next * 2.0'
    kernel = kernel_of(text)
    values = dict(kernel.stores())
    assert values["u"] in kernel.nodes[values["v"]].operands


def test_hints_reach_the_node_with_their_line():
    kernel = kernel_of('u = field("u")\na = manifest(u * 2.0)\nb = sync(delayed(a + 1.0))\nu.next = named(b, "flux")')
    a, b = kernel.nodes[kernel.find("a")], kernel.nodes[kernel.find("b")]
    assert (a.hint.allocation, a.hint.line) == ("manifest", 2)
    assert (b.hint.allocation, b.hint.sync_before, b.hint.sync_after, b.hint.line) == ("delayed", True, True, 3)
    assert "flux" in b.names


def test_a_barrier_may_be_asked_for_on_one_side():
    kernel = kernel_of('u = field("u")\na = sync(u * 2.0, "before")\nb = sync(a + 1.0, where="after")\nu.next = b')
    hints = [kernel.nodes[kernel.find(name)].hint for name in "ab"]
    assert [(hint.sync_before, hint.sync_after) for hint in hints] == [(True, False), (False, True)]
    with pytest.raises(TraceError, match="sync has no place 'here'"):
        kernel_of('u = field("u")\nu.next = sync(u * 2.0, "here")')


def test_a_wish_to_roll_reaches_the_node_and_its_text():
    graph = trace_cell('u = field("u")\na = rolling(u * 2.0)\nu.next = a', name="cell", dim=1).graph
    node = graph.kernels[0].nodes[graph.kernels[0].find("a")]
    assert (node.hint.allocation, node.hint.line) == ("rolling", 2)
    assert parse(str(graph)) == graph


def test_coordinate_is_a_closed_list_of_nodes():
    graph = trace_cell(
        'u = field("u")\nh = param("h", 0.1)\ncoordinate(0, cell_centre(0, h), name="r", unit="km")\nu.next = u'
    ).graph
    (label,) = graph.coordinates
    assert (label.axis, label.name, label.unit) == (0, "r", "km")
    assert label.nodes[-1].type == F64
    assert label.nodes[-1].is_local
    assert {n.instruction.name for n in label.nodes if isinstance(n.instruction, Load)} == {"h"}


def test_captured_names_are_frozen_and_listed():
    def twice(a):
        return 2 * a

    namespace = {"alpha": 0.3, "twice": twice, "np": np, "unused": 1, "text": "periodic", "sqrt": 7}
    text = 'u = field("u", boundary=text)\n\nu.next = twice(alpha * u) + sqrt(u)'
    captured = trace_cell(text, namespace=namespace).captured
    assert [(c.name, c.line) for c in captured] == [("text", 1), ("twice", 3), ("alpha", 3)]
    assert str(captured[2]) == "alpha = 0.3"
    assert str(captured[1]) == "twice (function)"
    assert namespace["sqrt"] == 7  # the vocabulary came first, and nothing was written back


def test_names_of_the_notebook_that_words_hide_are_named():
    notebook = {"size": 5, "add": max, "sqrt": np.sqrt, "pi": math.pi, "e": 3, "field": field, "dim": 7, "exp": 2}
    cell = 'xs = array("xs", "n")\nexp = pi * sqrt(xs)\noutput("y", size("n") * fold(add, exp))\noutput("z", size("n"))'
    warnings = trace_cell(cell, namespace=notebook, first_line=10).warnings
    assert warnings == (
        "line 12: size is the word of cells; the notebook's size is not seen",
        "line 12: add is the word of cells; the notebook's add is not seen",
    )


def test_body_may_rebind_captured_and_vocabulary_names():
    namespace = {"alpha": 0.5, "u": np.zeros(3)}
    text = 'u = field("u")\nalpha = alpha * 2\ne = u * alpha\nu.next = e'
    assert [c.name for c in trace_cell(text, namespace=namespace).captured] == ["alpha"]
    assert (namespace["u"] == np.zeros(3)).all()


def test_loops_functions_and_comprehensions_work():
    text = (
        'us = fields("a b c", boundary="periodic")\n'
        "def mean(q):\n    inner = q[+1] + q[-1]\n    return inner / 2\n"
        "for q in us:\n    q.next = mean(q)\n"
        "total = sum(q for q in us)\nif (n := len(us)) > 2:\n    pass\n"
    )
    kernel = kernel_of(text)
    assert [name for name, _ in kernel.stores()] == ["a", "b", "c"]
    assert len([n for n in kernel.nodes if "inner" in n.names]) == 3


def test_dim_and_axes_are_numbers():
    text = 'u = field("u", boundary="periodic")\nu.next = sum(u.at(+1, k) for k in axes) / dim'
    assert len([n for n in kernel_of(text, dim=3).nodes if isinstance(n.instruction, Shift)]) == 3


def test_an_axis_read_before_the_first_offset_is_no_obstacle():
    assert trace_cell('r = index(0) + index(1)\nu = field("u")\nu.next = u[0, 0, 1] + r').graph.dim == 3


def test_reductions_store_into_scalars():
    node, kernel = stored('u = field("u", "f32")\ns = scalar("s")\ns.next = reduce_sum(u * u)', "s")
    assert isinstance(node.instruction, Reduce)
    assert kernel.nodes[node.operands[0]].instruction == Arith("cast")


def test_imm_store_is_local():
    node, _ = stored('u = field("u", "f32")\nu.next = 0.1')
    assert node.instruction == Imm(float(np.float32(0.1)))
    assert node.is_local


def test_traced_value_of_another_cell_is_refused():
    leaked = []
    trace_cell('u = field("u")\nkeep(u)\nu.next = u', namespace={"keep": leaked.append})
    with pytest.raises(TraceError, match="value of another cell is used"):
        trace_cell('v = field("v")\nv.next = v + old()', namespace={"old": lambda: leaked[0]})
    with pytest.raises(TraceError, match="old is a traced value of another cell"):
        trace_cell('v = field("v")\nv.next = v + old', namespace={"old": leaked[0]})
    with pytest.raises(TraceError, match="only while a stencil is traced"):
        leaked[0] + 1


def test_a_cell_that_is_traced_twice_prints_once(capsys):
    assert trace_cell('u = field("u")\nprint("dim is", dim)\nu.next = u[0, 1]').graph.dim == 2
    assert capsys.readouterr().out == "dim is 2\n"
    with pytest.raises(TraceError):
        trace_cell('print("before")\nu = field("u", "f16")')
    assert capsys.readouterr().out == "before\n"
