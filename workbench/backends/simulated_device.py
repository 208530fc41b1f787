"""A simulated CUDA device: launches kernels of a library built from CUDA text and tells what the checks found.

`simulator_source` makes of CUDA text what the compile pool builds such a library from. The conventions of the text are
in include/cuda_prelude.h, those of launches in include/simulator_launch.h, the checks in simulator/.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, cast

import numpy as np

from workbench.backends.compile_pool import Unit
from workbench.backends.loaded_library import load_library

INCLUDE = Path(__file__).parent / "include"
CORE = Path(__file__).parent / "simulator"
PRELUDE = "cuda_prelude.h"
RECORDS = "simulator_records.h"  # what kernels and the core share

_UNDEFINED, _FILLED = 1, 2
_TRACE, _SECTORS = 1, 2


class _Slot(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("length", ctypes.c_longlong),
        ("name", ctypes.c_char_p),
        ("flags", ctypes.c_ulonglong),
    )


class _Config(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("seed", ctypes.c_ulonglong),
        ("flags", ctypes.c_ulonglong),
    )


_COUNTED = ("launches", "blocks", "threads", "loads", "stores", "shared_loads", "shared_stores", "barriers")


class _Counters(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_ulonglong) for name in _COUNTED)


TRACE_DTYPE = np.dtype(
    [
        ("index", np.int64),
        ("block", np.uint32),
        ("thread", np.uint32),
        ("line", np.uint32),
        ("parameter", np.int32),  # number of the parameter, or -1 - n for the n-th shared array
        ("kind", np.uint32),  # 0 load, 1 store, 2 atomic
        ("phase", np.uint32),  # barriers passed in the block
    ]
)


class SimulatorFault(TypedDict):
    """One finding of the checks; `line` and `other_line` count in the CUDA text, 0 where there is none."""

    kind: str
    kernel: str
    line: int
    other_line: int
    array: str
    index: int
    length: int
    block: list[int]
    thread: list[int]
    message: str


class SectorCount(TypedDict):
    """How one place of the text touches global memory: accesses by whole warps, and the sectors they need."""

    array: str
    line: int
    store: bool
    warp_accesses: int
    lanes: int
    sectors32: int
    sectors128: int


@dataclass(frozen=True, slots=True)
class ArrayArgument:
    """An array a kernel may touch: contiguous memory of the caller, alive during the launch.

    `undefined`: the cells hold no value before this launch, and reading one that no kernel wrote since is a fault.
    `filled`: the host has written the array since it was declared undefined.
    """

    name: str
    cells: np.ndarray[Any, np.dtype[Any]]
    undefined: bool = False
    filled: bool = False


@dataclass(frozen=True, slots=True)
class ValueArgument:
    """A plain parameter, passed by value: its bytes, exactly as the C++ type lays them out."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """Grid and block, x first; `seed` 0 runs blocks in index order, any other shuffles them."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    seed: int = 0


def simulator_source(
    name: str,
    text: str,
    kernels: Mapping[str, bool],
    flags: tuple[str, ...] = (),
    core_flags: tuple[str, ...] = (),
) -> Unit:
    """The unit to compile: CUDA text as the device gets it, and a launcher for each of `kernels`.

    The values of `kernels` say which use barriers, shared memory or warp functions; their threads run as fibers, those
    of the others as a plain loop. Lines of faults and of the compiler's messages count in `text`. `core_flags` are for
    the simulator's core, which is compiled once for all units.
    """
    launchers = "".join(
        f"STENCIL_SIM_KERNEL({kernel}, {'true' if waits else 'false'})\n" for kernel, waits in kernels.items()
    )
    options = ("-std=c++17", "-include", PRELUDE, *flags)
    return Unit(name, f"{text}\n{launchers}", "cuda", options, _texts(INCLUDE), (_core(core_flags),))


def _core(flags: tuple[str, ...]) -> Unit:
    shared = tuple(header for header in _texts(INCLUDE) if header[0] == RECORDS)
    text = (CORE / "core.cpp").read_text(encoding="utf-8")
    return Unit("simulator", text, "c++", ("-std=c++17", *flags), (*shared, *_texts(CORE)))


