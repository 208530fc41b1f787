"""Statement: one line of generated text that knows where it came from."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Origin:
    """The nodes that a line computes, ascending, in one place of the plan: a sub-kernel, rules, or "" for neither."""

    place: str
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """One line of text and the nodes that it computes, ascending; `others`: where it stands for an equal one."""

    text: str
    nodes: tuple[int, ...] = field(compare=False)
    others: tuple[Origin, ...] = field(default=(), compare=False)
