"""Functions of arrays: what NumPy computes, on every backend with equal bits; shapes, kinds of arguments, bad input."""

import cProfile
from collections import namedtuple
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import FieldError, ShapeError
from workbench.language import add, fold_segments, generate, scan, scan_segments, scatter
from workbench.pipeline import counters

Pair = namedtuple("Pair", "low high")


@dataclass
class Span:
    begin: object
    width: object


def dot_product(x, y):
    return np.sum(x * y)


def norms(A, x):
    centred = A - A.mean(axis=1)[:, None]
    return {"centred": centred, "spread": np.sqrt(np.mean(centred**2, axis=1)), "product": A @ x, "total": A.sum()}


def products(A, B):
    return A @ B, (A @ B).T, B.T @ A.T, np.outer(A.max(axis=0), B.min(axis=0)), np.dot(A, B).T[:, None, :]


def square(S):
    return S + S.T, S @ S, S.T.sum(axis=0)[:, None] * S, (S + 2 * S.T) - np.transpose(S), S.shape[0] * S.mean()


def pairs(x, m):
    dx = x[None, :] - x[:, None]
    w = m[None, :] / np.sqrt(dx * dx + 0.01) ** 3
    return np.sum(w * dx, axis=1), np.sum(w * dx, axis=0) * m, np.sum(w * dx)


