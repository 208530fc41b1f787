"""Functions under the decorator, the vocabulary outside a trace, and until predicates."""

import pytest

import workbench.language as language
from workbench.errors import TraceError
from workbench.frontend.cell import trace_cell, trace_function
from workbench.frontend.language import further_functions
from workbench.frontend.numpy_names import UFUNCS
from workbench.frontend.predicate import Comparison, trace_predicate
from workbench.graph import OPERATORS, Operator
from workbench.language import axes, dim, field, param, scalar, sin, size, where

RATE = 0.25


def heat():
    u = field("u", boundary="periodic")
    k = param("k", RATE)
    change = k * (u[+1] - 2 * u + u[-1])
    u.next = u + change


def test_function_has_the_body_of_a_cell():
    traced = trace_function(heat)
    assert traced.graph.name == "heat"
    assert [c.name for c in traced.captured] == ["RATE"]
    kernel = traced.graph.kernels[0]
    line = heat.__code__.co_firstlineno + 3
    assert kernel.nodes[kernel.find("change")].spans[0].line == line
    text = 'u = field("u", boundary="periodic")\nk = param("k", 0.25)\nu.next = u + k * (u[+1] - 2 * u + u[-1])'
    assert traced.graph.fingerprint() == trace_cell(text).graph.fingerprint()


def test_function_inside_a_function_sees_its_closure():
    factor = 3.0

    def scaled():
        u = field("u")
        u.next = factor * where(u > 0, u, sin(u))

    traced = trace_function(scaled, name="other")
    assert traced.graph.name == "other"
    assert [(c.name, c.value) for c in traced.captured] == [("factor", 3.0)]


def test_error_in_a_function_names_the_line_of_its_file():
    def wrong():
        u = field("u")
        u.next = u if u > 0 else 0

    line = wrong.__code__.co_firstlineno + 2
    with pytest.raises(TraceError, match=f"^line {line}: 'if' needs one true or false, but u > 0 has"):
        trace_function(wrong)


def test_function_without_source_takes_names_from_its_frame():
    scope = {**vars(language)}
    exec('def made():\n    u = field("u")\n    flux = u * 2.0\n    u.next = flux + 1.0\n', scope)
    kernel = trace_function(scope["made"]).graph.kernels[0]
    assert kernel.find("flux") is not None
    assert kernel.nodes[kernel.find("flux")].spans[0].line == 3


def test_function_takes_no_arguments():
    with pytest.raises(TraceError, match="needs a function without arguments"):
        trace_function(lambda a: None)


def test_every_row_of_the_operator_table_can_be_written():
    signs = {row.name for row in OPERATORS.values() if row.symbol}
    others = {"select", "cast", "round"}  # where, astype, the builtin
    records = {"pair", "first", "second"}  # of folds and scans of tuples
    assert set(OPERATORS) - signs - others - records <= set(language.__all__)
    assert set(OPERATORS) - {"select", "cast"} - records <= set(UFUNCS)


def test_new_row_becomes_a_function_by_itself():
    row = Operator("sinc", 1, "same", "float", OPERATORS["sin"].meaning)
    functions = further_functions([row, OPERATORS["sin"], OPERATORS["add"], OPERATORS["round"]], language.__all__)
    assert list(functions) == ["sinc"]
    assert functions["sinc"].__name__ == "sinc"


def test_vocabulary_raises_outside_a_trace():
    for use in (lambda: field("u"), lambda: size(0), lambda: sin(1.0), lambda: int(dim), lambda: list(axes)):
        with pytest.raises(TraceError, match="only while a stencil is traced"):
            use()


def test_imported_dim_and_axes_work_in_helpers():
    def spread(u):
        return sum(u.at(+1, k) for k in axes) / (2 * dim)

    text = 'u = field("u", boundary="periodic")\nu.next = spread(u)'
    kernel = trace_cell(text, dim=2, namespace={"spread": spread}).graph.kernels[0]
    assert [n.instruction.value for n in kernel.nodes if type(n.instruction).__name__ == "Imm"] == [4.0]


def graph():
    def machine():
        u = field("u")
        residual, t = scalar("residual"), scalar("t")
        c = param("c", 1)
        u.next = c * u
        residual.next = residual + 1
        t.next = t + 1

    return trace_function(machine).graph


def test_predicate_is_a_tuple_of_comparisons():
    assert trace_predicate(graph(), lambda s: s.residual < 1e-6) == (Comparison("residual", "<", 1e-6),)
    assert trace_predicate(graph(), lambda s: (s.t >= 1) & (s["residual"] != 0)) == (
        Comparison("t", ">=", 1.0),
        Comparison("residual", "!=", 0.0),
    )


@pytest.mark.parametrize(
    ("predicate", "message"),
    [
        (lambda s: (s.t > 1) | (s.t < 0), r"\| is not supported"),
        (lambda s: s.t > 1 and s.t < 2, "need one true or false"),
        (lambda s: s.t + 1 > 2, "s.t is used in a formula"),
        (lambda s: s.t > s.residual, "s.t is compared with s.residual"),
        (lambda s: s.u > 1, "s.u is a field"),
        (lambda s: s.c > 1, "s.c is a param"),
        (lambda s: s.nothing > 1, "no scalar 'nothing'; its scalars: residual, t"),
        (lambda s: True, "returns True, not a comparison"),
        (lambda s: s.t, "not a comparison"),
        (lambda s: ~(s.t > 1), "~ is not supported"),
    ],
)
def test_predicate_says_what_is_supported(predicate, message):
    with pytest.raises(TraceError, match=message):
        trace_predicate(graph(), predicate)
