"""The named problems, one row each."""

from __future__ import annotations

import difflib

from workbench.commands.bench import euler, wave
from workbench.commands.bench.gray_scott import GRAY_SCOTT
from workbench.commands.bench.heat import HEAT
from workbench.commands.bench.maxwell import MAXWELL
from workbench.commands.bench.problem import Problem
from workbench.errors import RunError

PROBLEMS: tuple[Problem, ...] = (
    HEAT,
    wave.problem(2),
    wave.problem(4),
    wave.problem(8),
    euler.problem(2),
    euler.problem(3),
    GRAY_SCOTT,
    MAXWELL,
)


def problem_named(name: str) -> Problem:
    """The problem called `name`; RunError lists them if there is none."""
    for problem in PROBLEMS:
        if problem.name == name:
            return problem
    names = [problem.name for problem in PROBLEMS]
    close = difflib.get_close_matches(name, names, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else ""
    raise RunError(f"there is no problem {name!r}{guess}", advice=f"Use one of: {', '.join(names)}.")
