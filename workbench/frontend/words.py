"""Words: each word of a cell with its signature, meaning and examples, for help, the notebook and the reference page.

A word means what its docstring says; its example is that of `frontend/word_examples`.
"""

from __future__ import annotations

import difflib
import inspect
import textwrap
from dataclasses import dataclass
from functools import cache

from workbench.errors import TraceError
from workbench.frontend import language
from workbench.frontend.value import Value
from workbench.frontend.word_examples import MARK, OF_CONDITIONS, Example, examples_by_group


@dataclass(frozen=True, slots=True)
class Word:
    """A word: how it is written, what it means (its docstring without the example), and the example."""

    name: str
    signature: str
    meaning: str
    example: Example

    @property
    def is_plain_function(self) -> bool:
        """Whether it is a function of one value whose mistake is that of all: a condition in place of a number."""
        return self.example.wrong.endswith(f"= {self.name}(u > 0)") and self.example.advice == OF_CONDITIONS

    def __str__(self) -> str:
        """All of it as text, for a terminal and for the tooltip of a notebook."""
        return f"{self.signature}\n\n{self.meaning}{MARK}{self.example}"


@dataclass(frozen=True, slots=True)
class WordGroup:
    """Words that belong together, in the order in which they are explained."""

    title: str
    meaning: str
    words: tuple[Word, ...]


# Words that are no functions: how they are written, and what they mean where no docstring says it.
_WRITTEN = {
    "u[+1]": "u[+1], u[+1, 0], u[0, -1], ...",
    "u.at": "u.at(offset, axis)",
    "u.next": "u.next = value",
    "u.source": "x.source",
    "dim": "dim",
    "axes": "axes",
    "outflow": 'boundary="outflow"',
    "pi": "pi",
    "e": "e",
    "inf": "inf",
    "nan": "nan",
    "kernel": "@kernel",
}
_MEANT = {
    "outflow": "Ghost cells take the value of the nearest cell of the domain, so that what reaches the side leaves.",
    "dim": "The number of dimensions of the cell, a whole number.",
    "axes": "The axis numbers 0 ... dim-1, to be looped over.",
    "pi": "The number π, 3.14159...",
    "e": "The number e, 2.71828...",
    "inf": "Infinity.",
    "nan": "Not a number.",
}
_VALUES = {"u[+1]": Value.__getitem__, "u.at": Value.at, "u.next": Value.next, "u.source": Value.source}


@cache
def groups() -> tuple[WordGroup, ...]:
    """All words, by group."""
    return tuple(
        WordGroup(title, meaning, tuple(_word(name, example) for name, example in examples.items()))
        for title, meaning, examples in examples_by_group()
    )


def find_word(name: str) -> Word | None:
    """The word of that name; a member goes by its own, whatever the value is called: rho.at is u.at."""
    known = {word.name: word for group in groups() for word in group.words}
    _, dot, member = name.rpartition(".")
    return known.get(name) or (known.get(f"u.{member}", known.get(member)) if dot else None)


def explain(name: str) -> str:
    """The help on a word. Raises TraceError naming the nearest words if there is none."""
    word = find_word(name)
    if word is None:
        known = [word.name for group in groups() for word in group.words]
        close = difflib.get_close_matches(name, known, n=3) or known[:3]
        raise TraceError(f"{name} is no word of a cell", advice=f"Ask for {' or '.join(close)}.")
    return str(word)


def words_text() -> str:
    """All words in a few lines, for a terminal."""
    lines = [f"{group.title}: {', '.join(word.name for word in group.words)}" for group in groups()]
    wrapped = [textwrap.fill(line, 78, subsequent_indent="    ", break_on_hyphens=False) for line in lines]
    return "\n".join([*wrapped, "One of them: %stencil --words laplacian. All: notebooks/language.ipynb."])


def _word(name: str, example: Example) -> Word:
    given = _VALUES.get(name) or getattr(language, name, None)
    doc = _MEANT.get(name) or inspect.getdoc(given) or ""
    return Word(name, _WRITTEN.get(name) or f"{name}{_signature(given)}", doc.partition(MARK)[0].strip(), example)


def _signature(function: object) -> str:
    """The arguments with their defaults; types are told by the docstring."""
    assert callable(function)
    signature = inspect.signature(function)
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
