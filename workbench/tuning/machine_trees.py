"""Machine trees: which choices of a program depend on which, as a user declares it, or as the plan says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from workbench.errors import TuningError
from workbench.tuning.trees import VariableTree, parse_tree

DERIVED = "derived"
_TOGETHER = ("C", "G", "T", "B")  # numbers of one loop nest, team, launch or compiler


class TunedRow(Protocol):
    """What is tuned: its name, the section that it belongs to, and what it concerns."""

    @property
    def name(self) -> str:
        """Unique in a study."""

    @property
    def section(self) -> str:
        """A letter."""

    @property
    def key(self) -> str:
        """Of a value or loop, "" for what concerns all."""


def machine_tree(text: str, rows: Sequence[TunedRow], sections: Mapping[str, str]) -> VariableTree:
    """The tree of a text over what is tuned, or `derived_tree`; names are those of `rows` or of sections.

    A section stands for all of its choices that the text does not name. What is not named at all is a node of its own
    below the root. Names that no identifier is stand in double quotes. Raises TuningError for what is not tuned.
    """
    if text.strip() == DERIVED:
        return derived_tree(rows)
    declared = parse_tree(text)
    named = set(declared.flatten())
    known = dict.fromkeys(row.name for row in rows)  # numbers first, as a user would name them
    for name in declared.flatten():
        if name not in known and name not in sections:
            raise TuningError(
                f"{name!r} in the tree {declared} is not tuned here",
                advice=f"Use a section ({', '.join(sections)}) or one of: {', '.join(list(known)[:12])}.",
            )

    def expanded(tree: VariableTree) -> VariableTree | None:
        own: list[str] = []
        for name in tree.variables:
            if name in known:
                own.append(name)
            else:
                own += [row.name for row in rows if row.section == sections[name] and row.name not in named]
        children = tuple(child for child in map(expanded, tree.children) if child is not None)
        if not own and len(children) <= 1:
            return children[0] if children else None
        return VariableTree(tuple(own), children)

    tree = expanded(declared) or VariableTree(())
    rest = tuple(VariableTree((row.name,)) for row in rows if row.name not in tree.flatten())
    return VariableTree(tree.variables, (*tree.children, *rest)) if rest else tree


def derived_tree(rows: Sequence[TunedRow]) -> VariableTree:
    """What follows from how plans are made: siblings are independent, given all others.

    Launch numbers of a loop matter to its own launches alone. Numbers of the team of threads, of launches, of tiles of
    several steps, and what the compiler is told, depend on each other within each of these. Each value's storage and
    each barrier stands alone until a test finds an interaction.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.section in _TOGETHER:
            groups.setdefault((row.section, ""), []).append(row.name)
        elif row.section == "L":
            groups.setdefault((row.section, row.key), []).append(row.name)
        else:
            groups[row.section, row.name] = [row.name]
    return VariableTree((), tuple(VariableTree(tuple(names)) for names in groups.values()))
