"""Amounts: bytes, counts, rates, shares and times in words, alike everywhere. 1 kB is 1000 bytes."""

from __future__ import annotations

import math
import re

COLUMNS = 78
"""Characters of a line of printed text; a notebook of 760 pixels breaks longer lines inside words."""

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")


def bytes_text(count: float, digits: int = 3) -> str:
    """So many digits: "12 bytes", "2.05 kB", "5.37 GB"."""
    size = float(count)
    for unit in _UNITS:
        if size < 1000 - 0.5 * 10.0 ** (3 - digits) or unit == _UNITS[-1]:
            break
        size /= 1000
    return counted(round(size), "byte") if unit == _UNITS[0] else f"{size:.{digits}g} {unit}"


def bytes_in(text: str) -> int | None:
    """The bytes of an amount: "2 GB", "512 MiB", "1.5 TB", "4096"; None for another text."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([kKMGTPE]?)(i?)B|bytes?)?\s*", text)
    if found is None or (found[3] and not found[2]):
        return None
    return int(float(found[1]) * (1024 if found[3] else 1000) ** " KMGTPE".index((found[2] or " ").upper()))


def counted(number: int, noun: str) -> str:
    """ "1 node", "2 nodes"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def in_digits(value: float, digits: int) -> str:
    """So many digits, and all of those before the point, never an exponent for a large number: "8.33", "12,345"."""
    return f"{value:.{digits}g}" if abs(value) < 10**digits - 0.5 else f"{value:,.0f}"


def scaled(value: float, unit: str) -> str:
    """A number with three digits and a decimal prefix: 1.23e9, "cells/s" is "1.23 Gcells/s"."""
    for size, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 0.9995 * size:  # what is rounded to 1000 is 1 of the next prefix
            return f"{value / size:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def share_text(share: float) -> str:
    """A share in percent; small ones are not rounded to nothing."""
    percent = 100 * share
    if percent == 0:
        return "none"
    return f"{in_digits(percent, 2)} %" if percent >= 0.01 else "< 0.01 %"


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
    """A long time, in whole seconds at least: "40 s", "12 min", "2.5 h", "3 days"."""
    if seconds < 99.5:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172800 else f"{round(seconds / 86400)} days"


def seconds_text(seconds: float) -> str:
    """Three digits and a unit: "12.7 ms", "12,345 s"; "0 s" of none."""
    if seconds == 0:
        return "0 s"
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= 0.9995 * factor:  # what is rounded to 1000 is 1 of the next unit
            return f"{in_digits(seconds / factor, 3)} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
