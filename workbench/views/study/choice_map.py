"""Choice map: what each individual chose, row by row, and by which kinds of birth they came; what it matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.amounts import counted
from workbench.graph.naming import cut
from workbench.tuning.general import Tuned
from workbench.tuning.history import ancestry
from workbench.tuning.importance import importance
from workbench.tuning.independence import Valuation
from workbench.tuning.study import Study
from workbench.tuning.trials import Individual

MOST_ROWS = 12
_MOST_LETTERS = 28  # of a row's label
_STORAGE = "storage of "  # which most rows are about, so that the value alone stands beside the row
_FEWEST = 8  # scores, or two for each choice: of fewer, almost every choice would explain almost everything
_MOST_FITTED = 1000  # individuals, evenly over the study, that shares of variance are fitted to
_PALE, _DEEP = (0xA9, 0xCB, 0xE8), (0x1A, 0x6F, 0xB5)  # seen on a light page and on a dark one


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """One choice: its values in order, the value of the start, and its share of the scores' variance, 0 to 1.

    name: as `only=` and `fixed=` of a tuning take it; called: in words, "storage of 2 * u (line 3)". The share is None
    in a study that has too few scores yet.
    """

    name: str
    values: tuple[str, ...]
    start: str
    share: float | None
    called: str

    @property
    def label(self) -> str:
        """What it is called, short enough to stand beside the row, with the share."""
        name = cut(self.called.removeprefix(_STORAGE), _MOST_LETTERS)
        return name if self.share is None else f"{name}  {100 * self.share:.0f} %"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Individual `number` has `value` in row `row`, which is not the start's; `place`, 0 to 1, among the values."""

    number: int
    row: int
    value: str
    place: float

    @property
    def colour(self) -> str:
        """Pale for the first value, deep for the last."""
        return shade(self.place)


@dataclass(frozen=True, slots=True)
class Births:
    """Individuals of one kind of birth: how many raised the best score, passed without, and failed."""

    kind: str
    better: int
    passed: int
    failed: int


@dataclass(frozen=True, slots=True)
class ChoiceMap:
    """Rows that were tried with more than one value, the most important first; cells where one left the start.

    `hidden`: rows beyond the first MOST_ROWS. `births`: by number of individuals; empty where tests are not bred.
    `family`: pairs of numbers, parent and child, among the ancestors of the best.
    """

    rows: tuple[ChoiceRow, ...] = ()
    cells: tuple[Chosen, ...] = ()
    hidden: int = 0
    births: tuple[Births, ...] = ()
    family: tuple[tuple[int, int], ...] = ()

    def text(self) -> str:
        """The same in words, a line each; "" while there is nothing to say."""
        lines = []
        ranked = [f"{row.called} {100 * row.share:.0f} %" for row in self.rows if row.share and row.share >= 0.005][:5]
        if ranked:
            more = f"; {counted(self.hidden, 'choice')} of less share not shown" if self.hidden else ""
            lines.append(f"share of the scores' variance: {', '.join(ranked)}{more}")
        bred = [f"{one.kind} {one.better} of {one.better + one.passed + one.failed}" for one in self.births]
        if bred:
            lines.append(f"raised the best, by birth: {', '.join(bred)}")
        return "\n".join(lines)


