"""Numbers: round ones for axes, short ones for people; the page's half is labextension/src/field/numbers.ts."""

from __future__ import annotations

import math


def ticks(first: float, last: float, most: int) -> list[float]:
    """At most about `most` round numbers (1, 2 or 5 times a power of ten apart) between both ends."""
    low, high = min(first, last), max(first, last)
    if not high > low or not math.isfinite(high - low):
        return [low] if math.isfinite(low) else []
    rough = (high - low) / max(1, most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next((factor for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9)), 10)
    start, end = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(start, end + 1)]


def short(value: float) -> str:
    """Four significant digits, an exponent where the number would be long."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("∞" if value > 0 else "\u2212∞")
    if value == 0:
        return "0"
    if abs(value) >= 1e5 or abs(value) < 1e-3:
        mantissa, _, exponent = f"{value:.2e}".partition("e")
        digits = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{digits}e{int(exponent)}".replace("-", "\u2212")
    return f"{float(f'{value:.4g}'):.6g}".replace("-", "\u2212")
