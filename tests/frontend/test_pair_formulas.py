"""Formulas of pairs that a tree sums: which are multiples of a weight, and what is refused with its line."""

import numpy as np
import pytest

import workbench as wb
from workbench.errors import TraceError

PAIR = 'x, = targets("x")\nxj, h, m = sources("x h m")\nk, = sources("k", dtype="i64")\n'
USED = 's, = totals("s")\ns += h * k\n'
FAR = 'tree=0.5, positions="x", weights="m"'
PARTICLES = 'x, m = particles("x m")\nd = x.source - x\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PAIR + 't, = totals("t", tree=0.5, positions="x")\nt += xj', "line 4: totals: weights= is missing"),
        (PAIR + 't, = totals("t", tree=0.5, weights="m")\nt += xj', "line 4: totals: positions= is missing"),
        (PAIR + 't = total("t", positions="x", weights="m")\nt += xj', "line 4: total: tree= is missing"),
        (PAIR + f't, = totals("t", {FAR}, cutoff=1.0)\nt += xj', "line 4: totals: tree= and cutoff= are both given"),
        (PAIR + f't, = totals("t", {FAR}, reduce="max")\nt.include(m)', "line 4: .* adds floats, but t is the max of"),
        (PAIR + f't, = totals("t", {FAR}, dtype="i64")\nt += m', "adds floats, but t is the sum of i64"),
        (
            PAIR + f't, = totals("t", {FAR}, reduce=lambda a, b: a + b, identity=0.0)\nt.include(m)',
            "adds floats, but t is reduced by a function",
        ),
        (PAIR + f't, = totals("t", {FAR.replace("0.5", "-1")})\nt += m', "the opening angle is -1, not one number"),
        (PAIR + f't, = totals("t", {FAR.replace("0.5", "x")})\nt += m', "the opening angle is a value along i, not"),
        (PAIR + f't, = totals("t", {FAR.replace("0.5", "True")})\nt += m', "the opening angle is True, not one number"),
        (
            PAIR + f't, = totals("t", {FAR.replace("m", "k")})\nt += m',
            "the weight k is not one that is declared of the",
        ),
        (PAIR + f't, = totals("t", {FAR.replace("m", "m h")})\nt += m', "the weight m h is not one that is declared"),
        (PAIR + f't, = totals("t", {FAR.replace("x", "h")})\nt += m', "the position h is not declared on both"),
        (
            't, = totals("t", tree=1, positions="a", weights="m")\n',
            "line 1: totals: the position a is not declared on both",
        ),
        (
            'a = targets("a", dim=4)[0]\nb = sources("a", dim=4)[0]\nm, = sources("m")\n'
            't, = totals("t", tree=1, positions="a", weights="m")\nt += m',
            "line 4: totals: a tree of 4 positions",
        ),
        (PAIR + f't, = totals("t", {FAR})\nt += m * h * xj', "line 5: t is summed by a tree, but .* reads h of the"),
        (PAIR + f't, = totals("t", {FAR})\nt += m * index(1)', "line 5: .* reads the number of the source"),
        (PAIR + f't, = totals("t", {FAR})\nt = fma(m, xj, t)', "line 5: t is summed by a tree, not fused"),
        (
            PARTICLES + 'x.next = reduce_sum(m.source * d, over="source", tree=0.5, positions=x)',
            "line 3: .* a tree needs an opening angle, positions and the weights",
        ),
        (
            PARTICLES + 'x.next = reduce_sum(m.source * d, over="source", tree=0.5, positions=x, weights=m.source)',
            "line 3: .* the weights are not those of the particles",
        ),
        (
            PARTICLES + 'x.next = reduce_sum(m.source > d, over="source", tree=0.5, positions=x, weights=m)',
            "line 3: reduce_sum does not take bool",
        ),
        (
            PARTICLES + 'x.next = reduce_sum(m.source * d, over="particles", tree=0.5, positions=x, weights=m)',
            "line 3: .* a tree takes sums over sources, not over 'particles'",
        ),
        (
            PARTICLES + 'x.next = reduce_sum(m.source * m, over="source", tree=0.5, positions=x, weights=x)',
            "line 3: .* reads m of the source",
        ),
    ],
)
def test_what_no_tree_can_sum_is_refused_with_its_line(text, words):
    with pytest.raises(TraceError, match=words) as caught:
        wb.trace(text, name="wrong")
    assert str(caught.value).rstrip().endswith(".")


@pytest.mark.parametrize(
    "contribution",
    ["1", "m * m", "m * xj + 1", "xj / m", "where(m > 1, m, 0)", "sqrt(m)", "m * repeat(2, lambda z: z * m, xj)"],
)
def test_a_contribution_is_a_multiple_of_the_weight(contribution):
    with pytest.raises(TraceError, match=r"line 5: t is summed by a tree, .* is no multiple of the source's weight"):
        wb.trace(PAIR + f't, = totals("t", {FAR})\nt += {contribution}', name="wrong")


@pytest.mark.parametrize(
    "contribution",
    [
        "m / 2",
        "-m * xj",
        "where(xj > x, m, 0) * x",
        "m * xj - 2 * m",
        "repeat(3, lambda z: z * x, xj) * m",
        "fma(m, x, m)",
    ],
)
def test_multiples_of_the_weight_are_seen_as_such(contribution):
    found, every = (
        wb.trace(PAIR + USED + f't, = totals("t", {FAR.replace("0.5", angle)})\nt += {contribution}', name="multiple")(
            x=np.linspace(0, 1, 40), m=2.0, h=0.0, k=0, backend="reference"
        )["t"]
        for angle in ("0.5", "0")
    )
    np.testing.assert_allclose(found, every, rtol=0.2, atol=0.2 * np.abs(every).max())
