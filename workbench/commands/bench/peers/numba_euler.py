"""Numba: Euler as four parallel passes a stage: primitive variables with halo, fluxes of all axes, the update."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from workbench.backends.base import Array
from workbench.commands.bench.euler import GAMMA, RATIO
from workbench.commands.bench.problem import Problem, Shape

_HALO = 2
_INDEX = ("k", "j", "i")
_FUNCTIONS = """
R = np.{type}
GAMMA, ZERO, ONE, HALF, EIGHTH = R({gamma}), R(0), R(1), R(0.5), R(0.125)
SHOCK, INVERSE, LESS = R({gamma} / 2 + 0.5) / R({gamma}), R(1 / ({gamma} - 1)), R({gamma} - 1)

@inline
def minmod(a, b):
    return (a if abs(a) < abs(b) else b) if a * b > ZERO else ZERO

@inline
def hllc(rl, ul, {left}, pl, rr, ur, {right}, pr):
    cl, cr = sqrt(GAMMA * pl / rl), sqrt(GAMMA * pr / rr)
    star = max(ZERO, HALF * (pl + pr) - EIGHTH * (ur - ul) * (rl + rr) * (cl + cr))
    dl = -cl * sqrt(ONE + SHOCK * max(ZERO, star / pl - ONE))
    dr = cr * sqrt(ONE + SHOCK * max(ZERO, star / pr - ONE))
    contact = (pr - pl + rl * ul * dl - rr * ur * dr) / (rl * dl - rr * dr)
    if contact > ZERO:
        r, u, {out}, p, d, s = rl, ul, {left}, pl, dl, min(ul + dl, ZERO)
    else:
        r, u, {out}, p, d, s = rr, ur, {right}, pr, dr, max(ur + dr, ZERO)
    e = p * INVERSE + HALF * r * (u * u + {squares})
    dense = r * d / (u + d - contact)
    fuller = dense * (e / r + (contact - u) * (contact + p / (r * d)))
    mass = s * (dense - r)
    return r * u + mass, r * u * u + p + s * (dense * contact - r * u), {across}, u * (e + p) + s * (fuller - e)
"""


def euler(problem: Problem, shape: Shape, dtype: str, arrays: tuple[Array, ...]) -> EulerMarch:
    """Compile the loops of this dimension and type."""
    return EulerMarch(_compiled(len(shape), arrays[0].dtype.name), shape, np.stack(arrays))


class EulerMarch:
    """The conserved variables at both ends of a step, primitive ones with halo, fluxes along each axis."""

    def __init__(self, loops: dict[str, Any], shape: Shape, state: Array) -> None:
        self._loops, self._state = loops, state
        self._middle = state.copy()
        self._primitive: Array = np.zeros((len(state), *(n + 2 * _HALO for n in shape)), state.dtype)
        faces = (len(state), *(n + 1 for n in shape))
        self._fluxes: list[Array] = [np.zeros(faces, state.dtype) for _ in shape]

    def advance(self, steps: int) -> None:
        """Two stages a step."""
        loops, ratio = self._loops, self._state.dtype.type
        for _ in range(steps):
            self._stage(self._state, loops["flux1"])
            loops["update"](self._state, self._middle, *self._fluxes, ratio(RATIO / 2))
            self._stage(self._middle, loops["flux2"])
            loops["update"](self._state, self._state, *self._fluxes, ratio(RATIO))

    def _stage(self, state: Array, fluxes: Any) -> None:  # compiled
        self._loops["primitives"](state, self._primitive)
        _wrap(self._primitive)
        fluxes(self._primitive, *self._fluxes)

    def fields(self) -> tuple[Array, ...]:
        """The conserved variables."""
        return tuple(array.copy() for array in self._state)

    def close(self) -> None:
        """Forget the arrays."""
        self._state = self._middle = self._primitive = np.zeros(0)
        self._fluxes = []


def _wrap(primitive: Array) -> None:
    """Copy the other side into the halo."""
    for axis in range(1, primitive.ndim):
        rows = np.moveaxis(primitive, axis, 0)
        rows[:_HALO] = rows[-2 * _HALO : -_HALO]
        rows[-_HALO:] = rows[_HALO : 2 * _HALO]


def _compiled(dim: int, dtype: str) -> dict[str, Any]:
    others = range(1, dim)
    text = _FUNCTIONS.format(
        type=dtype,
        gamma=GAMMA,
        left=", ".join(f"vl{a}" for a in others),
        right=", ".join(f"vr{a}" for a in others),
        out=", ".join(f"v{a}" for a in others),
        squares=" + ".join(f"v{a} * v{a}" for a in others),
        across=", ".join(f"r * u * v{a} + v{a} * mass" for a in others),
    )
    text += _primitives(dim) + _flux(dim, 1) + _flux(dim, 2) + _update(dim)
    options = {"fastmath": True, "error_model": "numpy"}
    made: dict[str, Any] = {
        "np": np,
        "prange": prange,
        "sqrt": np.sqrt,
        "inline": njit(inline="always", **options),
        "parallel": njit(parallel=True, **options),
    }
    exec(text, made)  # noqa: S102  # the text is ours
    return made


def _loops(dim: int, extents: str, body: list[str], fewer: int = 0) -> str:
    """Nested loops over an array's places but the last `fewer`, the outermost one parallel."""
    lines = []
    for depth in range(dim):
        index, over = _INDEX[depth - dim], "prange" if depth == 0 else "range"
        lines.append("    " * (depth + 1) + f"for {index} in {over}({extents}.shape[{depth + 1}] - {fewer}):")
    return "\n".join([*lines, *("    " * (dim + 1) + line for line in body)]) + "\n"


