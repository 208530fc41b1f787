"""Tower sequence: a move of DiamondTorre as launches over a domain, the same for a device and its simulator."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from workbench.backends.launch_sequence import DeviceLaunch, launches_of
from workbench.codegen.cuda.device import KernelLaunches, StepLaunches, TowerLaunches
from workbench.planning.choices import PlanChoices
from workbench.planning.layout import Layout
from workbench.planning.schedules.diamondtorre import torre_of
from workbench.planning.schedules.torre import Stage, Torre, TowerSweep


@dataclass(frozen=True, slots=True)
class Move:
    """Several plain steps together: after all its launches each array lies in its slot again."""

    steps: int
    launches: tuple[DeviceLaunch, ...]

    @property
    def shown(self) -> tuple[DeviceLaunch, ...]:
        """One launch of each kernel, of those that differ the one with most blocks."""
        most: dict[str, DeviceLaunch] = {}
        for launch in self.launches:
            if launch.kernel not in most or launch.grid > most[launch.kernel].grid:
                most[launch.kernel] = launch
        return tuple(most.values())


def move_of(kernel: KernelLaunches, layout: Layout, choices: PlanChoices, words: int) -> Move | None:
    """The move of a kernel over a domain of the layout's extents, None for steps that follow each other.

    words: of the Globals block. PlanError if the last axis has more cells than a tower has threads.
    """
    towers = kernel.towers
    found = None if towers is None else torre_of(towers.towers, layout.extents, choices.tiling)
    if towers is None or found is None:
        return None
    before = launches_of(StepLaunches(towers.before, (), ()), layout, choices)
    ahead = []
    if towers.ahead is not None:
        block = _words(found, Stage(TowerSweep(0, 0, 0, 0), 0, 0, 1), words)
        ahead = [DeviceLaunch(towers.ahead.kernel, (1, 1, 1), (1, 1, 1), towers.ahead.arrays, stage=block)]
    stages = [_stage(towers, found, stage, words) for stage in found.stages()]
    return Move(found.levels, (*before, *ahead, *stages))


def _stage(towers: TowerLaunches, torre: Torre, stage: Stage, words: int) -> DeviceLaunch:
    grid, block = (stage.towers, 1, 1), (towers.towers.threads, 1, 1)
    return DeviceLaunch(towers.stage.kernel, grid, block, towers.stage.arrays, stage=_words(torre, stage, words))


def _words(torre: Torre, stage: Stage, words: int) -> bytes:
    """The kernels' `Stage` argument."""
    sweep, (many, cells) = stage.sweep, torre.turn
    numbers = (stage.number, stage.first, torre.levels, sweep.low, sweep.low_lean, sweep.high, sweep.high_lean)
    return struct.pack("<10q", *numbers, many, cells, words)
