"""Amounts: bytes, counts and times in words, alike everywhere. Bytes have decimal units: 1 kB is 1000 bytes."""

from __future__ import annotations

import math

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def bytes_text(count: float, digits: int = 3) -> str:
    """So many digits: "12 bytes", "2.05 kB", "5.37 GB"."""
    size = float(count)
    for unit in _UNITS:
        if size < 1000 - 0.5 * 10.0 ** (3 - digits) or unit == _UNITS[-1]:
            break
        size /= 1000
    return counted(round(size), "byte") if unit == _UNITS[0] else f"{size:.{digits}g} {unit}"


def counted(number: int, noun: str) -> str:
    """ "1 node", "2 nodes"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def error_text(error: float) -> str:
    """A relative error with two digits: "1.1e-16", "0.05", "0"; "infinite" where a number became infinite or NaN."""
    if error == 0:
        return "0"
    return f"{error:.2g}" if math.isfinite(error) else "infinite"


def digits_text(error: float) -> str:
    """How many decimal digits a relative error leaves: "15 digits", "1 digit", "no digit"; "all digits" of none."""
    if error == 0:
        return "all digits"
    digits = math.floor(-math.log10(error)) if error < 1 else 0
    return counted(digits, "digit") if digits else "no digit"


def span_text(seconds: float) -> str:
    """A time that is left, in whole seconds at least: "40 s", "12 min", "2.5 h"."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def seconds_text(seconds: float) -> str:
    """Three digits and a unit: "12.7 ms"."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= 0.9995 * factor:  # what is rounded to 1000 is 1 of the next unit
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
