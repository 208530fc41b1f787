"""Language page: the notebook that explains every word of a cell, made from their docstrings and examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from workbench.frontend.word_examples import Example
from workbench.frontend.words import Word, WordGroup, groups

COMMAND = "workbench words --notebook notebooks/language.ipynb"

_INTRODUCTION = f"""\
# The language of a cell

Every word that a `%%stencil` cell may use: how it is written, what it means, an example with its result, and a mistake
with the error that it gets. In a cell, `Shift+Tab` on a word shows the same; so do `laplacian?` in any other cell of a
notebook, and `help` in Python:

    from workbench.language import laplacian
    help(laplacian)

This page is made by `{COMMAND}` from the docstrings; a test compares both."""

_RULES = """\
## How a cell is read

- The body is Python. It runs **once**, on *traced values* that stand for all cells of the grid and write down what is
  done to them. Loops, functions and comprehensions are ordinary Python, over things known at that moment; loops over
  cells and over time steps are never written. What depends on a value is chosen by `where(condition, a, b)`, not by
  `if`.
- The top level is the kernel `step`, one time step. `u` means the value **at the start of the step**, everywhere in it;
  `u.next = value` says what `u` holds after it, once for each field or scalar. What is not assigned keeps its value.
- `u[+1]` is the value in the next cell, `u[+1, 0]` that in the next cell along x in two dimensions. Every value has
  neighbours, not only fields: with `flux = u * u`, `flux[-1]` is the flux in the cell before.
- What lies outside the domain is part of a field: `field("u", boundary=...)`. A read outside without a rule is an
  error.
- A *field* has one value per cell; a *scalar* one number that is kept from step to step, such as the time; a *param*
  one number that the user sets between steps. Both numbers may be used in every formula, also in rules of boundaries.
- Numbers are `f64` unless `dtype=` says otherwise; Python's numbers take the type of what they meet. Comparisons give
  conditions (`bool`), which are joined by `&`, `|` and `~`, with parentheses: `(u > 0) & (u < 1)`.
- A `unit` is a label, for views and their axes: nothing is converted, and no formula is checked by it.
- Names of the notebook may be used: numbers are frozen when the cell runs, functions are called. Arrays are no part of
  a program; they are given to `simulate`.
- `--dim 2` behind the magic says how many axes there are; without it the first read such as `u[+1, 0]` does.
- A cell with `totals` or `output` has neither grid nor steps: its machine is called with arrays and returns others (see
  *Pairs* and *Arrays* below).

A whole cell: heat in a rod whose left end is heated more and more. `t` is the time, a scalar that each step raises.
`--backend reference` is the slow interpreter, so that this page needs no compiler; without it all cores compute."""

_ROD = """\
%%stencil rod --backend reference
t = scalar("t", unit="s")
k = param("k", 0.2, at_least=0, at_most=0.5)
u = field("u", boundary={"x-": fixed(0.1 * t), "x+": "outflow"}, unit="K")
heat = scalar("heat")

@kernel
def init():
    u.next = where(index(0) == 2, 1.0, 0.0)

u1 = u + k * (u[+1] - 2 * u + u[-1])
u.next, t.next = u1, t + 0.5
heat.next = reduce_sum(u1)"""

_RUN = """\
sim = rod.simulate(shape=6)
sim.run(3)
sim.set(k=0.4)
sim.run(1)
print(sim.u)
print(sim.t, sim.heat, sim.k)"""

_RUNNING = """\
`rod` is a machine, a program without data. `simulate` takes an array (or one number for all cells) for each field that
the kernel `init` does not set, and numbers for scalars and params; `shape` is that of the arrays. `sim.u` is a copy.
`sim.run(until=3.0)` ends with the first step at which `t` is at least 3, `sim.view("u")` shows the field live, and
`help(sim)` has the rest."""

_END = """\
Back to the course: [00-quickstart](00-quickstart.ipynb), [01-first-steps](01-first-steps.ipynb)."""


def page() -> str:
    """The notebook as JSON text, without outputs; the same text for the same words."""
    cells = [_cell(number, *part) for number, part in enumerate(_parts())]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _parts() -> Iterator[tuple[str, str]]:
    """Kind and text of each cell."""
    yield "markdown", _INTRODUCTION
    yield "code", "%load_ext workbench"
    yield "markdown", _RULES
    yield "code", _ROD
    yield "markdown", _RUNNING
    yield "code", _RUN
    yield "markdown", "All words, and one of them in two ways:"
    yield "code", "%stencil --words"
    yield "code", "%stencil --words where"
    yield "code", "from workbench.language import where\n\nhelp(where)"
    for group in groups():
        yield "markdown", _head(group)
        for word in group.words:
            if not word.is_plain_function:
                yield "markdown", _section(word)
    yield "markdown", _END


def _cell(number: int, kind: str, text: str) -> dict[str, Any]:
    lines = text.splitlines(keepends=True)
    name = f"cell-{number:03}"
    if kind == "markdown":
        return {"cell_type": "markdown", "id": name, "metadata": {}, "source": lines}
    code: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "id": name,
        "metadata": {},
        "outputs": [],
    }
    return {**code, "source": lines}


def _head(group: WordGroup) -> str:
    """Title and meaning of a group, and its plain functions in a table."""
    plain = [word for word in group.words if word.is_plain_function]
    text = f"## {group.title}\n\n{escaped(group.meaning)}"
    if not plain:
        return text
    rows = [f"| `{w.signature}` | {escaped(w.meaning)} | {w.example.given} | {w.example.gives} |" for w in plain]
    first = plain[0].example
    table = "\n".join(["| written | meaning | of | `u.next` is |", "|---|---|---|---|", *rows])
    return f"{text}\n\n{table}\n\nNone of these takes a condition:\n\n{_code(first.wrong)}\n\n{_said(first)}"


def _section(word: Word) -> str:
    example = word.example
    dim = "" if example.dim is None else f" with `--dim {example.dim}`"
    return "\n\n".join(
        [
            f"### {escaped(word.name)}",
            f"`{word.signature}`",
            escaped(word.meaning),
            f"In a cell{dim}:\n\n{_code(example.cell)}",
            f"From `{example.given}` {example.march} `{example.gives}`.",
            f"A mistake:\n\n{_code(example.wrong)}\n\n{_said(example)}",
        ]
    )


def _code(text: str) -> str:
    return f"```python\n{text}\n```"


def _said(example: Example) -> str:
    return f"```text\n{example.error}\n{example.advice}\n```"


def escaped(text: str) -> str:
    r"""Plain text as Markdown: what would be a mark is shown as it is, except in `backticks`."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_<>\[\]$|\\])", r"\\\1", part) for part in parts)