def _texts(folder: Path) -> tuple[tuple[str, str], ...]:
    return tuple((file.name, file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.h")))


class SimulatedDevice:
    """One device's memory of launches over a loaded library; owned by one thread at a time, but for `cancel`."""

    def __init__(self, library: Path) -> None:
        self._context = ctypes.c_void_p()
        self._library = load_library(library, self, partial(_destroy, self._context))
        for name, result in (
            ("create", ctypes.c_void_p),
            ("errors", ctypes.c_char_p),
            ("sectors", ctypes.c_char_p),
            ("counters", ctypes.POINTER(_Counters)),
            ("trace", ctypes.c_void_p),
            ("destroy", None),
            ("reset", None),
            ("cancel", None),
        ):
            getattr(self._library, f"stencil_sim_{name}").restype = result
        self._context.value = self._library.stencil_sim_create()
        if not self._context:
            raise MemoryError("no memory for a simulated device")

    def close(self) -> None:
        """Give its memory back; a second call does nothing."""
        _destroy(self._context, self._library)

    def launch(
        self,
        kernel: str,
        shape: LaunchShape,
        arguments: Sequence[ArrayArgument | ValueArgument],
        *,
        trace: bool = False,
        sectors: bool = False,
    ) -> int:
        """Run `kernel` to its end and return how often it did wrong; it ends at the eighth distinct fault."""
        slots = (_Slot * len(arguments))(*(_slot(argument) for argument in arguments))
        flags = (_TRACE if trace else 0) | (_SECTORS if sectors else 0)
        config = _Config(
            (ctypes.c_uint * 3)(*shape.grid), (ctypes.c_uint * 3)(*shape.block), ctypes.c_ulonglong(shape.seed), flags
        )
        function = getattr(self._library, f"stencil_sim_launch_{kernel}")
        return int(function(self._context, ctypes.byref(config), slots, len(arguments)))

    def faults(self) -> tuple[SimulatorFault, ...]:
        """What all launches since the last reset found, in order."""
        text = self._library.stencil_sim_errors(self._context).decode("utf-8", "replace")
        return tuple(cast(SimulatorFault, json.loads(line)) for line in text.splitlines())

    def counters(self) -> dict[str, int]:
        """Launches, blocks, threads, loads, stores, shared_loads, shared_stores, barriers since the last reset."""
        found = self._library.stencil_sim_counters(self._context).contents
        return {name: int(getattr(found, name)) for name in _COUNTED}

    def sectors(self) -> tuple[SectorCount, ...]:
        """Memory sectors per place in the text, of launches with `sectors=True`; arrays count as aligned."""
        text = self._library.stencil_sim_sectors(self._context).decode("utf-8", "replace")
        return tuple(cast(SectorCount, json.loads(line)) for line in text.splitlines())

    def trace(self) -> np.ndarray[Any, np.dtype[np.void]]:
        """A copy of every access of launches with `trace=True` (at most 4 Mi of them), in the order simulated."""
        count = ctypes.c_longlong()
        address = self._library.stencil_sim_trace(self._context, ctypes.byref(count))
        data = ctypes.string_at(address, count.value * TRACE_DTYPE.itemsize) if count.value else b""
        return np.frombuffer(data, TRACE_DTYPE).copy()

    def cancel(self) -> None:
        """From any thread: end the running launch after its current block; holds until `reset`."""
        self._library.stencil_sim_cancel(self._context)

    def reset(self) -> None:
        """Forget faults, counters, trace and sectors."""
        self._library.stencil_sim_reset(self._context)


def _destroy(context: ctypes.c_void_p, library: ctypes.CDLL) -> None:
    if context:
        library.stencil_sim_destroy(context)
        context.value = None


def _slot(argument: ArrayArgument | ValueArgument) -> _Slot:
    name = argument.name.encode()
    match argument:
        case ArrayArgument(cells=cells, undefined=undefined, filled=filled):
            if not cells.flags.c_contiguous:
                raise ValueError(f"array {argument.name} has gaps between its cells; pass a contiguous one")
            return _Slot(cells.ctypes.data, cells.size, name, _UNDEFINED * undefined | _FILLED * filled)
        case ValueArgument(data=data):
            # The slot keeps `data` alive no longer than the caller's argument does: during the launch.
            return _Slot(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value, len(data), name, 0)
