"""Bit equality as the semantics defines it: equal bits, signed zeros count, any NaN equals any NaN."""

import numpy as np

from workbench.graph.extended_numbers import DoubleDouble


def parts(value):
    """A number or an array; of type dd with a further axis for hi and lo."""
    if isinstance(value, DoubleDouble):
        return np.array([float(value), value.lo])
    value = np.asarray(value)
    return np.stack([value["hi"], value["lo"]], axis=-1) if value.dtype.names else value


def differences(found, expected):
    """Indices at which two arrays of one dtype and shape differ in bits."""
    found, expected = parts(found), parts(expected)
    assert found.dtype == expected.dtype, f"{found.dtype} instead of {expected.dtype}"
    assert found.shape == expected.shape, f"shape {found.shape} instead of {expected.shape}"
    unsigned = f"u{found.dtype.itemsize}"
    same = np.ascontiguousarray(found).view(unsigned) == np.ascontiguousarray(expected).view(unsigned)
    same = same.reshape(found.shape)
    if found.dtype.kind == "f":
        same |= np.isnan(found) & np.isnan(expected)
    return np.argwhere(~same)


def assert_same_bits(found, expected, what=""):
    """Fail with the first cell that differs."""
    wrong = differences(found, expected)
    if len(wrong):
        at = tuple(wrong[0])
        pair = f"{parts(found)[at]!r} instead of {parts(expected)[at]!r}"
        raise AssertionError(f"{what}: {len(wrong)} of {np.size(found)} cells differ, first at {at}: {pair}")
