"""History tables: the counts of section 5 of the Paraiso paper as tables of text (Muranushi 2012, Tables 11 to 27)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

from workbench.amounts import COLUMNS
from workbench.tuning.chi_squared import SIGNIFICANCE, PearsonTest, critical_value
from workbench.tuning.history import BIRTHS, RANKS, UNBRED, History, Member
from workbench.tuning.history_tests import correlations, family_lines

PAPER_CRITICAL = {"0th order": 18.47, "1st order": 37.70}
"""Of Table 11. The paper says 4 and 16 degrees of freedom; 37.70 belongs to 15, and the hypothesis leaves 12."""

_FEW = 5.0  # least expected count below which a statistic is only roughly known
# Class names twice outweigh what a notebook says of all tables.
_STYLE = (
    "<style>@media (max-width: 600px) {"
    " .swb-counts.swb-counts :is(th, td) { font-size: 0.85em; padding: 0.2em 0.25em; }"
    " }</style>"
)


@dataclass(frozen=True, slots=True, repr=False)
class CountTable:
    """Rows of texts below a head, all of the same length; the first column says what a row is of."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def __str__(self) -> str:
        """The table in lines."""
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
                 for row in (self.head, *self.rows)]  # fmt: skip
        note = ["", *wrap(self.note, COLUMNS)] if self.note else []
        return "\n".join([self.title, "", lines[0], "-" * len(lines[0]), *lines[1:], *note])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """The same for a notebook; needs no script."""
        head = "".join(f'<th scope="col">{escape(text)}</th>' for text in self.head)
        rows = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in self.rows)
        caption = f'<caption style="text-align: left">{escape(self.title)}</caption>'
        table = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        return f'<div class="swb-counts">{_STYLE}{table}<p>{escape(self.note)}</p></div>'


def distance_table(history: History) -> CountTable:
    """Individuals by contribution distance and birth (Tables 12 to 18)."""
    groups = _by_birth(history)
    reached = sorted({one.distance for one in history.members if one.distance is not None})
    rows = []
    for distance in (*reached, None):
        counts = [sum(one.distance == distance for one in group) for _, group in groups]
        if any(counts):
            name = "none" if distance is None else str(distance)
            rows.append((name, *(_share(n, len(group)) for n, (_, group) in zip(counts, groups, strict=True))))
    rows.append(("sum", *(str(len(group)) for _, group in groups)))
    note = "In parentheses the share of all of that birth. none: no relation to the family trees of the best."
    return CountTable("Contribution distance d(I)", ("d(I)", *(name for name, _ in groups)), tuple(rows), note)


def rank_table(history: History) -> CountTable:
    """Children beside their parents, by birth and rank (Tables 19 to 25)."""
    rows = []
    for birth in BIRTHS:
        born = [one for one in history.members if one.kind == birth]
        for rank in RANKS:
            group = [one for one in born if one.rank == rank]
            related = sum(one.distance == 0 for one in group)
            if group:
                ratio = f"{related / len(group):.3f}"
                rows.append((birth, rank, _share(len(group), len(born)), _share(related, len(born)), ratio))
    note = (
        "≪ slower than every parent, ≫ faster than every parent, ≃ like the fastest parent, ≤ all others. In "
        "parentheses the share of all of that birth; the ratio is that of the two counts."
    )
    head = ("birth", "rank", "individuals", "of them d = 0", "ratio")
    return CountTable("Children beside their parents", head, tuple(rows), note)


def correlation_table(history: History) -> CountTable:
    """Chi-squared tests of pairs of predicates, with two controls (Table 26)."""
    rows = [
        (f"{one.row}", one.first, one.second, f"{one.among} ({one.count})", _statistic(one.test), _sign(one.test),
         _doubt(one.test)) for one in correlations(history)
    ]  # fmt: skip
    note = (
        f"Independent at chance {SIGNIFICANCE:g} unless the statistic is above {critical_value(1):.2f} (*). ⊕ more "
        "often together than by chance, ⊖ less often. n: number of parents. elite: n ≥ 2 and ≫ or ≃. few: an expected "
        "count is below 5, so the statistic is only roughly known. Rows 16 and 17 are controls."
    )
    head = ("row", "first", "second", "among", "χ²", "sign", "")
    return CountTable("Are two predicates independent?", head, tuple(rows), note)


def family_line_table(history: History) -> CountTable:
    """The family trees of the best as Markov processes (Table 11)."""
    found = family_lines(history)
    rows = []
    for name, test, words in (("0th order", found.zeroth, found.pairs), ("1st order", found.first, found.triples)):
        rows.append((name, f"{words}", *_tested(test), f"{PAPER_CRITICAL[name]:.2f}", _doubt(test)))
    for name, test in found.repeated.items():
        words = found.pairs if len(name) == 3 else found.triples
        rows.append(
            (f"{name} {_sign(test)}".strip(), f"{words}", *_tested(test), f"{critical_value(1):.2f}", _doubt(test))
        )
    note = (
        "Hypotheses: births along a family line are drawn independently (0th order), or depend on the parent's birth "
        "alone (1st order). 2 is a crossover, 3 a triangulation; 22→2 is among words whose middle letter is 2. * above "
        f"the critical value at chance {SIGNIFICANCE:g}, which is computed from the degrees of freedom."
    )
    head = ("hypothesis", "words", "degrees", "χ²", "critical", "in the paper", "")
    return CountTable("Family lines as Markov processes", head, tuple(rows), note)


def _by_birth(history: History) -> list[tuple[str, list[Member]]]:
    members = list(history.members)
    groups = [(birth, [one for one in members if one.kind == birth]) for birth in BIRTHS]
    unbred = [one for one in members if one.kind == UNBRED]
    return [*groups, *([(UNBRED, unbred)] if unbred else []), ("total", members)]


def _share(count: int, of: int) -> str:
    return f"{count} ({count / of:.3f})" if of else "0"


def _tested(test: PearsonTest) -> Sequence[str]:
    return (f"{test.degrees}", _statistic(test), f"{critical_value(test.degrees):.2f}" if test.degrees else "")


def _statistic(test: PearsonTest) -> str:
    return f"{test.statistic:.2f}{'*' if test.significant else ''}" if test.degrees else "none"


def _sign(test: PearsonTest) -> str:
    return ("⊕" if test.positive else "⊖") if test.degrees else ""


def _doubt(test: PearsonTest) -> str:
    return "few" if test.degrees and test.least < _FEW else ""
