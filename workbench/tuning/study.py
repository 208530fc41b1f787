"""Study: a tuning that runs in the background, keeps all measurements, and can be resumed after a stop."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from workbench.arguments import explains_arguments
from workbench.errors import TuningError
from workbench.graph.display_hook import Bundle, bundle_of
from workbench.planning.choices import Choices
from workbench.planning.exchange import from_json
from workbench.tuning.background_run import BackgroundTask, State
from workbench.tuning.experiment import Experiment, ExperimentPlan, PreparedStudy
from workbench.tuning.following import follow, wait_for_writer
from workbench.tuning.history import History, read_history
from workbench.tuning.same_study import check_same
from workbench.tuning.trials import AT_START, Individual, Race

if TYPE_CHECKING:
    from workbench.run.replanning import Replan
    from workbench.run.simulation import Simulation
    from workbench.tuning.budget import Budget
    from workbench.tuning.ledger import Ledger
    from workbench.tuning.setup import Setup
    from workbench.tuning.validation import Validation


@dataclass(frozen=True, slots=True, repr=False)
class Best:
    """The best individual so far: its speed in cells per second, and the ratio to the start's speed."""

    individual: Individual
    score: float
    gain: float
    about: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        """One line: its score, gain and the first of what it changes of the start's choices; `individual` has all."""
        from workbench.tuning.study_text import best_text

        return best_text(self)

    def exam(self, **options: Any) -> Any:  # noqa: ANN401  # a PlansExam
        """Run the accuracy exam of hydrodynamics with this plan: its error curves and the default's (Paraiso, fig. 10).

        options: resolutions=, problems=, placements=, threads=. Raises StencilError for another program.
        """
        from workbench.tuning.afterwards import examine

        return examine(self, options)

    @property
    def choices(self) -> Choices:
        """Its choices. PlanError if another tuner measured it, whose parameters are no choices of a machine."""
        return from_json(self.individual.choices)

    @property
    def error(self) -> float | None:
        """The largest relative error of a result after the steps of the bound; None in a study without a bound."""
        return self.individual.outcome.error


