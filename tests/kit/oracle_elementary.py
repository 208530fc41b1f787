"""Functions that are sequences of operations: their own bits, each compared with the exact value."""

import math
from functools import cache

import numpy as np

from workbench.graph import OPERATORS


@cache
def elementary(operator, spelled, type_):
    """exp, log and others, of a number as `hex` spells it: the bits of their sequence, at most one unit from the exact.

    The exact value is the C library's in long double, rounded to the type.
    """
    float_, a = type_.numpy.type, float.fromhex(spelled)
    with np.errstate(all="ignore"):
        found = OPERATORS[operator].meaning(np.array([a], float_))[0]
        exact = float_(getattr(np, operator)(np.longdouble(a)))
        near = {float(exact), *(float(np.nextafter(exact, float_(end))) for end in (-math.inf, math.inf))}
    assert float(found) in near or (math.isnan(found) and math.isnan(exact)), f"{operator}({a!r}) is {found!r}"
    return found.item()
