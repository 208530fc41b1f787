"""Small programs with one idea each; every backend runs all of them (tests/test_programs.py)."""

from importlib import import_module

import numpy as np

# One row each. A module has TEXT (a cell), STEPS, start() (arguments of simulate) and check(simulation), a property
# that must hold after STEPS steps; or it has programs(), the rows (name, text, steps, start, check) of its variants.
MODULES = (
    "wave",
    "hello",
    "multiplication_table",
    "shift_example",
    "heart",
    "life",
    "diffusion",
    "upwind",
    "boundaries",
    "rotation",
    "initialised",
    "elasticity",
)


class Program:
    """One program: a cell, how many steps, what to start from, and what must hold at the end."""

    def __init__(self, name, text, steps, start, check):
        self.name, self.text, self.steps, self.start, self.check = name, text, steps, start, check

    def __repr__(self):
        return self.name


def all_programs():
    found = []
    for name in MODULES:
        module = import_module(f"tests.programs.{name}")
        if hasattr(module, "programs"):
            found += [Program(*row) for row in module.programs()]
        else:
            found.append(Program(name, module.TEXT, module.STEPS, module.start, module.check))
    return tuple(found)


def dimension(program):
    """Number of dimensions of what a program starts from."""
    given = program.start()
    shape = given.get("shape") or next(np.shape(v) for v in given.values() if np.ndim(v))
    return len(np.atleast_1d(shape))