@explains_arguments
class Study(BackgroundTask):
    """A tuning, in progress or finished. Any thread may use it.

    `individuals` are all candidates that were tried, in order; `best` is the fastest that passed all checks, or None.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        """Use `machine.tune` or `Study.attach`."""
        super().__init__("watching", f"The same call of tune goes on with {path}.")
        self.path = path
        self.about = dict(about)
        self.setup: Setup | None = None  # of one that this process began
        self._individuals: list[Individual] = []
        self._races: list[Race] = []
        self._plan: ExperimentPlan | None = None
        self._began = (0.0, 0)  # seconds by the monotonic clock, and how many individuals there were
        self._follower: threading.Thread | None = None
        self._reading = threading.Lock()

    @classmethod
    def attach(cls, path: str | Path) -> Study:
        """Watch the study in a file, also while another process runs it.

        `refresh` reads new results; listeners get them as they come. `state` is "watching" while a process writes.
        """
        from workbench.tuning.ledger import read_ledger  # loads sqlite3, which a view of a study does not need

        with read_ledger(Path(path)) as ledger:
            study = cls(ledger.path, ledger.about)
            study._read(ledger)
        return study

    @classmethod
    def from_file(
        cls, source: str | Path, path: str | Path, form: str = "t4", space: str | Path | None = None
    ) -> Study:
        """The results of another tuner as a study, kept at `path`.

        form: "kernel-tuner" (its cache), "t4" or "csv". space: the T1 file of the problem, which names the program and
        has the values of parameters that no result has. Raises TuningError with the fault of a file.
        """
        from workbench.tuning.tables import keep_table, table_in

        keep_table(table_in(source, form, space), Path(path))
        return cls.attach(path)

    def export(self, path: str | Path, form: str = "t4") -> Path:
        """Write all results for other programs, as far as their format can hold them; returns the path.

        form: "t4" (results), "t1" (the parameters and their values), "kernel-tuner" (its cache) or "csv".
        """
        from workbench.tuning.tables import write_study

        return write_study(self.about, self.individuals, form, Path(path))

    def refresh(self) -> Self:
        """Read the results that another process has added."""
        if self._thread is None:
            from workbench.tuning.ledger import read_ledger

            try:
                with self._reading, read_ledger(self.path) as ledger:
                    self._read(ledger)
            except TuningError:
                self._set("stopped")
                raise
        return self

    def wait(self, timeout: float | None = None) -> Self:
        """Wait for the end, whichever process runs it, or `timeout` seconds; an interrupt stops it if it runs here."""
        wait_for_writer(self, timeout)
        return super().wait(timeout)

    @property
    def individuals(self) -> tuple[Individual, ...]:
        """All candidates that were tried, in order."""
        with self._changed:
            return tuple(self._individuals)

    @property
    def races(self) -> tuple[Race, ...]:
        """The finals: the fastest individuals measured in turn, 30 times each or as often as the budget allows."""
        with self._changed:
            return tuple(self._races)

    @property
    def best(self) -> Best | None:
        """The winner of the last race, unless an individual that came later is faster; without a race the fastest."""
        return self.best_of(lambda one: True)

    def best_of(self, wanted: Callable[[Individual], bool]) -> Best | None:
        """The best among the wanted individuals, as `best` is among all; None if none of them has passed."""
        with self._changed:
            individuals, race = tuple(self._individuals), next((r for r in reversed(self._races) if r.samples), None)
        passed = [one for one in individuals if one.score is not None]
        first = next((i for i in passed if i.birth == AT_START), passed[0] if passed else None)
        passed = [one for one in passed if wanted(one)]
        if not passed or first is None:
            return None
        if race is None:
            one = max(passed, key=_score)
            return Best(one, _score(one), _gain(first, one), self.about)
        raced = [row for row in race.samples if row[0] in {one.number for one in passed}]
        winner = next((one for one in passed if one.number == replace(race, samples=tuple(raced)).winner), None)
        racing = [one for one in passed if one is winner or one.number > race.after] or passed
        scores = {one.number: _score_beside(winner, one) for one in racing}
        one = max(racing, key=lambda individual: scores[individual.number])
        return Best(one, scores[one.number], _gain(first, one), self.about)

    @property
    def watching(self) -> bool:
        """Whether another process writes to its file."""
        return self.state == "watching"

    @property
    def workers(self) -> int:
        """The largest number of candidates that this process builds at a time; 0 if it only watches."""
        return self._plan.workers if self._plan is not None and self.running else 0

    @property
    def budget(self) -> Budget | None:
        """What this process gave it; None if it only watches."""
        return None if self._plan is None else self._plan.budget

    @property
    def waits_for(self) -> int | None:
        """The process number of another study that is measuring, for which this study waits; else None."""
        from workbench.tuning.slot import measured_by_others  # loads fcntl, which a view of a study does not need

        return measured_by_others() if self.running and self.state == "running" else None

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the budget ends, with the final race; estimated if the budget is a number of evaluations.

        None if another process measures, if nothing is measured, or if the first evaluation has not ended yet.
        """
        if self._plan is None or not self.running or self._stop.is_set():
            return None
        begin, before = self._began
        elapsed, done = time.monotonic() - begin, len(self.individuals) - before
        found = self._plan.budget.seconds - elapsed
        if done:
            found = min(found, (self._plan.budget.evaluations - done) * elapsed / done)
        return max(0.0, found) if isfinite(found) else None

    def use(self, simulation: Simulation) -> Replan:
        """Switch a simulation of this program to the best choices so far, with its state to the bit.

        Returns what `simulation.replan` returns. TuningError if no candidate has passed, or if the simulation has
        another program or backend.
        """
        from workbench.tuning.afterwards import use

        return use(self, simulation)

    def history(self) -> History:
        """The ancestors of the best individuals, and how each was made. TuningError while no individual has passed."""
        return read_history(self.individuals, str(self.about.get("program", "")))

    def listen(self, listener: Callable[[Self], None]) -> None:
        """Call `listener` after each individual, race and change of state, in the study's thread."""
        super().listen(listener)
        if self._thread is None and self._follower is None and self.watching:
            self._follower = follow(self)

    def validate(
        self,
        shape: int | tuple[int, ...] | None = None,
        steps: int | None = None,
        *,
        threads: int | None = None,
        **values: object,
    ) -> Validation:
        """Measure start and best in turn at another shape, or over `steps` steps: how much of the gain remains.

        Values as in `simulate`; those of the study are used where they fit. Both must compute the same results.
        """
        from workbench.tuning.afterwards import validate

        return validate(self, shape, steps, values, threads)

    def refine(  # noqa: PLR0913  # keywords only; each has a default
        self,
        shape: int | tuple[int, ...] | None = None,
        *,
        budget: int | str = "10 min",
        strategy: str = "portfolio",
        top: int = 10,
        seed: int = 0,
        path: str | Path | None = None,
        only: Sequence[str] | None = None,
        fixed: Sequence[str] = (),
        threads: int | None = None,
        births: Mapping[str, float] | None = None,
        **values: object,
    ) -> Study:
        """Continue from the `top` fastest, at another shape or in part of the space; keywords as in `machine.tune`.

        Without a change its own file is continued, and nothing is measured again. An attached study needs arrays.
        """
        from workbench.tuning.afterwards import Further, prepare_further

        further = Further(budget, strategy, top, seed, path, only, tuple(fixed), threads, births)
        return begin_prepared(prepare_further(self, shape, values, further))

    def __repr__(self) -> str:
        """One line: state, how many individuals, the best score, the time that is left."""
        from workbench.tuning.study_text import study_text

        return study_text(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        """A live view in a notebook, a picture and words elsewhere."""
        return bundle_of(self)

    def _read(self, ledger: Ledger) -> None:
        """Take what is new in a file that another process writes."""
        from workbench.tuning.ledger import is_written

        written = is_written(ledger.path)  # before the rows: what it says of itself last is there then
        for one in ledger.individuals(len(self._individuals)):
            self._take(one)
        for race in ledger.races(len(self._races)):
            self._take(race)
        said = ledger.state
        over: State = "done" if said == "done" else "failed" if said == "failed" else "stopped"
        state: State = "watching" if written else over
        if state != self.state:
            self.state = state
            self._tell()

    def _take(self, new: Individual | Race) -> None:
        with self._changed:
            if isinstance(new, Race):
                self._races.append(new)
                self._individuals = new.retold(self._individuals)
            else:
                self._individuals.append(new)
            self._changed.notify_all()
        self._tell()

    def _begin(self, plan: ExperimentPlan, ledger: Ledger) -> None:
        """Run in a thread of its own, which closes the ledger."""
        self._read(ledger)
        self.state = "running"
        self._plan, self._began = plan, (plan.begun, len(self._individuals))
        self._start(lambda: self._run(plan, ledger), "study")

    def _run(self, plan: ExperimentPlan, ledger: Ledger) -> State:
        with ledger:
            try:
                self._experiment(plan, ledger)
            except BaseException:
                ledger.say("failed")
                raise
            over: State = "stopped" if self._stop.is_set() else "done"
            ledger.say(over)
        return over

    def _experiment(self, plan: ExperimentPlan, ledger: Ledger) -> None:
        ledger.say("running")
        with closing(plan.evaluator()) as evaluator:
            Experiment(plan, ledger, evaluator, self._take, self._going).run()

    def _going(self, idle: bool) -> bool:
        """Whether more may begin; waits for `resume` while nothing is under way."""
        if idle:
            self._go.wait()
        return self._go.is_set() and not self._stop.is_set()


def begin_study(
    path: Path, plan: ExperimentPlan, about: Mapping[str, Any], listeners: Sequence[Callable[[Study], None]] = ()
) -> Study:
    """Open the ledger, check that it is of this program and place, and begin. TuningError if it is of another one.

    listeners: told of everything from the beginning on, as by `Study.listen`.
    """
    from workbench.tuning.ledger import open_ledger

    ledger = open_ledger(path)
    try:
        parameters = plan.candidates.space.parameters
        described = {
            "tunables": [row.name for row in parameters],
            "labels": [row.label or row.name for row in parameters],
            "values": [list(row.values) for row in parameters],
            **about,
        }
        ledger.describe(described)
        check_same(path, ledger.about, described)
        study = Study(ledger.path, ledger.about)
        study._listeners += listeners
    except BaseException:
        ledger.close()
        raise
    study._begin(plan, ledger)
    return study


def begin_prepared(prepared: PreparedStudy) -> Study:
    """Begin what `prepare_study` or `prepare_further` returned; returns at once."""
    try:
        study = begin_study(prepared.path, prepared.plan, prepared.about, (prepared.listener,))
    except BaseException:
        prepared.remove()
        raise
    study.setup = prepared.setup
    weakref.finalize(study, prepared.remove)
    return study


def _gain(first: Individual, one: Individual) -> float:
    """Of scores of the same minutes: of a race, if both were in one, else of the first measurements."""
    if bool(first.finals) == bool(one.finals):
        return (one.final_score or 0.0) / (first.final_score or 1.0)
    return (one.score or 0.0) / (first.score or 1.0)


def _score(one: Individual) -> float:
    return one.final_score or 0.0


def _score_beside(winner: Individual | None, one: Individual) -> float:
    """The score of the winner of a race, or one that is told in the same minutes' measure where both had a pair."""
    if winner is None or one is winner or not (winner.paired and one.paired and winner.score and one.score):
        return _score(one)
    return _score(winner) * one.score / winner.score
