"""Guard: a small process that ends groups of processes when the process that they work for has gone, however it went.

A process that is killed can do nothing more, and what it has started runs on. The guard reads a pipe whose other end
that process has: at the pipe's end it kills the groups that it was told of. It has a session of its own, so that no
interrupt of a terminal and no kill of the group of its owner ends it first.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from types import TracebackType
from typing import Self

# "+17" is a group that works now, "-17" one that does not. It imports nothing of ours, so that it is there at once.
_SCRIPT = """
import os, signal, sys
groups = set()
for line in sys.stdin.buffer:
    (groups.add if line[:1] == b"+" else groups.discard)(int(line[1:]))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
"""

ANNOUNCED = "echo +$$ >&0; exec </dev/null; "
"""Before a shell's command: it tells of its group itself, as its parent may be killed before it can.

Its standard input is what `ProcessGuard.handle` gives; that of the command is empty.
"""


class ProcessGuard:
    """Groups of processes that end with this process. Any thread may use it."""

    def __init__(self) -> None:
        """Nothing runs until the first `handle`."""
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._writer = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def handle(self) -> int:
        """The end of the pipe at which a leader of a group tells of itself; a leader closes it then."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._close()
                reader, self._writer = os.pipe()
                try:
                    self._process = subprocess.Popen(
                        [sys.executable, "-I", "-S", "-c", _SCRIPT],
                        stdin=reader,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        cwd="/",
                        start_new_session=True,
                    )
                finally:
                    os.close(reader)
            return self._writer

    def forget(self, group: int) -> None:
        """A group has ended, and its number may soon be another's."""
        with self._lock, contextlib.suppress(OSError):  # where the guard itself was killed
            if self._writer >= 0:
                os.write(self._writer, b"-%d\n" % group)

    def close(self) -> None:
        """End the guard, and the groups that it still has."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        process, self._process = self._process, None
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1
        if process is not None:
            process.wait()


def announce(handle: int) -> None:
    """This process leads its group: tell the guard, as the commands of `ANNOUNCED` do."""
    os.write(handle, b"+%d\n" % os.getpid())
    os.close(handle)
