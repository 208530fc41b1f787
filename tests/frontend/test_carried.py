"""Records that loops and branches carry: tuples, named tuples and data classes, inside of others too."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import TraceError
from workbench.language import branch, iterate, repeat, while_loop

BACKENDS = ("reference", "openmp", "cuda-sim")
DRAWN = np.random.default_rng(2).normal(size=(2, 7))


class Body(NamedTuple):
    x: object
    v: object


@dataclass
class Ball:
    x: object
    v: object


def moved(body, dt=0.1):
    v = body.v - dt * body.x
    return type(body)(body.x + dt * v, v)


def ten_times(x, v):
    for _ in range(10):
        v = v - 0.1 * x
        x = x + 0.1 * v
    return x, v


def in_a_while_loop(body):
    found, _ = while_loop(lambda body, k: k < 10, lambda body, k: (moved(body), k + 1), (body, 0), at_most=20)
    return found.x, found.v


def in_each_element(body):
    found, _ = iterate(lambda body, k: (moved(body), k + 1), while_=lambda body, k: k < 10, start=(body, 0), at_most=20)
    return found.x, found.v


def repeated(body):
    (found,) = repeat(10, moved, (body,))
    return found.x, found.v


def alone(body):
    found = repeat(10, moved, Ball(body.x, body.v))
    assert isinstance(found, Ball)
    return found.x, found.v


def taken_apart(body):
    found = repeat(10, lambda x, v: moved(Body(x, v)), Body(body.x, body.v))  # a tuple: each value is an argument
    assert isinstance(found, Body)
    return found.x, found.v


def in_a_branch(body):
    def ten(body, k):
        for _ in range(10):
            body = moved(body)
        return body, k

    found, _ = branch(np.sum(body.x * body.x) > 0, ten, None, (body, 1))
    return found.x, found.v


@pytest.mark.parametrize("kind", [Body, Ball])
@pytest.mark.parametrize(
    "function", [in_a_while_loop, in_each_element, repeated, alone, taken_apart, in_a_branch], ids=lambda f: f.__name__
)
def test_a_record_is_one_argument_of_the_body(function, kind):
    wanted = ten_times(*DRAWN)
    for backend in BACKENDS:
        found = wb.collective(function)(kind(*DRAWN), backend=backend)
        for mine, theirs in zip(found, wanted, strict=True):
            assert_same_bits(mine, theirs, backend)


def test_records_in_records():
    def deep(x):
        def body(state, k):
            (a, (b, c)) = state
            return (a + 1, (b * 2, c + a)), k + 1

        (a, (b, c)), _ = while_loop(lambda state, k: k < 3, body, ((x, (x, x)), 0), at_most=9)
        return a, b, c

    a = b = c = DRAWN[0]
    for _ in range(3):
        a, b, c = a + 1, b * 2, c + a
    for backend in BACKENDS:
        for mine, theirs in zip(wb.collective(deep)(DRAWN[0], backend=backend), (a, b, c), strict=True):
            assert_same_bits(mine, theirs, backend)


def test_components_give_their_names_to_what_is_carried():
    plan = wb.collective(in_a_while_loop).machines(Body(*DRAWN))[0]
    names = {name for kernel in plan.graph.kernels for node in kernel.nodes for name in node.names}
    assert {"body_x", "body_v", "k"} <= names


@pytest.mark.parametrize(
    ("body", "words", "advice"),
    [
        (lambda body, k: (body.x, k + 1), "gives 1 value as its result 1, of 2", "as many components"),
        (lambda body, k: (body, body, k), "gives 3 values of 2", "next value of each argument"),
        (lambda body, k: body, "gives 1 value as its result 1, of 2", "as many components"),
        (lambda body: body, "takes 1 positional argument but 2 were given", "while_loop calls this function"),
        (lambda body, k: (Body(body.x, body.x > 0), k), "", "bool"),
    ],
)
def test_another_record_is_refused(body, words, advice):
    def program(start):
        return while_loop(lambda body, k: k < 3, body, (start, 0), at_most=5)[0].x

    with pytest.raises(TraceError) as caught:
        wb.collective(program)(Body(*DRAWN))
    assert words in str(caught.value)
    assert advice in str(caught.value)
