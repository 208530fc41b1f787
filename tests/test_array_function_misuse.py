"""Bad use of functions of arrays: what is refused, with which error, in words that help."""

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench import language
from workbench.errors import FieldError, RunError, ShapeError, StencilError, TraceError
from workbench.frontend.array_misuse import instead_of
from workbench.language import add, fold, fold_segments, generate, scan, where, windows


def dot_product(x, y):
    return np.sum(x * y)


TABLE = np.ones(4)

ERRORS = [
    (lambda x: x + TABLE, (np.ones(4),), TraceError, r"TABLE is an array from outside(.*\n)*.*as an argument, TABLE"),
    (lambda x: x.diagonal(), (np.ones((4, 4)),), TraceError, r"has no \.diagonal(.*\n)*.*x\[i, i\]"),
    (lambda x: x.partition(2), (np.ones(4),), TraceError, r"has no \.partition(.*\n)*.*fold, scan"),
    (lambda x: windows(lambda w: np.median(w), x), (np.ones(4),), TraceError, r"a window is no array(.*\n)*.*w\[-1\]"),
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
        lambda x, y: x * y,
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
    (
        lambda x: (x > 1) + x,
        (np.ones(3, int),),
        TraceError,
        r'with a number \(i64\)(.*\n)*.*astype\(condition, "i64"\)',
    ),
    (lambda x: x[:, :], (np.ones(3),), TraceError, "names 2 axes of 1"),
    (lambda x: np.kron(x, x), (np.ones(3),), TraceError, "np.kron has no meaning"),
    (lambda x: np.cumsum(x), (np.ones((3, 3)),), TraceError, "along which of 2 axes"),
    (lambda x: scan(add, x, axis=(0, 1)), (np.ones((3, 3)),), TraceError, "scan over the axes"),
    (lambda x: fold_segments(add, x, 3), (np.ones(3),), TraceError, "the lengths are 3"),
    (lambda x: np.einsum("ii->i", x), (np.ones((3, 3)),), TraceError, "letters twice"),
    (lambda x: np.einsum("i->j", x), (np.ones(3),), TraceError, "unknown ones"),
    (lambda x: np.einsum("ij->i", x), (np.ones(3),), TraceError, r"is given \[1\] axes"),
    (lambda x: x @ 2.0, (np.ones(3),), TraceError, "@ takes vectors and matrices"),
    (lambda x: x.T.transpose(0, 0), (np.ones((3, 2)),), TraceError, "Name each axis once"),
    (lambda x: range(x.shape[0]), (np.ones(3),), TraceError, "known only at the call"),
    (lambda x: len(x) * x, (np.ones(3),), TraceError, "known only at the call"),
    (lambda x: x if x.sum() > 0 else -x, (np.ones(3),), TraceError, "needs one true or false"),
    (lambda x: float(x.sum()) * x, (np.ones(3),), TraceError, "float needs one number"),
    (lambda x: x.at(1, 0), (np.ones(3),), TraceError, "has no .at"),
    (lambda x: "nothing", (np.ones(3),), TraceError, "returns no array"),
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
    (lambda x: np.sort(x), (np.ones(3),), TraceError, r"np\.sort has no meaning in a function of(.*\n)*.*ranks"),
    (lambda x: np.flipud(x), (np.ones(3),), TraceError, r"np\.flipud has no meaning(.*\n)*Write it with operators"),
    (lambda x, n: x[:n], (np.ones(3), 2), TraceError, "the bounds of a slice are whole numbers that are known"),
    (lambda x, n: [x for _ in range(n)], (np.ones(3), 2), TraceError, r"range needs(.*\n)*Write repeat\(n"),
    (lambda x: f"{x.sum():.3f}", (np.ones(3),), TraceError, "a format needs one number, but the value is known only"),
    (lambda x: x.__setitem__(0, 1.0), (np.ones(3),), TraceError, r"cannot be assigned(.*\n)*Write np\.where"),
    (lambda x, y: x, (np.ones(3),), FieldError, "missing a required argument: 'y'"),
]


@pytest.mark.parametrize(("function", "given", "error", "what"), ERRORS)
def test_bad_use_is_refused_with_words_that_help(function, given, error, what):
    with pytest.raises(error, match=what):
        wb.collective(function)(*given, backend="reference")


INSTEAD = {
    "arange": lambda x: np.arange(len(x)),
    "eye": lambda x: np.eye(3, dtype=bool),
    "nonzero": lambda x: np.nonzero(x)[0],
    "ones": lambda x: np.ones(len(x)),
    "tile": lambda x: np.tile(x, 3),
    "zeros": lambda x: np.zeros(len(x)),
}


@pytest.mark.parametrize("name", INSTEAD)
def test_what_is_written_instead_of_a_function_of_numpy_does_it(name):
    written = instead_of(name).removeprefix("Write ").removesuffix(".")
    names = {"bins": 7, "n": 3} | {word: getattr(language, word) for word in language.__all__} | {"np": np}
    x = np.array([3, 0, 5, 3])
    found = wb.collective(lambda x, places: eval(written, names | {"x": x, "y": x, "places": places}))
    expected = INSTEAD[name](x)
    assert_same_bits(np.asarray(found(x, np.array([2, 0]), backend="reference")), np.asarray(expected))


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
