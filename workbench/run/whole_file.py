"""Whole files: a file is replaced in one step, and what a killed process left of an earlier try goes away."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_BEGIN, _END = ".stencil-workbench-", ".part"


@contextlib.contextmanager
def whole_file(target: Path) -> Iterator[IO[bytes]]:
    """A new file to write to; at the end it takes the name `target`, or, if anything was raised, is gone.

    Any number of threads and processes may write to one target: each has a file of its own, the last one stays. Links
    are not followed. Raises OSError.
    """
    _remove_remains(target.parent)
    file, temporary = _new_file(target.parent)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, target)  # before it is closed, because a file without a lock is taken for a remain
    finally:
        temporary.unlink(missing_ok=True)


def _new_file(folder: Path) -> tuple[IO[bytes], Path]:
    """A file under a new name, locked for as long as it is open."""
    while True:
        path = folder / f"{_BEGIN}{uuid.uuid4().hex}{_END}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)  # O_EXCL follows no link
        file = os.fdopen(os.open(path, flags, 0o666), "wb")
        if not _lock(file.fileno(), wait=True) or _is_still(path, file.fileno()):
            return file, path
        file.close()  # another process took it for a remain before it was locked


def _remove_remains(folder: Path) -> None:
    """Remove what no process has open any more. Where files cannot be locked, nothing is removed."""
    for path in folder.glob(f"{_BEGIN}*{_END}"):
        with contextlib.suppress(OSError):
            number = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
            try:
                if _lock(number, wait=False):
                    path.unlink(missing_ok=True)
            finally:
                os.close(number)


def _lock(number: int, *, wait: bool) -> bool:
    """Lock an open file; False if another has it, or if this system or file system knows no locks."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _is_still(path: Path, number: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(number))
    except FileNotFoundError:
        return False
