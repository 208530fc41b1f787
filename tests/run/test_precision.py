"""Types of values chosen by name, by a word in the cell and for all of a program; what results change by."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import workbench as wb
from tests.kit.capabilities import backends_here
from workbench.errors import PlanError, TraceError
from workbench.graph.extended_numbers import as_fraction
from workbench.graph.types import DD
from workbench.graph.verify import verify
from workbench.notebook.card_html import card_html
from workbench.notebook.card_text import card_text
from workbench.notebook.defining import summary

pytestmark = pytest.mark.filterwarnings("ignore::workbench.pipeline.InterpreterWarning")

LINE = """
u, v = fields("u v", boundary="periodic")
total = scalar("total")
c = param("c", 0.1)
slope = u[+1] - u
flux = tanh(c * slope)
v.next = v + flux
u.next = u + slope * c
total.next = reduce_sum(u * u)
"""
PAIRS = """
xi, e2 = targets("x e2")
xj, m = sources("x m")
ax, near = totals("ax near")
dx = xj - xi
r1 = rsqrt(dx**2 + e2)
force = m * r1**3
ax += force * dx
near += m * r1
"""


def line():
    return wb.trace(LINE, name="line")


def values(n=33):
    rng = np.random.default_rng(5)
    return {"u": rng.random(n), "v": rng.random(n)}


def node(machine, name):
    kernel = machine.plan("reference").graph.kernels[0]
    return kernel.nodes[kernel.find(name)]


def test_fields_and_values_change_their_type_by_name():
    machine = line().with_precision(v="f32", slope="dd", flux=np.float32)
    graph = machine.plan("reference").graph
    verify(graph)
    assert [graph.static(n).type.name for n in ("u", "v", "total", "c")] == ["f64", "f32", "f64", "f64"]
    assert (node(machine, "slope").type.name, node(machine, "flux").type.name) == ("dd", "f32")
    assert line().graph == machine.graph  # the machine's own graph is what the cell says
    assert machine != line()


def test_a_wider_value_is_computed_in_its_type_and_not_only_stored_in_it():
    """u[+1] - u of f64 is exact in dd; in f64 it is rounded."""
    start = {"u": np.array([1.0, 1e-20, 3.0]), "v": np.zeros(3)}
    exact = [Fraction(b) - Fraction(a) for a, b in zip(start["u"], np.roll(start["u"], -1), strict=True)]
    with line().with_precision(slope="dd").simulate(backend="reference", **start) as simulation:
        found = simulation.evaluate("slope")
    assert [as_fraction(*p) for p in found.tolist()] == exact
    with line().simulate(backend="reference", **start) as simulation:
        assert [Fraction(x) for x in simulation.evaluate("slope").tolist()] != exact


def test_one_type_for_all_and_another_by_name():
    machine = line().with_precision("dd", c="f64")
    graph = machine.plan("reference").graph
    assert [s.type.name for s in graph.statics] == ["dd", "dd", "dd", "f64"]
    assert node(machine, "flux").type.name == "dd"
    again = machine.with_precision(c="f32", v="f64").plan("reference").graph
    assert [s.type.name for s in again.statics] == ["dd", "f64", "dd", "f32"]
    assert {s.type.name for s in machine.with_precision("f32").plan("reference").graph.statics} == {"f32"}


def test_casts_are_among_all_values():
    machine = wb.trace('u = field("u")\nu.next = astype(index(0), "f32") / 3 + astype(u, "f32")', name="casts")
    kernel = machine.with_precision("dd").plan("reference").graph.kernels[0]
    assert {n.type.name for n in kernel.nodes if n.type is not None} == {"i64", "dd"}


def test_the_text_says_what_changed_and_where_dd_has_no_operator():
    shown = str(line().with_precision(v="f32", slope="dd", total="f64"))
    assert "precision: v: f32, declared f64" in shown
    assert "precision: slope: dd, computed in f64" in shown
    assert "precision: total: f64, unchanged" in shown
    assert "precision: line 6: tanh computes in f64, because dd has no such operator" in shown  # of c * slope
    assert "tanh" not in str(line().with_precision(v="dd"))
    assert "precision" not in str(line())


def test_the_program_key_changes_with_the_precision():
    plain, narrow = line(), line().with_precision(v="f32")
    assert plain.plan("reference").graph.fingerprint() != narrow.plan("reference").graph.fingerprint()
    assert plain.genome.split(":")[0] != narrow.genome.split(":")[0]
    assert line().with_precision(v="f64").genome == plain.genome


def test_other_types_have_equal_bits_on_every_backend():
    found = line().with_precision(v="f32", c="f32", slope="f32").verify(steps=2)
    assert found.passed
    assert {d.name for d in found.deviations if d.bound_all == 0} == {"u", "v", "total"}


def test_a_checkpoint_has_the_chosen_types(tmp_path):
    machine = line().with_precision(v="f32")
    with machine.simulate(backend="reference", **values()) as simulation:
        simulation.run(2)
        simulation.save(tmp_path / "kept.npz")
        expected = simulation.v
    with machine.restore(tmp_path / "kept.npz", backend="reference") as simulation:
        assert np.array_equal(simulation.v, expected)


def test_labels_keep_their_types():
    text = 'u, h = field("u"), param("h", 0.1)\ncoordinate(0, h * index(0))\nu.next = h * u'
    for type_ in ("f32", "dd"):
        with wb.trace(text, name="labelled").with_precision(h=type_).simulate(backend="reference", u=[1, 2]) as one:
            labels = one.to_xarray().coords["x"]
        assert labels.dtype == np.float64
        assert labels.values == pytest.approx([0, 0.1])


def test_a_name_stands_for_all_components_of_a_vector():
    machine = wb.trace('p = vector("p", boundary="periodic")\np.next = p * 0.5', dim=2, name="vectors")
    assert [s.type.name for s in machine.with_precision(p="f32").plan("reference").graph.statics] == ["f32", "f32"]


def test_pairs_keep_positions_and_totals_in_dd_and_the_force_in_f64():
    """The mixed precision of the interaction compiler's slides."""
    machine = wb.trace(PAIRS, name="pairs").with_precision(x="dd", ax="dd", dx="dd", r1="f64", force="f64")
    graph = machine.plan("reference").graph
    types = {s.name: s.type.name for s in graph.statics}
    assert types == {"x": "dd", "x.source": "dd", "e2": "f64", "m.source": "f64", "ax": "dd", "near": "f64"}
    assert node(machine, "force").type.name == "f64"
    x = np.linspace(-1, 1, 20)
    found = machine(x=x, m=1.0, e2=1e-4, backend="reference")
    assert found["ax"].dtype == DD.numpy
    assert found["near"].dtype == np.float64
    plain = wb.trace(PAIRS, name="pairs")(x=x, m=1.0, e2=1e-4, backend="reference")
    assert found["ax"]["hi"] == pytest.approx(plain["ax"], abs=1e-9)
    assert np.any(found["ax"]["lo"])


