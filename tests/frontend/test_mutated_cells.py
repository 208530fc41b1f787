"""Mutated cells: whatever is typed, the answer is a legal graph or a TraceError with line and advice."""

import random
import re
from types import ModuleType

import numpy as np
import pytest

from tests.frontend.bad_array_cells import BAD_ARRAYS
from tests.frontend.bad_cells import BAD
from tests.frontend.programs import PROGRAMS
from workbench.errors import GraphError, TraceError
from workbench.frontend.cell import trace_cell
from workbench.frontend.language import __all__ as vocabulary
from workbench.graph.verify import verify
from workbench.graph.verify_outside import loads_stay_inside

MUTANTS = 4000
WORDS = r"""( ) [ ] , : - // % & | < == u v 0 -1 2.5 True None {} u[+1] "periodic" "x" "u8" "f32" "bool" np.sum .next
np.ones(2) .at(1,0) size(0) index(0) {"x-":"outflow"} lambda"""
FRAGMENTS = [*vocabulary, *WORDS.split(), "lambda i: i", "u.next = "]
# Powers may take Python for ever, imports touch the world, and attributes of library functions outlive the cell.
LEFT_OUT = re.compile(r"\*\*|import|while|range|np\.\w+\.|\b(?:" + "|".join(vocabulary) + r")\s*\.")


def mutants(rng):
    texts = [*(8 * [*PROGRAMS.values()]), *(text for text, *_ in [*BAD, *BAD_ARRAYS])]
    while True:
        words = re.findall(r"\w+|[^\w\s]|\s+", rng.choice(texts))
        for _ in range(rng.randint(1, 2)):
            at, kind = rng.randrange(len(words) + 1), rng.random()
            if kind < 0.6:
                words[at : at + (kind < 0.3)] = [rng.choice(FRAGMENTS)]
            else:
                del words[at : at + 1]
        text = "".join(words)
        if not LEFT_OUT.search(text):
            yield text


def copy_of(module):
    """A module of the same names: a mutant may assign to one of them."""
    copied = ModuleType(module.__name__)
    vars(copied).update(vars(module))
    return copied


def outcome(text):
    """The graph of a cell, or its error."""
    try:
        return trace_cell(text, namespace={"np": copy_of(np), "array": np.zeros(3)}).graph, None
    except TraceError as error:
        return None, error


def reads_outside(graph):
    """Whether a field is read where it has no boundary rule."""
    try:
        loads_stay_inside(graph)
    except GraphError:
        return True
    return False


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_nothing_escapes_as_another_exception(monkeypatch):
    monkeypatch.setattr("workbench.frontend.trace.MOST_NODES", 3_000)
    monkeypatch.setattr("workbench.frontend.trace.MOST_TURNS", 3_000)
    legal = refused = 0
    for _, text in zip(range(MUTANTS), mutants(random.Random(7)), strict=False):
        graph, error = outcome(text)
        if error is not None:
            assert error.line is not None, text
            assert error.advice, text
            refused += 1
        else:
            if not reads_outside(graph):  # planning refuses that, with field, side and line
                verify(graph)
            legal += 1
    print(f"{legal} legal cells, {refused} refused")
    assert min(legal, refused) > 50
