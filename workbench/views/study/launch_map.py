"""Launch map: the best score for each pair of two launch numbers, such as the grid and the block of a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.tuning.study import Study
from workbench.views.study.choice_map import shade, values_of_study

PAIRS = (("grid", "block"), ("column_threads", "diamond_size"), ("tile", "threads"), ("depth", "width along x"))
"""Names of tunables that say how loops are launched: along the map's axis, and upwards."""

_GIGA = 1e9


@dataclass(frozen=True, slots=True)
class LaunchCell:
    """Individuals with one value of each: their places among the values, how many, the best one.

    share: of the map's best score, 0 to 1; number and score, in Gcells/s, of the best one here; 0 if all failed.
    """

    across: int
    upwards: int
    tried: int
    failed: int
    number: int
    score: float
    share: float

    @property
    def colour(self) -> str:
        """Pale for half the best score or less, deep for the best; "" if all failed."""
        return shade(max(0.0, 2 * self.share - 1)) if self.number else ""


@dataclass(frozen=True, slots=True)
class LaunchMap:
    """Cells by two launch numbers; `across` and `upwards` name them. Values are those that were tried, in order."""

    across: str = ""
    upwards: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    cells: tuple[LaunchCell, ...] = ()

    @property
    def best(self) -> LaunchCell | None:
        """The cell of the best score, None while nothing passed."""
        return max((cell for cell in self.cells if cell.number), key=lambda cell: cell.score, default=None)

    def text(self) -> str:
        """The same in words, one line; "" while there is nothing to say."""
        best = self.best
        if best is None:
            return ""
        place = f"{self.across} {self.columns[best.across]}"
        if not self.upwards:
            return f"launches: best with {place}, of {len(self.cells)} that were tried"
        every = len(self.columns) * len(self.rows)
        place += f", {self.upwards} {self.rows[best.upwards]}"
        return f"launches: best with {place}; {len(self.cells)} of {every} pairs tried"


NO_LAUNCHES = LaunchMap()
"""The empty map."""


def launches_of_study(study: Study) -> LaunchMap:
    """The map of the pair of which the study has tried most combinations; empty if it varied none of them.

    Where only one of a pair was tuned the map is a row of that one.
    """
    names = list(study.about["tunables"])
    named = values_of_study(study)
    tried = [
        (one.number, one.point, None if one.final_score is None else one.final_score / _GIGA)
        for one in study.individuals
    ]
    maps = []
    for pair in PAIRS:
        used = [name for name in pair if name in names]
        if used:
            maps.append(_map(used, [names.index(name) for name in used], named, tried))
    return max(maps, key=lambda each: len(each.cells), default=LaunchMap())


def _map(
    used: Sequence[str], places: Sequence[int], named: Sequence[tuple[str, ...]], tried: Sequence[_Tried]
) -> LaunchMap:
    """The map of two choices, or of one, by their places in a point."""
    groups: dict[tuple[int, int], list[tuple[int, float | None]]] = {}
    for number, point, score in tried:
        key = (point[places[0]], point[places[1]] if len(places) > 1 else 0)
        groups.setdefault(key, []).append((number, score))
    if len(groups) < 2:
        return LaunchMap()
    columns, rows = (sorted({key[side] for key in groups}) for side in (0, 1))
    top = max((score or 0.0 for group in groups.values() for _, score in group), default=0.0) or 1.0
    cells = []
    for (column, row), group in sorted(groups.items()):
        passed = [(score, -number) for number, score in group if score is not None]
        score, number = max(passed, default=(0.0, 0))
        place, failed = (columns.index(column), rows.index(row)), len(group) - len(passed)
        cells.append(LaunchCell(*place, len(group), failed, -number, score, score / top))
    texts = [tuple(named[at][value] for value in used) for at, used in zip(places, (columns, rows), strict=False)]
    one, other = (*used, "")[:2]
    return LaunchMap(one, other, texts[0], texts[1] if len(texts) > 1 else ("",), tuple(cells))


_Tried = tuple[int, tuple[int, ...], float | None]
"""Number, index of the value of each choice, Gcells/s or None."""
