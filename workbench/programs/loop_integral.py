"""Loop integral: a Feynman diagram of one loop with four sides, as a sum over pairs, in f64 or dd.

The integral of 1 / d**2 over x, y, z > 0 with x + y + z < 1. The text is that of the interaction compiler's slides: a
target is a pair of nodes (x, y), a source a node of z. Nodes are those of the double exponential rule (Takahasi and
Mori 1974), whose error falls exponentially with their number. `wynn` extrapolates sequences (Wynn 1956).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from itertools import pairwise
from typing import Literal

from workbench.interactions import interaction
from workbench.machine import Machine

TEXT = """
LMEM xx, yy, cnt4;
BMEM x30_1, gw30;
RMEM res;
CONST tt, ramda, fme, fmf, s, one;
zz = x30_1*cnt4;
d = -xx*yy*s - tt*zz*(one-xx-yy-zz) + (xx+yy)*ramda**2 + (one-xx-yy-zz)*(one-xx-yy)*fme**2 + zz*(one-xx-yy)*fmf**2;
res += gw30/d**2;
"""
OPERATIONS = 28
"""Operations for one point, as the slides count them."""
_DIGITS = 40
_HALF_PI = Decimal("1.570796326794896619231321691639751442098584699687552910487")
Precision = Literal["double", "quadruple"]


def machine(precision: Precision = "double") -> Machine:
    """The pairs: targets xx, yy and cnt4 = 1 - xx - yy, sources x30_1 and gw30 (nodes and weights on [0, 1])."""
    return interaction(TEXT, name="loop_integral", precision=precision)


def nodes(count: int, reach: float = 3.9) -> tuple[list[Decimal], list[Decimal]]:
    """Nodes and weights of the double exponential rule on [0, 1], to 40 digits.

    reach: of the variable t in x = 1 / (1 + exp(-pi sinh t)); at 3.9 the weights have fallen to 1e-32.
    """
    with localcontext() as context:
        context.prec = _DIGITS
        step = 2 * Decimal(reach) / max(count - 1, 1)
        places, weights = list[Decimal](), list[Decimal]()
        for number in range(count):
            growing = (-Decimal(reach) + number * step).exp()
            inner, slope = _HALF_PI * (growing - 1 / growing), _HALF_PI * (growing + 1 / growing)
            rest = (-inner).exp()
            places.append(1 / (1 + rest))
            weights.append(step * slope * rest / (1 + rest) ** 2)
    return places, weights


def integral(count: int, precision: Precision = "double", *, s: float = 0.0, t: float = 0.0, masses: float = 1.0,
             backend: str = "auto") -> Decimal:  # fmt: skip
    """The integral with count**3 points: all three masses alike, s and t below 0 or so small that d has no zero."""
    x, w = nodes(count)
    with localcontext() as context:
        context.prec = _DIGITS
        pairs = [(a, (1 - a) * b, (1 - a) * (1 - b)) for a in x for b in x]
        outer = [u * v * (1 - a) * rest for u, a in zip(w, x, strict=True)
                 for v, rest in zip(w, [(1 - a) * (1 - b) for b in x], strict=True)]  # fmt: skip
        xx, yy, rests = ([_given(each[k], precision) for each in pairs] for k in range(3))
        found = machine(precision)(
            targets={"xx": xx, "yy": yy, "cnt4": rests},
            sources={"x30_1": [_given(a, precision) for a in x], "gw30": [_given(a, precision) for a in w]},
            s=s, tt=t, ramda=masses, fme=masses, fmf=masses, one=1, backend=backend,
        )["res"]  # fmt: skip
        values = [Decimal(float(v)) for v in (found["hi"] if found.dtype.names else found)]
        lows = [Decimal(float(v)) for v in found["lo"]] if found.dtype.names else [Decimal(0)] * len(values)
        return sum((o * (hi + lo) for o, hi, lo in zip(outer, values, lows, strict=True)), Decimal(0))


def _given(value: Decimal, precision: Precision) -> float | Decimal:
    return value if precision == "quadruple" else float(value)


def wynn(sequence: Sequence[Decimal]) -> Decimal:
    """The limit of a sequence by Wynn's epsilon algorithm, from an odd number of its last terms.

    A sequence that is its limit and k geometric sequences is found exactly from 2 k + 1 terms.
    """
    with localcontext() as context:
        context.prec = 2 * _DIGITS
        before, now = [Decimal(0)] * len(sequence), list(sequence[1 - len(sequence) % 2 :])
        for column in range(len(now) - 1):
            steps = [b - a for a, b in pairwise(now)]
            if column % 2 == 0 and not all(steps):  # it has converged
                return now[-1]
            before, now = now, [a + 1 / step for a, step in zip(before[1:], steps, strict=False)]
        return now[0]
