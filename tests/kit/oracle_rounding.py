"""Numbers of a type, and those that are rounded once where Python would round twice: what the oracle takes for them."""

import ctypes
import math
from fractions import Fraction

from workbench.graph.types import F32


def fit(value, type_):
    """Round a float, wrap an integer to the type."""
    if type_.kind == "float":
        return ctypes.c_float(value).value if type_ == F32 else float(value)
    if type_.kind == "bool":
        return bool(value)
    value %= 1 << type_.bits
    return value - (1 << type_.bits) if type_.kind == "int" and value >> (type_.bits - 1) else value


def integer_to_f32(value):
    """Round once: keep 53 bits, the last one odd if anything was lost, then let C round to 24."""
    size = abs(value)
    lost = max(0, size.bit_length() - 53)
    if lost and size & ((1 << lost) - 1):
        size = (size >> lost | 1) << lost
    return ctypes.c_float(math.copysign(float(size), value)).value


def fused(a, b, c, type_):
    """a * b + c rounded once: exact fractions; of f32 the last bit is odd if anything was lost, then C rounds."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        near = math.copysign(exact.numerator / exact.denominator, exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
    lost = exact - Fraction(near) if math.isfinite(near) else 0
    if type_ == F32 and lost and int(math.ldexp(math.frexp(near)[0], 53)) % 2 == 0:
        near = math.nextafter(near, math.copysign(math.inf, lost))
    return near
