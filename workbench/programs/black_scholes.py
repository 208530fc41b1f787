"""Black-Scholes: prices of European options, one map of three arrays to two (McDonell 2015, §6.3).

The distribution of the normal law is the polynomial of Abramowitz and Stegun, 26.2.17, with an error below 7.5e-8.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.array_function import collective

_COEFFICIENTS = (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)
_DENSITY = 0.3989422804014327  # 1 / sqrt(2 pi)


@collective
def prices(price: Any, strike: Any, years: Any, rate: float = 0.02, volatility: float = 0.3) -> Any:  # noqa: ANN401  # arrays while it is traced are no NumPy arrays
    """The prices (call, put) of options, two arrays of the shape of `price`.

    price: of the stock today. strike: the price that is agreed on. years: until the option expires, above 0. rate:
    without risk, a year. volatility: of the stock, in a year.
    """
    root = volatility * np.sqrt(years)
    up = (np.log(price / strike) + (rate + 0.5 * volatility**2) * years) / root
    below_up, below_down = normal(up), normal(up - root)
    discounted = strike * np.exp(-rate * years)
    call = price * below_up - discounted * below_down
    put = discounted * (1 - below_down) - price * (1 - below_up)
    return call, put


def normal(x: Any) -> Any:  # noqa: ANN401  # an array or a traced one
    """The probability that a normal variable is below x."""
    turn = 1 / (1 + 0.2316419 * np.abs(x))
    polynomial: Any = 0.0
    for coefficient in reversed(_COEFFICIENTS):
        polynomial = turn * (coefficient + polynomial)
    beyond = _DENSITY * np.exp(-0.5 * x * x) * polynomial
    return np.where(x > 0, 1 - beyond, beyond)
