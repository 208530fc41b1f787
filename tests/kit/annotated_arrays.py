"""Functions of arrays with one value that may be stored or computed again, and what the plan is either way.

Each is made by a function of the hint that is written in it: `manifest`, `delayed`, or `plain` for none.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workbench.language import add, delayed, fold, manifest, scan, scatter, windows, zip_with

A, X, PLACES = np.ones((4, 6)), np.ones(6), np.arange(6)
OTHER = {"manifest": "delayed", "delayed": "manifest"}
HINTS = {"manifest": manifest, "delayed": delayed}


def plain(value):
    """No hint."""
    return value


@dataclass(frozen=True)
class Annotated:
    """written: makes the function of (A, x, places) in which a hint is given for the value called as `written` is.

    own: what the cost model makes of it, the loops and the arrays beside those given and returned. other: what it is
    with the other storage. axes: how many the array of the value has. annotated: what it is if one asks for what the
    cost model chooses, where that is more: the value along rows and the one along columns, of which it stores one.
    """

    written: Callable
    own: tuple[int, int]
    other: tuple[int, int]
    axes: int = 1
    annotated: tuple[int, int] | None = None

    @property
    def name(self):
        """Of the value."""
        return self.written.__name__

    @property
    def allocation(self):
        """The storage that the cost model does not choose."""
        return "manifest" if self.other > self.own else "delayed"


def products(hint):
    def function(A, x, places):
        products = hint(x * x[::-1])
        return np.sum(products)

    return function


def scaled(hint):
    def function(A, x, places):
        scaled = hint(2 * A + 1)
        return fold(add, scaled, axis=0), fold(add, scaled)

    return function


def waves(hint):
    def function(A, x, places):
        waves = hint(np.exp(x))
        return waves[:, None] * waves[None, :]

    return function


def sent(hint):
    def function(A, x, places):
        sent = hint(np.exp(x))
        return scatter(add, x, places, sent)

    return function


def scanned(hint):
    def function(A, x, places):
        scanned = hint(np.exp(x))
        return scan(add, scanned)

    return function


def squares(hint):
    def function(A, x, places):
        squares = hint(x * x)
        return zip_with(lambda a, b: a - 2 * b, squares, x) / np.sum(squares)

    return function


def rows(hint):
    def function(A, x, places):
        rows = hint(A + x[None, :])
        return np.max(rows, axis=1)[:, None] - rows

    return function


CASES = (
    Annotated(products, own=(1, 0), other=(2, 1)),
    Annotated(scaled, own=(2, 0), other=(3, 1), axes=2),
    Annotated(waves, own=(2, 1), other=(1, 0), annotated=(3, 2)),
    Annotated(sent, own=(2, 1), other=(1, 0)),
    Annotated(scanned, own=(2, 1), other=(1, 0)),
    Annotated(squares, own=(2, 0), other=(3, 1)),
    Annotated(rows, own=(2, 1), other=(3, 2), axes=2),
)


def sums(hint):
    def function(A, x, places):
        sums = hint(np.sum(A, axis=0))
        return sums - x

    return function


def halves(hint):
    def function(A, x, places):
        halves = hint(np.sqrt(x))
        return windows(lambda w: w[+1] - w[-1], halves, boundary="mirror")

    return function


def read(hint):
    def function(A, x, places):
        read = hint(np.sqrt(x))
        return read[places] + places

    return function


FORCED = {
    sums: "a fold over some axes is stored",
    halves: "it is read at computed places",
    read: "it is read at computed places",
}
"""Functions whose value of that name can only be stored, and why."""

CELL = """
A, x = array("A", "rows", "columns"), array("x", "columns")
centred = A - x
output("least", fold(minimum, centred))
output("largest", fold(maximum, centred, axis="rows"))
"""
"""Two loops without an array; with `centred` stored there are three."""
