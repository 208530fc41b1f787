"""A backend of its own in a few lines: the CPU text on one thread; tests add it by a row in the registry."""

from workbench.backends.base import Availability
from workbench.backends.openmp import OpenmpBackend


class OneThreadBackend:
    name = "one-thread"

    def __init__(self):
        self._openmp = OpenmpBackend()

    def availability(self) -> Availability:
        return self._openmp.availability()

    def compile(self, plan, cancel=None):
        return OneThreadProgram(self._openmp.compile(plan, cancel))


class OneThreadProgram:
    def __init__(self, program):
        self._program = program

    def __getattr__(self, name):
        return getattr(self._program, name)

    def instantiate(self, extents, threads=0):
        return self._program.instantiate(extents, 1)
