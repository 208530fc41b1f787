"""Sequences: the programs of one function, run one after the other, as lengths become known between them.

What a program makes for later ones stays where it is: on the host they work on these arrays, on a GPU they never leave
it. Between two programs a number is read for each condition, and the arrays of what it selected are cut to it; natives
of foreign functions are called with arrays of earlier programs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.forking import forkable_lock
from workbench.frontend.captured import CapturedNames
from workbench.frontend.collective import TracedFunction, TracedSequence
from workbench.run.arrays import to_host
from workbench.run.foreign import PreparedNative
from workbench.run.prepared import Prepared

_KEPT = 4
"""For how many different lengths a program stays prepared, with its memory; the oldest goes first."""

Prepare = Callable[[int, Sequence[object]], Prepared]
"""Plans and compiles the program of that number, for what the function and the programs before it have given."""


class PreparedSequence:
    """What calls of equal shapes and types share: the programs, each for the last new lengths.

    `run` takes arguments of exactly the types and shapes that it was made for, and returns fresh arrays. Safe from any
    thread.
    """

    def __init__(self, sequence: TracedSequence, names: Sequence[str], prepare: Prepare) -> None:
        """`names`: of the arguments, and behind them of what the function holds and all that programs make."""
        self.held: tuple[object, ...] = ()  # further arguments, which are the same in each call
        self.names = CapturedNames(sequence.programs[0].traced)
        self._rebuild, self._prepare = sequence.rebuild, prepare
        self._returned = [(names.index(name), is_selected) for name, is_selected in sequence.returned]
        self._steps = tuple(_step(program, names) for program in sequence.programs)
        self._lock = forkable_lock()

    def run(self, arguments: Sequence[object], *, on_device: bool = False) -> object:
        """What the function returns for these arguments; on_device: its arrays as in `OneCall.result`."""
        values: list[Any] = [*arguments, *self.held]
        lengths: tuple[int, ...] = ()
        for number, step in enumerate(self._steps):
            for native in step.natives:
                values += native.run(values)
            prepared = step.known.get(lengths)
            if prepared is None:
                prepared = self._prepared(number, lengths, values)
            values += prepared.run(values, on_device=True)  # type: ignore[arg-type]  # a list of a sequence's program
            lengths += tuple(int(values[place]) for place in step.finds)
            for elements, length in step.cuts:
                values[elements] = values[elements][: int(values[length])]
        return self._rebuild([_given(values[place], on_device, is_part) for place, is_part in self._returned])

    def _prepared(self, number: int, lengths: tuple[int, ...], values: Sequence[object]) -> Prepared:
        """The program of that number for these lengths, planned and compiled."""
        made, known = self._prepare(number, values), self._steps[number].known
        with self._lock:
            prepared = known.setdefault(lengths, made)
            dropped = [known.popitem(last=False)[1] for _ in range(len(known) - _KEPT)]
        for each in dropped:
            each.give_up()
        return prepared

    def give_up(self) -> None:
        """Free the memory that waits; later calls take theirs anew."""
        for step in self._steps:
            for prepared in tuple(step.known.values()):
                prepared.give_up()


@dataclass(frozen=True, slots=True)
class _Step:
    """One program: the places of the lengths that it finds, and of the arrays that are cut with their lengths.

    natives: called before it. known: it, prepared for the lengths that were found before it.
    """

    natives: tuple[PreparedNative, ...]
    finds: tuple[int, ...]
    cuts: tuple[tuple[int, int], ...]
    known: OrderedDict[tuple[int, ...], Prepared]


def _step(program: TracedFunction, names: Sequence[str]) -> _Step:
    cuts = tuple((names.index(elements), names.index(length)) for elements, length in program.cuts)
    natives = tuple(PreparedNative(each, program, names) for each in program.calls)
    return _Step(natives, tuple(map(names.index, program.finds)), cuts, OrderedDict())


def _given(value: Any, on_device: bool, is_part: bool) -> Any:  # noqa: ANN401  # of NumPy, or of CuPy
    """A result as the caller gets it: fetched from a device unless it may stay there, in an array of its own."""
    if not on_device and not isinstance(value, np.ndarray):
        return to_host("a result", value)
    return value.copy() if is_part else value
