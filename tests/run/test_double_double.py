"""Fields, params and scalars of type dd, as users see them."""

import re
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from workbench.errors import FieldError, NonFiniteError, TraceError
from workbench.graph.extended_numbers import DoubleDouble, as_fraction, as_pairs
from workbench.graph.parse import parse
from workbench.graph.types import DD
from workbench.run.snapshots import take_snapshot

BACKENDS = backends_here()
RUMP = """
a = field("a", dtype="{dtype}")
b = field("b", dtype="{dtype}")
f = field("f", dtype="{dtype}")
f.next = 333.75 * b**6 + a**2 * (11 * a**2 * b**2 - b**6 - 121 * b**4 - 2) + 5.5 * b**8 + a / (2 * b)
"""


def exact(pairs):
    return [as_fraction(*p) for p in np.atleast_1d(pairs).tolist()]


def simulated(text, dtype="dd", backend="reference", **values):
    return wb.trace(text.replace("{dtype}", dtype), name="pairs").simulate(backend=backend, **values)


@pytest.mark.parametrize("backend", BACKENDS)
def test_rumps_polynomial_needs_more_than_106_bits(backend):
    """As written it needs 122 bits: both types are wrong, each in its own way."""
    values = {"a": [77617.0], "b": [33096.0], "f": 0.0}
    found = {t: simulated(RUMP, t, backend, **values).step()["f"] for t in ("f64", "dd")}
    assert found["f64"][0] == pytest.approx(-1.18e21, rel=1e-2)
    assert found["dd"]["hi"][0] == 1.1726039400531786
    a, b = 77617, 33096
    whole = Fraction(1335, 4) * b**6 + a**2 * (11 * a**2 * b**2 - b**6 - 121 * b**4 - 2)
    assert whole + Fraction(11, 2) * b**8 + Fraction(a, 2 * b) == Fraction(-54767, 66192)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_power_that_is_expanded_keeps_24_digits(backend):
    text = """
x = field("x", dtype="{dtype}")
p = field("p", dtype="{dtype}")
p.next = x**9 - 9*x**8 + 36*x**7 - 84*x**6 + 126*x**5 - 126*x**4 + 84*x**3 - 36*x**2 + 9*x - 1
"""
    third = simulated('x = field("x", dtype="dd")\nx.next = x / 3', x=[4]).step()["x"]
    x = exact(third)[0]
    wanted = (x - 1) ** 9
    found = simulated(text, backend=backend, x=third, p=0).step()["p"]
    assert abs(exact(found)[0] / wanted - 1) <= 1e-24
    plain = simulated(text, "f64", backend, x=third["hi"], p=0).step()["p"]
    assert abs(plain[0] / ((Fraction(third["hi"][0]) - 1) ** 9) - 1) > 1e-13


def test_functions_have_equal_bits_on_all_backends():
    text = """
u = field("u", dtype="{dtype}", boundary="periodic")
v = field("v", dtype="{dtype}", boundary="periodic")
u.next = sin(u[-1]) * exp(v) + cos(u)
v.next = log(1 + u * u) - v[+1] / 4
"""
    start = np.linspace(0, 3, 37)
    found = {}
    for backend in BACKENDS:
        with simulated(text, backend=backend, u=start, v=start**2 / 5) as simulation:
            simulation.run(3)
            found[backend] = np.concatenate([simulation.u, simulation.v])
    for values in found.values():
        assert_same_bits(values, found["reference"])
    assert (found["reference"]["lo"] != 0).all()


RULES = ["periodic", "periodic(sign=-1)", "outflow", "reflect", "mirror", "constant(c)", "fixed(c)", "neumann(c, 0.5)"]


