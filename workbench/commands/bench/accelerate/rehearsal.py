"""Rehearsal: estimates from the usual inputs what large ones will cost each system; too expensive systems are left out.

One process runs all systems. A call of a library that takes an hour, or all of the memory, cannot be stopped in it.
Each is therefore called with the usual inputs first; its seconds and bytes are scaled as the work of the row grows.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.amounts import bytes_text, seconds_text
from workbench.commands.bench.accelerate.row import Call, Case, Inputs, ProgramRow
from workbench.run.memory import bytes_available


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a call of each other system is expected to take, by name, and what the arrays of the row do."""

    seconds: dict[str, float]
    bytes: dict[str, float]
    arrays: float

    def refusal(self, name: str, most: float) -> str:
        """Why a system is left out, if calls may take `most` seconds; "" if it is not."""
        expected = self.seconds.get(name, 0.0)
        if expected > most:
            return f"left out: about {seconds_text(expected)} a call, more than {seconds_text(most)}"
        return _too_large(self.bytes.get(name, 0.0))

    def row_refusal(self) -> str:
        """Why the whole row is left out, "" if it is not."""
        return _too_large(self.arrays)


def _too_large(needed: float) -> str:
    available = bytes_available()
    if available is None or needed <= available:
        return ""
    return f"left out: needs about {bytes_text(int(needed))} of memory, and {bytes_text(available)} are available"


def rehearsed(row: ProgramRow, inputs: Inputs) -> Rehearsal | None:
    """With the usual inputs; None if it is these that will be measured, or smaller ones."""
    grows = row.work(*row.numbers(inputs)) / row.work(*row.numbers("usual"))
    if grows <= 1:
        return None
    case = row.case("usual")
    seconds, sizes = {}, {}
    for name, call in case.others().items():
        call()  # which compiles
        took, peak = _watched(call)
        seconds[name], sizes[name] = grows * took, grows * peak
    return Rehearsal(seconds, sizes, grows * _bytes_of(case))


def _watched(call: Call) -> tuple[float, int]:
    """Seconds of a call, and the bytes that Python and NumPy have allocated in it at most."""
    tracemalloc.start()
    try:
        begin = time.perf_counter()
        call()
        return time.perf_counter() - begin, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _bytes_of(case: Case) -> int:
    """Of the arrays that the programs are given, and of results as large."""
    return 2 * sum(int(each.nbytes) for _, given in case.called for each in _arrays(given))


def _arrays(given: Any) -> Iterator[Any]:  # noqa: ANN401  # arguments of a program
    if isinstance(given, tuple):
        for each in given:
            yield from _arrays(each)
    elif isinstance(given, np.ndarray):
        yield given
