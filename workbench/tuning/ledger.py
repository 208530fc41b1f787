"""Ledger: one SQLite file that keeps every individual of a study; the only SQL of the workbench.

One process writes (a lock says who), any number read. An individual that `add` has returned for survives a kill of the
process at any moment.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from workbench.errors import TuningError
from workbench.tuning.trials import Individual, Outcome

VERSION = 1
_SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE individual (
    number INTEGER PRIMARY KEY,
    point TEXT NOT NULL,
    choices TEXT NOT NULL,
    changes TEXT NOT NULL,
    strategy TEXT NOT NULL,
    birth TEXT NOT NULL,
    parents TEXT NOT NULL,
    status TEXT NOT NULL,
    samples TEXT NOT NULL,
    phenotype TEXT NOT NULL,
    build_seconds REAL NOT NULL,
    run_seconds REAL NOT NULL,
    tail TEXT NOT NULL,
    score REAL,
    same_as INTEGER NOT NULL,
    told REAL NOT NULL
) STRICT;
"""
_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "lustre", "gpfs", "beegfs", "9p", "afs", "ceph"}


class Ledger:
    """An open ledger. Make one with `open_ledger` or `read_ledger`; use it in one thread."""

    def __init__(self, connection: sqlite3.Connection, path: Path, lock: int | None) -> None:
        self._connection = connection
        self._lock = lock
        self.path = path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def about(self) -> Mapping[str, Any]:
        """What the study is of: program, backend, extents, parameters, start, environment."""
        rows = self._connection.execute("SELECT name, value FROM about").fetchall()
        return {name: json.loads(value) for name, value in rows}

    def describe(self, about: Mapping[str, Any]) -> None:
        """Set what the study is of; names that are there keep their first value."""
        with self._connection:
            rows = [(name, json.dumps(value)) for name, value in about.items()]
            self._connection.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", rows)

    def add(self, one: Individual) -> None:
        """Append an individual. Its number must be new."""
        found = one.outcome
        row = (
            one.number, json.dumps(one.point), one.choices, one.changes, one.strategy, one.birth,
            json.dumps(one.parents), found.status, json.dumps(found.samples), found.phenotype, found.build_seconds,
            found.run_seconds, found.tail, one.score, one.same_as, one.told,
        )  # fmt: skip
        with self._connection:
            self._connection.execute(f"INSERT INTO individual VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608

    def individuals(self, after: int = 0) -> list[Individual]:
        """All whose number is above `after`, in order."""
        rows = self._connection.execute("SELECT * FROM individual WHERE number > ? ORDER BY number", (after,))
        return [_individual(row) for row in rows]

    def close(self) -> None:
        """Close the file and let others write."""
        self._connection.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def open_ledger(path: Path) -> Ledger:
    """The ledger at `path` for writing, made if it is not there.

    Raises TuningError if somebody else writes to it, if it is no ledger, or if the file system is a network's.
    """
    path = path.expanduser().absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    if (kind := _file_system(path.parent)) in _NETWORK:
        raise TuningError(
            f"{path} lies on a network file system ({kind}), where SQLite's locks do not hold",
            advice="Pass path= with a file on a local disk.",
        )
    lock = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise TuningError(
            f"another study writes to {path}", advice="Wait for it, watch it with Study.attach(path), or pass path=."
        ) from None
    try:
        connection = _connected(path, f"file:{_quoted(path)}?mode=rwc")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        _migrate(connection, path)
    except BaseException:
        os.close(lock)
        raise
    return Ledger(connection, path, lock)


def read_ledger(path: Path) -> Ledger:
    """The ledger at `path` for reading, also while a study writes to it. Raises TuningError if there is none."""
    path = path.expanduser().absolute()
    if not path.is_file():
        raise TuningError(f"there is no study at {path}", advice="Pass the path of a study that was begun.")
    connection = _connected(path, f"file:{_quoted(path)}?mode=ro")
    with _refusing(path):
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    _check(version, path)
    return Ledger(connection, path, None)


def _connected(path: Path, address: str) -> sqlite3.Connection:
    with _refusing(path):
        connection = sqlite3.connect(address, uri=True, timeout=10.0, check_same_thread=False)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return connection


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the tables to this version; each version has its step."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0 and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        with connection:
            connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
        return
    _check(version, path)


def _check(version: int, path: Path) -> None:
    if version != VERSION:
        raise TuningError(
            f"{path} is no study of this version (its version is {version}, this one's {VERSION})",
            advice="Pass another path.",
        )


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise TuningError(f"{path} is no study: {error}", advice="Pass another path.") from None


def _individual(row: tuple[Any, ...]) -> Individual:
    number, point, choices, changes, strategy, birth, parents, status, samples, phenotype, build, run, tail, *rest = row
    outcome = Outcome(status, tuple(json.loads(samples)), phenotype, build, run, tail)
    score, same_as, told = rest
    origin = (strategy, birth, tuple(json.loads(parents)))
    return Individual(number, tuple(json.loads(point)), choices, changes, *origin, outcome, score, same_as, told)


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(str(path))


def _file_system(folder: Path) -> str:
    """The kind of the file system that a folder lies on, by the longest mount point; "" where that is not told."""
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    except OSError:
        return ""
    real = folder.resolve()
    fitting = [(len(mount[1]), mount[2]) for mount in mounts if real.is_relative_to(mount[1].replace("\\040", " "))]
    return max(fitting)[1] if fitting else ""
