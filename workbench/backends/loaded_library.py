"""Loaded libraries: compiled code leaves the process with the object that calls it.

A search over many plans loads thousands of libraries in one process; each has some mappings, of which the system
grants a process 65,530, and memory of its own.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

# Their threads sleep inside them between marches, so that they must not leave with the last library that needs them.
_RUNTIMES = ("libgomp.so.1", "libomp.so.5", "libomp.so") if hasattr(os, "RTLD_NODELETE") else ()
_UNLOAD = ctypes.CDLL(None).dlclose
_UNLOAD.argtypes, _UNLOAD.restype = (ctypes.c_void_p,), ctypes.c_int


def load_library(path: Path, owner: object, before: Callable[[ctypes.CDLL], object] | None = None) -> ctypes.CDLL:
    """Load the library, to be unloaded when `owner` is gone; calls through it release Python's lock.

    `owner` must outlive every call. `before` is called with the library just before that and must not refer to
    `owner`. At the end of the process nothing is unloaded: a thread may still be inside.
    """
    library = ctypes.CDLL(str(path))
    for name in _RUNTIMES:
        with suppress(OSError):  # not loaded, so it has no threads
            ctypes.CDLL(name, mode=os.RTLD_LAZY | os.RTLD_NOLOAD | os.RTLD_NODELETE)
    weakref.finalize(owner, _unload, library, before).atexit = False
    return library


def loading_problem(path: Path) -> str:
    """Why the system does not load the library, in its own words; "" if it does."""

    class User:
        pass

    try:
        load_library(path, User())
    except OSError as error:
        return str(error) or type(error).__name__
    return ""


def _unload(library: ctypes.CDLL, before: Callable[[ctypes.CDLL], object] | None) -> None:
    if before is not None:
        before(library)
    _UNLOAD(library._handle)
