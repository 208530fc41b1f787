"""Tiles: the code of a plain step turned into that of several steps together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.codegen.rows import beyond_domain
from workbench.codegen.running_order import FillCall, ImageCall, StageCode, StepCode, SweepCall, TileCode
from workbench.planning.dependence import orbit
from workbench.planning.kernel_plan import Step
from workbench.planning.reach import no_margins
from workbench.planning.tiled import Tiling


def tile_code(
    tiling: Tiling,
    step: Step,
    code: StepCode,
    fills: Sequence[FillCall],
    stages: Sequence[StageCode],
    name: str,
    fill_lap: int,
    arrays: tuple[tuple[int, int], ...],
) -> TileCode:
    """The record of the template for tiles of a step, from its fills and the stages of its launches of loops."""
    diamond = tiling.across
    wave = tiling.roles.index("wave") if "wave" in tiling.roles else -1
    lost = _lost(tiling, step)
    before = tuple(
        replace(fills[fill], source=slot, target=slot, tag=0 if slot in lost else fills[fill].tag)
        for fill, slot in tiling.before
    )
    calls = [(u.level, ImageCall(fills[u.fill].rules, fills[u.fill].type, u.slot, u.ahead)) for u in tiling.updates]
    levels = [stages[number] if number >= 0 else StageCode((), (), -1, ()) for number in tiling.loops]
    return TileCode(
        name,
        before,
        tuple(dict.fromkeys((*lost, *(fill.target for fill in before if not fill.tag)))),
        tuple(replace(s, updates=tuple(c for level, c in calls if level == n)) for n, s in enumerate(levels)),
        _turns(code.rotation),
        diamond,
        wave,
        max(tiling.slopes[diamond], 1),
        tiling.slopes[wave] if wave >= 0 else 0,
        tiling.rings[diamond],
        wave >= 0 and tiling.rings[wave],
        f"{code.name}_rotation",
        code.scalars,
        code.renews,
        fill_lap,
        arrays,
    )


def of_level(call: SweepCall, bare: bool) -> SweepCall:
    """A call on the arrays of the step that a level is in, not of the first one. bare: on the domain alone."""
    arguments = tuple(a.replace("run.array<", "level.array<", 1) for a in call.arguments)
    return replace(call, arguments=arguments, grown=no_margins(len(call.grown)) if bare else call.grown)


def _lost(tiling: Tiling, step: Step) -> tuple[int, ...]:
    """The slots whose arrays get ghost cells in tiles, other than the lasting ones that their tags tell of."""
    slots = [update.slot for update in tiling.updates]
    slots += [home.slot for loop in step.subkernels for home in beyond_domain(loop)]
    return tuple(dict.fromkeys(turned for slot in slots for turned in orbit(step.rotation, slot)))


def _turns(rotation: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Which slot each slot's array was in at first, step by step until all are back."""
    turns = [tuple(range(len(rotation)))]
    while (following := tuple(turns[-1][source] for source in rotation)) != turns[0]:
        turns.append(following)
    return tuple(turns)
