"""Names of values: one for each, the same in views, texts and errors."""

import pytest

from workbench.errors import PlanError
from workbench.graph import Store, formula, own_name, record_name, value_name, value_names
from workbench.graph.naming import LONGEST_FORMULA, LONGEST_SHORT_FORMULA, cut
from workbench.machine import trace
from workbench.planning.cost import ESTIMATE
from workbench.solvers import hydro
from workbench.views.graph.summary import summarise_graph
from workbench.views.inspection.inspection import Inspection
from workbench.views.inspection.telling import describe_selection
from workbench.views.plan.summary import summarise_plan

TEXT = """\
u, v = fields("u v", boundary="outflow")
flux = u[+1] - u
def doubled(q):
    return 2 * q
v.next = flux + manifest(doubled(v))
u.next = flux[-1] + 1
"""


def kernel_of(text):
    return trace(text, name="named").plan().main.kernel


def names_of(text):
    return set(value_names(kernel_of(text)))


def test_a_value_is_called_by_its_name_what_takes_it_or_its_formula():
    names = names_of(TEXT)
    assert {"u", "v", "flux", "u.next", "v.next", "2 * v (line 4)", "u[+1]"} <= names
    assert not any("value" in name for name in names)


def test_one_name_is_that_of_all_names():
    kernel = kernel_of(TEXT)
    assert tuple(value_name(kernel, index) for index in range(len(kernel.nodes))) == value_names(kernel)


def test_ghost_cells_are_called_after_their_value():
    kernel = kernel_of('u = field("u", boundary="outflow")\nu.next = extend(3 * u, "outflow")[+1]')
    names = [value_name(kernel, i) for i, node in enumerate(kernel.nodes) if "Extend" in repr(node.instruction)]
    assert names == ["3 * u (line 2)"]


def test_what_a_while_loop_carries_is_called_as_its_body_calls_it():
    text = (
        'u = field("u")\nv = while_loop(lambda v: reduce_max(v) > 1, lambda v: 0.5 * {body}, u, at_most=5)\nu.next = v'
    )
    graph = trace(text.format(body="v"), dim=1).graph
    (loop,) = graph.loops
    names = set(value_names(graph.kernel(loop.turn)))
    assert {"v", "v.next"} <= names
    assert not any("v_step" in name for name in names)
    with pytest.raises(PlanError, match=r"^line 2: v is read 1 cell outside at side x\+") as caught:
        trace(text.format(body="v[+1]"), dim=1).plan()
    assert "Give v a rule" in str(caught.value)


def test_a_field_that_is_called_like_a_carried_value_keeps_its_name():
    kernel = kernel_of('v_step_1 = field("v_step_1")\nv_step_1.next = 2 * v_step_1')
    assert set(value_names(kernel)) >= {"v_step_1", "v_step_1.next"}


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["a = u[+1] - u", "w = a * a", "a = w[-1] - w", "u.next = a * a"], {"a (line 2)", "a (line 4)", "w"}),
        (
            ["u.next = sqrt(sqrt(u + 1) + 1) * sqrt(sqrt(u + 2) + 1)"],
            {"sqrt((sqrt(…) + 1)) (line 2, column 10)", "sqrt((sqrt(…) + 1)) (line 2, column 34)", "u + 1 (line 2)"},
        ),
        (
            ["def f(q):", "    half = 2 * q + 1", "    return half * half", "u.next = f(u) + f(u[+1])"],
            {"half (line 3, value 5)", "half (line 3, value 8)", "half * half (line 4, value 9)"},
        ),
        (
            ["u.next = u * 0.33333331 + u[+1] * 0.33333332"],
            {"0.333333 (line 2, column 10)", "0.333333 (line 2, column 27)"},
        ),
    ],
    ids=["line", "column", "value", "constants"],
)
def test_values_of_one_name_are_told_apart(lines, names):
    text = "\n".join(['u = field("u", boundary="outflow")', *lines])
    assert names <= names_of(text)


def test_a_number_in_all_cells_is_called_as_the_number():
    text = 'u = field("u")\nc = param("c", 1.0)\nu.next = u * (c * c) + c'
    kernel = kernel_of(text)
    names = [value_name(kernel, i) for i, node in enumerate(kernel.nodes) if "Broadcast" in repr(node.instruction)]
    assert sorted(names) == ["c", "c * c (line 3)"]


def test_long_formulas_keep_both_ends():
    terms = " * ".join(f"(u[{n:+d}] + {n}.5 * u[{-n:+d}])" for n in range(1, 9))
    kernel = kernel_of(f'u = field("u", boundary="outflow")\nu.next = 1.0 + ({terms})')
    assert all(len(name.split(" (line")[0]) <= LONGEST_SHORT_FORMULA for name in value_names(kernel))
    assert all(len(formula(kernel, index)) <= LONGEST_FORMULA for index in range(len(kernel.nodes)))
    assert cut("abcdefghij", 5) == "ab…ij"
    assert cut("abcde", 5) == "abcde"


def test_operations_on_nothing_with_a_name_are_left_out():
    names = {name.split(" (line")[0] for name in value_names(hydro.machine(dim=2).plan().main.kernel)}
    assert names
    assert not [name for name in names if "(…, …, …)" in name or "(… + …)" in name]


def test_records_tell_values_without_a_name_apart():
    kernel = kernel_of(TEXT)
    unnamed = [i for i in range(len(kernel.nodes)) if value_name(kernel, i) == "2 * v (line 4)"]
    assert [record_name(kernel, index) for index in unnamed] == [f"multiply (value {unnamed[0]})"]
    becomes = trace('u = field("u")\nu.next = 2 * u', name="doubled").graph.kernels[0]
    stored = next(node.operands[0] for node in becomes.nodes if isinstance(node.instruction, Store))
    assert record_name(becomes, stored) == "u.next"
    assert not own_name(kernel, unnamed[0])


def test_views_and_errors_call_a_value_the_same():
    machine = trace(TEXT, name="named")
    plan = machine.plan()
    summary = summarise_graph(plan, (64,))
    (index,) = (node.ref.node for node in summary.nodes if node.label == "2 * v (line 4)")
    rows = summarise_plan(plan, extents=(64,), figures=ESTIMATE).rows
    assert any("2 * v (line 4)" in row.names for row in rows)
    assert any("2 * v (line 4)" in group.label for group in summary.groups)
    assert any("2 * v (line 4)" in slot.label for slot in plan.array_slots)
    inspection = Inspection(machine)
    reference = summary.nodes[index].ref
    assert describe_selection(plan, reference).startswith("2 * v (line 4): Manifest")
    assert f"%{index} 2 * v (line 4): Manifest" in str(plan)
    number = next(node for node in summary.nodes if node.forced)
    with pytest.raises(PlanError) as refused:
        inspection.flip(number.ref)
    assert number.label in str(refused.value)
