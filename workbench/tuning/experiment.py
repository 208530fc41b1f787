"""Experiment: a study at work: candidates are measured in places, what they gave is kept, finalists race at the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from workbench.errors import TuningError
from workbench.tuning.budget import Budget, that_fit
from workbench.tuning.loop_times import LoopTimes
from workbench.tuning.race import MUCH, ROUNDS, finalists, is_steady
from workbench.tuning.search import Begun, BrokenOffError, Search, Threads, Told, drive
from workbench.tuning.search_space import Costs, Point, SearchSpace
from workbench.tuning.setup import Setup
from workbench.tuning.strategies.paraiso import Birth
from workbench.tuning.strategies.registry import make_strategy
from workbench.tuning.trials import AT_START, TIMED, Individual, Outcome, Race

if TYPE_CHECKING:
    from workbench.tuning.ledger import Ledger

_OF_AN_EVALUATION = 0.25  # the part of it that loads and opens a candidate, as building and comparing take more
_TIMEOUT_FACTOR = 3.0  # times the longest evaluation that passed


class Candidates(Protocol):
    """What may be tried: points of a space, and what each stands for."""

    @property
    def space(self) -> SearchSpace:
        """All points."""

    @property
    def start(self) -> Point:
        """The point that gains are counted from."""

    def text(self, point: Point) -> str:
        """What an evaluator is given."""

    def changes(self, point: Point) -> dict[str, str]:
        """What a point sets that the start does not, by name."""

    def costs(self, point: Point, loops: LoopTimes) -> Costs:
        """What each part of the space costs, by the seconds of the loops of a point that passed."""


class Evaluator(Protocol):
    """Measures candidates, given as texts. `evaluate` is called in as many threads as the plan has workers."""

    def evaluate(
        self, text: str, *, against: str, best: float, timeout: float, within: float, known: Callable[[str], bool]
    ) -> tuple[Outcome | None, str]:
        """The outcome and the phenotype; None if `known` says that the phenotype is. `timeout`: seconds.

        against: the text of a candidate that passed, to be measured in turn with this one where there is room for both;
        "" for none. best: seconds of the fastest so far, over those of `against` where that is given. After `within`
        seconds it is broken off as at its timeout, whatever it waits for.
        """

    def race(self, texts: Sequence[str], *, rounds: int, timeout: float, within: float) -> list[tuple[float, ...]]:
        """Seconds a step of each, in turn: so many rounds, or those that fit into `within` seconds.

        TuningError if that breaks off.
        """

    def close(self) -> None:
        """End whatever still runs."""


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """What a study does.

    evaluator: opens what measures. cells: of a step, for scores. timeout_floor: seconds for one evaluation (build,
    comparison, measurements); more if one that passed took more than a third of it. births: the mix of "paraiso", if it
    is not the usual one. begun: when the budget began, by the monotonic clock.
    """

    candidates: Candidates
    evaluator: Callable[[], Evaluator]
    cells: int
    strategy: str
    budget: Budget
    seed: int = 0
    start: tuple[Point, ...] = ()
    workers: int = 1
    timeout_floor: float = 60.0
    births: Mapping[Birth, float] | None = None
    begun: float = field(default_factory=time.monotonic)

    @property
    def starts(self) -> tuple[Point, ...]:
        """The points that are measured first."""
        return (self.candidates.start, *self.start)


@dataclass(frozen=True, slots=True)
class PreparedStudy:
    """All that a study begins with: the path of its file, what it does, and what the file says of it.

    listener: called with the study after every change. remove: deletes the folder of `setup`, when none needs the
    study any more.
    """

    path: Path
    plan: ExperimentPlan
    about: Mapping[str, Any]
    setup: Setup
    listener: Callable[[Any], None]
    remove: Callable[[], None]


@dataclass(slots=True)
class Experiment:
    """One run of a plan. `heard` is called with what is new, after it is in the ledger; `going` may block.

    going(idle): whether more may begin; idle: nothing is under way. A part of a budget in seconds is kept for the
    race; what is under way then is broken off and counts nothing, and a later run begins it again. The first candidate
    of a ledger is measured to its end, however short the budget is, so that a study always tells of its start.
    """

    plan: ExperimentPlan
    ledger: Ledger
    evaluator: Evaluator
    heard: Callable[[Individual | Race], None]
    going: Callable[[bool], bool]
    _individuals: list[Individual] = field(init=False)
    _numbers: dict[Point, int] = field(init=False)
    _measured: dict[str, int] = field(init=False)  # numbers by phenotype
    _measuring: set[str] = field(default_factory=set)  # phenotypes that another place is at
    _fastest: float = inf
    _beside: Individual | None = None  # with which candidates take turns
    _steadier: Individual | None = None  # with which they did before
    _longest: float = 0.0
    _taken: list[float] = field(default_factory=list)  # seconds of each evaluation of this run
    _base: int = 0
    _broken: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self._individuals = self.ledger.individuals()
        self._numbers = {one.point: one.number for one in self._individuals}
        self._measured = {one.outcome.phenotype: one.number for one in self._individuals if _is_measured(one)}
        for one in self._individuals:
            self._compare(one)

    def run(self) -> None:
        """Until the budget or the strategy ends; then a race, unless `going` has an end of everything."""
        plan, before = self.plan, len(self._individuals)
        for one in self._individuals:
            _need_values(one)
        search = self._search()
        places: Threads[_Result] = Threads(self._evaluated, plan.workers)

        def may_begin(idle: bool) -> bool:
            new = len(self._individuals) - before + places.under_way
            in_time = self._before_race() > self._usual() or (idle and not self._individuals)
            return self.going(idle) and new < plan.budget.evaluations and in_time

        try:
            drive(search, places, self._kept, may_begin)
        except BaseException:
            self._break()
            raise
        finally:
            places.close()
        if self.going(True):
            self._race()

    def _search(self) -> Search:
        """The strategy in the state in which it was when the ledger's last individual was added.

        A search that is described as the last one was goes on; another one begins with all scores that are there.
        """
        plan = self.plan
        tree = plan.candidates.space.tree
        outlook = plan.candidates.space.outlook
        described = [plan.strategy, plan.seed, plan.starts, *([] if tree is None else [str(tree)])]
        described += [] if outlook is None else ["outlook"]  # by which other points are measured than without one
        described += [] if plan.candidates.space.launches is None else ["launches"]
        described += [] if plan.births is None else [plan.births]
        self._base = self.ledger.search_base(described, len(self._individuals))
        known = {one.point: one.score for one in self._individuals[: self._base]}
        costs = {one.point: self._costs(one.point, one.outcome) for one in self._individuals}
        strategy = make_strategy(plan.strategy, plan.candidates.space, plan.starts, plan.seed, plan.births)
        search = Search(strategy, known, costs, outlook)
        search.go_on(
            Told(one.point, one.score, one.asked, one.after, costs[one.point])
            for one in self._individuals[self._base :]
        )
        return search

    def _costs(self, point: Point, outcome: Outcome) -> Costs:
        return self.plan.candidates.costs(point, outcome.loops) if outcome.status == "success" else ()

    def _left(self) -> float:
        """Seconds of the budget."""
        return self.plan.begun + self.plan.budget.seconds - time.monotonic()

    def _before_race(self) -> float:
        """Seconds of the budget without those that are kept for a race."""
        seconds = self._seconds()
        steps = [seconds[number] for number in self._finalists(seconds)]
        return self._left() - self.plan.budget.race_seconds(steps, ROUNDS, self._opening())

    def _usual(self) -> float:
        """Seconds of an evaluation, as a mean."""
        return sum(self._taken) / len(self._taken) if self._taken else 0.0

    def _opening(self) -> float:
        """Seconds in which a finalist is loaded and opened, at most."""
        return _OF_AN_EVALUATION * self._usual()

    def _seconds(self) -> dict[int, float]:
        """Of a step, by the numbers of the individuals that were measured and passed."""
        with self._changed:
            measured = [one for one in self._individuals if not one.same_as]
        return {one.number: found for one in measured if (found := one.first_seconds) is not None}

    def _finalists(self, seconds: Mapping[int, float]) -> tuple[int, ...]:
        """Those of these that race; `seconds` as `_seconds` has them."""
        known = {number: self._individuals[number - 1] for number in seconds}
        confirmed = {number: one.confirmed or inf for number, one in known.items()}
        hoped = {number: one.hoped or inf for number, one in known.items()}
        return finalists(seconds, self._numbers.get(self.plan.candidates.start), confirmed, hoped)

    def _break(self) -> None:
        """No place waits any longer for what another one measures."""
        with self._changed:
            self._broken = True
            self._changed.notify_all()

    def _evaluated(self, begun: Begun) -> _Result:
        """In a thread of its own: the outcome; None with a phenotype that is measured or will be.

        BrokenOffError if the budget ended before.
        """
        begin = time.monotonic()
        with self._changed:
            first = begun.asked == 1 and not self._individuals
            best, timeout = self._fastest, max(self.plan.timeout_floor, _TIMEOUT_FACTOR * self._longest)
            beside = self._beside
        against = ""
        if beside is not None and beside.first_seconds:
            against, best = beside.choices, best / beside.first_seconds
        within = inf if first else self._before_race()
        text = self.plan.candidates.text(begun.point)
        outcome, phenotype = self.evaluator.evaluate(
            text, against=against, best=best, timeout=timeout, within=within, known=self._is_known
        )
        if outcome is not None and outcome.status == "timeout" and time.monotonic() >= begin + within:
            self._break()
            raise BrokenOffError
        with self._changed:
            while outcome is None and phenotype not in self._measured and not self._broken:
                self._changed.wait()
            if outcome is None and phenotype not in self._measured:
                raise BrokenOffError
            self._taken.append(time.monotonic() - begin)
        return outcome, phenotype, text, beside if outcome is not None and outcome.beside else None

    def _is_known(self, phenotype: str) -> bool:
        """Whether another place measures this phenotype or has done so; if not, the caller does."""
        with self._changed:
            known = phenotype in self._measured or phenotype in self._measuring
            self._measuring.add(phenotype)
            return known

    def _kept(self, begun: Begun, result: _Result) -> tuple[float | None, Costs]:
        """Add an individual, measured or with the measurement of its twin of this phenotype; its score and costs."""
        outcome, phenotype, text, beside = result
        plan, same_as, against, paired = self.plan, 0, 0, 0.0
        if outcome is None:
            same_as = self._measured[phenotype]
            twin = self._individuals[same_as - 1]
            against, paired = twin.against, twin.paired
            outcome = replace(twin.outcome, build_seconds=0.0, run_seconds=0.0)
        elif phenotype:  # which a child that crashed could not put into its outcome
            outcome = replace(outcome, phenotype=phenotype)
        if beside is not None:
            against = beside.number
            paired = (outcome.ratio or 0.0) * (beside.first_seconds or 0.0)
        seconds = paired or outcome.seconds
        score = None if seconds is None else plan.cells / seconds
        changes = ", ".join(f"{name} = {value}" for name, value in plan.candidates.changes(begun.point).items())
        birth = AT_START if begun.point == plan.candidates.start else begun.origin.birth
        one = Individual(
            number=len(self._individuals) + 1,
            point=begun.point,
            choices=text,
            changes=changes,
            strategy=begun.origin.strategy or plan.strategy,
            birth=birth,
            parents=tuple(self._numbers[parent] for parent in begun.origin.parents),
            outcome=outcome,
            score=score,
            same_as=same_as,
            told=time.time(),
            asked=begun.asked,
            after=begun.after,
            base=self._base,
            against=against,
            paired=paired,
        )
        self.ledger.add(one)
        with self._changed:
            self._individuals.append(one)
            self._numbers[one.point] = one.number
            self._compare(one)
            if outcome.status == "success":
                self._longest = max(self._longest, outcome.build_seconds + outcome.run_seconds)
            if _is_measured(one):
                self._measured[phenotype] = one.number
                self._measuring.discard(phenotype)
            self._changed.notify_all()
        self.heard(one)
        _need_values(one)
        return score, self._costs(begun.point, outcome)

    def _compare(self, new: Individual) -> None:
        """Whether an individual is the fastest, and what later ones are measured beside.

        The start, or the first that passed, until one is much faster: a chain of champions, each by luck a little
        better than it is, would make each later one look better still. One that is not steady gives way to the one
        before; the start has none before it and gives way to the candidate at hand.
        """
        self._fastest = min(self._fastest, new.confirmed or inf)
        if self._beside is not None and self._beside.number == new.against and not is_steady(new.outcome.beside):
            self._beside = self._steadier
        before = inf if self._beside is None else self._beside.first_seconds or inf
        if new.first_seconds and MUCH * new.first_seconds < before:
            self._beside, self._steadier = new, self._beside

    def _race(self) -> None:
        """Let the fastest individuals take turns, unless nothing has been added since they did."""
        races = self.ledger.races()
        seconds, left = self._seconds(), self._left()
        numbers = self._finalists(seconds)
        numbers = numbers[: that_fit([seconds[number] for number in numbers], left, self._opening())]
        if not numbers or (races and races[-1].after == len(self._individuals)):
            return
        samples: list[tuple[float, ...]] = []
        tail = ""
        try:
            timeout = len(numbers) * max(self.plan.timeout_floor, _TIMEOUT_FACTOR * self._longest)
            texts = [self._individuals[number - 1].choices for number in numbers]
            samples = self.evaluator.race(texts, rounds=ROUNDS, timeout=timeout, within=left)
        except TuningError as error:  # it takes nothing from what is known
            tail = str(error)
        rows = tuple(sorted(zip(numbers, samples, strict=False)))
        race = Race(len(races) + 1, len(self._individuals), rows, tail, time.time())
        self.ledger.add_race(race)
        self.heard(race)


_Result = tuple[Outcome | None, str, str, Individual | None]
"""The outcome, its phenotype, the candidate's text, and who was measured beside it."""


def _is_measured(one: Individual) -> bool:
    return bool(one.outcome.phenotype) and not one.same_as


def _need_values(one: Individual) -> None:
    """Raise TuningError if the start computes what is right, and its values tell nothing: so would all candidates'."""
    outcome = one.outcome
    if one.birth == AT_START and outcome.status == "correctness" and outcome.tail.endswith(TIMED):
        raise TuningError(
            f"nothing can be tuned with these values: {outcome.tail}",
            advice="Give a state that goes on changing and stays finite, such as tune(u=array).",
        )
