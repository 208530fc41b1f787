"""Relative reads, NumPy names and boundary rules."""

import numpy as np
import pytest

from tests.frontend.traced import kernel_of, stored
from workbench import language
from workbench.errors import TraceError
from workbench.frontend import boundaries
from workbench.frontend.cell import trace_cell
from workbench.graph import (
    Extend,
    Fixed,
    LoadIndex,
    Mirror,
    Neumann,
    Outflow,
    Periodic,
    Prescribed,
    Reflect,
    Shift,
    Undefined,
    Wall,
)
from workbench.graph.types import F64


@pytest.mark.parametrize(
    ("numpy", "own"),
    [
        ("np.sqrt(u)", "sqrt(u)"),
        ("np.where(u > 0, u, 1.0)", "where(u > 0, u, 1.0)"),
        ("np.minimum(u, 2)", "minimum(u, 2)"),
        ("np.float64(2.0) * u", "2.0 * u"),
        ("np.square(u)", "u**2"),
        ("np.round(u)", "round(u)"),
        ("np.rint(u)", "round(u)"),
        ("np.sum(u) * u", "reduce_sum(u) * u"),
        ("np.max(u) * u", "reduce_max(u) * u"),
        ("where(np.any(u > 0), u, 0.0)", "where(reduce_any(u > 0), u, 0.0)"),
        ("np.clip(u, 0, 1)", "minimum(maximum(u, 0), 1)"),
        ("np.logical_and(u > 0, u < 1) * 1.0 if False else np.abs(u)", "abs(u)"),
    ],
)
def test_numpy_functions_mean_the_operators(numpy, own):
    head = 'u = field("u")\nu.next = '
    given = trace_cell(head + numpy, namespace={"np": np}).graph
    assert given.fingerprint() == trace_cell(head + own).graph.fingerprint()


@pytest.mark.parametrize("read", ["u[+1, -2]", "u.at(+1, 0).at(-2, 1)", "shift(u, (-1, 2))"])
def test_relative_reads_are_shifts_by_the_opposite(read):
    node, _ = stored(f'u = field("u")\nu.next = {read}', dim=2)
    assert node.instruction == Shift((-1, 2))


@pytest.mark.parametrize(
    ("boundary", "sides", "text"),
    [
        ('"periodic"', (Periodic(), Periodic()), "periodic"),
        ("periodic", (Periodic(), Periodic()), "periodic"),
        ("periodic()", (Periodic(), Periodic()), "periodic"),
        ("periodic(sign=-1)", (Periodic(-1), Periodic(-1)), "periodic(sign=-1)"),
        ('"outflow"', (Outflow(), Outflow()), "outflow"),
        ("reflect(sign=-1)", (Reflect(-1), Reflect(-1)), "reflect(sign=-1)"),
        ('"reflect"', (Reflect(1), Reflect(1)), "reflect"),
        ('{"x-": mirror(-1), "x+": "outflow"}', (Mirror(-1), Outflow()), "x-: mirror(sign=-1), x+: outflow"),
        ('{"x-": constant(1.5)}', (Prescribed(1), Undefined()), "x-: constant(1.5)"),
        ('{"x-": fixed(1.5), "x+": fixed(2)}', (Fixed(1), Fixed(2)), "x-: fixed(1.5), x+: fixed(2)"),
        ("fixed(c)", (Fixed(1), Fixed(1)), "fixed(c)"),
        ("neumann(c, 0.1)", (Neumann(1), Neumann(1)), "neumann(c, 0.1)"),
        ("analytic(lambda i: sin(c * i))", (Prescribed(1), Prescribed(1)), "analytic(<lambda>)"),
    ],
)
def test_boundary_rules_become_an_extend(boundary, sides, text):
    traced = trace_cell(f'c = param("c", 1)\nu = field("u", boundary={boundary})\nu.next = u[+1] + c')
    extends = [n for n in traced.graph.kernels[0].nodes if isinstance(n.instruction, Extend)]
    assert [n.instruction.sides for n in extends] == [(sides,)]
    kernel = traced.graph.kernels[0]
    assert {kernel.nodes[o].type for o in extends[0].operands} == {F64}
    assert all(kernel.nodes[o].is_local for o in extends[0].operands)
    assert traced.graph.static("u").boundary == text


