"""OpenMP call: a program that runs once at each call, on arrays of the caller; a later call makes no record anew."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import starmap
from math import inf
from typing import Any

import numpy as np

from workbench.backends.base import Array, Condition, MarchRequest, Number
from workbench.backends.march_record import PreparedMarch
from workbench.backends.openmp_instance import MarchingCode, OpenmpInstance, check_march_end
from workbench.backends.teams import usable_threads
from workbench.forking import renew_when_forked
from workbench.graph import StorageType
from workbench.graph.types import F64, I64

_cell_of, _address_of = ctypes.c_char.from_buffer, ctypes.addressof  # found once, as each call asks for each array


def _address_or_one(values: Any) -> int:  # noqa: ANN401  # of NumPy, or of CuPy
    """Where a dense array lies that may be written; 1, which is no place of an element, for others."""
    try:
        return _address_of(_cell_of(values))
    except (TypeError, ValueError):
        return 1


class PreparedPart:
    """Marches of one kernel that differ in their steps alone: the record is filled once."""

    __slots__ = ("_check", "_entry", "_outside", "_reference", "_words", "march", "prepared")

    def __init__(self, prepared: PreparedMarch, program: MarchingCode, words: Array) -> None:
        """words: the Globals block."""
        plan = program.plan
        self.prepared, self.march = prepared, prepared.march
        self._entry, self._reference = program.entry, ctypes.byref(prepared.march)
        self._words, self._outside = words, plan.outside
        self._check = partial(check_march_end, plan, words, prepared.request.kernel)

    def run(self, steps: int) -> int:
        """Make so many steps at most; how many were made. RunError if an index lies outside of what it reads."""
        self.march.steps = steps
        status = self._entry(self._reference)
        if status or (self._outside >= 0 and self._words[self._outside]):
            self._check(status)
        done: int = self.march.done
        return done


class OpenmpCall(OpenmpInstance):
    """See `CallInstance` and `PreparingCall`. All numbers are written and read where they lie, in the Globals block."""

    on_device = False

    def __init__(self, program: MarchingCode, extents: tuple[int, ...], threads: int = 0) -> None:
        self._number_places: dict[tuple[type, str], tuple[Any, int]] = {}  # filled below: the defaults go the long way
        super().__init__(program, extents, threads, lent=True)
        plan = program.plan
        self.steps = {each.name: each.step for each in plan.strided}
        self._slot_words = self._slots.data  # to set an element of NumPy takes five times as long
        self._lent: list[object] = []
        self._field_slots = {slot.field: slot.index for slot in plan.slots if slot.field}
        self._wanted: Sequence[object] = ()  # what `made` was asked for last, and as NumPy takes it
        self._made_of: list[tuple[tuple[int, ...], np.dtype[Any]]] = []
        self._bytes = self._globals.data.cast("B")
        doubles, integers = self._bytes.cast("d"), self._bytes.cast("q")
        for param in plan.graph.params:
            if param.type == F64:
                self._number_places[float, param.name] = doubles, plan.global_slot(param.name).index
            elif param.type == I64:
                self._number_places[int, param.name] = integers, plan.global_slot(param.name).index
        self._parts: list[PreparedPart] = []
        self._once: PreparedPart | None = None
        self._is_forked = False
        if self.threads > 1:
            renew_when_forked(self)

    def made(self, wanted: Sequence[tuple[tuple[int, ...], StorageType]]) -> list[Array]:
        """Fresh arrays for results."""
        if wanted is not self._wanted:
            self._wanted, self._made_of = wanted, [(shape, type_.numpy) for shape, type_ in wanted]
        return list(starmap(np.empty, self._made_of))

    def lend(self, name: str, values: Array) -> None:
        """Let the field lie in this array until the next call of `lend`."""
        self._lent.append(values)  # stays alive
        flags = values.flags
        if flags.c_contiguous and flags.writeable and values.size:  # NumPy itself takes a microsecond
            self._slot_words[self._field_slots[name]] = _address_of(_cell_of(values))  # type: ignore[arg-type]  # a buffer
        else:
            self._slot_words[self._field_slots[name]] = values.ctypes.data
        if name in self._strides:
            self._strides[name][:] = [stride // values.itemsize for stride in values.strides]

    def lend_all(self, names: Iterable[str], arrays: Sequence[Any], otherwise: Callable[[str, Any], None]) -> None:
        """`lend` for many that are not empty; `otherwise` takes those that are not dense, aligned and writeable."""
        try:  # their buffers say so in less time than their flags
            addresses = list(map(_address_of, map(_cell_of, arrays)))
        except (TypeError, ValueError):
            addresses = list(map(_address_or_one, arrays))
        slots, places = self._slot_words, self._field_slots
        for name, values, address in zip(names, arrays, addresses, strict=True):
            if address & 7:
                otherwise(name, values)
            else:
                slots[places[name]] = address
        self._lent.append(arrays)

    def write_global(self, name: str, value: Number) -> None:
        """Set a param; rounded to its type."""
        place = self._number_places.get((type(value), name))
        if place is None:
            super().write_global(name, value)
        else:
            place[0][place[1]] = value

    def number(self, name: str) -> Callable[[], Array] | None:
        """How to read a scalar after `run`, as a fresh 0-d array; None of one that lies in several words."""
        slot = self._global(name)
        if slot.type.words > 1:
            return None
        words = self._globals[slot.index : slot.index + 1]
        found: Callable[[], Array] = words.view(slot.type.numpy)[:1].reshape(()).copy
        return found

    def flag(self, name: str) -> Callable[[], int]:
        """How to read a bool scalar."""
        return partial(self._bytes.__getitem__, 8 * self._global(name).index)

    def part(self, kernel: str, until: tuple[Condition, ...] = (), seconds: float = inf) -> PreparedPart:
        """Marches of a kernel, before `run`: each ends when `until` holds, or after so many seconds."""
        request = MarchRequest(kernel, 1, until=until, seconds=seconds)
        made = PreparedPart(self._prepared(request), self._program, self._globals)
        made.march.sample = 0  # nobody asks how long launches of calls take
        self._parts.append(made)
        return made

    def run(self) -> None:
        """Run the program once, on the arrays that are lent."""
        once = self._once
        if once is None:
            once = self._once = self.part(self.plan.kernels[0].kernel.name)
        if self._is_forked:
            self._is_forked = False
            usable_threads(self.threads)  # which says that there is one
        try:
            once.run(1)
        finally:
            self._lent.clear()  # nothing of the caller is kept

    def renew_in_child(self) -> None:
        """Of the parent's threads none exists here."""
        self._is_forked = True
        for each in self._parts:
            each.march.threads = 1

    def close(self) -> None:
        """Free the memory; the instance cannot be used afterwards."""
        self._parts.clear()
        self._once = None
        super().close()
