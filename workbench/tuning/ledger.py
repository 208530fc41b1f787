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
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from workbench.backends.file_systems import file_system
from workbench.errors import TuningError
from workbench.tuning.migrations import VERSION, migrate, version_of
from workbench.tuning.trials import Individual, Outcome, Race

_INDIVIDUAL = (
    "number, point, choices, changes, strategy, birth, parents, status, samples, phenotype, build_seconds, "
    "run_seconds, tail, score, same_as, told, bound, asked, after, base, error, loops, beside, against, paired, "
    "compared"
)
_TRIES, _PAUSE = 5, 0.02  # seconds between tries to be the one who writes
_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "lustre", "gpfs", "beegfs", "9p", "afs", "ceph"}


class Ledger:
    """An open ledger. Make one with `open_ledger` or `read_ledger`; use it in one thread."""

    def __init__(self, connection: sqlite3.Connection, path: Path, lock: int | None) -> None:
        self._connection = connection
        self._lock = lock
        self.path = path
        self._file = _identity(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def about(self) -> Mapping[str, Any]:
        """What the study is of: program, backend, extents, parameters, start, environment."""
        with _refusing(self.path):
            rows = self._connection.execute("SELECT name, value FROM about").fetchall()
            return {name: json.loads(value) for name, value in rows}

    def describe(self, about: Mapping[str, Any]) -> None:
        """Set what the study is of; names that are there keep their first value."""
        with _refusing(self.path), self._connection:
            rows = [(name, json.dumps(value)) for name, value in about.items()]
            self._connection.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", rows)

    def add(self, one: Individual) -> None:
        """Append an individual. Its number must be new. TuningError if the file has gone or the disk is full."""
        self._check_there()
        found = one.outcome
        row = (
            one.number, json.dumps(one.point), one.choices, one.changes, one.strategy, one.birth,
            json.dumps(one.parents), found.status, json.dumps(found.samples), found.phenotype, found.build_seconds,
            found.run_seconds, found.tail, one.score, one.same_as, one.told, found.bound,
            one.asked, one.after, one.base, found.error, json.dumps(found.loops),
            json.dumps(found.beside), one.against, one.paired, found.compared,
        )  # fmt: skip
        places = ", ".join("?" * len(row))
        with _refusing(self.path), self._connection:
            self._connection.execute(f"INSERT INTO individual ({_INDIVIDUAL}) VALUES ({places})", row)  # noqa: S608

    def add_race(self, race: Race) -> None:
        """Append a race with all its samples. Its number must be new. TuningError as of `add`."""
        self._check_there()
        with _refusing(self.path), self._connection:
            self._connection.execute(
                "INSERT INTO race VALUES (?, ?, ?, ?)", (race.number, race.after, race.tail, race.told)
            )
            rows = [(race.number, number, json.dumps(samples)) for number, samples in race.samples]
            self._connection.executemany("INSERT INTO final VALUES (?, ?, ?)", rows)

    def races(self, after: int = 0) -> list[Race]:
        """All whose number is above `after`, in order."""
        finals: dict[int, list[tuple[int, tuple[float, ...]]]] = {}
        with _refusing(self.path):
            for race, number, samples in self._connection.execute(
                "SELECT race, individual, samples FROM final WHERE race > ? ORDER BY race, individual", (after,)
            ):
                finals.setdefault(race, []).append((number, tuple(json.loads(samples))))
            rows = self._connection.execute(
                "SELECT number, after, tail, told FROM race WHERE number > ? ORDER BY number", (after,)
            )
            return [Race(number, at, tuple(finals.get(number, ())), tail, told) for number, at, tail, told in rows]

    def search_base(self, described: object, count: int) -> int:
        """How many individuals there were when this search began.

        A search that is described as the last one goes on; another one begins now, with `count` individuals.
        """
        text = json.dumps(described)
        with _refusing(self.path), self._connection:
            last = self._connection.execute("SELECT base, described FROM search ORDER BY rowid DESC LIMIT 1").fetchone()
            if last is not None and last[1] == text:
                return int(last[0])
            self._connection.execute("INSERT INTO search VALUES (?, ?)", (count, text))
        return count

    def _check_there(self) -> None:
        """SQLite writes on to a file that has lost its name, and all is gone when it is closed."""
        if _identity(self.path) != self._file:
            raise TuningError(
                f"{self.path} was removed or replaced while its study ran",
                advice="Keep what was measured with study.export(path), and begin again.",
            )

    @property
    def state(self) -> str:
        """What the process that writes, or the last one that wrote, said of itself; "" if it said nothing."""
        with _refusing(self.path):
            row = self._connection.execute("SELECT value FROM now WHERE name = 'state'").fetchone()
        return "" if row is None else str(row[0])

    def say(self, state: str) -> None:
        """Tell readers the state; not on a full disk, where adding has failed before."""
        with contextlib.suppress(sqlite3.OperationalError), self._connection:
            self._connection.execute("INSERT OR REPLACE INTO now VALUES ('state', ?)", (state,))

    def individuals(self, after: int = 0) -> list[Individual]:
        """All whose number is above `after`, in order."""
        query = f"SELECT {_INDIVIDUAL} FROM individual WHERE number > ? ORDER BY number"  # noqa: S608
        with _refusing(self.path):
            return [_individual(row) for row in self._connection.execute(query, (after,))]

    def close(self) -> None:
        """Close the file and let others write."""
        self._connection.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def open_ledger(path: Path) -> Ledger:
    """The ledger at `path` for writing, made if it is not there.

    Raises TuningError if another process writes to it, if it is no ledger, or if the file system is a network's.
    """
    path = path.expanduser().absolute()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, str(error.strerror)) from None
    if path.is_dir():
        raise TuningError(
            f"{path} is a folder", advice=f"Pass path= with a file in it, such as {path / 'study.sqlite'}."
        )
    if path.exists():
        if path.stat().st_size:  # an empty file is a ledger to be
            read_ledger(path).close()  # what is no study is refused before a lock lies beside it
        if not os.access(path, os.W_OK):
            raise _unwritable(path, "the file is for reading only")
    if (kind := file_system(path.parent)) in _NETWORK:
        raise TuningError(
            f"{path} lies on a network file system ({kind}), where SQLite's locks do not hold",
            advice="Pass path= with a file on a local disk.",
        )
    try:
        lock = os.open(_lock_name(path), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _unwritable(path, str(error.strerror)) from None
    if not any(_locked(lock, fcntl.LOCK_EX) for _ in range(_TRIES)):
        os.close(lock)
        raise TuningError(
            f"another study writes to {path}", advice="Wait for it, watch it with Study.attach(path), or pass path=."
        )
    try:
        connection = _connected(path, f"file:{_quoted(path)}?mode=rwc")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        _check(connection, path)
        migrate(connection)
    except BaseException:
        os.close(lock)
        raise
    return Ledger(connection, path, lock)


def _unwritable(path: Path, why: str) -> TuningError:
    return TuningError(f"no study can be kept at {path}: {why}", advice="Pass path= with a file in a folder of yours.")


def _identity(path: Path) -> tuple[int, int]:
    """Device and number of a file; zeros if there is none."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def is_written(path: Path) -> bool:
    """Whether a process has the ledger at `path` open for writing."""
    try:
        lock = os.open(_lock_name(path), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _locked(lock, fcntl.LOCK_SH)
    finally:
        os.close(lock)


def _lock_name(path: Path) -> str:
    return f"{path}.lock"


def _locked(lock: int, kind: int) -> bool:
    """Take a lock if it is free; a look by `is_written` has it for a moment."""
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(_PAUSE if kind == fcntl.LOCK_EX else 0.0)
        return False
    return True


def read_ledger(path: Path) -> Ledger:
    """The ledger at `path` for reading, also while a study writes to it. Raises TuningError if there is none."""
    path = path.expanduser().absolute()
    if not path.is_file():
        raise TuningError(f"there is no study at {path}", advice="Pass the path of a study that was begun.")
    if not path.stat().st_size and not is_written(path):
        raise TuningError(f"{path} is empty: no study was begun there", advice="Pass the path of a study.")
    address = f"file:{_quoted(path)}?mode=ro"
    connection = _connected(path, address + "&immutable=1" if _is_left_alone(path) else address)
    with _refusing(path):
        _check(connection, path)
        if version_of(connection) < VERSION:
            connection = _migrated_copy(connection)
    return Ledger(connection, path, None)


def _is_left_alone(path: Path) -> bool:
    """Whether no process writes to a file, in a folder where SQLite cannot make the files by which it would notice."""
    return not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists()


def _connected(path: Path, address: str) -> sqlite3.Connection:
    with _refusing(path):
        connection = sqlite3.connect(address, uri=True, timeout=10.0, check_same_thread=False)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return connection


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse files of later versions and of other programs."""
    version = version_of(connection)
    known = version or not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if version > VERSION or not known:
        raise TuningError(
            f"{path} is no study of this version (its version is {version}, this one's {VERSION})",
            advice="Pass another path.",
        )


def _migrated_copy(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The tables in memory, as this version has them: reading a file leaves it as it is."""
    copy = sqlite3.connect(":memory:", check_same_thread=False)
    connection.backup(copy)
    connection.close()
    migrate(copy)
    return copy


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """TuningError for what SQLite cannot do, as on a full disk, and for a file that is none of it, or damaged."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise TuningError(
            f"the study at {path} cannot be read or written: {error}",
            advice="Mend that, and make the same call again: it goes on with what the file has.",
        ) from None
    except sqlite3.IntegrityError:  # a fault of ours
        raise
    except (sqlite3.DatabaseError, json.JSONDecodeError) as error:
        raise TuningError(f"{path} is no study: {error}", advice="Pass another path.") from None


def _individual(row: tuple[Any, ...]) -> Individual:
    number, point, choices, changes, strategy, birth, parents, status, samples, phenotype, build, run, tail, *rest = row
    score, same_as, told, bound, asked, after, base, error, loops, beside, against, paired, compared = rest
    seconds = tuple((name, taken) for name, taken in json.loads(loops))
    others = tuple(json.loads(beside))
    measured = (tuple(json.loads(samples)), phenotype, build, run, tail, bound, error, seconds, others)
    outcome = Outcome(status, *measured, compared)
    origin = (strategy, birth, tuple(json.loads(parents)))
    calls = (asked, after, base, against, paired)
    return Individual(
        number, tuple(json.loads(point)), choices, changes, *origin, outcome, score, same_as, told, *calls
    )


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(str(path))
