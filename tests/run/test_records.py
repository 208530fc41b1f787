"""Records as elements: what folds, scans, segments and scatters of tuples, data classes and structured arrays give."""

from collections import namedtuple
from dataclasses import astuple, dataclass, is_dataclass

import numpy as np
import pytest

import workbench as wb
from tests.kit.backends import WAYS
from tests.kit.bits import assert_same_bits
from workbench.errors import StencilError, TraceError
from workbench.graph.parse import parse
from workbench.language import fold, generate, scan, scatter, where

Complex = namedtuple("Complex", "re im")
SIZES = (0, 1, 33, 1025)


@dataclass
class Moments:
    count: object
    mean: object
    squares: object


def times(a, b):
    return Complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)


def together(a, b):
    """Chan, Golub, LeVeque 1979: moments of two samples as those of one."""
    count, step = a.count + b.count, b.mean - a.mean
    part = b.count / where(count > 0, count, 1.0)
    return Moments(count, a.mean + step * part, a.squares + b.squares + step * step * a.count * part)


def affine(a, b):
    """x -> b(a(x)): not commutative."""
    return a[0] * b[0], a[1] * b[0] + b[1]


def larger(a, b):
    return where(b[0] > a[0], b[0], a[0]), where(b[0] > a[0], b[1], a[1])


def program(z, m, x, bins):
    number = generate(x.shape, lambda i: i)
    none, unit = (-np.inf, -1), Complex(1.0, 0.0)
    best = generate(4, lambda i: -np.inf), generate(4, lambda i: -1)
    up_to, total = scan(affine, (x, x * x), identity=(1.0, 0.0), start=(2.0, 3.0), exclusive=True, total=True)
    return {
        "product": fold(times, z, identity=unit),
        "powers": scan(times, z, identity=unit, reverse=True),
        "moments": fold(together, m, identity=Moments(0.0, 0.0, 0.0)),
        "argmax": fold(larger, (x, number), identity=none, commutative=True),
        "up_to": up_to,
        "total": total,
        "best": scatter(larger, best, bins, (x, number), where=x > -1),
        "last": scatter(None, best, bins, (0.5, number)),
    }


def given(n):
    draw = np.random.default_rng(n)
    turn = np.exp(1j * draw.normal(size=n))
    rows = draw.normal(size=(2, n))
    moments = Moments(np.ones((2, n)), rows, np.zeros((2, n)))
    return Complex(turn.real, turn.imag), moments, draw.normal(size=n), draw.integers(0, 4, n)


def leaves(value):
    if isinstance(value, dict):
        value = tuple(value.values())
    value = astuple(value) if is_dataclass(value) else value
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple) else [np.asarray(value)]


@pytest.fixture(scope="module")
def run():
    return wb.collective(program)


@pytest.mark.parametrize("n", SIZES)
def test_records_have_one_meaning_on_every_backend(run, n):
    expected = run(*given(n), backend="reference")
    for backend, threads in WAYS:
        found = run(*given(n), backend=backend, threads=threads)
        assert {name: type(part) for name, part in found.items()} == {k: type(v) for k, v in expected.items()}
        for place, (mine, bits) in enumerate(zip(leaves(found), leaves(expected), strict=True)):
            assert_same_bits(mine, bits, f"{backend} {threads} {n} {place}")


@pytest.mark.parametrize("n", [1, 33, 1025])
def test_records_mean_what_numpy_computes(run, n):
    z, m, x, bins = given(n)
    found, turn = run(z, m, x, bins), z.re + 1j * z.im
    assert isinstance(found["product"], Complex)
    assert found["product"].re + 1j * found["product"].im == pytest.approx(np.prod(turn), rel=1e-12)
    np.testing.assert_allclose(found["powers"].re, np.cumprod(turn[::-1])[::-1].real, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found["moments"].mean, m.mean.mean(1), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found["moments"].squares, n * m.mean.var(1), rtol=1e-10, atol=1e-14)
    assert (found["argmax"][0], found["argmax"][1]) == (x.max(), x.argmax())
    slope, offset, expected = 2.0, 3.0, []
    for each in x.tolist():
        expected.append((slope, offset))
        slope, offset = slope * each, offset * each + each * each
    np.testing.assert_allclose(np.transpose(found["up_to"]), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found["total"], (slope, offset), rtol=1e-9, atol=1e-12)
    for k in range(4):
        kept = np.flatnonzero((bins == k) & (x > -1))
        best = (x[kept].max(), kept[x[kept].argmax()]) if len(kept) else (-np.inf, -1)
        assert (found["best"][0][k], found["best"][1][k]) == best
        assert found["last"][1][k] == max(np.flatnonzero(bins == k), default=-1)


def test_variables_of_a_function_stay_inside_of_it_in_a_cell():
    """Names stand for values when a precision is chosen, and belonged to values of the cell by mistake."""
    machine = wb.trace(
        """
A = array("A", "rows", "columns")
def larger(a, b):
    more = b[0] > a[0]
    value = where(more, b[0], a[0])
    place = where(more, b[1], a[1])
    return value, place
best = fold(larger, (A, index("columns") + 0 * astype(A, "i64")), axis="columns", identity=(-inf, -1))
output("value", best[0])
output("place", best[1])
""",
        name="largest",
    )
    rows = np.random.default_rng(0).random((3, 20))
    np.testing.assert_array_equal(machine(A=rows)["place"], rows.argmax(axis=1))
    named = {name for node in machine.graph.kernels[0].nodes for name in node.names}
    assert not {"more", "a", "b"} & named


