"""Examples of words: each word's cell, what it gives and its usual mistake, read from texts and put into docstrings.

The examples stand in `frontend/examples`, one text a group. `document` joins them to the docstrings, so that
help(laplacian) shows what the reference page shows.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from workbench.frontend.examples.calculus import CALCULUS, HINTS, TENSORS, TIME
from workbench.frontend.examples.called import ARRAYS, PAIRS
from workbench.frontend.examples.declarations import BOUNDARIES, DECLARATIONS, GRID, READING
from workbench.frontend.examples.functions import FUNCTIONS, FUNCTIONS_OF_VALUES, NUMBERS, REDUCTIONS
from workbench.frontend.examples.particles import PARTICLES

MARK = "\n\nExample::\n\n"
"""Between what a word means and its example, in its docstring."""
OF_CONDITIONS = 'Write where(condition, a, b), or astype(condition, "f64") for 1 and 0.'
"""The advice of the mistake that functions of one value share."""
_KEYS = ("dim", "given", "gives", "wrong", "error", "advice")


@dataclass(frozen=True, slots=True)
class Example:
    """A cell and what one step or call of it makes of `given`; then a mistaken cell, its error and the error's advice.

    dim: of both cells, None where the reads say it. given and gives: "u = [1, 2], c = 3", values after the step, or
    what the call returns, to six digits.
    """

    cell: str
    dim: int | None
    given: str
    gives: str
    wrong: str
    error: str
    advice: str

    def __str__(self) -> str:
        """Both cells as they stand in a docstring, indented by four."""
        right = f"{self._dim}{self.cell}\n# given {self.given}\n# {self.march} {self.gives}"
        wrong = f"{self.wrong}\n# {self.error}\n# {self.advice}"
        return f"{_indented(right)}\n\nError::\n\n{_indented(wrong)}"

    @property
    def march(self) -> str:
        """What leads from `given` to `gives`: a cell that stores nothing for a next step is called."""
        return "a step makes" if ".next" in self.cell else "a call returns"

    @property
    def _dim(self) -> str:
        return "" if self.dim is None else f"# in a cell with --dim {self.dim}\n"


# Title, what the words have in common, and their examples.
_GROUPS = (
    ("Declarations", "What a cell is made of: state kept from step to step, inputs, and kernels.", DECLARATIONS),
    (
        "The grid",
        "Sizes, indices and coordinates. Axis 0 is x, axis 1 is y, axis 2 is z; arrays have the same order.",
        GRID,
    ),
    ("Reading and writing", "How a value reaches other cells, and how a field gets its next value.", READING),
    (
        "Boundaries",
        "What lies outside the domain: `boundary=` of a field, one rule or a dict with a rule per side, as in "
        '`{"x-": fixed(1.0), "x+": "outflow", "y": "periodic"}`. Rules without arguments are strings too: "periodic". '
        "Use `fixed` for a given value on the face of the domain, `neumann` for a given slope, `reflect` for no flux, "
        "`constant` for inflow (`analytic` if it varies along the side) and `outflow` where flow leaves. Beyond a "
        "corner the rules that give values (`constant`, `fixed`, `neumann`, `analytic`) take precedence over the "
        "others, and among them the rule of the lowest axis.",
        BOUNDARIES,
    ),
    (
        "Functions",
        "Functions of values, params and numbers, applied cell by cell, to a tensor component by component. NumPy's "
        "functions of the same names mean the same, and so do `abs` and `round`. The operators are Python's: "
        "+ - * / // % **, comparisons, and & | ~ to combine conditions. Of floats x // y and x % y are NumPy's: "
        "the remainder has the sign of y.",
        FUNCTIONS,
    ),
    (
        "Reductions",
        "One number from all cells, combined in the same order on every backend; of a vector one for each component. "
        "`np.sum(u)`, `np.max(u)` and so on mean the same of a value. Of a vector they are errors, because NumPy's go "
        "over the components too: write `reduce_sum(v)`, or `v[0] + v[1]`.",
        REDUCTIONS,
    ),
    ("Calculus", "Finite differences of any order of accuracy.", CALCULUS),
    (
        "Tensors",
        "`v[0]` is a component of a vector, `T[0, 1]` one of a tensor, `v.at(+1, axis)` the whole vector in the next "
        "cell, `v[0][+1, 0]` a component there. Arithmetic acts component by component.",
        TENSORS,
    ),
    ("Steps in time", "One time step of an equation whose right side is a function that you write.", TIME),
    (
        "Pairs",
        "Sums over pairs of elements, such as particles. Such a cell has no grid and no steps: the machine is called, "
        "as in `gravity(x=x, m=m)`, and returns its totals.",
        PAIRS,
    ),
    (
        "Particles",
        "State of elements that act on each other, kept from step to step as fields of a grid are. All arrays of a "
        "population have the same length, which `simulate` takes from them. Fields of a grid may be declared above the "
        "particles: `gather(u, i, j)` then reads a field at a particle.",
        PARTICLES,
    ),
    (
        "Arrays",
        "Programs that run once, from arrays to outputs: `dotp(xs=x, ys=y)` returns a mapping. Axes have names; "
        "an operation on two arrays has the axes of both.",
        ARRAYS,
    ),
    ("Numbers", "Constants, and random numbers.", NUMBERS),
    ("Hints", "What is stored and what is recomputed. Hints change the speed, never the result.", HINTS),
)


def read_examples(text: str) -> dict[str, Example]:
    """The examples of a group by their words; the form is that of the texts in `frontend/examples`."""
    return dict(_read(block.splitlines()) for block in text.strip().split("\n\n"))


def _read(lines: list[str]) -> tuple[str, Example]:
    """A word and its example. Lines of the cell have no key before them."""
    parts: dict[str, list[str]] = {key: [] for key in (*_KEYS, "")}
    for line in lines[1:]:
        key, _, rest = line[4:].partition(" ")
        parts[key if key in _KEYS else ""].append(rest if key in _KEYS else line[4:])
    dim, given, gives, wrong, error, advice, cell = ("\n".join(parts[key]) for key in (*_KEYS, ""))
    return lines[0], Example(cell, int(dim) if dim else None, given, gives, wrong, error, advice)


def _read_functions(text: str) -> dict[str, Example]:
    """The examples of functions of one value, a line each; they are all mistaken alike."""
    found: dict[str, Example] = {}
    for line in text.strip().splitlines():
        call, given, gives = re.split(" given | gives ", line)
        bad, u = call.replace("(u)", "(u > 0)"), 'u = field("u")\nu.next = '
        name = call.partition("(")[0]
        said = f"line 2: {name} does not take bool: {bad}", OF_CONDITIONS
        found[name] = Example(u + call, None, f"u = {given}", f"u = {gives}", u + bad, *said)
    return found


@cache
def examples_by_group() -> tuple[tuple[str, str, dict[str, Example]], ...]:
    """Title and meaning of each group, and the examples by their words, in the order in which they are explained."""
    of_values = _read_functions(FUNCTIONS_OF_VALUES)
    return tuple(
        (title, meaning, {**(of_values if text is FUNCTIONS else {}), **read_examples(text)})
        for title, meaning, text in _GROUPS
    )


def document(names: Mapping[str, object]) -> None:
    """Add to each function's docstring the examples of its word."""
    for _, _, examples in examples_by_group():
        for name, example in examples.items():
            function = names.get(name)
            if inspect.isfunction(function):
                function.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}{MARK}{example}\n"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
