"""March record: what compiled code on the host is given for a march, member by member as stencil_openmp.h has it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from workbench.backends.base import Array
from workbench.errors import BackendError
from workbench.graph.types import DD, F64, TYPES, StorageType


class MarchRecord(ctypes.Structure):
    """`struct March` of stencil_openmp.h."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("kernel", "steps", "first_step", "observe_every", "observe_last")),
        *((name, ctypes.c_int64) for name in ("always_observe", "threads", "tile")),
        *((name, ctypes.c_int64) for name in ("depth", "height", "spaces", "chunk")),
        *((name, ctypes.c_int64) for name in ("conditions", "scalars", "scratch_stride", "sample", "lap_stride")),
        ("block_bytes", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("condition_rows", "condition_values", "scalar_slots", "stop")),
        *((name, ctypes.c_double) for name in ("seconds", "pace")),
        *((name, ctypes.c_void_p) for name in ("shape", "slots", "tags", "globals", "ahead", "scratch")),
        *((name, ctypes.c_int64) for name in ("done", "ended", "current", "observed")),
        *((name, ctypes.c_void_p) for name in ("observed_steps", "observed_values", "laps", "timed", "tiles")),
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
    """A record with what it points to: rooms for what is observed, and what must only stay alive."""

    march: MarchRecord
    observed_steps: Array
    observed: Array
    alive: tuple[object, ...]


def type_number(type_: StorageType) -> int:
    """What global_as_number calls a type: dd is compared by hi, which comes first."""
    return TYPES.index(F64 if type_ == DD else type_)
