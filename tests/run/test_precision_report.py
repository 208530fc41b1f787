"""The report of precision: it names the first loss, says what is certain, and finds types that hold a bound."""

from fractions import Fraction

import numpy as np
import pytest

import workbench as wb
from workbench.errors import FieldError, RunError, ShapeError
from workbench.graph.extended_numbers import as_fraction, as_pairs

SUBTRACTION = """
u = field("u", boundary="periodic")
v = field("v", boundary="periodic")
weight = 2 * v + 1
shifted = u + 1e8
rest = shifted - 1e8
u.next = rest * weight
v.next = v[+1]
"""
SUM = """
u, v = fields("u v")
total = scalar("total")
scaled = 0.1 * u
twice = v + v
v.next = twice
total.next = reduce_sum(scaled)
"""
DIVISION = """
u, v = fields("u v")
half = 0.5 * v
ratio = half / ((1 + u) - 1)
v.next = ratio
"""
RUMP = """
a, b, f = fields("a b f")
f.next = 333.75 * b**6 + a**2 * (11 * a**2 * b**2 - b**6 - 121 * b**4 - 2) + 5.5 * b**8 + a / (2 * b)
"""
BOUND = 1e-12
rng = np.random.default_rng(11)
LARGE = rng.uniform(1e15, 1e16, 8)
PLANTED = {
    "subtraction": (SUBTRACTION, {"u": rng.random(20), "v": rng.random(20)}, "line 6: subtract in rest", "shifted"),
    "sum": (
        SUM,
        {"u": np.concatenate([LARGE, rng.random(4), -LARGE]), "v": rng.random(20)},
        "line 7: sum over all cells in total",
        "scaled",
    ),
    "division": (DIVISION, {"u": rng.random(20) * 1e-8, "v": rng.random(20)}, "line 4: subtract in ratio", "u"),
}


def trace(text, name="lossy"):
    return wb.trace(text, name=name)


@pytest.mark.parametrize("name", PLANTED)
def test_the_first_line_names_a_planted_cancellation_and_the_types_hold_the_bound(name):
    text, values, says, kept = PLANTED[name]
    machine = trace(text, name)
    report = machine.precision_report(bound=BOUND, **values)
    assert str(report).splitlines()[0].startswith(says)
    assert report.largest_error > BOUND
    assert report.first.factor > 1e6
    found = report.narrowing
    assert (found.everything, kept in found.types) == ("dd", False)
    assert found.types
    assert found.error <= BOUND
    narrow = machine.with_precision(found.everything, **found.types)
    again = narrow.precision_report(bound=BOUND, **values)
    assert again.largest_error <= BOUND
    assert again.first is None
    assert again.largest_error == found.error


def test_what_the_report_allows_is_held_by_a_simulation_against_fractions():
    text, values, _, _ = PLANTED["subtraction"]
    machine = trace(text)
    found = machine.precision_report(bound=BOUND, **values).narrowing
    narrow = machine.with_precision(found.everything, **found.types)
    exact = [Fraction(u) * (2 * Fraction(v) + 1) for u, v in zip(values["u"], values["v"], strict=True)]
    errors = []
    for each in (machine, narrow):
        with each.simulate(backend="reference", **values) as simulation:
            made = simulation.step()["u"]
        errors.append(max(abs(as_fraction(*p) - x) for p, x in zip(as_pairs(made).tolist(), exact, strict=True)))
    assert errors[0] > BOUND * max(exact)
    assert errors[1] <= BOUND * max(exact)


def test_of_rumps_polynomial_no_digit_is_certain():
    report = trace(RUMP, "rump").precision_report(a=[77617.0], b=[33096.0], f=0.0)
    row = report.value("f")
    assert float(row.found) == pytest.approx(-1.18e21, rel=1e-2)
    assert float(row.in_dd) == 1.1726039400531786
    assert abs(Fraction(row.exact) - Fraction(-54767, 66192)) < Fraction(1, 10**32)
    assert row.resolved
    assert row.error_in_dd == pytest.approx(2.417, rel=1e-3)
    assert "f: no digit is certain in f64, nor in dd" in str(report)
    assert "dd does not give within the bound: f" in str(report)
    assert report.narrowing is None
    assert "no types hold the bound 1e-12: not even dd for all values" in str(report)


