"""Search: a strategy with its memory, and the loop that gives it places in which to measure.

Everything that drives a strategy does so here: studies, replays of landscapes, and the tuning of any program.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Generic, Protocol, TypeVar

from workbench.tuning.search_space import Costs, Outlook, Point
from workbench.tuning.strategies.base import Known, PointOrigin, Strategy

MOST_REPEATS = 20_000
"""Proposals in a row of points that are known or under way, after which a strategy counts as having no other."""

_ASKED = 100  # repeats after which a search asks whether time is left


@dataclass(frozen=True, slots=True)
class Begun:
    """A point to be measured: its number, how many scores the strategy knew then, where it comes from."""

    point: Point
    asked: int
    after: int
    origin: PointOrigin


@dataclass(frozen=True, slots=True)
class Told:
    """One measurement of an earlier run: `asked` and `after` as in `Begun`, `costs` of the parts of the space."""

    point: Point
    score: float | None
    asked: int
    after: int
    costs: Costs = ()


class Search:
    """A strategy with its memory: what is known is answered at once, what is under way is not begun again."""

    def __init__(
        self,
        strategy: Strategy,
        known: Mapping[Point, float | None] | None = None,
        costs: Mapping[Point, Costs] | None = None,
        outlook: Outlook | None = None,
    ) -> None:
        """known: scores that were there before the strategy began; costs: of the parts of the space, of such points.

        outlook: says which points are one program, of which one is measured.
        """
        self._strategy = strategy
        self._outlook = outlook
        self._twins: dict[Hashable, Point] = {}  # the first point of each key that was told
        self._costs = dict(costs or {})
        self._known: Known = dict(known or {})
        self._under_way: dict[Point, Begun] = {}
        self._again: list[Begun] = []
        self._asked = 0
        self._told = 0
        for point in self._known:
            self._note(point)

    def begin(self, going: Callable[[], bool] = lambda: True) -> Begun | None:
        """The next point to measure; None: nothing until another `end`, or for ever if nothing is under way.

        going: asked now and then whether the search for a new point may go on; None as well if it may not.
        """
        if self._again:
            return self._again.pop(0)
        for repeats in range(MOST_REPEATS):
            if repeats % _ASKED == _ASKED - 1 and not going():
                return None
            point = self._strategy.ask()
            if point is None:
                return None
            if point in self._known:
                self._strategy.tell(point, self._known[point], self._costs.get(point, ()))
            elif (twin := self._twin(point)) is not None:
                self._strategy.tell(point, self._known[twin], self._costs.get(twin, ()))
            elif point not in self._under_way:
                self._asked += 1
                begun = Begun(point, self._asked, self._told, self._measured(self._strategy.origin(point)))
                self._under_way[point] = begun
                return begun
        return None

    def end(self, begun: Begun, score: float | None, costs: Costs = ()) -> None:
        """The score of a point that was begun, None if it failed, and the costs of the space's parts."""
        self._tell(begun.point, score, costs)

    def go_on(self, history: Iterable[Told]) -> None:
        """Repeat the calls of an earlier run, so that the strategy is in the state that it was in.

        history: in the order of the scores. Points that were begun and have no score there are begun again, first.
        How many scores were told when one of these was begun is in no row; as many as if all places were busy then.
        """
        rows = list(history)
        places = max((row.asked - row.after for row in rows), default=1)
        told = 0
        for row in sorted(rows, key=lambda row: row.asked):
            while row.point not in self._under_way and row.point not in self._known and self._asked < row.asked:
                following = self._asked + 1
                told = self._told_until(rows, told, row.after if following == row.asked else following - places)
                if self.begin() is None:
                    break
            told = self._told_until(rows, told, row.after)
        for row in rows[told:]:
            self._tell(row.point, row.score, row.costs)
        self._again = list(self._under_way.values())

    def _told_until(self, rows: list[Told], told: int, count: int) -> int:
        """Tell these scores up to so many, of which some are told; how many are then."""
        until = max(told, min(count, len(rows)))
        for row in rows[told:until]:
            self._tell(row.point, row.score, row.costs)
        return until

    def _twin(self, point: Point) -> Point | None:
        """A point that was told and is the same program."""
        return None if self._outlook is None else self._twins.get(self._outlook.key(point))

    def _measured(self, origin: PointOrigin) -> PointOrigin:
        """The origin with the parents that were measured, of which those given may be other points."""
        parents = (one if one in self._known else self._twin(one) or one for one in origin.parents)
        return replace(origin, parents=tuple(parents))

    def _note(self, point: Point) -> None:
        if self._outlook is not None:
            self._twins.setdefault(self._outlook.key(point), point)

    def _tell(self, point: Point, score: float | None, costs: Costs) -> None:
        self._under_way.pop(point, None)
        self._known[point] = score
        self._costs[point] = costs
        self._note(point)
        self._told += 1
        self._strategy.tell(point, score, costs)