def shade(place: float) -> str:
    """A colour from pale at 0 to deep at 1."""
    mixed = (round(low + place * (high - low)) for low, high in zip(_PALE, _DEEP, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def map_of_study(study: Study, best: int | None) -> ChoiceMap:
    """The map of a study's individuals; best: the number of the best one."""
    individuals = study.individuals
    names = tuple(study.about["tunables"])
    points = [(one.number, one.point, one.final_score) for one in individuals]
    values = values_of_study(study)
    labels = tuple(study.about.get("labels", names))  # files of earlier versions have none
    rows, cells, hidden = _rows(names, values, points, labels, logarithm=True)
    return ChoiceMap(rows, cells, hidden, _births(individuals), _family(individuals, best))


def map_of_tests(tuned: Tuned) -> ChoiceMap:
    """The map of a general tuning's tests; each is compared with the first."""
    setting = tuned.configuration
    names = setting.tree.flatten()
    values = tuple(tuple(setting.values[name]) for name in names)
    points = [
        (number, tuple(row.index(value) for row, value in zip(values, test.valuation, strict=True)), test.overall)
        for number, test in enumerate(tuned.tests, start=1)
    ]
    rows, cells, hidden = _rows(names, values, points, names, logarithm=False)
    return ChoiceMap(rows, cells, hidden)


def values_of_study(study: Study) -> tuple[tuple[str, ...], ...]:
    """Values of each choice as text; their numbers, from 0, where the study's file names none."""
    named = tuple(tuple(map(str, row)) for row in study.about.get("values", ()))
    points = [one.point for one in study.individuals]
    return named or tuple(tuple(map(str, range(1 + max(column)))) for column in zip(*points, strict=True))


_Tried = tuple[int, tuple[int, ...], float | None]
"""Number, index of the value in each row, score or None."""


def _rows(
    names: Sequence[str],
    values: Sequence[tuple[str, ...]],
    points: Sequence[_Tried],
    labels: Sequence[str],
    *,
    logarithm: bool,
) -> tuple[tuple[ChoiceRow, ...], tuple[Chosen, ...], int]:
    """Rows that vary, cells that differ from the first point, and how many rows there are beyond the first."""
    if not points:
        return (), (), 0
    first = points[0][1]
    varied = [at for at in range(len(names)) if any(point[at] != first[at] for _, point, _ in points)]
    shares = _shares(names, varied, points, logarithm)
    moved = {at: sum(point[at] != first[at] for _, point, _ in points) for at in varied}
    ranked = sorted(varied, key=lambda at: (-shares.get(names[at], 0.0), -moved[at], at))
    shown = ranked[:MOST_ROWS]
    rows = tuple(
        ChoiceRow(names[at], values[at], values[at][first[at]], shares.get(names[at]), labels[at]) for at in shown
    )
    cells = tuple(
        Chosen(number, row, values[at][point[at]], point[at] / max(1, len(values[at]) - 1))
        for number, point, _ in points
        for row, at in enumerate(shown)
        if point[at] != first[at]
    )
    return rows, cells, len(ranked) - len(shown)


def _shares(
    names: Sequence[str], varied: Sequence[int], points: Sequence[_Tried], logarithm: bool
) -> Mapping[str, float]:
    passed = [(point, score) for _, point, score in points if score is not None]
    if len(passed) < min(_FEWEST, 2 * len(varied)):
        return {}
    every = -(-len(passed) // _MOST_FITTED) or 1
    fitted: list[tuple[Valuation, float]] = [
        (tuple(str(point[at]) for at in varied), score) for point, score in passed[::every]
    ]
    return importance([names[at] for at in varied], fitted, logarithm=logarithm and all(s > 0 for _, s in fitted))


def _births(individuals: Sequence[Individual]) -> tuple[Births, ...]:
    counts: dict[str, list[int]] = {}
    best = 0.0
    for one in individuals:
        score = one.final_score
        better = score is not None and score > best
        best = max(best, score or 0.0)
        counts.setdefault(one.birth, [0, 0, 0])[0 if better else 2 if score is None else 1] += 1
    ordered = sorted(counts.items(), key=lambda item: -sum(item[1]))
    return tuple(Births(kind, *row) for kind, row in ordered)


def _family(individuals: Sequence[Individual], best: int | None) -> tuple[tuple[int, int], ...]:
    if best is None:
        return ()
    parents = {one.number: one.parents for one in individuals}
    related = ancestry([best], parents)
    return tuple((parent, child) for child in sorted(related) for parent in parents[child])
