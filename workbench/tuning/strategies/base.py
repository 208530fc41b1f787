"""Base: what every strategy is, and how one that thinks in batches becomes one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Protocol

from workbench.tuning.search_space import Costs, Point

Scores = Mapping[Point, float | None]
Known = dict[Point, float | None]
Batches = Generator[tuple[Point, ...], Scores, None]
"""Yields points that need no score of each other; is sent the score of each (greater is better, None failed).

What is sent may have other points, too, which another search has measured.
"""


@dataclass(frozen=True, slots=True)
class PointOrigin:
    """Where a point comes from: the kind of its birth, the points it was made of, and which search proposed it.

    `strategy`: a name of the registry where several searches share the work, else "".
    """

    birth: str = "proposed"
    parents: tuple[Point, ...] = ()
    strategy: str = ""


class Strategy(Protocol):
    """Proposes points; asynchronous: `ask` may be called while scores of earlier points are still missing.

    A strategy is a function of its seed and of the calls so far, so that a run is repeated or gone on with by repeating
    its calls. It may propose a point again; the search that drives it answers from memory.
    """

    def ask(self) -> Point | None:
        """The next point to measure; None: nothing until another score is told, or for ever if none is missing."""

    def tell(self, point: Point, score: float | None, costs: Costs = ()) -> None:
        """The score of a point that was asked for; greater is better, None: it failed. costs: of the space's parts."""

    def origin(self, point: Point) -> PointOrigin:
        """Where a point that was asked for comes from."""


class BatchStrategy:
    """A strategy from a generator of batches: the next batch is made when all scores of this one are told."""

    def __init__(self, batches: Batches, note: Callable[[Point, Costs], None] = lambda point, costs: None) -> None:
        """note: hears the costs of parts of each point before the batches are sent its score."""
        self._batches = batches
        self._note = note
        self._waiting: deque[Point] = deque()
        self._missing: set[Point] = set()
        self._scores: Known = {}
        self._advance(first=True)

    def ask(self) -> Point | None:
        """The next point of the batch; None while scores of it are missing."""
        return self._waiting.popleft() if self._waiting else None

    def tell(self, point: Point, score: float | None, costs: Costs = ()) -> None:
        """The score of a point; the search learns it with those of its batch."""
        self._note(point, costs)
        self._scores[point] = score
        if point not in self._missing:
            return
        self._missing.remove(point)
        if not self._missing:
            self._advance()

    def origin(self, point: Point) -> PointOrigin:
        """Batches say nothing of where a point comes from."""
        return PointOrigin()

    def _advance(self, *, first: bool = False) -> None:
        try:
            batch = next(self._batches) if first else self._batches.send(self._scores)
        except StopIteration:
            return
        self._scores = {}
        self._waiting.extend(dict.fromkeys(batch))
        self._missing.update(batch)