def test_of_an_expanded_power_dd_has_24_digits():
    text = """
x, p = fields("x p")
p.next = x**9 - 9*x**8 + 36*x**7 - 84*x**6 + 126*x**5 - 126*x**4 + 84*x**3 - 36*x**2 + 9*x - 1
"""
    third = as_pairs([Fraction(4, 3)])
    report = trace(text.replace('fields("x p")', 'fields("x p", dtype="dd")'), "power").precision_report(x=third, p=0)
    assert report.value("p").error <= 1e-24
    wanted = (as_fraction(*third[0].item()) - 1) ** 9
    assert abs(Fraction(report.value("p").exact) / wanted - 1) < Fraction(1, 10**31)
    plain = trace(text, "power").precision_report(x=third["hi"], p=0, bound=1e-9)
    assert 1e-12 < plain.value("p").error < 1e-9
    assert plain.value("p").error_in_dd <= 1e-24


def test_a_program_without_loss_is_told_so_and_may_be_narrower():
    text = 'u, v = fields("u v", boundary="periodic")\nmean = 0.5 * (u[-1] + u[+1])\nu.next = mean\nv.next = v + 1'
    given = {"u": rng.random(9), "v": rng.random(9)}
    report = trace(text, "smooth").precision_report(bound=1e-12, steps=3, **given)
    assert str(report).startswith("smooth: no value is farther than 1e-12 from exact")
    assert report.narrowing.everything == "f64"
    assert report.first is None
    assert "9 cells, 3 steps, compared with 265 bits" in str(report)
    loose = trace(text, "smooth").precision_report(bound=1e-5, steps=3, **given)
    assert (loose.narrowing.everything, loose.narrowing.types) == ("f32", {})
    assert 'with_precision("f32") holds the bound 1e-05' in str(loose)


def test_the_step_of_the_first_loss_is_told():
    text = 'u = field("u")\nn = scalar("n", 1.0)\nn.next = 100 * n\nw = (u + n) - n\nu.next = w'
    report = trace(text, "growing").precision_report(u=[0.3, 0.7], steps=4, bound=1e-12)
    assert report.first.step == 3  # 0.3 + 1e4 - 1e4 keeps 12 digits, with 100 it keeps 14
    assert "in step 3: the first beyond the bound" in str(report)


def test_values_of_narrow_machines_are_compared_with_what_was_given():
    machine = trace('u = field("u")\nw = 2 * u\nu.next = w', "narrow").with_precision(u="f32")
    report = machine.precision_report(u=[0.1, 0.7])
    assert report.headline.startswith("line 2: rounding of what is given in u leaves")
    assert (report.value("u").type, report.value("w").type) == ("f32", "f32")
    assert 1e-9 < report.value("u").error < 1e-7


def test_functions_that_dd_has_not_are_named():
    text = 'u = field("u")\nw = exp2(u)\nu.next = w - 1'
    report = trace(text, "grown").precision_report(u=[1e-9, 2e-9], bound=1e-12)
    assert "in the all-dd program, line 2: exp2 computes in f64, because dd has no such operator" in str(report)
    assert str(report).startswith("line 3: subtract in u")
    assert report.narrowing is None
    row = report.value("u")
    assert float(row.exact) == pytest.approx(np.expm1([1e-9, 2e-9][row.place[0]] * np.log(2)), rel=1e-15)


def test_functions_of_dd_keep_the_bound_that_those_of_f64_lose():
    text = 'u = field("u")\nw = exp(u) - cos(u)\nu.next = log(1 + w)'
    report = trace(text, "kept").precision_report(u=[1e-9, 2e-9], bound=1e-12)
    assert str(report).startswith("line 2: subtract in w")
    assert "computes in f64" not in str(report)
    assert report.narrowing is not None


def test_a_condition_that_goes_another_way_is_told():
    text = 'u = field("u")\nw = where(u + 1e16 > 1e16, 1.0, 2.0)\nu.next = w'
    report = trace(text, "branch").precision_report(u=[0.3, 4.0])
    assert "line 2: a condition of w is another in 1 cell, step 1" in str(report)
    assert report.value("w").error == 1.0  # 2 instead of 1


def test_what_even_many_digits_do_not_know_is_told():
    chaos = 'u = field("u")\nu.next = 3.99 * u * (1 - u)'
    report = trace(chaos, "chaos").precision_report(u=[0.3], steps=600)
    assert not report.value("u").resolved
    assert "265 bits are not enough either" in str(report)
    assert "nothing is said of types" in str(report)
    assert report.first is not None


PAIRS = """
x, e2 = targets("x e2")
xj, m = sources("x m")
ax, near = totals("ax near")
k = param("k", 2.0)
dx = xj - x
r1 = 1 / sqrt(dx**2 + e2)
force = k * m * r1**3
ax += force * dx
near += m * r1
"""


