"""Tiles: the code of a plain step turned into that of several steps together."""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.loops import FillCall, StepCode, TileCode
from workbench.planning.dependence import orbit
from workbench.planning.plan import Tiling


def tile_code(tiling: Tiling, step: StepCode, name: str) -> TileCode:
    """The record of the template for tiles of a step, which has one phase of loops and perhaps one of fills."""
    *before, loops = step.phases
    fills: dict[tuple[int, str], FillCall] = {}
    for fill in (each for phase in before for each in phase.fills):
        for slot in orbit(step.rotation, fill.target):
            fills.setdefault((slot, fill.rules), replace(fill, source=slot, target=slot))
    diamond = tiling.roles.index("diamond")
    wave = tiling.roles.index("wave") if "wave" in tiling.roles else -1
    return TileCode(
        name,
        tuple(fills.values()),
        tuple(replace(s, arguments=tuple(_of_level(a) for a in s.arguments)) for s in loops.sweeps),
        _turns(step.rotation),
        diamond,
        wave,
        max(tiling.slopes[diamond], 1),
        tiling.slopes[wave] if wave >= 0 else 0,
        f"{step.name}_rotation",
        loops.lap,
        before[0].lap if before else -1,
        loops.member_laps,
    )


def _of_level(argument: str) -> str:
    """An array of the step that a level is, not of the first one."""
    return argument.replace("run.array<", "level.array<", 1)


def _turns(rotation: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Which slot each slot's array was in at first, step by step until all are back."""
    turns = [tuple(range(len(rotation)))]
    while (following := tuple(turns[-1][source] for source in rotation)) != turns[0]:
        turns.append(following)
    return tuple(turns)
