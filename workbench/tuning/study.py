"""Study: a tuning that runs in the background, keeps everything it measures, and goes on where it was stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from workbench.errors import TuningError
from workbench.graph.shown import Bundle, bundle_of
from workbench.planning.choices import Choices
from workbench.planning.exchange import from_json, to_json
from workbench.tuning.budget import Budget
from workbench.tuning.evaluation import Setup
from workbench.tuning.machine_space import MachineSpace
from workbench.tuning.sandbox import Sandbox
from workbench.tuning.space import Point
from workbench.tuning.strategies.base import Origin
from workbench.tuning.strategies.registry import make_strategy
from workbench.tuning.trials import Individual, Outcome

if TYPE_CHECKING:
    from workbench.tuning.afterwards import Validation
    from workbench.tuning.ledger import Ledger

State = Literal["running", "paused", "done", "stopped", "failed", "watching"]
_TIMEOUT_FACTOR = 3.0  # times the longest evaluation that passed
_MOST_REPEATS = 20_000  # proposals in a row of points that are known, until a search has ended
_AT_START = "start"


@dataclass(frozen=True, slots=True)
class Best:
    """The best individual so far: its choices, cells a second, and that over the start's."""

    individual: Individual
    choices: Choices
    score: float
    gain: float
    about: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def exam(self, **options: Any) -> Any:  # noqa: ANN401  # a PlansExam
        """Take the accuracy exam of hydrodynamics by this plan: its error curves beside the default's (fig. 10).

        options: resolutions=, problems=, placements=, threads=. Raises StencilError for another program.
        """
        from workbench.tuning.afterwards import examine

        return examine(self, options)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a study does.

    samples: measurements of a candidate. memory_bytes: of address space for one, 0 for no bound. timeout_floor: seconds
    for one evaluation (build, comparison, measurements); more if one that passed took more than a third of it.
    """

    setup: Setup
    space: MachineSpace
    strategy: str
    budget: Budget
    seed: int = 0
    start: tuple[Point, ...] = ()
    samples: int = 7
    memory_bytes: int = 0
    timeout_floor: float = 60.0


class Study:
    """A tuning under way, or one that is looked at. Any thread may use it.

    `individuals` are all that were tried, in order; `best` the fastest that passed, None until there is one.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        """Use `machine.tune` or `Study.attach`."""
        self.path = path
        self.about = dict(about)
        self.state: State = "watching"
        self.error: BaseException | None = None
        self.setup: Setup | None = None  # of one that this process began
        self._individuals: list[Individual] = []
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._go = threading.Event()
        self._go.set()
        self._thread: threading.Thread | None = None
        self._began = time.monotonic()
        self._listeners: list[Callable[[Study], None]] = []

    @classmethod
    def attach(cls, path: str | Path) -> Study:
        """Look at the study in a file, also while another process runs it; `refresh` reads what is new."""
        from workbench.tuning.ledger import read_ledger  # loads sqlite3, which a view of a study does not need

        with read_ledger(Path(path)) as ledger:
            study = cls(ledger.path, ledger.about)
            study._individuals = ledger.individuals()
        return study

    def refresh(self) -> Self:
        """Read what another process has added."""
        if self._thread is None:
            from workbench.tuning.ledger import read_ledger

            with read_ledger(self.path) as ledger:
                self._take(ledger.individuals(len(self._individuals)))
        return self

    @property
    def individuals(self) -> tuple[Individual, ...]:
        """All that were tried, in order."""
        with self._changed:
            return tuple(self._individuals)

    @property
    def best(self) -> Best | None:
        """The individual with the highest score."""
        passed = [one for one in self.individuals if one.score is not None]
        if not passed:
            return None
        one = max(passed, key=lambda individual: individual.score or 0.0)
        first = next((i.score for i in passed if i.birth == _AT_START), None) or passed[0].score or 1.0
        return Best(one, from_json(one.choices), one.score or 0.0, (one.score or 0.0) / first, self.about)

    @property
    def running(self) -> bool:
        """Whether it still measures."""
        return self._thread is not None and self._thread.is_alive()

    def listen(self, listener: Callable[[Study], None]) -> None:
        """Call `listener` after each individual and each change of state, in the study's thread."""
        self._listeners.append(listener)

    def pause(self) -> Self:
        """Measure nothing more after the evaluation that is under way, until `resume`."""
        self._go.clear()
        if self.running:
            self._set("paused")
        return self

    def resume(self) -> Self:
        """Go on after `pause`."""
        self._go.set()
        if self.running:
            self._set("running")
        return self

    def stop(self) -> Self:
        """End after the evaluation that is under way; what is measured stays in the file."""
        self._stop.set()
        self._go.set()
        return self

    def wait(self, timeout: float | None = None) -> Self:
        """Wait for the end, or `timeout` seconds. An interrupt stops the study. Raises what ended it, if it failed."""
        thread = self._thread
        if thread is not None:
            try:
                thread.join(timeout)
            except KeyboardInterrupt:
                self.stop()
                raise
            if self.error is not None:
                raise self.error
        return self

    def validate(
        self,
        shape: int | tuple[int, ...] | None = None,
        steps: int | None = None,
        *,
        threads: int | None = None,
        **values: object,
    ) -> Validation:
        """Measure start and best in turn at another shape, or over so many steps: what part of the gain is kept.

        Values as in `simulate`; those of the study are taken where they fit. Both must compute the same.
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
        **values: object,
    ) -> Study:
        """Tune on from the `top` fastest, at another shape or in a part of the space; keywords as in `machine.tune`.

        Without any change the study's own file goes on, and nothing of it is measured again.
        """
        from workbench.tuning.afterwards import Further, refine

        return refine(self, shape, values, Further(budget, strategy, top, seed, path, only, tuple(fixed), threads))

    def __repr__(self) -> str:
        """One line: state, how many individuals, the best score."""
        best = self.best
        found = "nothing passed" if best is None else f"best {best.score:.4g} cells/s, {best.gain:.2f} x the start"
        return f"<Study {self.about.get('program', '')} {self.state}: {len(self.individuals)} tried, {found}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        """A live view in a notebook, a picture and words elsewhere."""
        return bundle_of(self)

    def _take(self, individuals: list[Individual]) -> None:
        with self._changed:
            self._individuals += individuals
            self._changed.notify_all()

    def _set(self, state: State) -> None:
        with self._changed:
            self.state = state
            self._changed.notify_all()
        self._tell()

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener(self)

    def _begin(self, plan: Plan, ledger: Ledger) -> None:
        """Run in a thread of its own, which closes the ledger."""
        self.state = "running"
        self._individuals = ledger.individuals()
        thread = threading.Thread(target=self._run, args=(plan, ledger), name="study", daemon=True)
        self._thread = thread
        thread.start()

    def _run(self, plan: Plan, ledger: Ledger) -> None:
        sandbox = Sandbox(plan.setup, memory_bytes=plan.memory_bytes)
        try:
            with ledger:
                sandbox.expect()
                _search(self, plan, ledger, sandbox)
            self._set("stopped" if self._stop.is_set() else "done")
        except BaseException as error:  # `wait` raises it in the thread that asks
            self.error = error
            self._set("failed")
        finally:
            sandbox.close()


def begin_study(
    path: Path, plan: Plan, about: Mapping[str, Any], listeners: Sequence[Callable[[Study], None]] = ()
) -> Study:
    """Open the ledger, check that it is of this program, and begin. TuningError if it is of another one.

    listeners: told of everything from the beginning on, as by `Study.listen`.
    """
    from workbench.tuning.ledger import open_ledger

    ledger = open_ledger(path)
    try:
        described = {"tunables": [row.name for row in plan.space.space.parameters], **about}
        ledger.describe(described)
        for name in ("key", "backend", "extents", "tunables"):
            if ledger.about[name] != _plain(described[name]):
                raise TuningError(
                    f"the study at {path} has other {name}: {_short(ledger.about[name])}",
                    advice="Pass another path= to begin a new study.",
                )
        study = Study(ledger.path, ledger.about)
        study._listeners += listeners
    except BaseException:
        ledger.close()
        raise
    study._begin(plan, ledger)
    return study


def _search(study: Study, plan: Plan, ledger: Ledger, sandbox: Sandbox) -> None:
    """Ask the strategy, answer from memory or by an evaluation, until the budget or the strategy ends."""
    known: dict[Point, float | None] = {one.point: one.score for one in study.individuals}
    phenotypes = {one.outcome.phenotype: one.number for one in study.individuals if _is_measured(one)}
    strategy = make_strategy(plan.strategy, plan.space.space, (plan.space.start, *plan.start), plan.seed)
    before = len(known)
    begin = time.monotonic()
    repeats = 0
    longest = 0.0
    while repeats < _MOST_REPEATS and not study._stop.is_set():
        study._go.wait()
        spent = time.monotonic() - begin
        if len(known) - before >= plan.budget.evaluations or spent >= plan.budget.seconds or study._stop.is_set():
            return
        point = strategy.ask()
        if point is None:
            return
        repeats += 1
        if point not in known:
            repeats = 0
            timeout = max(plan.timeout_floor, _TIMEOUT_FACTOR * longest)
            one = _evaluated(study, plan, sandbox, point, strategy.origin(point), phenotypes, timeout)
            if one.outcome.status == "success":
                longest = max(longest, one.outcome.build_seconds + one.outcome.run_seconds)
            ledger.add(one)
            if _is_measured(one):
                phenotypes[one.outcome.phenotype] = one.number
            known[point] = one.score
            study._take([one])
            study._tell()
        strategy.tell(point, known[point])


def _evaluated(
    study: Study,
    plan: Plan,
    sandbox: Sandbox,
    point: Point,
    origin: Origin,
    phenotypes: Mapping[str, int],
    timeout: float,
) -> Individual:
    """One individual, measured or, if its phenotype was, with the measurement of its twin."""
    choices = to_json(plan.space.choices(point))
    fastest = min((one.outcome.seconds or inf for one in study.individuals), default=inf)
    outcome, phenotype = sandbox.evaluate(
        choices, samples=plan.samples, best=fastest, timeout=timeout, known=phenotypes
    )
    same_as = 0
    if outcome is None:
        same_as = phenotypes[phenotype]
        twin = study.individuals[same_as - 1].outcome
        outcome = Outcome(twin.status, twin.samples, phenotype, 0.0, 0.0, twin.tail)
    seconds = outcome.seconds
    score = None if seconds is None else prod(plan.setup.extents) / seconds
    changes = ", ".join(f"{name} = {text}" for name, text in plan.space.changes(point).items())
    birth = _AT_START if point == plan.space.start else origin.birth
    numbers = {one.point: one.number for one in study.individuals}
    parents = tuple(numbers[parent] for parent in origin.parents)
    by = origin.strategy or plan.strategy
    number = len(study.individuals) + 1
    return Individual(number, point, choices, changes, by, birth, parents, outcome, score, same_as, time.time())


def _is_measured(one: Individual) -> bool:
    return bool(one.outcome.phenotype) and not one.same_as


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) < 100 else text[:97] + "..."