def test_pairs_are_called_in_all_types():
    x = np.linspace(0.0, 1.0, 7)
    machine = trace(PAIRS, "pairs")
    plain = machine.precision_report(x=x, m=1.0, e2=0.01, k=0.5)
    assert plain.ran == "7 x 7 pairs, 1 call"
    assert [row.name for row in plain.values] == ["ax", "near", "dx", "r1", "force"]
    assert plain.narrowing.everything == "f64"
    cancelling = np.array([1e17, 0.1, -1e17])
    given = {"targets": {"x": [0.0, 0.5], "e2": 1.0}, "sources": {"x": [0.25] * 3, "m": cancelling}}
    report = machine.precision_report(**given)
    assert str(report).startswith("line 9: sum over cells in ax")
    assert report.narrowing.everything == "dd"
    assert "force" not in report.narrowing.types
    narrow = machine.with_precision(report.narrowing.everything, **report.narrowing.types)
    assert narrow.precision_report(**given).largest_error == report.narrowing.error <= 1e-12


def test_scans_segments_and_computed_indices_have_many_digits_too():
    text = """
lengths = array("lengths", "rows", dtype="i32")
columns = array("columns", "entries", dtype="i64")
v = array("v", "entries")
x = array("x", "columns")
output("y", fold_segments(add, v * x[columns], lengths))
output("up", scan(add, v))
"""
    given = {"lengths": [3, 1], "columns": [0, 1, 0, 1], "v": [1e17, 0.1, -1e17, 2.0], "x": [1.0, 3.0]}
    report = trace(text, "sparse").precision_report(**given)
    assert str(report).startswith("line 6: sum over segments in y")
    assert report.value("up").error < 1e-15  # relative to the largest sum
    assert float(report.value("y").exact) == pytest.approx(0.3)


def test_init_and_defaults_begin_as_a_simulation_does():
    text = """
u = field("u")
t, n = scalar("t", 0.1), scalar("n", 3, dtype="i64")
u.next = u * t + n
n.next = n + 1

@kernel
def init():
    u.next = index(0) / size(0)
"""
    machine = trace(text, "opened")
    report = machine.precision_report(shape=3, steps=2)
    with machine.simulate(shape=3, backend="reference") as simulation:
        found = simulation.run(2).u
    assert float(report.value("u").exact) == pytest.approx(found[report.value("u").place[0]], rel=1e-15)
    assert report.value("u").error < 1e-15


def test_a_sum_that_is_exactly_zero_is_measured_against_its_terms():
    text = 'u = field("u")\nrest = scalar("rest")\nw = 0.1 * u\nrest.next = reduce_sum(w - 0.1 * u)\nu.next = u'
    report = trace(text, "zero").precision_report(u=[1.0, 3.0])
    assert report.value("rest").error < 1e-15


def test_the_page_has_the_same_words():
    report = trace(SUBTRACTION).precision_report(**PLANTED["subtraction"][1])
    page = report._repr_html_()
    assert "line 6: subtract in rest" in page
    assert "<td>shifted</td>" in page
    assert "with_precision(&quot;dd&quot;" in page


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"steps": 0}, RunError, "steps=0 is no number of steps"),
        ({"bound": 0.0}, RunError, "bound=0.0 is no relative error"),
        ({"bound": "tight"}, RunError, "is no relative error"),
        ({"shape": 10**6, "v": 0.0}, RunError, "takes .* numbers of 265 bits"),
        ({"w": 1.0}, FieldError, "has no 'w'"),
        ({"targets": {}}, FieldError, "has no 'targets'"),
    ],
)
def test_what_cannot_be_reported_is_named(options, error, says):
    values = {"u": 0.5, "v": 0.5, "shape": 4} | options
    with pytest.raises(error, match=says):
        trace(SUBTRACTION).precision_report(**values)


def test_a_call_has_no_steps_and_the_shape_of_its_arrays():
    with pytest.raises(ShapeError, match=r"shape=5, but pairs is called with arrays"):
        trace(PAIRS, "pairs").precision_report(x=[1.0, 2.0], m=1.0, e2=1.0, shape=5)
    with pytest.raises(RunError, match="pairs runs once at each call, not 2 steps"):
        trace(PAIRS, "pairs").precision_report(x=[1.0, 2.0], m=1.0, e2=1.0, steps=2)


def test_a_loop_that_reads_elements_is_compared_with_one_of_many_digits():
    text = """
u, v = fields("u v")
third = u / 3

def body(k, s):
    return k + 1, s + gather(third, k % size(0))

v.next = repeat(4, body, (index(0), v))[1]
"""
    values = {"u": rng.random(9), "v": rng.random(9)}
    report = trace(text).precision_report(**values)
    rows = {row.name: row for row in report.values}
    assert all(row.resolved and 0 < row.error < 1e-15 for row in (rows["third"], rows["v"]))
    assert all(row.error_in_dd < 1e-30 for row in rows.values())
