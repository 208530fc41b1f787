"""Simulations whose arrays lie in files: a folder for them, and how much of them is in memory."""

import ctypes
import gc
import mmap
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from workbench.backends.file_systems import lies_in_memory


@contextmanager
def disk_folder():
    """A folder that does not lie in memory, as that for temporary files may, and is empty in the end."""
    roots = [Path(tempfile.gettempdir()), Path("/var/tmp"), Path.cwd()]
    root = next(root for root in roots if not lies_in_memory(root))
    with tempfile.TemporaryDirectory(dir=root) as made:
        yield Path(made)


@contextmanager
def folder_of_fields(monkeypatch):
    """The same, where simulations make their files."""
    with disk_folder() as made:
        monkeypatch.setenv("WORKBENCH_FIELDS", str(made))
        yield made
        gc.collect()
        assert not any(made.iterdir()), "a file with a name is left"


def lies_in_file(array):
    """Whether an array is a view of a file that is mapped."""
    while isinstance(array, np.ndarray):
        array = array.base.obj if isinstance(array.base, memoryview) else array.base
    return isinstance(array, mmap.mmap)


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