@pytest.mark.parametrize("backend", [name for name in backends_here() if name not in ("reference", "cuda")])
def test_mixed_types_have_equal_bits_on_every_backend(backend):
    cell = line().with_precision(u="dd", total="dd", v="f32", c="f32")
    start = {"u": values(7)["u"], "v": values(7)["v"]}
    with cell.simulate(backend="reference", **start) as right, cell.simulate(backend=backend, **start) as found:
        right.run(2)
        found.run(2)
        assert found.u.tobytes() == right.u.tobytes()
        assert (found.total, found.total.lo) == (right.total, right.total.lo)
    text = PAIRS.replace("rsqrt(dx**2 + e2)", "1 / sqrt(dx**2 + e2)")
    pairs = wb.trace(text, name="pairs").with_precision(x="dd", ax="dd", dx="dd", r1="f64", force="f32")
    given = {"x": np.linspace(-1, 1, 9), "m": 1.0, "e2": 1e-4}
    expected, totals = pairs(backend="reference", **given), pairs(backend=backend, **given)
    assert {name: total.tobytes() for name, total in totals.items()} == {
        name: total.tobytes() for name, total in expected.items()
    }


def test_a_total_in_dd_is_summed_in_dd():
    text = 't = targets("t")[0]\ns = sources("s")[0]\n(sum_,) = totals("sum")\nsum_ += s + 0 * t'
    given = {"t": [0.0], "s": [1e16, 1.0, -1e16, 0.5]}
    call = {"targets": {"t": given["t"]}, "sources": {"s": given["s"]}, "backend": "reference"}
    machine = wb.trace(text, name="sums")
    assert machine(**call)["sum"].tolist() == [0.5]
    assert machine.with_precision(sum="dd")(**call)["sum"].tolist() == [(1.5, 0.0)]
    assert machine.with_precision(s="f32")(**call)["sum"].tolist() != [1.5]
    empty = machine.with_precision(sum="dd")(targets={"t": [1.0]}, sources={"s": []}, backend="reference")
    assert empty["sum"].dtype == DD.numpy