Result = TypeVar("Result")
Out = TypeVar("Out", covariant=True)


class BrokenOffError(Exception):
    """Raised by a measurement that had to end before it told anything: its point stays one that was begun."""


class Places(Protocol[Out]):
    """Where points are measured, some at a time. Used by one thread."""

    @property
    def count(self) -> int:
        """How many points can be measured at the same time."""

    @property
    def under_way(self) -> int:
        """How many are."""

    def begin(self, begun: Begun) -> None:
        """Begin to measure a point."""

    def finished(self) -> tuple[Begun, Out]:
        """Wait for the next point that is done; raises what its measurement raised."""


def drive(
    search: Search,
    places: Places[Result],
    take: Callable[[Begun, Result], tuple[float | None, Costs]],
    may_begin: Callable[[bool], bool] = lambda idle: True,
) -> None:
    """Measure until the strategy has no more points, or no more may begin and none is under way.

    take: keeps a result and returns its score and the costs of the space's parts. may_begin: is told whether nothing
    is under way; may block then.
    """
    while True:
        while places.under_way < places.count and may_begin(not places.under_way):
            begun = search.begin(lambda: may_begin(not places.under_way))
            if begun is None:
                break
            places.begin(begun)
        if not places.under_way:
            return
        with contextlib.suppress(BrokenOffError):
            ended, result = places.finished()
            search.end(ended, *take(ended, result))


class Threads(Generic[Result]):
    """Places that are threads: so many calls of `work` at a time. `close` waits for those that have begun.

    The end of a program does not wait for them: a script that ends or is interrupted leaves what is under way. A
    thread stays until `close`, as processes that it has started may end with it (`tuning/worker`).
    """

    def __init__(self, work: Callable[[Begun], Result], count: int) -> None:
        self._work = work
        self._begun: dict[Future[Result], Begun] = {}
        self._given: SimpleQueue[tuple[Future[Result], Begun] | None] = SimpleQueue()
        self._done: SimpleQueue[Future[Result]] = SimpleQueue()
        self._threads = [threading.Thread(target=self._measure, name="measure", daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    @property
    def count(self) -> int:
        """How many points can be measured at the same time."""
        return len(self._threads)

    @property
    def under_way(self) -> int:
        """How many are."""
        return len(self._begun)

    def begin(self, begun: Begun) -> None:
        """Begin to measure a point in a thread."""
        future: Future[Result] = Future()
        self._begun[future] = begun
        self._given.put((future, begun))

    def finished(self) -> tuple[Begun, Result]:
        """Wait for the next point that is done; raises what its measurement raised."""
        future = self._done.get()
        return self._begun.pop(future), future.result()

    def close(self) -> None:
        """Wait for what is under way and end the threads."""
        for _ in self._threads:
            self._given.put(None)
        for thread in self._threads:
            thread.join()

    def _measure(self) -> None:
        while (given := self._given.get()) is not None:
            future, begun = given
            try:
                future.set_result(self._work(begun))
            except BaseException as error:  # `finished` raises it in the thread that asks
                future.set_exception(error)
            self._done.put(future)
