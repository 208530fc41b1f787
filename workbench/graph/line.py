"""A line of the text form of a graph as tokens."""

from __future__ import annotations

import json
import re

from workbench.errors import GraphError
from workbench.graph.instructions import Constant
from workbench.graph.marks import Span
from workbench.graph.text import is_bare
from workbench.graph.types import BY_NAME, StorageType, pair_of

_INTEGER = re.compile(r"-?[0-9]+")
_FLOAT = re.compile(r"-?([0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?|inf)|nan")
_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[(),:=]|[^\s(),:="]+)')


class LineReader:
    """The tokens of one line, read from left to right; each method takes what it names, or raises GraphError."""

    def __init__(self, number: int, text: str) -> None:
        self.number = number
        self.text = text
        self.tokens = _TOKEN.findall(text)
        self.position = 0

    def peek(self) -> str:
        """The next token, "" at the end."""
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        """The next token, which must be `expected` if that is given."""
        word = self.peek()
        if not word or (expected and word != expected):
            raise self.error(f"{expected or 'more'} expected, found {word or 'the end of the line'}")
        self.position += 1
        return word

    def accept(self, expected: str) -> bool:
        """Take the next token if it is this one; whether it was."""
        if self.peek() != expected:
            return False
        self.position += 1
        return True

    def name(self) -> str:
        """A name, bare or quoted."""
        word = self.take()
        if word.startswith('"'):
            return self.string(word)
        if not is_bare(word):
            raise self.error(f"a name expected, found {word}")
        return word

    def names(self) -> tuple[str, ...]:
        """Names with commas between them."""
        found = [self.name()]
        while self.accept(","):
            found.append(self.name())
        return tuple(found)

    def string(self, word: str = "") -> str:
        """A quoted string."""
        try:
            value = json.loads(word or self.take())
        except json.JSONDecodeError:
            value = None
        if not isinstance(value, str):
            raise self.error("a quoted string expected")
        return value

    def integer(self) -> int:
        """A whole number."""
        word = self.take()
        if not _INTEGER.fullmatch(word):
            raise self.error(f"an integer expected, found {word}")
        return int(word)

    def number_value(self) -> bool | int | float:
        """A number of Python's kind that its spelling says."""
        word = self.take()
        if word in ("true", "false"):
            return word == "true"
        if _INTEGER.fullmatch(word):
            return int(word)
        if not _FLOAT.fullmatch(word):
            raise self.error(f"a number expected, found {word}")
        return float(word)

    def integers(self) -> tuple[int, ...]:
        """Whole numbers in brackets."""
        self.take("(")
        if self.accept(")"):
            return ()
        found = [self.integer()]
        while self.accept(","):
            found.append(self.integer())
        self.take(")")
        return tuple(found)

    def constant(self) -> Constant:
        """A number, or the two constants of a pair in brackets."""
        if not self.accept("("):
            return self.number_value()
        first = self.constant()
        self.take(",")
        second = self.constant()
        self.take(")")
        return first, second

    def type(self) -> StorageType:
        """A storage type."""
        word = self.take()
        if word == "pair":
            self.take("(")
            first = self.type()
            self.take(",")
            second = self.type()
            self.take(")")
            return pair_of(first, second)
        if word not in BY_NAME:
            raise self.error(f"a storage type expected, found {word}")
        return BY_NAME[word]

    def span(self) -> Span:
        """A place: line:column-end."""
        line = self.integer()
        self.take(":")
        word = self.take()
        place = re.fullmatch(r"(\d+)-(\d+)", word)
        if place is None:
            raise self.error(f"column-end expected, found {word}")
        return Span(line, int(place[1]), int(place[2]))

    def end(self) -> None:
        """Nothing is left."""
        if self.peek():
            raise self.error(f"the end of the line expected, found {self.peek()}")

    def error(self, what: str) -> GraphError:
        """The error that says what is wrong with this line."""
        return GraphError(
            what, advice="Correct the text, or print the graph again.", line=self.number, source=self.text
        )