@pytest.mark.parametrize("rule", RULES)
def test_boundary_rules_give_values_of_both_parts(rule):
    """Powers of two beside small ones: every value of these rules is exact in dd and in fractions alike."""
    spelled = f'"{rule}"' if "(" not in rule or rule == "outflow" else rule
    text = f'c = param("c", 0, dtype="dd")\nu = field("u", dtype="dd", boundary={spelled})\nu.next = u[-1] + u[+1]'
    small = 2.0**-70
    u, c = [(1.0, small), (4.0, -small), (2.0, 3 * small)], (0.5, small)
    with simulated(text, u=np.array(u, DD.numpy), c=DoubleDouble(*c)) as simulation:
        found = exact(simulation.step()["u"])
    inside, c = [as_fraction(*p) for p in u], as_fraction(*c)
    outside = {
        "periodic": (inside[2], inside[0]),
        "periodic(sign=-1)": (-inside[2], -inside[0]),
        "outflow": (inside[0], inside[2]),
        "reflect": (inside[0], inside[2]),
        "mirror": (inside[1], inside[1]),
        "constant(c)": (c, c),
        "fixed(c)": (2 * c - inside[0], 2 * c - inside[2]),
        "neumann(c, 0.5)": (inside[0] - c / 2, inside[2] + c / 2),
    }[rule]
    row = [outside[0], *inside, outside[1]]
    assert found == [row[k] + row[k + 2] for k in range(3)]


def test_scalars_and_reductions_keep_both_parts():
    text = """
u = field("u", dtype="dd")
total, least = scalar("total", dtype="dd"), scalar("least", dtype="dd")
u.next = u
total.next = reduce_sum(u)
least.next = reduce_min(u)
"""
    values = as_pairs(["1e20", "0.1", "-1e20", "1e-15"])
    with simulated(text, u=values) as simulation:
        simulation.run(1)
        total, least = simulation["total"], simulation["least"]
    assert isinstance(total, DoubleDouble)
    assert abs(as_fraction(total, total.lo) - Fraction("0.100000000000001")) < Fraction(1, 2**45)
    assert total == pytest.approx(0.1, rel=1e-11)
    assert str(least) == "-100000000000000000000.0"


def test_params_take_texts_and_print_all_digits():
    text = 'c = param("c", 0.25, dtype="dd")\nu = field("u", dtype="dd")\nu.next = u + c'
    with simulated(text, u=[0, 1], c="0.1") as simulation:
        assert str(simulation["c"]) == "0.1"
        found = exact(simulation.step()["u"])
        simulation.set(c=Fraction(1, 3))
        assert repr(simulation["c"]) == "0.333333333333333333333333333333332"
    assert found[0] == as_fraction(*as_pairs("0.1").item())


def test_numbers_in_the_cell_by_text():
    found = simulated('u = field("u", dtype="dd")\nu.next = dd("0.1") + u', u=[0.0]).step()["u"]
    assert found[0].item() == as_pairs("0.1").item()


def test_dd_meets_other_types():
    text = """
u = field("u", dtype="f64")
w = field("w", dtype="dd")
c = param("c", 0, dtype="dd")
u.next = u * c
w.next = w + u * c
"""
    with simulated(text, u=[3.0], w=[0.0], c="0.1") as simulation:
        found = simulation.step()
        assert found["u"].dtype == np.float64
        assert found["u"][0] == 3.0 * 0.1
        assert found["w"].dtype == DD.numpy
        assert found["w"][0].item() == (3.0 * 0.1, 0.0)