def test_scans_and_segments_are_summed_in_the_type_that_is_asked():
    text = """
lengths = array("lengths", "rows", dtype="i32")
v = array("v", "entries")
output("y", fold_segments(add, v, lengths))
output("up", scan(add, v))
"""
    machine = wb.trace(text, name="collected").with_precision(y="dd", up="dd")
    found = machine(lengths=[4], v=[1e16, 1.0, -1e16, 0.5], backend="reference")
    assert found["y"].tolist() == [(1.5, 0.0)]
    assert found["up"].tolist() == [(1e16, 0.0), (1e16, 1.0), (1.0, 0.0), (1.5, 0.0)]


def test_rsqrt_of_dd_has_the_digits_of_dd():
    machine = wb.trace('u = field("u")\nu.next = rsqrt(u)', name="root").with_precision("dd")
    with machine.simulate(backend="reference", u=[3.0]) as simulation:
        found = as_fraction(*simulation.step()["u"][0].item())
    assert abs(3 * found**2 - 1) < Fraction(1, 2**102)


def test_a_cell_asks_for_a_type():
    text = LINE + 'compute_in(slope, "dd")\ncompute_in(v, "f32")\n'
    machine = wb.trace(text, name="line")
    assert machine.plan("reference").graph == line().with_precision(slope="dd", v="f32").plan("reference").graph
    assert "precision: v: f32, declared f64" in str(machine)
    assert machine.with_precision(v="f64").plan("reference").graph.static("v").type.name == "f64"
    pairs = wb.trace(PAIRS + 'compute_in(ax, "dd")\ncompute_in(xi, "dd")\n', name="pairs")
    types = {s.name: s.type.name for s in pairs.plan("reference").graph.statics}
    assert (types["ax"], types["x"], types["near"]) == ("dd", "dd", "f64")


def test_a_cell_asks_for_a_type_of_a_vector():
    text = 'p = vector("p")\nw = 2 * p\ncompute_in(w, "f32")\np.next = w'
    machine = wb.trace(text, dim=2, name="vectors")
    assert [node(machine, name).type.name for name in ("w0", "w1")] == ["f32", "f32"]


@pytest.mark.parametrize(
    ("every", "types", "says"),
    [
        ("", {"slop": "f32"}, "no value is called 'slop', so its precision cannot change. Did you mean 'slope'"),
        ("", {"u": "f16"}, "'f16' is no storage type"),
        ("", {"u": "i32"}, "the precision of u cannot change: i32 is no float"),
        ("quad", {}, "'quad' is no storage type"),
        ("bool", {}, "the precision of all values cannot change: bool is no float"),
    ],
)
def test_what_cannot_be_is_named(every, types, says):
    with pytest.raises(PlanError, match=says):
        line().with_precision(every, **types)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('compute_in(2 * u, "f32")', "line 10: the value that compute_in is asked for has no name"),
        ('compute_in(slope, "i32")', "line 10: compute_in: i32 is no float type"),
        ('compute_in(index(0), "f32")', r"line 10: .* is i64, which is no float"),
        ('compute_in(2.0, "f32")', "line 10: the Python number 2.0 takes the type of the other operand"),
    ],
)
def test_what_a_cell_cannot_ask_for_is_named(text, says):
    with pytest.raises(TraceError, match=says):
        wb.trace(LINE + text + "\n", name="line")


def test_the_card_says_which_types_are_chosen():
    plain = replace(line(), backend="reference")
    machine = plain.with_precision(v="f32")
    card = summary(machine, plain)
    assert "precision" in card_text(card)
    assert "v: f32, declared f64" in card_text(card)
    assert "v: f32, declared f64" in card_html(card)
    assert "precision: v: f32, declared f64" in card.changed
    assert "precision: as declared" in summary(plain, machine).changed
