"""Trees: which variables depend on which; siblings' subtrees are independent (Spencer 2011, section 3.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from workbench.errors import TuningError

_TOKEN = re.compile(r'\s*([{},]|[A-Za-z0-9_]+|"[^"]+"|\S)')
_VARIABLE = re.compile(r"[A-Za-z0-9_]+\Z")
_QUOTED = re.compile(r'"[^"]+"\Z')
_GAP = 2  # columns between two subtrees of a picture


@dataclass(frozen=True, slots=True)
class VariableTree:
    """A node's variables depend on those of its ancestors and descendants, and on no other node's.

    `variables` may be empty where there are children: these are then independent of each other, whatever else holds.
    """

    variables: tuple[str, ...]
    children: tuple[VariableTree, ...] = ()

    @classmethod
    def flat(cls, variables: tuple[str, ...]) -> Self:
        """All variables in one node: every combination counts."""
        return cls(variables)

    def flatten(self) -> tuple[str, ...]:
        """All variables, a node's own before those of its children."""
        return (*self.variables, *(name for child in self.children for name in child.flatten()))

    def paths(self) -> tuple[frozenset[str], ...]:
        """From the root to each leaf, the variables that depend on each other."""
        own = frozenset(self.variables)
        return tuple(own | path for child in self.children for path in child.paths()) or (own,)

    def __str__(self) -> str:
        """The text from which `parse_tree` makes this tree."""
        return "{" + ", ".join([*map(_spelt, self.variables), *map(str, self.children)]) + "}"

    def picture(self) -> str:
        """The tree drawn with letters: each node above its children."""
        return "\n".join(line.rstrip() for line in _block(self)[0])


def parse_tree(text: str) -> VariableTree:
    """The tree of a text such as "{A, B, {C, D}, {E, F}}", or of a flat list "A, B, C".

    A name in double quotes may have any characters. Raises TuningError for a text that is no tree, an empty node
    without children and a variable that appears twice.
    """
    tokens = _Tokens(text)
    tree = tokens.node() if tokens.next_is("{") else VariableTree(tuple(tokens.names()))
    tokens.end()
    names = tree.flatten()
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TuningError(f"variable {twice[0]} appears twice in {text.strip()}", advice="Name each variable once.")
    return tree


class _Tokens:
    """The words and signs of a tree's text, read from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [match[1] for match in _TOKEN.finditer(text)]
        self._at = 0

    def next_is(self, sign: str) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at] == sign

    def node(self) -> VariableTree:
        """What stands between two braces: variables and nodes in any order."""
        self._take("{")
        variables: list[str] = []
        children: list[VariableTree] = []
        while True:
            if self.next_is("{"):
                children.append(self.node())
            else:
                variables.append(self._name())
            if not self.next_is(","):
                break
            self._take(",")
        self._take("}")
        return VariableTree(tuple(variables), tuple(children))

    def names(self) -> Iterator[str]:
        """A flat list of variables."""
        yield self._name()
        while self.next_is(","):
            self._take(",")
            yield self._name()

    def end(self) -> None:
        if self._at < len(self._tokens):
            self._refuse("nothing more")

    def _name(self) -> str:
        token = self._tokens[self._at] if self._at < len(self._tokens) else ""
        if not _VARIABLE.match(token) and not _QUOTED.match(token):
            self._refuse("a variable (letters, digits, underscore)")
        self._at += 1
        return token.strip('"')

    def _take(self, sign: str) -> None:
        if not self.next_is(sign):
            self._refuse(f"{sign!r}")
        self._at += 1

    def _refuse(self, expected: str) -> None:
        found = repr(self._tokens[self._at]) if self._at < len(self._tokens) else "the end"
        raise TuningError(
            f"{self._text.strip()!r} is no tree of variables: {expected} should stand where {found} stands",
            advice="Write {A, B, {C, D}, {E}}: braces around each node, commas between its variables and subtrees.",
        )


def _spelt(name: str) -> str:
    return name if _VARIABLE.match(name) else f'"{name}"'


def _block(tree: VariableTree) -> tuple[list[str], int]:
    """Lines of one width, and the column of the middle of the root's own text."""
    own = "{" + ", ".join(map(_spelt, tree.variables)) + "}"
    if not tree.children:
        return [own], len(own) // 2
    blocks = [_block(child) for child in tree.children]
    height = max(len(lines) for lines, _ in blocks)
    lines = [""] * height
    middles = []
    for block, middle in blocks:
        start = len(lines[0]) + (_GAP if lines[0] else 0)
        middles.append(start + middle)
        width = len(block[0])
        padded = block + [" " * width] * (height - len(block))
        lines = [line.ljust(start) + part for line, part in zip(lines, padded, strict=True)]
    root = (middles[0] + middles[-1]) // 2
    shift = max(0, len(own) // 2 - root)
    lines = [" " * shift + line for line in lines]
    middles = [middle + shift for middle in middles]
    root += shift
    start = root - len(own) // 2
    width = max(len(lines[0]), start + len(own))
    branch = [" "] * width
    for column in range(middles[0], middles[-1] + 1):
        branch[column] = "-"
    for column in (root, *middles):
        branch[column] = "+" if len(middles) > 1 else "|"
    stems = [" "] * width
    for column in middles:
        stems[column] = "|"
    head = [(" " * start + own).ljust(width), (" " * root + "|").ljust(width), "".join(branch), "".join(stems)]
    return [*head, *(line.ljust(width) for line in lines)], root
