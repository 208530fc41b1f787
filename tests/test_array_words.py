"""What collective operations promise beside their formulas: shapes, ranks, sizes, order of arguments, texts."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from workbench.errors import TraceError
from workbench.language import add, fold, generate, replicate, scatter, windows

DRAW = np.random.default_rng(57)
SHAPES = [(0,), (5,), (0, 3), (2, 0), (2, 3), (2, 3, 4), (2, 0, 4), (2, 3, 2, 2)]


@wb.collective
def nested(a, b):
    return a, (b, (a, b))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("backend", backends_here())
def test_arrays_in_tuples_come_back_as_they_went_in(backend, shape):
    a, b = DRAW.random(shape), DRAW.integers(0, 9, shape)
    first, (second, (third, fourth)) = nested(a, b, backend=backend)
    for found, given in ((first, a), (second, b), (third, a), (fourth, b)):
        assert_same_bits(found, given)


@wb.collective
def doubled_column(x):
    return replicate(x[..., 1], 2, 0) + 1


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4)], ids=str)
def test_one_function_serves_all_ranks(shape):
    x = DRAW.random(shape)
    for backend in backends_here():
        assert_same_bits(doubled_column(x, backend=backend), np.repeat(x[..., 1][None], 2, 0) + 1)


@wb.collective
def combined(defaults, places, values):
    return scatter(lambda new, old: 2 * old + new, defaults, places, values)


@wb.collective
def counted(keys):
    return scatter(add, generate(10, lambda i: 0), keys, 1)


def test_what_is_sent_is_the_first_argument_and_what_is_there_the_second():
    places = np.array([0, 0, 2])
    for backend in backends_here():
        found = combined(np.array([1.0, 2.0, 3.0]), places, np.array([10.0, 20.0, 30.0]), backend=backend)
        assert found.tolist() == [44.0, 2.0, 36.0]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_million_keys_in_ten_bins(threads):
    keys = DRAW.integers(0, 10, 10**6)
    assert_same_bits(counted(keys, backend="openmp", threads=threads), np.bincount(keys, minlength=10))


@wb.collective
def from_42(x):
    return fold(add, x, start=42)


@pytest.mark.parametrize("n", [0, 1, 31, 32, 1025, 10**7])
def test_a_start_that_is_not_neutral_counts_once(n):
    x = DRAW.integers(-9, 9, n)
    assert from_42(x, backend="openmp") == 42 + x.sum()


RULES = {"outflow": "edge", "periodic": "wrap", "reflect": "symmetric", "mirror": "reflect"}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("shape", [(3, 4, 5), (9, 3, 4)], ids=str)
def test_windows_of_two_arrays_with_three_axes(rule, shape):
    @wb.collective
    def around(x, y):
        return windows(lambda v, w: v[-1, 0, +1] - 2 * v[0, 0, 0] + w[+1, +1, -1], (x, y), boundary=rule)

    x, y = DRAW.random(shape), DRAW.random(shape)
    wide_x, wide_y = np.pad(x, 1, RULES[rule]), np.pad(y, 1, RULES[rule])
    expected = wide_x[:-2, 1:-1, 2:] - 2 * x + wide_y[2:, 2:, :-2]
    for backend in backends_here():
        assert_same_bits(around(x, y, backend=backend), expected)


NESTED = [
    (lambda x: generate(x.shape, lambda i: fold(add, generate(i, lambda k: k))), "a length is computed"),
    (lambda x: fold(lambda a, b: a + np.sum(x * b), x, identity=0.0), "knows two elements"),
    (lambda x: x if x[0] > 0 else -x, "'if' needs one true or false"),
]


@pytest.mark.parametrize(("function", "said"), NESTED)
def test_arrays_whose_shape_or_elements_depend_on_an_element_are_refused(function, said):
    with pytest.raises(TraceError, match=said):
        wb.collective(function)(np.ones(3))


def test_components_of_elements_are_arrays_and_variables_of_their_own():
    """The only structs of a text are functions; no loop reads a component that it does not need."""

    @wb.collective
    def nearest(points):
        return points[0] * 2 + points[2], fold(lambda a, b: (a[0] + b[0], a[1] * b[1]), points[:2], identity=(0.0, 1.0))

    machine = nearest.machine((np.ones(4), np.ones(4), np.ones(4), np.ones(4)))
    assert [static.name for static in machine.graph.fields if static.name.startswith("points")] == [
        f"points{k}" for k in range(3)
    ]
    for backend in ("openmp", "cuda"):
        structs = re.findall(r"\bstruct (\w+)", machine.source(backend).text)
        assert not [name for name in structs if not name.startswith("combine_")]


DIGEST = """
import hashlib
import numpy as np
import workbench as wb
from workbench.language import add, fold, fold_segments, scan

@wb.collective
def program(x, k, lengths):
    y = np.sqrt(x[k]) + scan(add, x)[k]
    return fold(add, y, start=1.0), fold_segments(add, y, lengths), np.argmax(y)

machine = program.machine(np.ones(8), np.arange(8), np.array([3, 5]))
texts = [str(machine.graph), machine.source("openmp").text, machine.source("cuda").text]
print(machine.graph.fingerprint(), *(hashlib.sha256(text.encode()).hexdigest() for text in texts))
"""


def test_another_process_makes_the_same_bytes(capsys):
    exec(compile(DIGEST, "<string>", "exec"), {})  # the text above
    here = capsys.readouterr().out
    command, environment = [sys.executable, "-c", DIGEST], {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout == here
