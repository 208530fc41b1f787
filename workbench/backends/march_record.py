"""March record: what compiled code on the host is given for a march, member by member as stencil_march.h has it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from workbench.backends.base import Array, Condition, MarchRequest, StopFlag
from workbench.errors import BackendError
from workbench.graph.types import DD, F64, TYPES, StorageType
from workbench.planning.plan import GlobalSlot
from workbench.planning.schedules.locality import TileSizes

_NEVER = StopFlag()
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class MarchRecord(ctypes.Structure):
    """`struct March` of stencil_march.h."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("kernel", "steps", "first_step", "observe_every", "observe_last")),
        *((name, ctypes.c_int64) for name in ("always_observe", "threads", "tile")),
        *((name, ctypes.c_int64) for name in ("depth", "height", "spaces", "chunk", "window", "fetches")),
        *((name, ctypes.c_int64) for name in ("conditions", "scalars", "scratch_stride", "sample", "lap_stride")),
        ("block_bytes", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("condition_rows", "condition_values", "scalar_slots")),
        *((name, ctypes.c_void_p) for name in ("stop", "at_once")),
        *((name, ctypes.c_double) for name in ("seconds", "pace")),
        *((name, ctypes.c_void_p) for name in ("shape", "slots", "tags", "globals", "ahead", "scratch")),
        *((name, ctypes.c_int64) for name in ("done", "ended", "current", "observed")),
        *((name, ctypes.c_void_p) for name in ("observed_steps", "observed_values", "laps", "timed", "tiles")),
        *((name, ctypes.c_int64) for name in ("paused", "paused_band", "paused_parts", "paused_timed")),
        ("paused_tasks", ctypes.c_void_p),
        ("paused_window", ctypes.c_int64),
        ("files", ctypes.c_void_p),
    )


def check_march(library: ctypes.CDLL) -> None:
    """BackendError unless the library's march record is as long as the one it will be given."""
    length = library.stencil_march_bytes
    length.restype = ctypes.c_int64
    compiled, ours = length(), ctypes.sizeof(MarchRecord)
    if compiled != ours:
        raise BackendError(
            f"compiled code takes a march record of {compiled} bytes, this package gives one of {ours}",
            advice="Run workbench cache clear; if that does not help, install the package anew.",
        )


@dataclass(frozen=True, slots=True)
class PreparedMarch:
    """A record with what it points to: rooms for what is observed, and what must only stay alive.

    ahead: blocks of Globals of the steps that run together, one for each and one for what comes after them.
    """

    march: MarchRecord
    observed_steps: Array
    observed: Array
    request: MarchRequest
    ahead: Array
    alive: tuple[object, ...]

    @property
    def globals_to_come(self) -> Array | None:
        """The Globals after steps that were begun in tiles and not ended; None if there are none."""
        return self.ahead[self.march.paused] if self.march.paused else None

    def to_end(self, stop: StopFlag | None = None) -> MarchRecord:
        """The record again, for the steps that were begun, even if their end was asked for; `stop` may leave some."""
        addresses = stop_addresses(_NEVER if stop is None else stop)
        self.march.stop, self.march.at_once = addresses["stop"], addresses["at_once"]
        return self.march


def tile_members(tiles: TileSizes | None) -> dict[str, int]:
    """The sizes of tiles, by members of the record; all 1 for one step after the other, without windows."""
    return asdict(TileSizes(1, 1, 1, 1) if tiles is None else tiles)


def stop_addresses(stop: StopFlag) -> dict[str, int]:
    """Where compiled code looks whether it shall stop after a step, and whether at once, by members of the record."""
    address = stop.words.ctypes.data
    return {"stop": address, "at_once": address + stop.words.itemsize}


def condition_table(until: Sequence[Condition], slots: Sequence[GlobalSlot]) -> tuple[Array, Array]:
    """The conditions of a march: a row of slot, type and comparison for each, and what is compared with."""
    pairs = zip(slots, until, strict=True)
    rows = [(slot.index, type_number(slot.type), _COMPARISONS.index(each.comparison)) for slot, each in pairs]
    return np.array(rows, np.int64), np.array([each.value for each in until], np.float64)


def type_number(type_: StorageType) -> int:
    """What global_as_number calls a type: dd is compared by hi, which comes first."""
    return TYPES.index(F64 if type_ == DD else type_)
