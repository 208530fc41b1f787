"""Operators of folds, scans and segments that show every change of order, of arrays of NumPy and of traced ones."""

import numpy as np

from tests.kit.array_records import components, record_of


def latest(a, b):
    """The last one that is not zero; it has an order, and 0 is its identity."""
    return np.where(b == 0, a, b)


def around(a, b):
    """The sum modulo 11, which has no order."""
    return (a + b) % 11


def composed(f, g):
    """The map x -> a * x + b of whole numbers modulo 11 that is first f, then g."""
    return (f[0] * g[0]) % 11, (f[1] * g[0] + g[1]) % 11


def composed_as(kind):
    """The same of records of this kind."""
    return lambda f, g: record_of(kind, composed(components(f), components(g)))
