"""Rows in stretches whose cells have neighbours equally far away: equal bits for all lengths, rules and offsets."""

import re

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.errors import RunError
from workbench.language import compute, constant, generate, windows

RULES = ["outflow", constant(2.5), "periodic", "reflect", (constant(-1.0), "outflow"), ("mirror", "outflow")]


def text_of(function, *given, backend="openmp"):
    return wb.collective(function).machine(*given).source(backend).text


def cells_in_stretches(text):
    """The cells of each loop over stretches of a row."""
    return re.findall(r"for \(int64_t i = done; i < stop; \+\+i\) \{\n(.*?)\n {12}\}", text, re.DOTALL)


def near(x):
    return windows(lambda w: w[-2] * 3 + w[0] - w[1], x, "outflow")


def test_cells_do_not_look_for_the_ends_of_their_row():
    text = text_of(near, np.ones(9))
    (cell,) = cells_in_stretches(text)
    assert "inside" not in cell
    assert "imum(" not in cell
    assert "2 - shape.origin[0]" in text
    assert "shape.global_extents[0] - 1 - shape.origin[0]" in text
    assert "i = done" not in text_of(near, np.ones(9), backend="cuda")


def test_a_ring_is_closed_between_stretches():
    text = text_of(lambda x: np.roll(x, 1) + np.roll(x, -2), np.ones(9))
    (cell,) = cells_in_stretches(text)
    assert "inside" not in cell
    assert "?" not in cell
    assert "1 - shape.origin[0]" in text
    assert "shape.global_extents[0] - 2 - shape.origin[0]" in text


def test_whether_a_neighbour_is_beyond_an_end_is_asked_once_a_stretch():
    (cell,) = cells_in_stretches(
        text_of(lambda x: windows(lambda w: w[0, 1] + w[1, -1], x, constant(7.0)), np.ones((4, 5)))
    )
    assert cell.count("? 7.0") == 3  # once whether a row is beyond the first one, which is asked before
    assert re.findall(r"beyond_end\w* \? 7\.0", cell) == ["beyond_end ? 7.0", "beyond_end_2 ? 7.0"]
    assert not re.search("[<>]", cell)


def test_what_lies_outside_is_noted_before_a_stretch_and_in_other_reads():
    def moved(x, k):
        return windows(lambda w: w[1] - w[0], x) + compute(x * x)[k]

    program, x, k = wb.collective(moved), np.arange(6.0), np.array([0, 5, 4, 3, 2, 9])
    text = text_of(moved, x, k)
    (cell,) = cells_in_stretches(text)
    assert len(re.findall(r"\bt\d+_inside", cell)) == 3
    assert "outside |= uint64_t(!is_inside) << " in text
    assert "!is_inside" not in cell
    for backend in ("reference", "openmp"):
        with pytest.raises(RunError, match="is read at index 6, for element 5"):
            program(x, k % 6, backend=backend)
        with pytest.raises(RunError, match=r"is read at index (6|9), for element 5"):
            program(x, k, backend=backend)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[1:] - x[:-1],
        lambda x: generate(x.shape, lambda i: 2.0 * i) + x,
        lambda x: windows(lambda w: w[-1, 0] + w[1, 0], x[:, None] + x[None, :], "outflow"),  # along columns alone
    ],
)
def test_rows_of_other_loops_are_whole(function):
    assert not cells_in_stretches(text_of(function, np.ones(8)))


def test_a_long_cell_is_written_once():
    def wide(reach):
        return lambda x: sum(np.sqrt(windows(lambda w, k=k: w[k], x, "outflow")) for k in range(-reach, reach))

    for reach in (4, 40):
        text = text_of(wide(reach), np.ones(5))
        assert len(cells_in_stretches(text)) == 1
        assert text.count("sqrt(") == 2 * reach


def test_what_is_cut_elsewhere_stays_cut():
    """An index that is cut before the end of the array, or by another number, is no neighbour's."""

    def body(x):
        def f(i):
            return compute(2 * x)[np.minimum(i + 1, x.shape[0] - 2)] - compute(3 * x)[np.maximum(i - 1, 1)]

        return generate(x.shape, f) + windows(lambda w: w[1], x, "outflow")

    program = wb.collective(body)
    for n in (3, 9, 40):
        x = np.random.default_rng(n).random(n)
        assert_same_bits(program(x, backend="openmp"), program(x, backend="reference"))
    (cell,) = cells_in_stretches(text_of(body, np.ones(9)))
    assert cell.count("_inside") == 2 * 3


LENGTHS = [1, 2, 3, 4, 5, 8, 17, 64, 130]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rows_of_every_length_have_the_bits_of_the_reference(rule):
    program = wb.collective(lambda x: windows(lambda w: w[-3] * 3 + w[2] / w[0] - w[1] * w[-1], x, (rule,)))
    for n in LENGTHS:
        x = np.random.default_rng(n).normal(size=n)
        exact = program(x, backend="reference")
        for threads in (1, 3):
            assert_same_bits(program(x, backend="openmp", threads=threads), exact, f"{n} elements, {threads} threads")


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 2), (6, 33), (3, 4, 5), (2, 3, 19)])
@pytest.mark.parametrize("rule", ["outflow", constant(2.5)], ids=str)
def test_windows_of_several_axes_have_the_bits_of_the_reference(rule, shape):
    def body(x, y):
        corner, back = (1,) * len(shape), (-1,) * len(shape)

        def f(a, b):
            side = np.where(a[corner] > b[back], b[*corner[:-1], 2], a[*back[:-1], 0])
            return side * b[(0,) * len(shape)] - a[*(0,) * (len(shape) - 1), -2]

        return windows(f, (x, y), rule)

    program, (x, y) = wb.collective(body), np.random.default_rng(len(shape)).normal(size=(2, *shape))
    exact = program(x, y, backend="reference")
    for threads in (1, 2, 3):
        assert_same_bits(program(x, y, backend="openmp", threads=threads), exact, f"{threads} threads")