@pytest.mark.parametrize("read", ["u[+1, 0]", "u + u[+1, 0]"])
@pytest.mark.parametrize("function", ["lambda i, j: i + j", "lambda *ij: ij[0] + ij[-1]"])
def test_analytic_may_come_before_the_dimension_is_known(function, read):
    traced = trace_cell(f'u = field("u", boundary=analytic({function}))\nu.next = {read}')
    assert traced.graph.dim == 2


@pytest.mark.parametrize(
    "rule",
    [
        "constant(2.0)",
        "fixed(2.0)",
        "neumann(0.5, 2.0)",
        "analytic(lambda i: 3.0 * i)",
        "reflect(sign=-1)",
        "mirror(sign=-1)",
        "periodic(sign=-1)",
        '{"x-": fixed(1), "x+": "outflow"}',
    ],
)
def test_rules_of_numbers_may_be_made_outside_a_cell(rule):
    outside = eval(rule, dict(vars(language)))
    cell = 'u = field("u", boundary={})\nu.next = u[-1] + extend(2 * u, {})[+1]'
    inside, given = (
        trace_cell(cell.format(text, text), namespace={"outside": outside}).graph for text in (rule, "outside")
    )
    assert inside.fingerprint() == given.fingerprint()
    assert inside.fields[0].boundary == given.fields[0].boundary


def test_field_without_a_rule_has_no_extend():
    assert not [n for n in kernel_of('u = field("u")\nu.next = u[+1]').nodes if isinstance(n.instruction, Extend)]


def test_cell_boundary_is_a_default():
    text = 'u = field("u")\nv = field("v", boundary={"x+": "outflow"})\nu.next = u[+1] + v[+1]'
    kernel = kernel_of(text, boundary="reflect")
    sides = [n.instruction.sides for n in kernel.nodes if isinstance(n.instruction, Extend)]
    assert sorted(map(str, sides)) == sorted(map(str, [((Reflect(), Reflect()),), ((Reflect(), Outflow()),)]))


def test_face_field_reflects_about_the_wall():
    text = 'f = field("f", boundary=reflect(sign=-1), location=("face", 0))\nf.next = f[+1, 0]'
    graph = trace_cell(text).graph
    assert graph.static("f").face_axes == (0,)
    extends = [n for n in graph.kernels[0].nodes if isinstance(n.instruction, Extend)]
    assert extends[0].instruction.sides == ((Wall(-1), Wall(-1)), (Reflect(-1), Reflect(-1)))


def test_extend_continues_any_value():
    node, kernel = stored('u = field("u")\nu.next = astype(extend(index(0), "periodic")[+1], "f64")')
    shifted = kernel.nodes[node.operands[0]]
    extended = kernel.nodes[shifted.operands[0]]
    assert isinstance(extended.instruction, Extend)
    assert isinstance(kernel.nodes[extended.operands[0]].instruction, LoadIndex)


def test_shifted_index_on_a_periodic_axis_is_warned_of():
    text = 'u = field("u", boundary="periodic")\nu.next = u[+1] + index(0)[+1]'
    assert "line 2: index(0) is read in a neighbour on the periodic axis x" in trace_cell(text).warnings[0]
    assert trace_cell(text.replace("index(0)[", 'extend(index(0), "periodic")[')).warnings == ()


def test_unused_param_is_warned_of():
    assert trace_cell('p = param("p", 1)\nu = field("u")\nu.next = u').warnings == ("line 1: param p is never used",)


def test_a_rule_more_is_in_the_advice(monkeypatch):
    monkeypatch.setattr(boundaries, "NAMED", (*boundaries.NAMED, "inner"))
    with pytest.raises(TraceError, match='"mirror", "inner", constant'):
        kernel_of('u = field("u", boundary="foo")\nu.next = u')


def test_a_rule_with_a_slip_is_told_the_one_that_was_meant():
    with pytest.raises(TraceError, match='Use "outflow"'):
        kernel_of('u = field("u", boundary="outflows")\nu.next = u')
