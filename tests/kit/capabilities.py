"""What each backend can be asked for in tests: a limit, and why it is one."""

from workbench.backends.registry import BACKENDS, get_backend


class Capability:
    """What one backend can be asked for.

    cell_steps: cells times steps that take about a second. rtol: of the largest value, for inexact operators. fuzz:
    sizes of random programs, as options of make_pair.
    """

    def __init__(self, cell_steps, rtol, why, fuzz=None):
        self.cell_steps, self.rtol, self.why = cell_steps, rtol, why
        self.fuzz = fuzz or {}


CAPABILITIES = {
    "reference": Capability(10**8, 0.0, "it is what the others are compared with"),
    "openmp": Capability(10**9, 1e-13, "the host's mathematical library rounds in its own way"),
    "cuda": Capability(10**10, 1e-13, "the device's mathematical functions round in their own way"),
    "cuda-sim": Capability(10**5, 1e-13, "every device thread is run by one host thread, with checks", {"cells": 60}),
}


def backends_here():
    """Names of the backends that can run here; every row of the table must have its capabilities stated."""
    missing = [row.name for row in BACKENDS if row.name not in CAPABILITIES]
    assert not missing, f"state in tests/kit/capabilities.py what these can do: {missing}"
    return tuple(row.name for row in BACKENDS if get_backend(row.name).availability().available)
