"""Array files: the arrays of a simulation in files that are mapped into memory, few bytes of which stay there.

A file has no name from the start, so that it is gone when the simulation is, however the process ends. Its room on the
disk is taken when it is made: a disk that fills up later would end the process at any access. A value in a mapping is
always that of the file; to write back and to give up pages changes what is in memory, never what is read.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from workbench.amounts import bytes_text
from workbench.backends.base import Array
from workbench.backends.file_systems import lies_in_memory
from workbench.backends.in_files import FileStorage
from workbench.backends.placed_blocks import Block
from workbench.errors import NoRoomError
from workbench.planning.layout import PAGE, Layout
from workbench.planning.schedules.windows import Streaming

_ASKED = 1 << 17  # bytes; as in stencil_files.h
_PIECE_SHARE = 16  # pieces of arrays that are copied are so small a part of what may be in memory


class FileRow(ctypes.Structure):
    """`struct FileRow` of stencil_files.h."""

    _fields_ = tuple((name, ctypes.c_int64) for name in ("address", "bytes", "first", "plane", "descriptor"))


class FilesRecord(ctypes.Structure):
    """`struct Files` of stencil_files.h."""

    _fields_ = (
        ("count", ctypes.c_int64),
        ("rows", ctypes.POINTER(FileRow)),
        *(
            (name, ctypes.c_int64)
            for name in ("bytes", "budget", "page", "touched", "busy", "begun", "done", "streamed")
        ),
    )


class _Mapping(mmap.mmap):
    """A file without a name, mapped whole; open as long as an array lies in it."""

    file: IO[bytes]

    def give_up(self) -> None:
        """Write back what was changed, and keep nothing in memory."""
        self.flush()
        self.madvise(mmap.MADV_DONTNEED)
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self.file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@dataclass(frozen=True, slots=True)
class _File:
    """One array: its file, all bytes of it, where the cell at the origin lies, and the bytes of a plane of axis 0."""

    mapping: _Mapping
    cells: Array
    first: int
    plane: int


class ArrayFiles:
    """The files of one simulation's arrays."""

    def __init__(self, storage: FileStorage) -> None:
        self.storage = storage
        self._files: list[_File] = []
        self._record: FilesRecord | None = None

    def block(self, size: int, place: int, layout: Layout, itemsize: int) -> Block:
        """Memory of so many zero bytes, in a file, that begins at a place in a page."""
        mapping = _mapped(self.storage.folder, size + place)
        mapping.madvise(mmap.MADV_RANDOM)  # what is needed next is asked for, and nothing else comes to memory
        first, plane = place + layout.start * itemsize, layout.strides[0] * itemsize
        made = _File(mapping, np.frombuffer(mapping, np.uint8), first, plane)
        self._files.append(made)
        return Block(made.cells, made.cells[place : place + size])

    def record(self, threads: int) -> FilesRecord:
        """What compiled code is told. A loop over all cells may touch a third of the memory before it gives it up.

        threads: which may touch as much again while one of them gives it up.
        """
        if self._record is None:
            rows = (FileRow * len(self._files))()
            for row, each in zip(rows, self._files, strict=True):
                row.address, row.bytes = each.cells.ctypes.data, len(each.mapping)
                row.first, row.plane, row.descriptor = each.first, each.plane, each.mapping.file.fileno()
            budget = self.storage.memory // (3 if threads > 1 else 2)
            length = sum(len(f.mapping) for f in self._files)
            self._record = FilesRecord(len(self._files), rows, length, budget, mmap.PAGESIZE)
        return self._record

    @property
    def streamed(self) -> int:
        """Bytes that passed through memory in marches so far."""
        return 0 if self._record is None else self._record.streamed

    def streaming(self) -> Streaming:
        """What windows follow from."""
        planes = sum(f.plane for f in self._files)
        return Streaming(self.storage.memory, max(planes, 1), 8 * mmap.PAGESIZE * len(self._files))

    def task_rows(self, row_bytes: int, threads: int) -> int:
        """Rows of a task of a loop over all cells. row_bytes: of all arrays."""
        return max(self.storage.memory // (48 * threads * max(row_bytes, 1)), 1)

    def copied(self, cells: Array) -> Array:
        """A copy of cells, C-ordered, that lies in a file of its own, which lives as long as the array."""
        copy = array_in_file(self.storage.folder, cells.shape, cells.dtype)
        self.copy(copy, cells)
        return copy

    def apart(self, cells: Array) -> Array:
        """The cells, copied if they may lie in one of these files: what is written piece by piece must not be read."""
        return self.copied(cells) if isinstance(_owner(cells), _Mapping) else cells

    def part(self, cells: Array, index: tuple[int | slice, ...]) -> Array:
        """A copy in memory of the cells at an index. Pages that come to memory besides stay within bounds."""
        taken = np.asarray(cells[index])
        part = np.empty(taken.shape, taken.dtype)
        most, touched = self.storage.memory // _PIECE_SHARE, _bytes_touched(taken)
        for piece in pieces(taken, most * taken.nbytes // touched):
            part[piece] = taken[piece]
            if touched > most:
                self.give_up()
        return part

    def copy(self, to: Array, origin: Array) -> None:
        """Copy cells piece by piece; what of them is in memory stays within bounds."""
        for piece in pieces(to, self.storage.memory // _PIECE_SHARE):
            _ask_for(to[piece])
            _ask_for(origin[piece])
            to[piece] = origin[piece]
            self.give_up()
            give_up(to)
            give_up(origin)

    def give_up(self) -> None:
        """Keep nothing of these arrays in memory."""
        for file in self._files:
            file.mapping.give_up()

    def close(self) -> None:
        """Forget the files; they are closed when no array lies in them any more."""
        self._files.clear()
        self._record = None


def array_in_file(folder: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An array of zeros in a file of its own, which lives as long as the array. NoRoomError if there is no room."""
    size = math.prod(shape) * dtype.itemsize
    check_room(folder, size)
    return np.ndarray(shape, dtype, _mapped(folder, size))


def _mapped(folder: Path, size: int) -> _Mapping:
    """A new file of so many bytes, all zero."""
    length = -(-max(size, 1) // PAGE) * PAGE
    try:
        file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # it lives as long as its array
        os.posix_fallocate(file.fileno(), 0, length) if hasattr(os, "posix_fallocate") else file.truncate(length)
    except OSError as error:
        raise no_room(folder, length, error.strerror or str(error)) from error
    mapping = _Mapping(file.fileno(), length)
    mapping.file = file
    return mapping


def pieces(cells: Array, most_bytes: int) -> Iterator[tuple[slice, ...]]:
    """Parts of an array along its first axis, of about so many bytes; an array without axes is one."""
    if not cells.ndim:
        yield ()
        return
    count = max(most_bytes * len(cells) // max(cells.nbytes, 1), 1)
    yield from ((slice(first, first + count),) for first in range(0, len(cells), count))


def _bytes_touched(cells: Array) -> int:
    """About how many bytes of a file come to memory with an array's cells, as whole pages do."""
    touched = cells.itemsize
    for count, stride in zip(reversed(cells.shape), reversed(cells.strides), strict=True):
        touched = count * max(touched, min(abs(stride), mmap.PAGESIZE))
    return touched


def _ask_for(cells: Array) -> None:
    """Have the disk read what of a simulation's array is touched next."""
    base = _owner(cells)
    if isinstance(base, _Mapping) and hasattr(os, "posix_fadvise"):
        low, high = byte_bounds(cells)
        begin = np.frombuffer(base, np.uint8).ctypes.data
        for place in range(low - begin, high - begin, _ASKED):
            os.posix_fadvise(base.file.fileno(), place, min(_ASKED, high - begin - place), os.POSIX_FADV_WILLNEED)


def give_up(cells: Array) -> None:
    """Keep nothing in memory of an array that lies in a file of ours, or in a shared mapping of NumPy's."""
    base = _owner(cells)
    if isinstance(base, _Mapping):
        base.give_up()
    elif isinstance(base, np.memmap) and base.mode in ("r", "r+", "w+") and isinstance(base.base, mmap.mmap):
        base.base.madvise(mmap.MADV_DONTNEED)  # one of mode "c" has changes of its own


def _owner(cells: Array) -> object:
    """What an array is a view of: a mapped file, an array of NumPy's that is one, or another array or buffer."""
    base: object = cells
    while isinstance(base, np.ndarray | memoryview):
        if isinstance(base, np.memmap) and isinstance(base.base, mmap.mmap):
            return base
        base = base.obj if isinstance(base, memoryview) else base.base
    return base


def check_room(folder: Path, needed: int) -> None:
    """Raise NoRoomError unless so many bytes are free in a folder that lies on a disk."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise no_room(folder, needed, error.strerror or str(error)) from error
    if lies_in_memory(folder):
        raise no_room(folder, needed, "it lies in memory itself")
    if needed > free:
        raise no_room(folder, needed, f"{bytes_text(free, 4)} are free there")


def no_room(folder: Path, needed: int, why: str) -> NoRoomError:
    """The error of arrays that find no place in a folder."""
    return NoRoomError(
        f"arrays of {bytes_text(needed, 4)} cannot lie in files in {folder}: {why}",
        advice="Name another folder by WORKBENCH_FIELDS, or free some room in this one.",
    )
