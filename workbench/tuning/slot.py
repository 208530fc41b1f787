"""Slot: the one place that a device has for measurements, and standing still of all that builds meanwhile.

Files of this user's, on this machine, are locked for it, so that studies of all processes keep to it; a lock ends with
its process, however that ends. Who builds is the leader of a process group, and says so; while something is measured
the whole group, with its compilers, is stopped.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from workbench.errors import TuningError

_MEASURING, _BUILDER = "measuring-", "builder-"
_STILL = ("T", "t", "Z", "X", "")  # stopped, traced, or gone
_STOPPING, _LOOK = 1.0, 0.0005  # seconds: until a process has stopped, at most, and between two looks


class Builder:
    """This process' group as one that stands still while something is measured; for the leader of a group.

    Begins as soon as nothing is measured.
    """

    def __init__(self) -> None:
        with _registering():
            self._file: int | None = _locked(f"{_BUILDER}{_namespace()}-{os.getpid()}", fcntl.LOCK_EX)
        for path in _files(_MEASURING):
            os.close(_locked(path.name, fcntl.LOCK_SH))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    @contextlib.contextmanager
    def measuring(self, device: str) -> Iterator[None]:
        """Builds no more, and has the place for measurements of a device."""
        self.end()
        with measuring(device):
            yield

    def end(self) -> None:
        """From now on this group is not stopped."""
        if self._file is not None:
            with _registering():
                (_folder() / f"{_BUILDER}{_namespace()}-{os.getpid()}").unlink(missing_ok=True)
                os.close(self._file)
            self._file = None


@contextlib.contextmanager
def measuring(device: str) -> Iterator[None]:
    """Holds the one place for measurements of a device, such as "cpu", while builders stand still."""
    slot = _locked(f"{_MEASURING}{device}", fcntl.LOCK_EX)
    try:
        os.pwrite(slot, f"{os.getpid():<20}".encode(), 0)
        with _registering():
            stopped = [group for group in _builders() if _send(group, signal.SIGSTOP)]
            _wait_for_stop(stopped)
        try:
            yield
        finally:
            if not _measured(besides=f"{_MEASURING}{device}"):  # else they go on when that ends
                for group in stopped:
                    _send(group, signal.SIGCONT)
    finally:
        os.close(slot)


def is_held_up(process: int) -> bool:
    """Whether a process waits or stands still because another one measures."""
    return any(owner != process for owner in _measured())


def measured_by_others() -> int | None:
    """A process that measures and does not descend from this one; None if there is none, and on other systems."""
    if sys.platform != "linux":
        return None
    return next((process for process in _measured() if process and not _descends(process)), None)


def _descends(process: int) -> bool:
    """Whether a process descends from this one; True also for one that has ended."""
    while process > 1:
        if process == os.getpid():
            return True
        try:
            text = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            return True
        process = int(text.rpartition(")")[2].split()[1])  # its parent; its name may have brackets
    return False


def let_go_on(group: int) -> None:
    """Continue a builder's group if nothing is measured: the process that stopped it may have been killed meanwhile."""
    if _measured():  # what is measured may wait for a registry that a stopped group has, where that can be
        return
    with _registering():
        if group in _builders() and not _measured():
            _send(group, signal.SIGCONT)


def _builders() -> list[int]:
    """Groups that build, with files of those that have ended removed; to be called while registering."""
    found = []
    for path in _files(f"{_BUILDER}{_namespace()}-"):
        if _is_locked(path):
            found.append(int(path.name.rpartition("-")[2]))
        else:
            path.unlink(missing_ok=True)
    return found


def _measured(besides: str = "") -> list[int]:
    """Processes that measure."""
    found = []
    for path in _files(_MEASURING):
        if path.name != besides and _is_locked(path):
            text = path.read_text(encoding="ascii", errors="replace").strip()
            found.append(int(text) if text.isdecimal() else 0)
    return found


def _wait_for_stop(groups: list[int]) -> None:
    """Wait until the leaders stand still; to be called while registering, for which they may be waiting themselves.

    A process that is woken by the end of a registration before its own stop would keep the registry locked, and others
    would wait for it until the measurement ends, if not for ever. Where the system does not tell, this does not wait.
    """
    end = time.monotonic() + _STOPPING
    while sys.platform == "linux" and groups and time.monotonic() < end:
        groups = [group for group in groups if _state(group) not in _STILL]
        time.sleep(_LOOK if groups else 0.0)


def _state(process: int) -> str:
    """The letter of a process' state, "" if there is none."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[0]  # its name may have brackets


def _send(group: int, number: signal.Signals) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


@contextlib.contextmanager
def _registering() -> Iterator[None]:
    """Held while builders come, go, are listed or stopped: none is stopped that has begun to measure."""
    registry = _locked("registry", fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(registry)


def _locked(name: str, kind: int) -> int:
    """A file of the folder, open and locked."""
    file = os.open(_folder() / name, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(file, kind)
    except BaseException:
        os.close(file)
        raise
    return file


def _is_locked(path: Path) -> bool:
    """Whether a process has a lock of its own on a file."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def _files(prefix: str) -> list[Path]:
    return sorted(path for path in _folder().iterdir() if path.name.startswith(prefix))


def _folder() -> Path:
    """This user's folder for locks on this machine. TuningError if another user made it."""
    folder = Path(tempfile.gettempdir()) / f"stencil-workbench-slots-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise TuningError(
            f"{folder} is not this user's own folder", advice="Remove it, or set TMPDIR to another folder."
        )
    return folder


def _namespace() -> str:
    """What tells numbers of processes apart where containers share a folder; "" where there is none such."""
    return os.readlink("/proc/self/ns/pid").strip("pid:[]") if sys.platform == "linux" else ""