KEPT = """
c = param("c", 3, dtype="dd")
u = field("u", dtype="dd", boundary="periodic")
s = scalar("s", dtype="dd")
w = u * u
u.next = (u[+1] + w) / c
s.next = s + reduce_sum(u)
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_run_with_record_condition_checkpoint_and_pictures(backend, tmp_path):
    """What the reference finds, kept by any backend and taken up by the next one."""
    machine = wb.trace(KEPT, name="kept")
    found, following = {}, BACKENDS[(BACKENDS.index(backend) + 1) % len(BACKENDS)]
    for name in dict.fromkeys(("reference", backend)):
        with machine.simulate(u=["0.1", "0.7", "1e-20"], c="0.7", backend=name) as simulation:
            record = simulation.record("s", every=2)
            simulation.run(until=lambda s: s.s > 2.5, at_most=9)
            simulation.set(c=Fraction(1, 3), u=simulation["u"])
            simulation.step()
            assert take_snapshot(simulation, "w").values.tolist() == simulation.evaluate("w")["hi"].tolist()
            assert take_snapshot(simulation, "u").values.tolist() == simulation["u"]["hi"].tolist()
            simulation.save(tmp_path / "kept.npz")
            found[name] = (*state(simulation), record.values.tolist())
    assert found[backend] == found["reference"]
    with machine.restore(tmp_path / "kept.npz", backend=following) as simulation:
        assert state(simulation) == found[backend][:-1]
    *_, c, recorded = found[backend]
    assert c == as_pairs(Fraction(1, 3)).item()
    assert all(low for _, low in recorded)


def state(simulation):
    """Steps, time of the end, and both parts of all values."""
    numbers = [simulation[name] for name in ("s", "c")]
    return (simulation.steps, simulation["u"].tolist(), *((float(n), n.lo) for n in numbers))


def test_the_text_of_a_graph_is_read_back():
    graph = wb.trace('u = field("u", dtype="dd")\nu.next = u * dd("0.1")', name="written").graph
    assert parse(str(graph)) == graph


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_value_that_is_not_finite_is_found(backend):
    text = 'u = field("u", dtype="dd")\nw = u * u\nu.next = w'
    with (
        simulated(text, backend=backend, u=[1.0, 1e200]) as simulation,
        pytest.raises(NonFiniteError, match=r"u becomes inf in cell \(1"),
    ):
        simulation.run(1, finite=True)


def test_what_dd_has_not_is_named():
    with pytest.raises(TraceError, match=r"line 2: tanh does not take dd"):
        wb.trace('u = field("u", dtype="dd")\nu.next = tanh(u)', name="wrong")
    with pytest.raises(FieldError, match=r"line 2: .one. is no number"):
        wb.trace('u = field("u", dtype="dd")\nu.next = u + dd("one")', name="wrong")
    machine = wb.trace('u = field("u", dtype="dd")\nu.next = u + 1', name="right")
    with pytest.raises(FieldError, match="'x' is no number"):
        machine.simulate(u=["x"], backend="reference")


def test_a_program_is_verified_and_shown_with_its_text():
    machine = wb.trace('u = field("u", dtype="dd")\nhalf = u / 2\nu.next = half + 1', name="shown")
    found = machine.verify(u=[1.0, 2.0])
    assert {deviation.backend for deviation in found.deviations} >= set(BACKENDS) - {"reference"}
    assert not any(deviation.after_all for deviation in found.deviations)
    assert re.search(r"dd_divide\(u(\[i\])?, dd\{2.0, 0.0\}\)", str(machine.inspect()))  # on CPUs, on a device


def test_locals_of_dd_and_f64_meet_in_dd():
    machine = wb.trace(
        'u = field("u", dtype="dd")\nv = field("v", dtype="f64")\nu.next = u + v\nv.next = v', name="met"
    )
    assert any("dd and f64 meet in u + v: computed in dd" in note for note in machine.traced.promotions)


def test_record_of_a_scalar_keeps_both_parts():
    text = 'u = field("u", dtype="dd")\ns = scalar("s", dtype="dd")\nu.next = u / 3\ns.next = reduce_sum(u)'
    with simulated(text, u=[1.0]) as simulation:
        record = simulation.record("s", every=1)
        simulation.run(3)
    assert record.values.dtype == DD.numpy
    sums = exact(record.values)
    assert all(abs(3 * later - sooner) < Fraction(1, 2**100) for sooner, later in pairwise(sums))
    assert record.values["lo"][1]


def test_a_data_set_has_both_parts():
    text = 'c = param("c", 0, dtype="dd")\nu = field("u", dtype="dd")\nu.next = u + c'
    with simulated(text, u=["0.1"], c="0.3") as simulation:
        found = simulation.step().to_xarray()
        assert found["u"].values.tolist() == simulation["u"].tolist() == as_pairs(["0.4"]).tolist()
        assert np.asarray(found["c"]).item() == as_pairs("0.3").item()


@pytest.mark.parametrize("given", ['dd("0.1")', '"0.1"'])
def test_a_default_of_all_digits_is_told_where_digits_are_given(given):
    with pytest.raises(TraceError, match=r'k="0.1" outside of the cell gives all digits'):
        wb.trace(f'u = field("u", dtype="dd")\nk = param("k", {given}, dtype="dd")\nu.next = k * u')
    machine = wb.trace('u = field("u", dtype="dd")\nk = param("k", 0, dtype="dd")\nu.next = k * u')
    with machine.simulate(u=np.ones(1), k="0.1", backend="reference") as simulation:
        difference = as_fraction(*simulation.run(1).u[0].item()) - Fraction(1, 10)
    assert abs(difference) < Fraction(2) ** -109
