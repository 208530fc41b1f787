"""Every template at each rank, with each type and with records: renders, compiles, and has the bits of the reference.

All of them by one command: pytest -m "proof or not gpu" tests/backends/test_compile_matrix.py
"""

from itertools import product

import numpy as np
import pytest

import workbench as wb
from tests.backends.nvrtc_path import nvrtc_path
from tests.kit.bits import assert_same_bits
from workbench.language import (
    add,
    compute,
    fold,
    fold_segments,
    generate,
    iterate,
    maximum,
    scan,
    scan_segments,
    scatter,
    while_loop,
    windows,
)

TYPES = ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")
RANKS = (1, 2, 3, 4)
LENGTHS = (33, 3, 5, 2)


def larger(a, b):
    return np.where(a > b, a, b)


def made(x):
    """Maps, generated, moved and repeated arrays, and what is read beside and at computed places."""
    places = generate(x.shape[-1:], lambda i: (7 * i + 3) % 2)
    turned = iterate(lambda v: v + x, while_=lambda v: v < x + 3, start=x, at_most=5)
    walked = iterate(lambda k, v: (k + 1, v + x[(k % 2,) * x.ndim]), while_=lambda k, v: v < 9, start=(0, x), at_most=5)
    return (
        x + x,
        x.T,
        x[..., ::-1],
        np.concatenate((x, x[:1]), axis=0),
        generate(x.shape, lambda *i: x[i] + x[(0,) * x.ndim]),
        windows(lambda w: larger(w[(-1,) * x.ndim], w[(1,) * x.ndim]), x, boundary="mirror"),
        compute(x * x)[..., places],
        turned,
        walked,
    )


def combined(x):
    """Folds over all axes, the last and the first, scans both ways, by names and by functions."""
    return (
        np.max(x),
        fold(add, x),
        fold(maximum, x, axis=0),
        fold(lambda a, b: a - b + a * b, x, identity=0),
        scan(add, x),
        scan(larger, x, axis=0, identity=0, reverse=True, exclusive=True),
    )


def sent(x):
    """Segments of lines and rows, and what is sent to computed places."""
    line = x.reshape(-1)
    places = generate(line.shape, lambda i: (5 * i + 1) % 7)
    none = np.zeros_like(line[:7])
    return (
        fold_segments(add, x, generate(2, lambda i: np.where(i == 0, x.shape[-1] - 1, 1))),
        scan_segments(larger, line, generate(1, lambda i: line.shape[0] + 0 * i), identity=0),
        scatter(add, none, places, line),
        scatter(larger, none, places, line, where=line > 1),
        scatter(None, none, places, line),
        line[line > 1],
    )


def of_pairs(x):
    """Records of two and of three as elements of folds, scans, segments and scatters."""

    def further(p, q):
        return np.where(q[0] > p[0], q[0], p[0]), np.where(q[0] > p[0], q[1], p[1])

    def three(p, q):
        return *further(p, q), p[2] + q[2]

    line = x.reshape(-1)
    number = generate(line.shape, lambda i: i)
    places, none = number % 3, np.zeros_like(line[:3])
    return (
        fold(further, (line, number), identity=(0, -1)),
        fold(three, (line, number, line), identity=(0, -1, 0)),
        scan(further, (line, number), identity=(0, -1)),
        fold_segments(three, (line, number, line), generate(1, lambda i: line.shape[0] + 0 * i), identity=(0, -1, 0)),
        scatter(further, (none, generate(3, lambda i: -1)), places, (line, number)),
    )


def turned(x):
    """Loops over whole arrays."""
    return while_loop(lambda n, v: n < 3, lambda n, v: (n + 1, larger(v, v[::-1])), (0, x), at_most=9)