def test_structured_arrays_are_read_by_names_and_elements():
    given = np.zeros(4, [("mass", "f8"), ("count", "i4")])
    given["mass"], given["count"] = [0.5, 2.0, 1.0, 4.0], [3, 1, 2, 0]

    def function(s):
        last = s[-1]
        return s["mass"] * s["count"], s[1:]["mass"], s[s["count"]].mass, last["mass"] + last.count, s[::-1]

    *found, turned = wb.collective(function)(given, backend="openmp")
    expected = [given["mass"] * given["count"], given["mass"][1:], given["mass"][given["count"]], 4.0]
    for mine, exact in zip(found, expected, strict=True):
        assert mine.tolist() == np.asarray(exact).tolist()
    assert turned.tolist() == given[::-1].tolist()
    with pytest.raises(TraceError, match=r"no field 'size'(.*\n)*Use one of mass, count\."):
        wb.collective(lambda s: s["size"])(given)


def test_structured_arrays_come_and_go_and_numbers_of_all_types_are_components():
    @wb.collective
    def newest(s):
        later = lambda a, b: type(s)(*(where(b.key > a.key, right, left) for left, right in zip(a, b, strict=True)))  # noqa: E731
        return type(s)(s.key + 1, -s.value, ~s.on), fold(later, s, identity=type(s)(0, 0.0, False))

    s = np.zeros(40, [("key", "u1"), ("value", "f4"), ("on", "?")])
    s["key"], s["value"] = np.random.default_rng(4).permutation(40) + 1, np.linspace(0, 1, 40)
    s["on"] = s["key"] > 20
    for backend in ("reference", "openmp", "cuda-sim"):
        changed, last = newest(s, backend=backend)
        assert changed.dtype.names == s.dtype.names
        assert np.array_equal(changed["key"], s["key"] + 1)
        assert np.array_equal(changed["value"], -s["value"])
        assert np.array_equal(changed["on"], ~s["on"])
        assert last.tolist() == s[s["key"].argmax()].tolist()


def test_the_text_of_a_graph_with_records_is_read_back(run):
    graph = run.machine(*given(3)).graph
    assert parse(str(graph)) == graph
    assert "pair(f64, pair(f64, f64))" in str(graph)


BAD = {
    "fold(add, (x, x))": "by add of a record",
    "fold(larger, (x, x), identity=0)": "identity is 0, but the elements have 2 components",
    "fold(lambda a, b: a[0] + b[0], (x, x), identity=(0, 0))": "the function returns 1 value for 2",
    "fold(larger, (2.0, 3), identity=(0, 0))": "needs arrays, but these are numbers",
    "fold(larger, (x, x), identity=(0.5, x))": "identity is computed in the program",
    "scatter(None, (x, x), i, (x, x, x))": "sends 3 values to a record of 2",
    "scatter(add, (x, x), i, (x, x))": "scatter by add of a record",
    'fold(larger, (x.astype("dd"), x), identity=(0.0, 0.0))': "a component of a record is dd",
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_record_is_said(text):
    space = {"larger": larger, "fold": fold, "scatter": scatter, "add": np.add}
    function = wb.collective(eval(f"lambda x, i: {text}", space))  # the texts above
    with pytest.raises(StencilError) as caught:
        function(np.ones(3), np.zeros(3, int))
    assert BAD[text] in caught.value.what
    assert caught.value.advice


@dataclass(kw_only=True)
class Interval:
    low: object
    high: object


def test_a_data_class_that_takes_names_only_goes_in_and_out():
    @wb.collective
    def widened(given):
        return Interval(low=given.low - 1.0, high=given.high + 1.0)

    found = widened(Interval(low=np.zeros(3), high=np.ones(3)), backend="reference")
    assert isinstance(found, Interval)
    assert np.array_equal(found.low, -np.ones(3))
    assert np.array_equal(found.high, 2 * np.ones(3))


def test_a_condition_chooses_between_records():
    """The element with the largest real part, as one writes it; nested records and numbers too."""

    def body(re, im):
        first = Complex(-np.inf, 0.0)
        largest = fold(lambda a, b: where(b.re > a.re, b, a), Complex(re, im), identity=first)
        inner = where(re > 0, (re, Complex(im, 1.0)), (0.0, Complex(re, im)))
        return largest, inner

    draw = np.random.default_rng(6)
    re, im = draw.permutation(40).astype(float), draw.random(40)
    for backend in ("reference", "openmp"):
        largest, (one, two) = wb.collective(body)(re, im, backend=backend)
        assert type(largest) is Complex
        assert (largest.re, largest.im) == (39.0, im[np.argmax(re)])
        assert_same_bits(one, np.where(re > 0, re, 0.0))
        assert_same_bits(two.re, np.where(re > 0, im, re))
        assert_same_bits(two.im, np.where(re > 0, 1.0, im))
