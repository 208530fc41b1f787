"""Archives: .npz files, written piece by piece, and read though they may be anything.

Nothing is unpacked that the reader does not expect.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Mapping
from typing import IO, Any

import numpy as np

from workbench.backends.array_files import give_up, pieces
from workbench.backends.base import Array

_MOST_TEXT = 1 << 20  # bytes
_PIECE = 1 << 20  # bytes read or written at a time
_OFTEN = 8  # pieces after which what arrays in files have in memory is given up

Header = tuple[tuple[int, ...], bool, np.dtype[Any]]
Form = tuple[tuple[int, ...], np.dtype[Any]]
"""Shape and dtype of an array."""

EmptyArray = Callable[[int, np.dtype[Any]], Array]
"""Makes an array of so many items of a type, with any contents."""


def write_arrays(file: IO[bytes], arrays: Mapping[str, Array]) -> None:
    """Write an archive of C-ordered arrays as `np.savez` does."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            about = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": array.shape}
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array_header_1_0(member, about)
                for number, piece in enumerate(pieces(array, _PIECE)):
                    member.write(array[piece].tobytes())
                    if number % _OFTEN == _OFTEN - 1:
                        give_up(array)


def read_text(archive: zipfile.ZipFile, name: str) -> str:
    """A text that was stored as an array. Raises KeyError if there is none, ValueError if it is none."""
    with archive.open(f"{name}.npy") as file:
        shape, _, dtype = header = _header(file)
        if shape != () or dtype.kind != "U" or dtype.itemsize > _MOST_TEXT:
            raise ValueError(f"{name} is no text")
        return str(_cells(file, header))


def read_array(archive: zipfile.ZipFile, name: str, expected: Form | None, empty: EmptyArray = np.empty) -> Array:
    """An array of the form that is expected. Any other has its form and no contents: all its items are one, a zero.

    Raises what zipfile, its decompressors and NumPy raise of a damaged file.
    """
    with archive.open(f"{name}.npy") as file:
        shape, _, dtype = header = _header(file)
        if dtype.hasobject:
            raise ValueError(f"{name} holds objects")
        return (
            _cells(file, header, empty) if (shape, dtype) == expected else np.broadcast_to(np.zeros((), dtype), shape)
        )


def _header(file: IO[bytes]) -> Header:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise ValueError(f"an array of version {version}")


def _cells(file: IO[bytes], header: Header, empty: EmptyArray = np.empty) -> Array:
    """The items, neither fewer nor more; zipfile looks at their checksum when the end is reached."""
    shape, by_columns, dtype = header
    cells = empty(math.prod(shape), dtype)
    memory, filled = cells.view(np.uint8) if cells.size else np.empty(0, np.uint8), 0
    while filled < len(memory):
        piece = file.read(min(_PIECE, len(memory) - filled))
        if not piece:
            raise ValueError("an array ends early")
        memory[filled : filled + len(piece)] = np.frombuffer(piece, np.uint8)
        filled += len(piece)
        if filled % (_OFTEN * _PIECE) == 0:
            give_up(cells)
    if file.read(1):
        raise ValueError("an array does not end where it should")
    return cells.reshape(shape, order="F" if by_columns else "C")