def _place(dim: int, axis: int = -1, by: int = 0, halo: int = 0) -> str:
    """The index of a cell, moved along an axis."""
    parts = []
    for a in range(dim):
        move = halo + (by if a == axis else 0)
        parts.append(_INDEX[a - dim] + (f" + {move}" if move else ""))
    return ", ".join(parts)


def _primitives(dim: int) -> str:
    here, there = _place(dim), _place(dim, halo=_HALO)
    velocity = [f"v{a}" for a in range(dim)]
    body = [f"r = U[0, {here}]"]
    body += [f"{v} = U[{a + 1}, {here}] / r" for a, v in enumerate(velocity)]
    kinetic = " + ".join(f"{v} * {v}" for v in velocity)
    values = ["r", *velocity, f"LESS * (U[{dim + 1}, {here}] - HALF * r * ({kinetic}))"]
    body += [f"P[{q}, {there}] = {value}" for q, value in enumerate(values)]
    return "\n@parallel\ndef primitives(U, P):\n" + _loops(dim, "U", body)


def _flux(dim: int, order: int) -> str:
    """Fluxes through the lower faces, one cell more than there are along each axis."""
    body: list[str] = []
    names = ", ".join(f"F{axis}" for axis in range(dim))
    for axis in range(dim):
        others = [a for a in range(dim) if a != axis]
        variables = [0, axis + 1, *(a + 1 for a in others), dim + 1]
        values = [[f"P[{q}, {_place(dim, axis, by, _HALO)}]" for q in variables] for by in (-2, -1, 0, 1)]
        left, right = values[1], values[2]
        if order == 2:
            a, b, c, d = values
            left = [f"{y} + HALF * minmod({y} - {x}, {z} - {y})" for x, y, z in zip(a, b, c, strict=True)]
            right = [f"{y} - HALF * minmod({y} - {x}, {z} - {y})" for x, y, z in zip(b, c, d, strict=True)]
        targets = ", ".join(f"F{axis}[{q}, {_place(dim)}]" for q in variables)
        body.append(f"{targets} = hllc({', '.join(left + right)})")
    return f"\n@parallel\ndef flux{order}(P, {names}):\n" + _loops(dim, "P", body, fewer=2 * _HALO - 1)


def _update(dim: int) -> str:
    here = _place(dim)
    terms = " + ".join(f"(F{a}[q, {here}] - F{a}[q, {_place(dim, a, 1)}])" for a in range(dim))
    names = ", ".join(f"F{axis}" for axis in range(dim))
    body = [f"for q in range({dim + 2}):", f"    N[q, {here}] = S[q, {here}] + ratio * ({terms})"]
    return f"\n@parallel\ndef update(S, N, {names}, ratio):\n" + _loops(dim, "S", body)
