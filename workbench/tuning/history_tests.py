"""History tests: which kinds of individuals lead to the best ones, by chi-squared (Muranushi 2012, 5.4 and 5.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.tuning.chi_squared import PearsonTest, pearson, together
from workbench.tuning.history import BIRTHS, History, Member

Predicate = Callable[[Member], bool]
_LETTERS: Mapping[str, int] = {birth: letter for letter, birth in enumerate(BIRTHS, start=1)}
Word = tuple[int, ...]
"""Births along a family line by their number of parents, the ancestor first."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """A row of the paper's Table 26: whether two predicates are independent among the individuals of a third one.

    row: its number there. count: individuals among which was tested.
    """

    row: int
    first: str
    second: str
    among: str
    count: int
    test: PearsonTest


@dataclass(frozen=True, slots=True)
class FamilyLines:
    """The family trees of the best individuals as Markov processes (Table 11).

    zeroth: whether the births of parent and child are independent, in words of two letters. first: whether grandparent
    and child are, given the parent, in words of three. repeated: for letters 2 and 3, whether the letter follows itself
    ("2→2", "3→3"), and whether it does so the more after two of them ("22→2", "33→3").
    """

    pairs: int
    triples: int
    zeroth: PearsonTest
    first: PearsonTest
    repeated: Mapping[str, PearsonTest]


def correlations(history: History) -> tuple[Correlation, ...]:
    """All 17 rows of Table 26; the last two are controls, which have no cause to correlate."""
    return tuple(_correlation(history.members, row, *names) for row, names in enumerate(_ROWS, start=1))


def family_lines(history: History) -> FamilyLines:
    """Test the words of all individuals with d(I) = 0, traced back in all possible ways (section 5.5).

    A line that reaches an individual without parents ends there. Words of one tree overlap, so they are no independent
    sample: statistics of small trees are too large rather than too small.
    """
    known = {one.number: one for one in history.members}
    ends = [one for one in history.members if one.distance == 0]
    pairs = Counter(word for one in ends for word in _words(one, 2, known))
    triples = Counter(word for one in ends for word in _words(one, 3, known))
    letters = tuple(_LETTERS.values())
    zeroth = pearson([[pairs[a, b] for b in letters] for a in letters])
    first = together([pearson([[triples[a, b, c] for c in letters] for a in letters]) for b in letters])
    repeated = {}
    for letter in letters[1:]:
        repeated[f"{letter}→{letter}"] = pearson(_two_by_two(pairs, letter))
        within: Counter[Word] = Counter({(a, c): n for (a, b, c), n in triples.items() if b == letter})
        repeated[f"{letter}{letter}→{letter}"] = pearson(_two_by_two(within, letter))
    return FamilyLines(pairs.total(), triples.total(), zeroth, first, repeated)


def _words(one: Member, length: int, known: Mapping[int, Member]) -> list[Word]:
    letter = _LETTERS.get(one.kind)
    if letter is None:
        return []
    if length == 1:
        return [(letter,)]
    return [(*word, letter) for parent in one.parents for word in _words(known[parent], length - 1, known)]


def _table(pairs: Iterable[tuple[bool, bool, int]]) -> list[list[int]]:
    """Counts of two properties, the case that both are there first."""
    counts = [[0, 0], [0, 0]]
    for one, other, count in pairs:
        counts[not one][not other] += count
    return counts


def _two_by_two(words: Mapping[Word, int], letter: int) -> list[list[int]]:
    """Counts of words of two letters by: the first is the letter, the second is."""
    return _table((a == letter, b == letter, count) for (a, b), count in words.items())


def _correlation(members: Sequence[Member], row: int, first: str, second: str, among: str) -> Correlation:
    population = [one for one in members if _PREDICATES[among](one)]
    one, other = _PREDICATES[first], _PREDICATES[second]
    counts = _table((one(member), other(member), 1) for member in population)
    return Correlation(row, first, second, among, len(population), pearson(counts))


_ALL, _RELATED, _SEVERAL, _ELITE = "all", "d = 0", "n ≥ 2", "elite"
_PREDICATES: Mapping[str, Predicate] = {
    _ALL: lambda one: True,
    _RELATED: lambda one: one.distance == 0,
    _SEVERAL: lambda one: len(one.parents) >= 2,
    _ELITE: lambda one: len(one.parents) >= 2 and one.rank in ("≫", "≃"),
    "n = 1": lambda one: len(one.parents) == 1,
    "n = 2": lambda one: len(one.parents) == 2,
    "n = 3": lambda one: len(one.parents) == 3,
    "≫": lambda one: one.rank == "≫",
    "≃": lambda one: one.rank == "≃",
    "≤": lambda one: one.rank == "≤",
    "≪": lambda one: one.rank == "≪",
    "number ends with 7": lambda one: one.number % 10 == 7,
    "number ends with 13": lambda one: one.number % 100 == 13,
}
"""n is the number of parents: 1 mutation, 2 crossover, 3 triangulation. The elite are not worse than their parents."""

_ROWS: Sequence[tuple[str, str, str]] = (
    *((first, _RELATED, _ALL) for first in ("n = 1", "n = 2", "n = 3", "≫", "≃", "≤", "≪")),
    ("n = 2", _RELATED, _SEVERAL),
    ("n = 3", _RELATED, _SEVERAL),
    ("n = 2", "≫", _ELITE),
    ("n = 3", "≫", _ELITE),
    ("n = 2", "≫", _RELATED),
    ("n = 2", "≃", _RELATED),
    ("n = 3", "≫", _RELATED),
    ("n = 3", "≃", _RELATED),
    ("number ends with 7", _RELATED, _ALL),
    ("number ends with 13", _RELATED, _ALL),
)
