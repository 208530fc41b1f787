"""Maxwell: light and radio waves in vacuum between conducting walls, by Yee's staggered grid, in any dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import StencilError
from workbench.language import (
    absolute,
    coordinate,
    derivative,
    extend,
    field,
    param,
    reduce_max,
    reduce_sum,
    reflect,
    scalar,
    vector,
)
from workbench.machine import Machine, stencil
from workbench.solvers.clock import tick
from workbench.solvers.settings import need_dimensions

Parts = dict[int, Any]  # the components that there are, by their number
CONDUCTOR = "conductor"
MODES = {"all": ((0, 1, 2), (0, 1, 2)), "tm": ((2,), (0, 1)), "te": ((0, 1), (2,))}  # electric, magnetic


def machine(
    dim: int = 2,
    mode: str | None = None,
    *,
    boundary: object = "periodic",
    staggered: bool = False,
    dtype: object = "f64",
) -> Machine:
    """dB/dt = - curl E, dE/dt = c² curl B on Yee's grid (IEEE Trans. Antennas Propag. 14 (1966) 302), of order 2.

    Fields electric0, ..., magnetic0, ...; with all `dim` components they are the vectors electric and magnetic. Nothing
    depends on the axes beyond `dim`; mode "tm" keeps electric2, magnetic0, magnetic1, mode "te" electric0, electric1,
    magnetic2, "all" everything (default "all" in three dimensions, else "tm"); components that never change are left
    out. electric a sits in the middle of the cell along axis a and on lower faces along the others, magnetic a on the
    lower face along axis a and in the middle along the others: centres at (i + 1/2) dx, faces at i dx.

    Scalars time, dt; energy, the integral of (E² + c² B²) / 2; divergence, the largest |div B|, which no step changes
    but for rounding, where all of magnetic along the grid's axes is there. Params c (default 1), dx0, ..., until, cfl
    (default 0.9, stable up to 1): dt = cfl / (c sqrt(sum_a 1 / dx_a²)).

    boundary: "periodic", "conductor" (a perfectly conducting wall on the face of the domain: tangential E and normal B
    are odd about it, the others even; give 0 for tangential E on the wall) or a mapping of sides to these.
    staggered=False: E and B belong to the same time; a step is half of B, E, half of B. staggered=True: B belongs to
    half a step before E, as Yee has it, and a step computes each once; give B at -dt/2.
    """
    dim = need_dimensions(dim, (1, 2, 3), "the fields have three components")
    electric_parts, magnetic_parts = _components(dim, mode)

    @stencil(dim, name="maxwell", dtype=dtype)
    def solver() -> None:
        c, cfl = param("c", 1.0, above=0), param("cfl", 0.9, above=0, warn_above=1.0)
        dx = [param(f"dx{axis}", 1.0, above=0) for axis in range(dim)]
        coordinate(spacing=dx, unit="")
        step = tick(cfl / (c * sum(1 / width**2 for width in dx) ** 0.5))
        electric = _declare("electric", electric_parts, dim, boundary)
        magnetic = _declare("magnetic", magnetic_parts, dim, boundary)

        part = step if staggered else 0.5 * step
        between = _outside("magnetic", _advance(magnetic, -part, _curl(electric, dx, "cell")), boundary, dim)
        after = _advance(electric, step * c**2, _curl(between, dx, "face"))
        end = between
        if not staggered:
            end = _advance(between, -part, _curl(_outside("electric", after, boundary, dim), dx, "cell"))
        for fields, values in ((electric, after), (magnetic, end)):
            for a, declared in fields.items():
                declared.next = values[a]

        volume: Any = 1
        for width in dx:
            volume = volume * width
        squares = [value**2 for value in after.values()] + [c**2 * value**2 for value in end.values()]
        scalar("energy").next = reduce_sum(0.5 * sum(squares)) * volume
        if set(range(dim)) <= set(end):
            faces = _outside("magnetic", end, boundary, dim)
            total = sum(derivative(faces[a], a, dx[a], to="cell") for a in range(dim))
            scalar("divergence").next = reduce_max(absolute(total))

    return solver


def _components(dim: int, mode: str | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The numbers of the components of E and of B that change: those whose curl has a part."""
    if mode is None:
        mode = "all" if dim == 3 else "tm"
    if not isinstance(mode, str) or mode not in MODES or (dim == 3 and mode != "all"):
        raise StencilError(
            f"mode={mode!r} is unknown in {dim} dimensions", advice='Use "all", or below 3-D "tm", "te".'
        )
    electric, magnetic = MODES[mode]

    def changing(these: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(a for a in these if any(b != a and 3 - a - b in others for b in range(dim)))

    return changing(electric, magnetic), changing(magnetic, electric)


def _location(name: str, a: int, dim: int) -> tuple[object, ...] | None:
    axes = [b for b in range(dim) if (b == a) == (name == "magnetic")]
    return ("face", *axes) if axes else None


def _rule(name: str, a: int, dim: int, boundary: object) -> dict[str, object]:
    """The rule of one component on each side."""
    sides = boundary if isinstance(boundary, Mapping) else {"xyz"[axis]: boundary for axis in range(dim)}
    return {side: _one(name, a, str(side), given) for side, given in sides.items()}


def _one(name: str, a: int, side: str, given: object) -> object:
    if given == "periodic":
        return given
    if given != CONDUCTOR:
        raise StencilError(f"boundary {given!r} is unknown", advice='Use "periodic" or "conductor".')
    normal = "xyz".find(side[:1]) == a
    return reflect(sign=-1 if normal == (name == "magnetic") else 1)


def _declare(name: str, parts: Sequence[int], dim: int, boundary: object) -> Parts:
    if tuple(parts) == tuple(range(dim)) and dim > 1:
        whole = vector(
            name, boundary=lambda a: _rule(name, a, dim, boundary), location=lambda a: _location(name, a, dim)
        )
        return {a: whole[a] for a in parts}
    return {
        a: field(f"{name}{a}", boundary=_rule(name, a, dim, boundary), location=_location(name, a, dim)) for a in parts
    }


def _outside(name: str, values: Parts, boundary: object, dim: int) -> Parts:
    """The values with the rules of the fields outside: they are stored anyway, and nothing is computed twice."""
    return {
        a: extend(value, _rule(name, a, dim, boundary), location=_location(name, a, dim)) for a, value in values.items()
    }


def _advance(values: Parts, step: Any, rates: Parts) -> Parts:  # noqa: ANN401  # traced
    """Each component after `step`; one whose rate is nowhere stays."""
    return {a: value + step * rates[a] if a in rates else value for a, value in values.items()}


def _curl(values: Parts, dx: Sequence[Any], to: str) -> Parts:
    """The curl's components: d_b v_c - d_c v_b with a, b, c cyclic, from what there is; from and to Yee's places."""
    found: Parts = {}
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        terms = []
        if c in values and b < len(dx):
            terms.append(derivative(values[c], b, dx[b], to=to))
        if b in values and c < len(dx):
            terms.append(-derivative(values[b], c, dx[c], to=to))
        if terms:
            found[a] = sum(terms[1:], terms[0])
    return found
