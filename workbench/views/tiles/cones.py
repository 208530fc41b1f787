"""Cones: all updates that one update depends on, and all that it influences, step by step (the paper's conoids)."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.planning.plan import Plan
from workbench.planning.schedules.shapes import Use, uses_of
from workbench.views.drawing.shapes import Disc, Drawing, Label, Line, Shape

Cell = tuple[int, ...]

_WIDTH, _HEIGHT = 760, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 62, 52
_PAST, _FUTURE, _OTHER, _INK, _SOFT = "#d1661a", "#1a6fb5", "#c8d0d9", "#1c2430", "#5b6675"


@dataclass(frozen=True, slots=True)
class ConesSummary:
    """Cells of each level relative to the update in the middle: its dependence before, its influence after.

    past[k]: cells k + 1 levels before; future[k]: k + 1 levels after. arrows: what one update reads, (levels back,
    offset). Cells count all axes.
    """

    machine: str
    past: tuple[frozenset[Cell], ...]
    future: tuple[frozenset[Cell], ...]
    arrows: tuple[tuple[int, Cell], ...]

    @property
    def widest(self) -> tuple[int, ...]:
        """Cells by which the cones reach along each axis."""
        cells = [cell for level in (*self.past, *self.future) for cell in level]
        return tuple(max((abs(c) for c in along), default=0) for along in zip(*cells, strict=True)) if cells else ()


def summarise_cones(plan: Plan, levels: int = 6) -> ConesSummary:
    """The cones of an update of the first loops of a step, so many levels each way, by the plan's reads."""
    uses = uses_of(plan.main)
    origin = (0,) * plan.graph.dim
    arrows = tuple((use.back, use.offset) for use in uses[0] if use.back > 0)
    return ConesSummary(plan.graph.name, _spread(uses, origin, levels, -1), _spread(uses, origin, levels, +1), arrows)


def _spread(uses: tuple[tuple[Use, ...], ...], origin: Cell, levels: int, sign: int) -> tuple[frozenset[Cell], ...]:
    """The cells of each level that are reached against (-1) or along (+1) the dependences."""
    reached: list[set[Cell]] = [{origin}, *(set() for _ in range(levels))]
    for level in range(levels):
        for reader, reads in enumerate(uses):
            for use in reads:
                if use.back <= 0:
                    continue
                here = -level % len(uses) if sign < 0 else (level + use.back) % len(uses)
                if here == reader and level + use.back <= levels:
                    reached[level + use.back] |= {
                        tuple(c - sign * o for c, o in zip(cell, use.offset, strict=True)) for cell in reached[level]
                    }
    return tuple(map(frozenset, reached[1:]))


def draw_cones(summary: ConesSummary, axis: int = 0) -> Drawing:
    """Updates as dots, an axis across, time upwards: below the middle one what it needs, above what needs it."""
    reach = max(max(summary.widest, default=1), 1) + 1
    levels = len(summary.past)

    def at(cell: int, level: int) -> tuple[float, float]:
        x = _LEFT + (cell + reach) / (2 * reach) * (_WIDTH - _LEFT - _RIGHT)
        return x, _HEIGHT - _BOTTOM - (level + levels) / (2 * levels) * (_HEIGHT - _TOP - _BOTTOM)

    past = {(cell[axis], -1 - k) for k, cells in enumerate(summary.past) for cell in cells}
    future = {(cell[axis], 1 + k) for k, cells in enumerate(summary.future) for cell in cells}
    title = f"{summary.machine}: what an update depends on, and what it influences"
    shapes: list[Shape] = [Label((_LEFT, 18), title, _INK, 15)]
    for x, words, colour in ((_LEFT, "needed before", _PAST), (_LEFT + 150, "changed after", _FUTURE)):
        shapes += [Disc((x + 5, 38), 5, colour), Label((x + 15, 38), words, _SOFT, 12)]
    shapes += [Line((at(offset[axis], -back), at(0, 0)), _SOFT, 1.2) for back, offset in summary.arrows]
    radius = min(6.0, 0.36 * (_WIDTH - _LEFT - _RIGHT) / (2 * reach))
    for level in range(-levels, levels + 1):
        for cell in range(-reach, reach + 1):
            colour = _PAST if (cell, level) in past else _FUTURE if (cell, level) in future else _OTHER
            middle = (cell, level) == (0, 0)
            shapes.append(Disc(at(cell, level), radius * (1.5 if middle else 1), _INK if middle else colour))
    for level in range(-levels, levels + 1, max(levels // 3, 1)):
        shapes.append(Label((_LEFT - 12, at(0, level)[1]), _signed(level), _SOFT, 12, "right"))
    apart = max(reach // 4, 1)
    for cell in range(-(reach // apart) * apart, reach + 1, apart):
        shapes.append(Label((at(cell, 0)[0], _HEIGHT - _BOTTOM + 20), _signed(cell), _SOFT, 12, "centre"))
    shapes.append(Label(((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 12), f"cell along axis {axis}", _SOFT, 12, "centre"))
    shapes.append(Label((16, (_TOP + _HEIGHT - _BOTTOM) / 2), "level", _SOFT, 12, "centre", upwards=True))
    return Drawing(_WIDTH, _HEIGHT, tuple(shapes), title)


def _signed(number: int) -> str:
    return f"{number:+d}" if number else "0"