def made_of_bools(x):
    """The same maps and reads, of conditions."""
    places = generate(x.shape[-1:], lambda i: (7 * i + 3) % 2)
    return (
        x & ~x[..., ::-1] | (x ^ x.T.T),
        x.T,
        np.concatenate((x, x[:1]), axis=0),
        generate(x.shape, lambda *i: x[i] ^ x[(0,) * x.ndim]),
        windows(lambda w: w[(-1,) * x.ndim] & ~w[(1,) * x.ndim], x, boundary="mirror"),
        compute(x ^ x[..., ::-1])[..., places],
        np.where(x, 3, -2.5),
        iterate(lambda v: v ^ x, while_=lambda v: v, start=x, at_most=5),
        iterate(lambda k, v: (k + 1, v ^ x[(k % 2,) * x.ndim]), while_=lambda k, v: v, start=(0, x), at_most=5),
    )


def combined_of_bools(x):
    """Folds, scans, segments, scatters, records and loops, of conditions."""

    def later(p, q):
        return np.where(q[0], q[0], p[0]), np.where(q[0], q[1], p[1])

    line = x.reshape(-1)
    number = generate(line.shape, lambda i: i)
    places, none = number * 5 % 7, generate(7, lambda i: i > 9)
    halves = generate(2, lambda i: np.where(i == 0, x.shape[-1] - 1, 1))
    return (
        np.any(x),
        fold(np.logical_and, x),
        fold(np.logical_or, x, axis=0),
        np.sum(x),
        scan(np.logical_or, x),
        scan(np.logical_and, x, axis=0, reverse=True, exclusive=True),
        fold_segments(np.logical_or, x, halves),
        scan_segments(np.logical_and, x, halves),
        scatter(np.logical_or, none, places, line),
        scatter(None, none, places, line, where=number > 1),
        scatter(lambda new, old: new ^ old, none, places, line),
        fold(later, (line, number), identity=(False, -1)),
        scatter(later, (none, generate(7, lambda i: -1)), places, (line, number)),
        line[~line],
        while_loop(lambda n, v: (n < 3) & np.any(v), lambda n, v: (n + 1, v ^ v[::-1]), (0, x), at_most=9),
    )


TEMPLATES = (made, combined, sent, of_pairs, turned)
OF_BOOLS = (made_of_bools, combined_of_bools)
QUICK = {(sent, "f4", 1), (turned, "u1", 1)}
MATRIX = [
    pytest.param(
        *case, id=f"{case[0].__name__}-{case[1]}-{case[2]}", marks=() if case in QUICK else (pytest.mark.proof,)
    )
    for case in (*product(TEMPLATES, TYPES, RANKS), *product(OF_BOOLS, ("?",), RANKS))
]


def leaves(found):
    return [leaf for part in found for leaf in leaves(part)] if isinstance(found, tuple) else [found]


def given(type_, rank):
    values = np.random.default_rng(rank).integers(0, 9, LENGTHS[:rank])
    return values > 4 if type_ == "?" else values.astype(type_)


@pytest.mark.parametrize(("template", "type_", "rank"), MATRIX)
def test_it_compiles_and_has_the_bits_of_the_reference(template, type_, rank):
    program, x = wb.collective(template), given(type_, rank)
    expected = leaves(program(x, backend="reference"))
    for place, (mine, exact) in enumerate(zip(leaves(program(x, backend="openmp")), expected, strict=True)):
        assert_same_bits(mine, exact, f"result {place}")


@pytest.mark.proof
@pytest.mark.parametrize("template", [*TEMPLATES, *OF_BOOLS])
def test_it_compiles_for_a_device(template, monkeypatch, tmp_path):
    path = nvrtc_path(monkeypatch, tmp_path)
    path.fake.capability = "90"
    for type_, rank in product("?" if template in OF_BOOLS else TYPES, RANKS):
        path.backend.compile(wb.collective(template).machine(given(type_, rank)).plan("cuda"))
    assert path.binaries
    assert all(".target sm_90" in binary.ptx for binary in path.binaries)
