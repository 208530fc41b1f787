"""Results: what was measured, and the figures that follow from it. Rates are updates of a cell a second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median, quantiles
from typing import Any

from workbench.commands.bench.contenders import Absent
from workbench.commands.bench.model import Model, Prediction, predict
from workbench.commands.bench.problem import Shape
from workbench.planning.cost import HostFigures


@dataclass(frozen=True, slots=True)
class Ratio:
    """The median of ratios inside a round, and between which two the middle half of them lies."""

    median: float
    low: float
    high: float
    rounds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Ratio:
        """The ratio of these rounds, one at least."""
        low, high = (min(values), max(values)) if len(values) < 4 else quantiles(values, n=4)[::2]
        return cls(median(values), low, high, len(values))

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far fields are from those of another contender after some steps: largest difference by largest value."""

    other: str
    steps: int
    deviation: float
    bit_equal: bool

    def __str__(self) -> str:
        return "bit-equal" if self.bit_equal else f"{self.deviation:.1e}"


@dataclass(frozen=True, slots=True)
class ContenderResult:
    """One contender. rates: one a whole round.

    first_seconds: from the start of its process to the first step done, without the start's values; cold_seconds: the
    same with an empty build cache, of ours alone. schedule: that of our plan, which "auto" took. bytes_moved,
    operations: of an update, by our plan. model: what an update of ours on CPUs needs; None of others.
    """

    name: str
    label: str
    version: str
    ours: bool
    steps: int = 0
    rates: tuple[float, ...] = ()
    first_seconds: float | None = None
    cold_seconds: float | None = None
    agreement: Agreement | None = None
    schedule: str = ""
    bytes_moved: float = 0.0
    operations: float = 0.0
    model: Model | None = None

    @property
    def rate(self) -> float:
        """The median, 0 before the first round."""
        return median(self.rates) if self.rates else 0.0


@dataclass(frozen=True, slots=True)
class Size:
    """The rates of all contenders at one size, medians of few rounds."""

    shape: Shape
    rates: dict[str, float]

    @property
    def cells(self) -> int:
        """How many there are."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count


@dataclass(frozen=True, slots=True)
class BenchResults:
    """Everything that a report says. copies: bytes a second that a copy moved in each round, read and written.

    ceilings: what the machine could do in each round, of loops over as many bytes as the arrays have.
    budget: seconds that all of it may take; seconds: those it took; cut: what the budget left no time for, beside the
    contenders that are absent for it.
    """

    problem: str
    title: str
    scheme: str
    cell: str
    shape: Shape
    dtype: str
    threads: int
    rounds: int
    host: dict[str, str]
    entries: tuple[ContenderResult, ...] = ()
    absent: tuple[Absent, ...] = ()
    copies: tuple[float, ...] = ()
    ceilings: tuple[HostFigures, ...] = ()
    sizes: tuple[Size, ...] = ()
    peak: float = 0.0
    interrupted: bool = False
    budget: float = 0.0
    seconds: float = 0.0
    cut: tuple[str, ...] = ()

    @property
    def done(self) -> int:
        """Whole rounds."""
        return len(self.copies)

    @property
    def ranking(self) -> tuple[ContenderResult, ...]:
        """Those with a rate, the fastest first."""
        return tuple(sorted((e for e in self.entries if e.rates), key=lambda e: -e.rate))

    @property
    def base(self) -> ContenderResult | None:
        """The fastest of ours, else the fastest: what the others are compared with. None before the first round."""
        ranking = self.ranking
        return next((e for e in ranking if e.ours), ranking[0] if ranking else None)

    @property
    def compared_with(self) -> str:
        """The label of the contender whose fields the others' were compared with; NumPy's where nothing was."""
        return next((e.agreement.other for e in self.entries if e.agreement is not None), "NumPy")

    @property
    def model(self) -> ContenderResult | None:
        """Our stepwise contender: its plan says what an update moves and computes."""
        return next((e for e in self.entries if e.name == "stepwise"), None)

    @property
    def copy_bandwidth(self) -> float:
        """Bytes a second of the copy, the median of the rounds; 0 before the first one."""
        return median(self.copies) if self.copies else 0.0

    @property
    def copy_rate(self) -> float:
        """Updates a second that move each array once at the copy's bandwidth; 0 where that is not known."""
        model = self.model
        return self.copy_bandwidth / model.bytes_moved if model is not None and model.bytes_moved else 0.0

    def ratio(self, other: ContenderResult) -> Ratio | None:
        """The rate of `base` to another's, inside the same round."""
        base = self.base
        if base is None or not other.rates:
            return None
        return Ratio.of([a / b for a, b in zip(base.rates, other.rates, strict=True)])

    def bandwidth_share(self, entry: ContenderResult) -> Ratio | None:
        """Bytes a second that an entry's updates move by the stepwise plan, to those of the copy in the same round."""
        model = self.model
        if model is None or not model.bytes_moved or not entry.rates:
            return None
        return Ratio.of([r * model.bytes_moved / c for r, c in zip(entry.rates, self.copies, strict=True)])

    @property
    def predictions(self) -> dict[str, Prediction]:
        """By name, of ours that have a model and rounds: what was to be expected in these rounds, and what came."""
        found = {}
        for entry in self.ranking:
            told = None if entry.model is None else predict(entry.model, entry.rates, self.ceilings)
            if told is not None:
                found[entry.name] = told
        return found

    def entry(self, name: str) -> ContenderResult:
        """The contender called `name`, which has one."""
        return next(e for e in self.entries if e.name == name)

    def with_entry(self, entry: ContenderResult) -> BenchResults:
        """The same with an entry added, or in place of the one with its name."""
        kept = [entry if e.name == entry.name else e for e in self.entries]
        return replace(self, entries=tuple(kept if entry in kept else [*kept, entry]))

    def without(self, absent: Absent) -> BenchResults:
        """The same with a contender that fell out."""
        return replace(
            self,
            entries=tuple(e for e in self.entries if e.name != absent.name),
            absent=(*self.absent, absent),
        )

    def to_dict(self) -> dict[str, Any]:
        """All figures, for JSON: what was measured, and medians of ratios."""
        base = self.base
        ratios = {e.name: asdict(r) for e in self.ranking if (r := self.ratio(e)) is not None}
        shares = {e.name: asdict(r) for e in self.ranking if (r := self.bandwidth_share(e)) is not None}
        derived = {
            "rounds_done": self.done,
            "medians": {e.name: e.rate for e in self.ranking},
            "compared": None if base is None else base.name,
            "ratios": ratios,
            "bandwidth_shares": shares,
            "predictions": {name: asdict(told) for name, told in self.predictions.items()},
        }
        return {"format": 1, **asdict(self), **derived}