def choices_of_numbers(x, y):
    inside = (x > 0.25) & ~(y > x)
    chosen = np.where(inside, np.minimum(x, y), 2 * abs(y - 1) // 0.5)
    return Pair(np.sum(inside), np.sum(chosen, axis=0, keepdims=True)), [np.any(inside), np.all(x > -9), chosen % 0.75]


def sums_of_sums(A, x):
    rows = np.sum(A * x[None, :], axis=1)
    return np.sum(rows[:, None] * A * rows[:, None], axis=0), np.expand_dims(rows, 0) + A.T, rows.max() - rows


def scans(A, x):
    running, rows = np.cumsum(x), A.sum(axis=1)
    return (
        running,
        running[1:] - running[:-1],
        np.cumsum(A, axis=0) * x[None, :],
        np.cumprod(A, axis=1)[:, ::-1],
        np.cumsum(x > 0),
        rows[:, None] * rows[None, :],
        (2 * rows)[::-1] - np.cumsum(rows),
    )


def of(*shapes, seed=0):
    draw = np.random.default_rng([seed, *(n for shape in shapes for n in shape)])
    return tuple(draw.normal(size=shape) for shape in shapes)


PROGRAMS = [
    (dot_product, of((1,), (1,))),
    (dot_product, of((1025,), (1025,))),
    (norms, of((7, 33), (33,))),
    (norms, of((1, 1), (1,))),
    (products, of((5, 7), (7, 3))),
    (square, of((6, 6))),
    (pairs, of((9,), (9,))),
    (choices_of_numbers, of((40,), (40,))),
    (choices_of_numbers, of((3, 5), (3, 5))),
    (sums_of_sums, of((4, 6), (6,))),
    (scans, of((5, 1030), (1030,))),
]


def flat(value):
    if isinstance(value, dict):
        return [part for each in value.values() for part in flat(each)]
    return [part for each in value for part in flat(each)] if isinstance(value, tuple | list) else [value]


def same_structure(found, expected):
    assert type(found) is type(expected) or not isinstance(expected, tuple | list | dict)
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = tuple(found.values()), tuple(expected.values())
    if isinstance(expected, tuple | list):
        for a, b in zip(found, expected, strict=True):
            same_structure(a, b)
    else:
        assert isinstance(found, np.ndarray)
        assert found.shape == np.shape(expected)


@pytest.mark.parametrize(("function", "given"), PROGRAMS)
def test_a_function_of_arrays_is_what_numpy_computes(function, given):
    found, expected = wb.collective(function)(*given, backend="reference"), function(*given)
    same_structure(found, expected)
    for mine, exact in zip(flat(found), flat(expected), strict=True):
        np.testing.assert_allclose(mine, exact, rtol=1e-10, atol=1e-12)


ON_A_DEVICE = [
    pytest.param(*row, "cuda-sim", marks=() if row[0] is norms else pytest.mark.proof) for row in PROGRAMS[1:]
]


@pytest.mark.parametrize(("function", "given", "backend"), [*((*row, "openmp") for row in PROGRAMS), *ON_A_DEVICE])
def test_every_backend_has_the_bits_of_the_reference(function, given, backend):
    program = wb.collective(function)
    expected = flat(program(*given, backend="reference"))
    for threads in (1, 3) if backend == "openmp" else (0,):
        for place, values in enumerate(flat(program(*given, backend=backend, threads=threads))):
            assert_same_bits(values, expected[place], f"result {place}, {threads} threads")


def test_einsum_by_letters():
    def all_of_them(a, b, v):
        texts = ["ij,jk->ik", "ij,jk", "ij->ji", "ij,ij->j", "ij->"]
        pairs = [np.einsum(text, *((a, b) if "k" in text else (a, a) if "," in text else (a,))) for text in texts]
        return (*pairs, np.einsum("i,j->ij", v, v), np.einsum("ij,jk,k->i", a, b, v))

    a, b, v = of((3, 4), (4, 5), (5,))
    program = wb.collective(all_of_them)
    found = program(a, b, v, backend="reference")
    for mine, exact in zip(found, all_of_them(a, b, v), strict=True):
        np.testing.assert_allclose(mine, exact, rtol=1e-13, atol=1e-15)
    for mine, bits in zip(program(a, b, v, backend="openmp"), found, strict=True):
        assert_same_bits(mine, bits)


def test_narrow_types_are_kept_and_counts_are_wide():
    @wb.collective
    def narrow(x, k, flags):
        return x * 0.5 + 1, x.sum(), k.sum(), np.sum(flags), k.mean(), x * np.float64(3), k + 1, k / 2

    x, k = np.linspace(0, 1, 5, dtype=np.float32), np.array([3, 4, 5, 6, 7], np.int32)
    found = narrow(x, k, k > 4, backend="reference")
    assert [str(part.dtype) for part in found] == [
        "float32",
        "float32",
        "int64",
        "int64",
        "float64",
        "float32",
        "int32",
        "float64",
    ]
    assert found[2] == 25
    assert found[3] == 3


def test_a_function_is_traced_once_for_each_combination_of_ranks_and_types():
    traced = []

    @wb.collective(backend="reference")
    def scaled(x, factor=2.0, mode="plain", powers=(1, 2), shift=None):
        traced.append(mode)
        result = factor * x ** powers[1]
        return -result if mode == "negative" else result if shift is None else result + shift

    x = np.array([1.0, 2.0, 3.0])
    for factor in (2.0, 3.0, np.float64(5.0)):
        assert scaled(x, factor).tolist() == (factor * x**2).tolist()
    before = len(traced)
    assert scaled(np.arange(9.0), 7.0)[2] == 28.0  # another length, another number
    assert len(traced) == before
    assert scaled(x, 2.0, "negative").tolist() == (-2 * x**2).tolist()
    assert scaled(x, mode="plain", powers=(1, 3)).tolist() == (2 * x**3).tolist()
    assert scaled(x, mode="plain", powers=(1, True)).tolist() == (2 * x).tolist()
    assert scaled(x[None, :], 3.0).shape == (1, 3)
    assert scaled(x, shift=x).tolist() == (2 * x**2 + x).tolist()
    assert scaled(x.astype(np.float32)).dtype == np.float32
    assert scaled([1.0, 2.0]).tolist() == [2.0, 8.0]
    count = len(traced)
    scaled(x, 9.0, "negative")
    scaled(np.asfortranarray(np.ones((2, 3))))
    assert len(traced) == count


def test_true_and_one_are_different_arguments():
    @wb.collective(backend="reference")
    def chosen(x, flag):
        return x + 1 if flag is True else x * flag

    x = np.array([1.0, 2.0])
    assert chosen(x, True).tolist() == [2.0, 3.0]
    assert chosen(x, 1).tolist() == [1.0, 2.0]
    assert chosen(x, 4).tolist() == [4.0, 8.0]


def test_tuples_of_arrays_and_functions_that_call_functions():
    @wb.collective(backend="reference")
    def length(v):
        return np.sqrt(sum(part**2 for part in v))

    @wb.collective(backend="reference")
    def unit(v, scale=1.0):
        found = length(v)
        return tuple(scale * part / found for part in v)

    x, y = of((5,), (5,))
    for mine, exact in zip(unit((x, y), 2.0), (2 * x / np.hypot(x, y), 2 * y / np.hypot(x, y)), strict=True):
        np.testing.assert_allclose(mine, exact, rtol=1e-14)
    with pytest.raises(ShapeError, match="v1 along axis 0 has 4 elements, v0 along axis 0 has 5"):
        unit((x, y[1:]))


def test_arrays_without_elements():
    found = wb.collective(norms)(np.zeros((3, 0)), np.zeros(0), backend="openmp")
    assert found["centred"].shape == (3, 0)
    assert found["product"].tolist() == [0.0, 0.0, 0.0]
    assert found["total"] == 0.0
    assert wb.collective(products)(np.zeros((0, 2)), np.zeros((2, 3)), backend="openmp")[1].shape == (3, 0)


def test_strided_arrays_and_results_of_their_own():
    A = np.arange(24.0).reshape(4, 6)
    twice = wb.collective(lambda a: 2 * a)
    found = twice(A[::2, ::-1], backend="openmp")
    assert found.tolist() == (2 * A[::2, ::-1]).tolist()
    again = twice(A[::2, :], backend="openmp")
    assert not np.shares_memory(found, again)
    assert found.flags.c_contiguous
    assert found.flags.writeable


def test_a_second_call_traces_plans_and_compiles_nothing():
    program = wb.collective(dot_product)
    x, y = of((10,), (10,))
    first = program(x, y, backend="openmp")
    before = counters()
    assert program(x, y, backend="openmp") == first
    assert counters() == before
    assert len(program._traced) == len(program._prepared) == 1


def test_memory_waits_for_the_last_shapes_only():
    program = wb.collective(dot_product)
    for n in range(1, 30):
        program(np.ones(n), np.ones(n), backend="reference")
    assert len(program._prepared) == 8
    program.close()
    assert not program._prepared
    assert program(np.ones(3), np.ones(3), backend="reference") == 3.0


def test_its_machine_is_shown_planned_and_called_by_name():
    program = wb.collective(pairs)
    machine = program.machine(*of((4,), (4,)))
    assert machine.name == "pairs"
    assert [axis.name for axis in machine.graph.space.axes] == ["i", "i2"]
    assert "dx" in str(machine.graph)
    assert "fold" in str(machine.plan("openmp"))
    assert "pairs" in machine.source("openmp").text
    assert "pairs(x, m)" in repr(program)
    assert "1 combination of types" in repr(program)


COLLECTIVES = [
    lambda x: np.cumsum(x),
    lambda x: np.concatenate((x, x)),
    lambda x: scan_segments(add, x, generate(2, lambda k: 3)),
    lambda x: fold_segments(add, x, generate(2, lambda k: 3)),
    lambda x: np.sum(x),
]


@pytest.mark.parametrize("function", COLLECTIVES)
def test_what_a_collective_makes_is_returned_twice(function):
    """The loop of a collective stores into one array; the second one stayed empty on a device."""
    program = wb.collective(lambda x: (function(x), function(x), function(x) + 1))
    (x,) = of((6,))
    first, second, third = program(x, backend="reference")
    assert_same_bits(first, second)
    for backend in ("openmp", "cuda-sim"):
        for mine, exact in zip(program(x, backend=backend), (first, second, third), strict=True):
            assert_same_bits(mine, exact, backend)


OF_A_COLUMN = [
    lambda c: c[c > 0],
    lambda c: scatter(add, c, generate(6, lambda i: i % 3), 1.0),
    lambda c: np.concatenate((c, c)),
    lambda c: np.stack((c, c + 1), axis=1),
    lambda c: scan(add, c, exclusive=True, reverse=True),
    lambda c: np.roll(c, 1) - c,
    lambda c: c.reshape(2, 3),
]


@pytest.mark.parametrize("function", OF_A_COLUMN)
def test_a_column_is_an_array_of_one_axis(function):
    """x[:, 1] is a view along an axis of one element; conditions, defaults and arrays in a row took it for a second."""
    (x,) = of((6, 5))
    expected = wb.collective(function)(x[:, 1].copy(), backend="reference")
    for backend in ("reference", "openmp"):
        assert_same_bits(wb.collective(lambda x: function(x[:, 1]))(x, backend=backend), expected, backend)


def dividends(dtype):
    """Pairs of all magnitudes, of whole, nearly whole and large quotients, and of special numbers."""
    draw, kind = np.random.default_rng(3), np.dtype(dtype)
    x = draw.integers(0, 2 ** (8 * kind.itemsize), 3000, f"u{kind.itemsize}").view(kind)
    y = draw.permutation(x)
    with np.errstate(all="ignore"):
        whole = (y * draw.integers(-(2**24), 2**24, len(y))).astype(kind)
    info = np.finfo(kind)
    special = [0.0, -0.0, 1.0, -1.0, 0.1, 3.0, 1e16, np.inf, np.nan, info.tiny, info.max, info.smallest_subnormal]
    special = np.array(special + [-each for each in special], kind)
    tenths = (draw.integers(-50, 50, 500) * kind.type(0.1)).astype(kind)
    xs = [x, whole, np.nextafter(whole, kind.type(0)), np.repeat(special, len(special)), tenths]
    return np.concatenate(xs), np.concatenate([y, y, y, np.tile(special, len(special)), np.full(500, 0.1, kind)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("backend", ["reference", "openmp", "cuda-sim"])
def test_remainders_and_quotients_of_floats_are_numpys(dtype, backend):
    """Among them 1652.8 % 0.1, whose quotient rounds to the whole number above."""
    x, y = dividends(dtype)
    rest, whole = wb.collective(lambda x, y: (x % y, x // y))(x, y, backend=backend)
    with np.errstate(all="ignore"):
        assert_same_bits(rest, np.remainder(x, y))
        assert_same_bits(whole, np.floor_divide(x, y))


def test_one_number_in_double_double_is_returned_with_all_digits():
    program = wb.collective(lambda x: (x.astype("dd").sum(), (x.astype("dd") * x)[0]))
    for x in (np.array([1.0, 2.0**-60, 3.0]), np.array([1.0 + 2.0**-52, 0.0, 0.0])):
        exact = [sum(map(Fraction, x)), Fraction(x[0]) ** 2]
        for backend in ("reference", "openmp", "cuda-sim"):
            found = [Fraction(float(each["hi"])) + Fraction(float(each["lo"])) for each in program(x, backend=backend)]
            assert found == exact, backend


def test_results_in_double_double_are_arguments_of_the_next_call():
    thirds = wb.collective(lambda x: x.astype("dd") / 3)(np.array([1.0, 2.0, 5.0]), backend="reference")
    program = wb.collective(lambda x, k: (3 * x, (x * k)[0]))
    expected = program(thirds, thirds[1], backend="reference")
    assert expected[0].dtype == thirds.dtype
    np.testing.assert_array_equal(expected[0]["hi"], [1.0, 2.0, 5.0])
    assert abs(Fraction(float(expected[1]["hi"])) + Fraction(float(expected[1]["lo"])) - Fraction(2, 9)) < 2.0**-104
    for backend in ("openmp", "cuda-sim"):
        for mine, exact in zip(program(thirds, thirds[1], backend=backend), expected, strict=True):
            assert_same_bits(mine, exact, backend)


def test_components_are_called_by_their_names_in_errors():
    def moved(span, pairs):
        return span.begin + pairs.low[0] + span.width * pairs.high

    program = wb.collective(moved)
    with pytest.raises(ShapeError, match=r"pairs\.low0 along axis 0 has 2 elements, span\.begin along axis 0 has 3"):
        program(Span(np.ones(3), 2.0), Pair((np.ones(2), 1), 3.0))
    with pytest.raises(FieldError, match=r"span\.width was given complex128 values"):
        program(Span(np.ones(3), 2j), Pair((np.ones(3), 1), 3.0))
    table = np.zeros(3, [("mass", float), ("place", float)])
    with pytest.raises(ShapeError, match=r"s\.mass along axis 0 has 3 elements, none at 5"):
        wb.collective(lambda s: s["mass"][5] * s["place"])(table)


def test_a_first_call_may_be_profiled():
    """Functions without text of their own are traced by a profiler, beside which Python's own goes on."""
    profile = cProfile.Profile()
    programs = [wb.collective(each) for each in (lambda x: x + 1, lambda x: 2 * x)]  # one line: which has which text?
    profile.enable()
    found = [program(np.ones(3), backend="reference") for program in programs]
    profile.disable()
    assert [each.tolist() for each in found] == [[2.0] * 3, [2.0] * 3]
    assert any("run" in str(entry.code) for entry in profile.getstats())
