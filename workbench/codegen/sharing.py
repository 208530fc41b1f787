"""Sharing: what has the same text is written once, and its lines know the nodes of everything they stand for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Generic, TypeVar

from workbench.codegen.statement import Statement, StatementOrigin

Record = TypeVar("Record")


@dataclass(slots=True)
class Shared(Generic[Record]):
    """Records of text, frozen dataclasses, in the order in which each was first wanted.

    Two are the same if they are equal: names, labels, slots and nodes of statements are no part of that.
    """

    records: list[Record] = field(default_factory=list)
    _numbers: dict[Record, int] = field(default_factory=dict)

    def wanted(
        self, record: Record, label: str, named: Callable[[Record], Record], own: Mapping[str, str] | None = None
    ) -> Record:
        """The record that is written for this one: an equal one, or this one as `named` returns it.

        label: where the nodes of its statements are computed. own: names in its text that may differ between equal
        ones, each with what stands for it.
        """
        key = _renamed(record, own) if own else record
        if key not in self._numbers:
            self._numbers[key] = len(self.records)
            self.records.append(named(record))
        else:
            number = self._numbers[key]
            self.records[number] = _joined(self.records[number], record, label)
        return self.records[self._numbers[key]]


def _renamed(record: Any, own: Mapping[str, str]) -> Any:  # noqa: ANN401  # any record of text
    """The record with other identifiers in all its text."""
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, own))})\b")

    def rename(text: Any) -> Any:  # noqa: ANN401
        return pattern.sub(lambda found: own[found[0]], text) if isinstance(text, str) else text

    return _changed(record, rename)


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401
    if isinstance(value, tuple):
        return tuple(_changed(item, change) for item in value)
    if isinstance(value, Statement):  # most of a record
        text = change(value.text)
        return value if text == value.text else Statement(text, value.nodes, value.others)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: _changed(getattr(value, f.name), change) for f in fields(value)})
    return change(value)


def _joined(known: Any, other: Any, label: str) -> Any:  # noqa: ANN401
    """`known` with the nodes of `other`, which is equal, in its statements."""
    if isinstance(known, Statement):
        return replace(known, others=(*known.others, StatementOrigin(label, other.nodes)))
    if isinstance(known, tuple):
        return tuple(_joined(a, b, label) for a, b in zip(known, other, strict=True))
    if is_dataclass(known) and not isinstance(known, type):
        names = [f.name for f in fields(known)]
        return replace(known, **{n: _joined(getattr(known, n), getattr(other, n), label) for n in names})
    return known
