"""Schedule: one way in which steps follow each other, as a value that says all that other rooms ask of it.

`workbench.planning.schedules.table` has them all. Other rooms know none by its name, except what generates its code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from workbench.planning.choices import ScheduleName, TilingChoices
from workbench.planning.cost import HostFigures
from workbench.planning.kernel_plan import Blocking, KernelPlan
from workbench.planning.schedules.locality import CACHE_BYTES, FIRST_CACHE_BYTES

Extents = tuple[int, ...]
SpreadOver = Literal["threads", "blocks", "any"]
"""What loops of a backend are spread over for which a schedule or a choice is; "any" for all."""


@dataclass(frozen=True, slots=True)
class TileHost:
    """What sizes of tiles follow from beside plan and extents; as it is, of a machine of which nothing is known.

    threads: that share the grid. first_cache_bytes: of a core's first cache for data. The others as in
    `workbench.planning.schedules.locality.tile_sizes`.
    """

    threads: int = 1
    cache_bytes: int = CACHE_BYTES
    shared_bytes: int = 0
    shared_is_near: bool = False
    first_cache_bytes: int = FIRST_CACHE_BYTES


@dataclass(frozen=True, slots=True)
class TunedSize:
    """A number of `TilingChoices` that a schedule reads, and what is worth trying; 0 is chosen from extents and caches.

    axis: of a member with a number for each axis; -1 for others.
    """

    member: str
    sensible: tuple[int, ...]
    axis: int = -1


def _as_told(choices: TilingChoices, extents: Extents) -> TilingChoices:
    del extents
    return choices


def _no_sizes(kernel: KernelPlan, extents: Extents, choices: TilingChoices, host: TileHost) -> None:
    del kernel, extents, choices, host


def _no_text(kernel: KernelPlan, extents: Extents, choices: TilingChoices | None) -> str:
    del kernel, extents, choices
    return ""


def _no_lines(kernel: KernelPlan, extents: Extents, choices: TilingChoices) -> Iterable[str]:
    del kernel, extents, choices
    return ()


def _nothing_expected(
    kernel: KernelPlan, extents: Extents, choices: TilingChoices, host: TileHost, figures: Callable[[], HostFigures]
) -> Iterable[str]:
    del kernel, extents, choices, host, figures
    return ()


def _nothing_tuned(kernel: KernelPlan, longest: int) -> tuple[TunedSize, ...]:
    del kernel, longest
    return ()


@dataclass(frozen=True, slots=True)
class Schedule:
    """One way in which steps follow each other; what is left out is that of steps one after the other.

    name: as people write it. runs_on: what backends that have it spread loops over. is_automatic: whether "auto" may
    take it where it gains. The rest are functions of the plan of one kernel, of its choices and of extents:

    - block(kernel, axes of the grid, choices): how its plain steps run together; PlanError, with the line of the cell
      where there is one, says why they cannot. None: they do not.
    - told(choices, extents): with what a grid alone decides before a plan is made.
    - decided(kernel, extents, choices, host): with all sizes that a run has; None where there is no room for it.
    - about(kernel, extents, decided choices or None): one line about a run.
    - lines(kernel, extents, choices): what the text of a plan says.
    - expected(kernel, extents, choices, host, figures): lines on what it moves, and how fast it should be by figures of
      the host, which are measured when they are asked for.
    - tuned(kernel, cells of the last axis or 0): the sizes that a tuner may try.
    """

    name: ScheduleName
    runs_on: SpreadOver
    block: Callable[[KernelPlan, int, TilingChoices], Blocking] | None = None
    is_automatic: bool = False
    told: Callable[[TilingChoices, Extents], TilingChoices] = _as_told
    decided: Callable[[KernelPlan, Extents, TilingChoices, TileHost], TilingChoices | None] = _no_sizes
    about: Callable[[KernelPlan, Extents, TilingChoices | None], str] = _no_text
    lines: Callable[[KernelPlan, Extents, TilingChoices], Iterable[str]] = _no_lines
    expected: Callable[[KernelPlan, Extents, TilingChoices, TileHost, Callable[[], HostFigures]], Iterable[str]] = (
        _nothing_expected
    )
    tuned: Callable[[KernelPlan, int], tuple[TunedSize, ...]] = _nothing_tuned

    @property
    def is_blocked(self) -> bool:
        """Whether several steps run together."""
        return self.block is not None
