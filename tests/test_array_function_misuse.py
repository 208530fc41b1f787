"""Bad use of functions of arrays: what is refused, with which error, in words that help."""

import cmath
import linecache
import math
import re

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench import language
from workbench.errors import FieldError, RunError, ShapeError, StencilError, TraceError
from workbench.frontend import array_misuse, array_value, attribute_misuse, misuse, numpy_names
from workbench.frontend.array_misuse import instead_of
from workbench.language import add, fold, fold_segments, generate, iterate, scan, where, while_loop, windows


def dot_product(x, y):
    return np.sum(x * y)


def iterated_inside_of_a_loop(x):
    def body(y, k):
        return iterate(lambda low: low + 1, while_=lambda low, high: low < high, start=y, at_most=9), k + 1

    return while_loop(lambda y, k: k < 3, body, (x, 0), at_most=5)


ERRORS = [
    (iterated_inside_of_a_loop, (np.ones(4),), TraceError, r"missing 1 required(.*\n)*iterate calls this function"),
    (lambda x: x.sort(), (np.ones(4),), TraceError, r"has no \.sort(.*\n)*.*np\.sort\(x\)"),
    (lambda x: x.partition(2), (np.ones(4),), TraceError, r"has no \.partition(.*\n)*.*fold, scan"),
    (lambda x: windows(lambda w: np.median(w), x), (np.ones(4),), TraceError, r"a window is no array(.*\n)*.*w\[-1\]"),
    (lambda x: windows(lambda w: w.sum(), x), (np.ones(4),), TraceError, r"w\.sum: a window is no array"),
    (lambda x, k: x * k, (np.ones(4), 2**63), FieldError, r"k was given a whole number of 64 bits(.*\n)*Give a float"),
    (lambda x, k: x * k, (np.ones(0), -(2**70)), FieldError, r"k was given a whole number of 71 bits"),
    (lambda x: windows(lambda w: 2 * w, x), (np.ones(4),), TraceError, "a window is no array"),
    (lambda x: where(x > 0, (x, x), (x,)), (np.ones(4),), TraceError, "a record of 2 and one of 1"),
    (
        lambda x, y: x + y,
        (np.ones(3), np.ones(4)),
        ShapeError,
        r"y along axis 0 has 4 elements(.*\n)*.*x \+ y",
    ),
    (
        lambda x, y: x @ y,
        (np.ones((3, 2)), np.ones((3, 2))),
        ShapeError,
        "y along axis 0 has 3 elements, x along axis 1 has 2",
    ),
    (
        lambda x, y: x - y.mean(axis=1),
        (np.ones((3, 2)), np.ones((3, 2))),
        ShapeError,
        r"x along axis 1 has 2 elements, y along axis 0 has 3|y along axis 0 has 3 elements, x along axis 1 has 2",
    ),
    (
        lambda x, y: generate(x.shape, lambda i: y),
        (np.ones(3), np.ones((3, 3))),
        TraceError,
        r"1 axis cannot be combined with one of 2(.*\n)*.*x\[None, :\]",
    ),
    (lambda x: x.sum(axis=1), (np.ones(3),), TraceError, "sum over axis 1 of a value with 1 axis"),
    (lambda x: np.max(x, axis=(0, 0)), (np.ones((3, 2)),), TraceError, "max over the axes"),
    (lambda x: fold(lambda a, b: a, x), (np.ones(3),), TraceError, "no identity is given for <lambda>"),
    (lambda x: fold(lambda a, b: a > b, x, identity=0.0), (np.ones(3),), TraceError, "is given bool"),
    (lambda x: fold(lambda a, b: a + x, x, identity=0.0), (np.ones(3),), TraceError, "another cell"),
    (lambda x: fold(np.hypot, x), (np.ones(3),), TraceError, "fold by hypot"),
    (lambda x: fold(add, x.sum()), (np.ones(3),), TraceError, "one number"),
    (lambda x, n: generate(n, lambda i: i) + x, (np.ones(3), 3), TraceError, "given at the call"),
    (lambda x: generate(-1, lambda i: i), (np.ones(3),), TraceError, "-1 is no length"),
    (lambda x: generate(2, lambda i: i) + x, (np.ones(3),), ShapeError, "has 2 elements"),
    (lambda x: np.any(x), (np.ones(3),), TraceError, "any does not take f64"),
    (
        lambda x: np.max(x > 0),
        (np.ones(3),),
        TraceError,
        r"max does not take bool(.*\n)*Write np\.any\(x\), or cast it",
    ),
    (
        lambda x: np.min(x > 0),
        (np.ones(3),),
        TraceError,
        r"min does not take bool(.*\n)*Write np\.all\(x\), or cast it",
    ),
    (lambda x: x[:, :], (np.ones(3),), TraceError, "names 2 axes of 1"),
    (lambda x: np.packbits(x > 0), (np.ones(3),), TraceError, "np.packbits has no meaning"),
    (lambda x: scan(add, x, axis=(0, 1)), (np.ones((3, 3)),), TraceError, "scan over the axes"),
    (lambda x: fold_segments(add, x, 3), (np.ones(3),), TraceError, "the lengths are 3"),
    (lambda x: np.einsum("i->ii", x), (np.ones(3),), TraceError, "has a letter twice"),
    (lambda x: np.einsum("i1->i", x), (np.ones((3, 3)),), TraceError, "other signs than letters"),
    (lambda x: np.einsum("i,j", x), (np.ones(3),), TraceError, r"'i,j' is given \[1\] axes"),
    (lambda x: np.einsum("...i->i", x), (np.ones((3, 3)),), TraceError, r"has no \.\.\."),
    (lambda x: np.einsum(x, [0]), (np.ones(3),), TraceError, "the letters come first"),
    (lambda x: np.einsum("ii->i", x), (np.ones((3, 2)),), ShapeError, r"axis 1 has 2 elements, x along axis 0 has 3"),
    (lambda x: np.dot(x, x), (np.ones((2, 2, 2)),), TraceError, r"np\.dot of 3 and 3 axes(.*\n)*Write which axes"),
    (lambda x: np.inner(x, x), (np.ones((2, 2, 2)),), TraceError, r"np\.inner of 3 and 3 axes(.*\n)*Write which axes"),
    (lambda x: np.einsum("i->j", x), (np.ones(3),), TraceError, "unknown ones"),
    (lambda x: np.einsum("ij->i", x), (np.ones(3),), TraceError, r"is given \[1\] axes"),
    (lambda x: x @ 2.0, (np.ones(3),), TraceError, "@ takes vectors and matrices"),
    (lambda x: x.T.transpose(0, 0), (np.ones((3, 2)),), TraceError, "Name each axis once"),
    (lambda x: range(x.shape[0]), (np.ones(3),), TraceError, "known only at the call"),
    (lambda x: np.eye(3)[x.astype("i64")], (np.ones(3),), TraceError, "is read at an index that is known only at"),
    (lambda x: len(x.sum()) * x, (np.ones(3),), TraceError, "a number has no length"),
    (lambda x: x if x.sum() > 0 else -x, (np.ones(3),), TraceError, "needs one true or false"),
    (lambda x: float(x.sum()) * x, (np.ones(3),), TraceError, "float needs one number"),
    (lambda x: x.at(1, 0), (np.ones(3),), TraceError, "has no .at"),
    (lambda x: "nothing", (np.ones(3),), TraceError, "returns no array"),
    (
        lambda x: (x, np.ones(3)),
        (np.ones(3),),
        TraceError,
        r"returns an array of NumPy \(shape \(3,\)\), which was made",
    ),
    (
        lambda x: np.linalg.inv(x),
        (np.eye(3),),
        TraceError,
        r"np\.linalg\.inv has no meaning(.*\n)*.*np\.linalg\.inv beside",
    ),
    (lambda x: np.fft.fft(x), (np.ones(3),), TraceError, r"np\.fft\.fft has no meaning(.*\n)*.*np\.fft\.fft beside"),
    (lambda x: x.roll(1), (np.ones(3),), TraceError, r"no \.roll(.*\n)*Write np\.roll\(x, shift\)\."),
    (lambda x: x.moveaxis(0, 1), (np.eye(3),), TraceError, r"Write np\.moveaxis\(x, source, destination\)\."),
    (lambda x: x.compress(x > 0), (np.ones(3),), TraceError, r"Write np\.compress\(condition, x\)\."),
    (lambda x: math.atan2(x, x), (np.ones(3),), TraceError, r"takes one number(.*\n)*Write np\.arctan2\(a, b\)\."),
    (lambda x: x[int(x[0])], (np.ones(3),), TraceError, r'int needs one number(.*\n)*.*astype\(u, "i64"\)'),
    (lambda x: where(1.0 in x, x, 0), (np.ones(3),), TraceError, r"'in' needs one(.*\n)*Write np\.any\(x == a\)\."),
    (lambda x: x + sum(x[:2]), (np.ones(3),), TraceError, r"runs over items"),
    (
        lambda x: (lambda a, b: a + b)(*x[:2]),
        (np.ones(2),),
        TraceError,
        r"or unpacked(.*\n)*.*x\[0\] and x\[1\] are two",
    ),
    (lambda x: x.next, (np.ones(3),), TraceError, r"only a field or a scalar has(.*\n)*Return the value"),
    (lambda x: object(), (np.ones(3),), TraceError, "returns object, which is no array"),
    (lambda x: 2.0 * x, (3.0,), TraceError, "computes with no array"),
    (lambda x: x, (np.ones(3, complex),), FieldError, "x was given complex128 values"),
    (lambda x: x, (object(),), FieldError, "x was given"),
    (
        lambda x, k: scan(lambda a, b: np.maximum(a, k * b), x, identity=0.0),
        (np.ones(3), 2.0),
        TraceError,
        r"line \d+: the function of scan\(.* reads a value from outside(.*\n)*.*a part of each element",
    ),
    (lambda x: fold(lambda a, b: a + np.sum(x), x, identity=0.0), (np.ones(3),), TraceError, "from outside"),
    (lambda x: np.zeros(x.shape[0]) + x, (np.ones(3),), TraceError, r"np\.zeros(.*\n)*Write generate\(x\.shape"),
    (lambda x: np.arange(x.shape[0]) * x, (np.ones(3),), TraceError, r"asks for the elements(.*\n)*Write generate"),
    (lambda x: np.maximum.reduce([x, -x]), (np.ones(3),), TraceError, r"asks for(.*\n)*Write .*maximum\(np"),
    (
        lambda x: np.argpartition(x, 1),
        (np.ones(3),),
        TraceError,
        r"np\.argpartition has no meaning in a function of(.*\n)*.*arg",
    ),
    (
        lambda x: np.packbits(x > 0),
        (np.ones(3),),
        TraceError,
        r"np\.packbits has no meaning(.*\n)*Write it with operators",
    ),
    (
        lambda x: np.rollaxis(x, 0),
        (np.ones(3),),
        TraceError,
        r"np\.rollaxis has no meaning(.*\n)*Write np\.moveaxis\(x, 2, 0\)",
    ),
    (lambda x: np.logaddexp2(x, 1), (np.ones(3),), TraceError, r"in a function of arrays\n(.*\n)*Write np\.maximum"),
    (lambda x: np.gcd(x, 1), (np.ones(3),), TraceError, r"np\.gcd has no meaning in a f(.*\n)*.*np\.exp, np\.exp2,"),
    (lambda x: np.indices(x.shape), (np.ones(3),), TraceError, r"np\.indices takes one(.*\n)*Write generate\(x\.shape"),
    (lambda x: np.tri(x.shape[0]), (np.ones(3),), TraceError, r"asks for one true(.*\n)*Write generate\(\(n, n\)"),
    (lambda x: np.indices(x.shape[0]), (np.ones(3),), TraceError, r"cannot be looped(.*\n)*Write generate\(x\.shape"),
    (
        lambda x: cmath.phase(x.sum()),
        (np.ones(3),),
        TraceError,
        r"cmath\.phase(.*\n)*Write it with operators, slices",
    ),
    (lambda x: x.norm(), (np.ones(3),), TraceError, r"has no \.norm(.*\n)*Write np\.linalg\.norm\(x\)"),
    (lambda x, n: x[: n // 2], (np.ones(3), 2), TraceError, "the bounds of a slice are whole numbers that are known"),
    (lambda x, n: x[:n], (np.ones(3), 2), TraceError, r"n is a number of the call(.*\n)*.*write x\[: n\[0\]\]; or"),
    (lambda x, n: [x for _ in range(n)], (np.ones(3), 2), TraceError, r"range needs(.*\n)*.*write repeat\(n"),
    (lambda x: f"{x.sum():.3f}", (np.ones(3),), TraceError, "a format needs one number, but the value is known only"),
    (lambda x: x.__setitem__(0, 1.0), (np.ones(3),), TraceError, r"cannot be assigned(.*\n)*Write np\.where"),
    (lambda x, y: x, (np.ones(3),), FieldError, "missing a required argument: 'y'"),
]


@pytest.mark.parametrize(("function", "given", "error", "what"), ERRORS)
def test_bad_use_is_refused_with_words_that_help(function, given, error, what):
    with pytest.raises(error, match=what):
        wb.collective(function)(*given, backend="reference")


X, Y = np.array([3, 0, 5, 3]), np.array([5, 0, 1, 7])
A, B = np.array([0.5, np.nan, -2.5, 7.0]), np.array([0.25, 3.0, np.nan, -2.0])
M = np.arange(6.0).reshape(2, 3)
NAMES = {"n": 3, "bins": 7, "most": 1e300, "value_at_0": 0.5, "value": 4.0, "first": 2.0, "step": 0.25}
GIVEN = {"x": X, "y": Y, "k": X, "places": np.array([2, 0]), "edges": np.array([0, 3, 4])}
WITH_NAN = {"a": A, "b": B, "x": A, "y": B}
NUMBERS = {"a": A[[0, 2, 3]], "b": B[[0, 1, 3]], "x": A[[0, 2, 3]], "y": B[[0, 1, 3]], "c": 2.0}
NEAR = np.array([0.5, 0.5, np.nan, np.inf, np.inf, 1.0, -np.inf])
CLOSE = np.array([0.5 + 1e-7, 0.6, np.nan, np.inf, 1.0, np.inf, np.inf])
MATRICES = {"x": M, "y": 2 * M}

# What NumPy makes of these arrays, which the advice makes of them too.
INSTEAD = {
    "arange": (GIVEN, lambda x, **_: np.arange(len(x))),
    "array_equal": (NUMBERS, lambda a, b, **_: np.array_equal(a, b)),
    "bitwise_count": (GIVEN, lambda x, **_: np.bitwise_count(x).astype(int)),
    "cumulative_prod": (NUMBERS, lambda x, **_: np.cumulative_prod(x)),
    "cumulative_sum": (NUMBERS, lambda x, **_: np.cumulative_sum(x)),
    "diagflat": (NUMBERS, lambda x, **_: np.diagflat(x)),
    "empty_like": (GIVEN, lambda x, **_: np.zeros_like(x)),
    "eye": (GIVEN, lambda **_: np.eye(3)),
    "fromfunction": (MATRICES, lambda x, **_: np.fromfunction(lambda i, j: i + j, x.shape, dtype=int)),
    "geomspace": (GIVEN, lambda **_: np.geomspace(2.0, 2.0 * np.exp(0.5), 3)),
    "identity": (GIVEN, lambda **_: np.identity(3)),
    "isneginf": (WITH_NAN, lambda x, **_: np.isneginf(x)),
    "isposinf": (WITH_NAN, lambda x, **_: np.isposinf(x)),
    "logaddexp2": (NUMBERS, lambda a, b, **_: np.logaddexp2(a, b)),
    "matrix_transpose": (MATRICES, lambda x, **_: np.matrix_transpose(x)),
    "nanargmax": (WITH_NAN, lambda x, **_: np.nanargmax(x)),
    "nanargmin": (WITH_NAN, lambda x, **_: np.nanargmin(x)),
    "nancumsum": (WITH_NAN, lambda x, **_: np.nancumsum(x)),
    "ones": (MATRICES, lambda x, **_: np.ones(x.shape)),
    "row_stack": (MATRICES, lambda x, y: np.vstack((x, y))),
    "tri": (GIVEN, lambda **_: np.tri(3)),
    "vecdot": (NUMBERS, lambda x, y, **_: np.vecdot(x, y)),
    "zeros": (MATRICES, lambda x, **_: np.zeros(x.shape)),
}


def evaluated(written, given):
    """What a function of arrays makes of an expression, all of whose arrays are arguments."""
    names = NAMES | {word: getattr(language, word) for word in language.__all__} | {"np": np}
    program = eval(f"lambda {', '.join(given)}: {written}", names)
    return np.asarray(wb.collective(program)(**given, backend="reference"))


@pytest.mark.parametrize("name", INSTEAD)
def test_what_is_written_instead_of_a_function_of_numpy_does_it(name):
    given, function = INSTEAD[name]
    found = evaluated(instead_of(name).removeprefix("Write ").removesuffix("."), given)
    expected = np.asarray(function(**given))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-15)  # some are rounded once more


@pytest.mark.parametrize(
    "call",
    [
        "np.zeros(x.shape)",
        "np.zeros(x.shape, bool)",
        "np.zeros((2, x.shape[1], 1), dtype=int)",
        "np.zeros(x.shape[0], 'u8')",
        "np.zeros((x.shape[0],), dtype='f4')",
        "np.ones(x.shape[1], np.float64)",
        "np.ones(shape=[x.shape[1], 2], dtype='bool')",
        "np.ones(x.shape[::-1], np.int32)",
        "np.full(x.shape, 1 << 20)",
        "np.full(x.shape, True)",
        "np.full(x.shape, 2.0, None)",
        "np.zeros(x.shape, dtype=None)",
        "np.full((x.shape[0], 2), 3, dtype=float)",
        "np.full(x.shape[0], fill_value=2.5, dtype=np.float32)",
    ],
)
def test_what_is_written_instead_of_an_array_of_one_number_has_its_shape_type_and_value(call):
    """The advice comes from the call as it stands in the line."""
    line = f"program = lambda x: {call}\n"
    linecache.cache["<call>"] = (0, None, [line], "<call>")
    exec(compile(line, "<call>", "exec"), made := {"np": np})
    with pytest.raises(TraceError, match=r"known only at the call\n(.*\n)*Write generate") as caught:
        wb.collective(made["program"])(M)
    written = str(caught.value).splitlines()[-1].removeprefix("Write ").removesuffix(".")
    expected = eval(call, {"np": np, "x": M})
    found = evaluated(written, {"x": M})
    assert_same_bits(found, expected)


def test_a_function_of_the_user_with_a_name_of_numpy_gets_no_advice_for_numpy():
    exec(compile("def split(u):\n    return u if u > 0 else -u\n", "<helper>", "exec"), made := {})
    split = made["split"]
    with pytest.raises(TraceError, match=r"(.*\n)*Use where\(condition, a, b\) in that function\."):
        wb.collective(lambda x: split(x.sum()) * x)(np.ones(3))


def words_of(advice):
    """The functions that an advice calls: (before, name), before = "np" of NumPy's, a value for its methods, or ""."""
    return re.findall(r"(?:([\w)]+)\.)?(\w+)\(", advice)


TABLES = {
    **{f"array {name}": instead_of(name) for name in array_misuse._INSTEAD},
    **{f"element {name}": instead_of(name) for name in array_misuse.OF_ELEMENTS},
    **{f"ufunc {name}": instead_of(name) for name in array_misuse.UFUNCS},
    **{f"cell {name}": advice for name, advice in numpy_names._INSTEAD.items()},
    **{f"tensor {name}": advice for name, advice in numpy_names._OF_TENSORS.items()},
    **{f"components {name}": advice for name, advice in numpy_names._JOINED.items()},
    **{f"builtin {name}": advice for name, advice in misuse._INSTEAD_OF_BUILTIN.items()},
    **{f"method {name}": advice for name, advice in attribute_misuse._METHODS.items()},
    **{f"math {name}": misuse._instead_of_numbers(name, False) for name in dir(math)},
    "otherwise": array_misuse.OTHERWISE,
    "range": array_misuse.RANGE,
}


def test_all_advice_names_words_that_exist():
    """Of NumPy's functions those that mean something for traced values, of methods those of arrays and values."""
    known = {*array_value._FUNCTIONS, *numpy_names.OF_EACH_CELL, *numpy_names.UFUNCS}
    looked_at = 0
    for place, advice in TABLES.items():
        for before, name in words_of(advice):
            looked_at += 1
            if before == "np":
                assert getattr(np, name).__name__ in known, f"{place}: np.{name}"
            elif before:
                assert hasattr(array_value.ArrayValue, name), f"{place}: {before}.{name}"
            else:
                assert name in language.__all__ or name in ("abs", "round"), f"{place}: {name}"
    assert looked_at > 125


def test_no_function_that_is_known_has_other_advice():
    """Advice for a function that has a meaning is never seen."""
    assert not {*array_misuse._INSTEAD} & {*array_value._FUNCTIONS}
    assert not {*array_misuse._INSTEAD, *array_misuse.OF_ELEMENTS, *numpy_names._INSTEAD} & numpy_names.OF_EACH_CELL
    assert not array_misuse.UFUNCS.keys() & numpy_names.UFUNCS.keys()
    assert array_misuse.UFUNCS.keys() <= {name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}


def test_an_error_names_the_line_of_the_function():
    @wb.collective
    def wrong(x):
        y = 2 * x
        return y if y.max() > 3 else x

    with pytest.raises(StencilError) as caught:
        wrong(np.ones(3))
    assert caught.value.source.strip() == "return y if y.max() > 3 else x"


def test_names_of_the_module_hide_words_of_cells():
    def shift(x):
        return 2 * x

    @wb.collective(backend="reference")
    def scaled(x):
        return shift(x) + sqrt(x)  # noqa: F821  # a word

    assert scaled(np.array([4.0])).tolist() == [10.0]


def test_what_is_no_function_of_arrays():
    with pytest.raises(TraceError, match="collective needs a function of arrays"):
        wb.collective(np.sum)
    with pytest.raises(TraceError, match="takes \\*arrays"):
        wb.collective(lambda *arrays: arrays[0])
    with pytest.raises(TraceError, match="'threads' is a keyword"):
        wb.collective(lambda x, threads: x)
    with pytest.raises(RunError, match="threads"):
        wb.collective(dot_product)(np.ones(2), np.ones(2), threads=10**6)
    with pytest.raises(RunError, match="dot_product has no steps"):
        wb.collective(dot_product).machine(np.ones(2), np.ones(2)).simulate()
