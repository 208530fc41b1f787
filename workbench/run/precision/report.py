"""Report: what is certain of each value, where precision is lost first, and which types would do; text and HTML."""

from __future__ import annotations

import html
from dataclasses import dataclass, field

from workbench.amounts import digits_text, error_text

_MOST = 5  # lines of a list that is sorted by weight


@dataclass(frozen=True, slots=True)
class ValueRow:
    """What is known of one named value after the last step.

    type: its type in the program. error: relative to its largest exact magnitude, largest of all cells. error_in_dd:
    of the program with all values in dd. places: the cell with the largest error. found, in_dd, exact: the numbers
    there, as text. resolved: whether the exact value itself is certain.
    """

    name: str
    line: int
    type: str
    error: float
    error_in_dd: float
    place: tuple[int, ...]
    found: str
    in_dd: str
    exact: str
    resolved: bool = True


@dataclass(frozen=True, slots=True)
class Loss:
    """One operation that makes the relative error of its result larger than that of its operands.

    name: of the value, or of the first one that it is a part of. before: the largest error of the operands, at least
    the rounding of the type. factor: after / before. step: the first in which it was so.
    """

    operation: str
    name: str
    line: int
    before: float
    after: float
    step: int

    @property
    def factor(self) -> float:
        """By how much the error is amplified."""
        return self.after / self.before if self.before else float("inf")

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        if self.factor <= 1:
            return f"{where}{self.operation} in {self.name} leaves a relative error of {error_text(self.after)}"
        return (
            f"{where}{self.operation} in {self.name} takes the relative error from {error_text(self.before)} "
            f"to {error_text(self.after)} ({self.factor:.2g} times)"
        )


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Types that hold the bound: `everything` but the values in `types`. error: the largest of all results."""

    everything: str
    types: dict[str, str]
    error: float

    @property
    def call(self) -> str:
        """The call that makes the machine."""
        named = [f'{name}="{type_}"' for name, type_ in self.types.items()]
        return f"with_precision({', '.join([chr(34) + self.everything + chr(34), *named])})"


@dataclass(frozen=True, slots=True)
class PrecisionReport:
    """The result of `precision_report`.

    values: results first, then named values in the order of the cell. first: the first operation whose result exceeds
    the bound although its operands do not, None if there is none. losses: the largest amplifications of errors. ran:
    the inputs and the number of steps, in words. bits: of the numbers with which all values are compared; agreement:
    their largest relative difference from numbers with half as many digits more, over all results. branches: conditions
    that are decided otherwise than in exact arithmetic. in_f64: what the all-dd program computes in f64. narrowing:
    None if not even the all-dd program meets the bound.
    """

    machine: str
    ran: str
    steps: int
    bound: float
    bits: int
    agreement: float
    values: tuple[ValueRow, ...]
    first: Loss | None
    losses: tuple[Loss, ...]
    branches: tuple[str, ...]
    in_f64: tuple[str, ...]
    narrowing: Narrowing | None
    results: tuple[str, ...] = field(default=())

    @property
    def uncertain(self) -> tuple[ValueRow, ...]:
        """Values without any certain digit."""
        return tuple(value for value in self.values if not value.error < 1)

    @property
    def unresolved(self) -> tuple[ValueRow, ...]:
        """Values for which even the all-dd program exceeds the bound."""
        return tuple(value for value in self.values if not value.error_in_dd <= self.bound)

    @property
    def largest_error(self) -> float:
        """The largest relative error of all results."""
        return max((value.error for value in self.values if value.name in self.results), default=0.0)

    def value(self, name: str) -> ValueRow:
        """The row of a value. KeyError for a name that is not listed."""
        for value in self.values:
            if value.name == name:
                return value
        raise KeyError(name)

    def __str__(self) -> str:
        """First the first loss; then what is uncertain, a table of values, the largest losses and the types that do."""
        header, rows = self._table()
        table = [list(header), *map(list, rows)]
        widths = [max(len(row[k]) for row in table) for k in range(len(header))]
        shown = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
        ]
        return "\n".join([self.headline, *self._sentences(), "", *shown, "", *self._losses(), *self._types()])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        header, rows = self._table()
        body = "".join(
            "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"
            for tag, row in [("th", header), *(("td", row) for row in rows)]
        )
        table = f'<div style="overflow-x: auto"><table>{body}</table></div>'  # wider than a narrow page
        before = "".join(f"<div>{html.escape(line)}</div>" for line in self._sentences())
        after = "".join(f"<div>{html.escape(line)}</div>" for line in (*self._losses(), *self._types()))
        return f"<div><b>{html.escape(self.headline)}</b></div>{before}{table}{after}"

    @property
    def headline(self) -> str:
        """Where precision is lost first, in one sentence."""
        if self.first is None:
            return (
                f"{self.machine}: no value is farther than {error_text(self.bound)} from exact; "
                f"largest error of a result {error_text(self.largest_error)}"
            )
        when = f" in step {self.first.step}" if self.steps > 1 else ""
        return f"{self.first}{when}: the first beyond the bound {error_text(self.bound)}"

    def _sentences(self) -> list[str]:
        lines = [f"{self.machine}, {self.ran}, compared with {self.bits} bits ({_agreeing(self.agreement)})"]
        for value in self.uncertain[:_MOST]:
            dd = "nor in dd" if not value.error_in_dd < 1 else f"dd has {digits_text(value.error_in_dd)}"
            lines.append(f"{value.name}: no digit is certain in {value.type}, {dd}")
            lines.append(f"  {_at(value)}{value.type} {value.found}, dd {value.in_dd}, exactly {value.exact}")
        for value in self.values:
            if not value.resolved:
                lines.append(f"{value.name}: {self.bits} bits are not enough either, so nothing is said of it")
        if self.unresolved:
            names = ", ".join(value.name for value in self.unresolved)
            lines.append(f"dd does not give within the bound: {names}")
        lines += [f"in the all-dd program, {line}" for line in self.in_f64]
        return lines + list(self.branches)

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        header = ("value", "line", "type", "relative error", "certain", "error in dd", "would do")
        types = {} if self.narrowing is None else self.narrowing.types
        other = "" if self.narrowing is None else self.narrowing.everything
        rows: list[tuple[str, ...]] = [
            (
                value.name,
                str(value.line or ""),
                value.type,
                error_text(value.error),
                digits_text(value.error),
                error_text(value.error_in_dd),
                types.get(value.name, other),
            )
            for value in self.values
        ]
        return header, rows

    def _losses(self) -> list[str]:
        if not self.losses:
            return ["nothing amplifies an error more than ten times"]
        return ["amplified most:", *(f"  {loss}" for loss in self.losses[:_MOST])]

    def _types(self) -> list[str]:
        if self.narrowing is None:
            if not all(value.resolved for value in self.values):
                return ["nothing is said of types, because the exact values are not known"]
            return [f"no types hold the bound {error_text(self.bound)}: not even dd for all values"]
        return [
            f"{self.narrowing.call} holds the bound {error_text(self.bound)}: "
            f"largest error of a result {error_text(self.narrowing.error)}"
        ]


def _agreeing(agreement: float) -> str:
    return "more bits give the same" if agreement == 0 else f"more bits differ by {error_text(agreement)}"


def _at(value: ValueRow) -> str:
    return f"in cell {', '.join(map(str, value.place))}: " if value.place else ""
