"""Simulations whose arrays lie in files: a folder for them, and how much of them is in memory."""

import ctypes
import mmap
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from workbench.backends.array_files import _file_system

_IN_MEMORY = ("tmpfs", "ramfs")


@contextmanager
def disk_folder():
    """A folder that does not lie in memory, as that for temporary files may, and is empty in the end."""
    roots = [Path(tempfile.gettempdir()), Path("/var/tmp"), Path.cwd()]
    root = next(root for root in roots if _file_system(root) not in _IN_MEMORY)
    with tempfile.TemporaryDirectory(dir=root) as made:
        yield Path(made)


def resident_bytes(files):
    """Of the files of an instance, by the system's own count of pages in its cache."""
    library, total = ctypes.CDLL(None), 0
    for file in files._files:
        pages = -(-len(file.mapping) // mmap.PAGESIZE)
        found = np.zeros(pages, np.uint8)
        address, length = ctypes.c_void_p(file.cells.ctypes.data), ctypes.c_size_t(len(file.mapping))
        assert library.mincore(address, length, ctypes.c_void_p(found.ctypes.data)) == 0
        total += int((found & 1).sum()) * mmap.PAGESIZE
    return total
