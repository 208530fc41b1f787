"""Build cache: compiled artefacts found again by what they were made from, across processes and restarts.

An entry is a file with the artefact and, beside it, a JSON record with the artefact's name and sha256. The record is
written last and replaced in one step, so an entry exists completely or not at all; every look-up checks the sum, so a
damaged entry counts as absent and is made again. Two processes that build the same key both succeed: artefacts are
named after their own content and replaced only by equal bytes, and whichever record is written last wins.
"""

import contextlib
import hashlib
import json
import os
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from pathlib import Path

from workbench.amounts import bytes_text, counted
from workbench.errors import BuildError
from workbench.forking import forkable_lock, renew_when_forked

DEFAULT_LIMIT = 2 << 30
_FORMAT = "1"  # of records and keys; another number makes all older entries unreachable
_KEPT_FAILURES = 20
_MOST_KEPT = 64 << 20  # bytes of what stages of programs were found to be
_DIGEST = 32  # bytes of a sha256
_ABANDONED_AFTER = 24 * 3600.0  # seconds; a temporary file older than this belongs to no living build
_POLL = 0.05  # seconds between two looks for a request to cancel


class BuildCancelledError(BuildError):
    """A build was stopped because its result is no longer wanted."""

    def __init__(self, name: str) -> None:
        """`name` is what was being compiled."""
        super().__init__(f"compiling {name!r} was cancelled", advice="Run the cell again to compile it.")


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that decides an artefact's bits.

    `compiler` is the compiler's identity, `target` the resolved CPU features or the device's architecture, `generator`
    the version of what wrote the source. Anything a build reads beside these (headers) belongs into `source`.
    """

    name: str
    source: str
    flags: tuple[str, ...]
    compiler: str
    target: str
    generator: str
    suffix: str = ".so"

    @property
    def key(self) -> str:
        """Sha256 of all fields but `name`, as 64 hexadecimal digits."""
        parts = (_FORMAT, self.source, self.flags, self.compiler, self.target, self.generator, self.suffix)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Entry:
    """One artefact in the cache: a checked file that belongs to the cache, and what the compiler said about it.

    `seconds` is how long the compiler worked when the entry was made, `from_cache` whether this look-up found it made.
    """

    key: str
    path: Path
    report: str
    seconds: float
    from_cache: bool


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What is in a cache folder: number of entries, bytes used and allowed."""

    folder: Path
    entries: int
    bytes: int
    limit: int

    def __str__(self) -> str:
        """One line for the command line."""
        used = f"{bytes_text(self.bytes)} of {bytes_text(self.limit)}"
        return f"{self.folder}: {counted(self.entries, 'build')}, {used}"


@dataclass(frozen=True, slots=True)
class Counters:
    """What this process has done so far: artefacts compiled, artefacts found, seconds spent in compilers."""

    compiled: int
    cache_hits: int
    seconds: float


_counters = Counters(0, 0, 0.0)
_counters_lock = forkable_lock()


def counters() -> Counters:
    """Compilations and cache hits of this process; if `compiled` is unchanged, nothing was compiled in between."""
    return _counters


def _count(*, compiled: int = 0, cache_hits: int = 0, seconds: float = 0.0) -> None:
    global _counters
    with _counters_lock:
        old = _counters
        _counters = Counters(old.compiled + compiled, old.cache_hits + cache_hits, old.seconds + seconds)


class BuildCache:
    """A folder of artefacts, shared safely by any number of threads and processes.

    `limit` is the size in bytes above which the least recently used entries go. The cache owns its files: callers load
    them and never write to them.
    """

    def __init__(self, folder: Path, limit: int = DEFAULT_LIMIT) -> None:
        """Opens the folder without touching the disk; folders appear with the first entry."""
        self.folder = folder
        self.limit = limit
        self._flights: dict[str, Future[Entry]] = {}
        self._lock = threading.Lock()
        self._unchecked = limit  # bytes stored since the size was last measured; the first entry measures
        self._unchecked_kept = _MOST_KEPT  # the same of what is kept
        renew_when_forked(self)

    def renew_in_child(self) -> None:
        """What other threads are making is not made in a forked process, which lacks these threads."""
        self._flights, self._lock = {}, threading.Lock()

    def find(self, key: str) -> Entry | None:
        """The entry of `key` if it is there and undamaged; marks it as used now."""
        record_path = self._record_path(key)
        try:
            record = json.loads(record_path.read_bytes())
            path = record_path.with_name(record["artefact"])
            if hashlib.sha256(path.read_bytes()).hexdigest() != record["sha256"]:
                return None
            entry = Entry(key, path, str(record["report"]), float(record["seconds"]), from_cache=True)
        except (OSError, ValueError, KeyError, TypeError):
            return None  # absent, half deleted or damaged: each is cured by building again
        with contextlib.suppress(OSError):
            os.utime(record_path)
        return entry

    def store(self, recipe: Recipe, artefact: bytes, report: str = "", seconds: float = 0.0) -> Entry:
        """Add an artefact under `recipe.key`. Raises BuildError when the folder cannot take it."""
        digest = hashlib.sha256(artefact).hexdigest()
        record_path = self._record_path(recipe.key)
        path = record_path.with_name(f"{recipe.key}-{digest[:16]}{recipe.suffix}")
        record = {
            "artefact": path.name,
            "sha256": digest,
            "name": recipe.name,
            "flags": recipe.flags,
            "compiler": recipe.compiler,
            "target": recipe.target,
            "generator": recipe.generator,
            "seconds": seconds,
            "report": report,
        }
        try:
            if not _same_content(path, digest):
                self._write(path, artefact)
            self._write(record_path, json.dumps(record, indent=1).encode())
        except OSError as error:
            raise BuildError(
                f"the build cache {self.folder} cannot take {recipe.name!r}: {error.strerror or error}",
                advice="Free some space with `workbench cache clear`, or set WORKBENCH_CACHE to a folder with room.",
            ) from error
        self._unchecked += len(artefact)
        if self._unchecked > self.limit // 32:
            self._unchecked = 0
            self._shrink(keep=recipe.key)
        return Entry(recipe.key, path, report, seconds, from_cache=False)

    def drop(self, key: str) -> None:
        """Remove the entry of `key`, which is of no use although it is undamaged."""
        self._remove(path for path in self._files("entries") if path.name[:64] == key)

    def obtain(
        self,
        recipe: Recipe,
        make: Callable[[], tuple[bytes, str]],
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Entry:
        """The entry of `recipe`, made by `make` (artefact, report) if it is not there.

        Threads that ask for the same key at once share one `make`; processes do not wait for each other. An error of
        `make` goes to all who wait, except that a thread that cancels does not stop the others.
        """
        while True:
            with self._lock:
                flight = self._flights.get(recipe.key)
                own = flight is None
                if flight is None:
                    flight = self._flights[recipe.key] = Future()
            if own:
                return self._lead(recipe, make, flight)
            while not wait([flight], timeout=_POLL).done:
                if cancelled():
                    raise BuildCancelledError(recipe.name)
            if isinstance(flight.exception(), BuildCancelledError) and not cancelled():
                continue
            entry = flight.result()
            _count(cache_hits=1)
            return Entry(entry.key, entry.path, entry.report, entry.seconds, from_cache=True)

    def _lead(self, recipe: Recipe, make: Callable[[], tuple[bytes, str]], flight: Future[Entry]) -> Entry:
        """Find or make the entry for all threads that wait for `flight`."""
        try:
            entry = self.find(recipe.key)
            if entry is None:
                start = time.perf_counter()
                artefact, report = make()
                seconds = time.perf_counter() - start
                _count(compiled=1, seconds=seconds)
                entry = self.store(recipe, artefact, report, seconds)
            else:
                _count(cache_hits=1)
            flight.set_result(entry)
        except BaseException as error:
            flight.set_exception(error if isinstance(error, Exception) else BuildCancelledError(recipe.name))
            raise
        finally:
            with self._lock:
                self._flights.pop(recipe.key, None)
        return entry

    def read_note(self, name: str) -> Mapping[str, object] | None:
        """A small JSON object kept under `name` (a file name), or None; a damaged one counts as absent."""
        try:
            note = json.loads((self.folder / "notes" / f"{name}.json").read_bytes())
        except (OSError, ValueError):
            return None
        return note if isinstance(note, dict) else None

    def write_note(self, name: str, note: Mapping[str, object]) -> None:
        """Keep a small JSON object; failing to do so costs time later and is no error."""
        with contextlib.suppress(OSError):
            self._write(self.folder / "notes" / f"{name}.json", json.dumps(note, indent=1).encode())

    def read_kept(self, name: str) -> bytes | None:
        """What was kept under `name` (a file name), which counts as used now; a damaged file counts as absent."""
        path = self.folder / "kept" / name
        try:
            found = path.read_bytes()
        except OSError:
            return None
        digest, content = found[:_DIGEST], found[_DIGEST:]
        if hashlib.sha256(content).digest() != digest:
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return content

    def write_kept(self, name: str, content: bytes) -> None:
        """Keep bytes, and let go what was used longest ago; failing to do so costs time later and is no error."""
        path, total = self.folder / "kept" / name, 0
        with contextlib.suppress(OSError):
            self._write(path, hashlib.sha256(content).digest() + content)
            self._unchecked_kept += len(content)
            if self._unchecked_kept <= _MOST_KEPT // 32:
                return
            self._unchecked_kept = 0
            for file in sorted(self._files("kept"), key=_modified, reverse=True):
                total += _size(file)
                if total > _MOST_KEPT and file != path:
                    file.unlink(missing_ok=True)

    def keep_failure(self, file_name: str, text: str) -> Path | None:
        """Keep a source that did not compile and return where; only the last few are kept. None if the disk refuses."""
        path = self.folder / "failed" / file_name
        try:
            self._write(path, text.encode())
        except OSError:
            return None
        for old in sorted(self._files("failed"), key=_modified, reverse=True)[_KEPT_FAILURES:]:
            old.unlink(missing_ok=True)
        return path

    def info(self) -> CacheInfo:
        """Count what is there now."""
        files = [*self._files("entries"), *self._files("notes"), *self._files("kept"), *self._files("failed")]
        entries = sum(1 for path in self._files("entries") if path.suffix == ".json")
        return CacheInfo(self.folder, entries, sum(_size(path) for path in files), self.limit)

    def clear(self) -> CacheInfo:
        """Remove everything and say what there was. Libraries that a process has loaded stay usable in it."""
        before = self.info()
        for part in ("entries", "notes", "kept", "failed", "temporary"):
            shutil.rmtree(self.folder / part, ignore_errors=True)
        return before

    def _record_path(self, key: str) -> Path:
        return self.folder / "entries" / key[:2] / f"{key}.json"

    def _write(self, path: Path, content: bytes) -> None:
        """Replace a file in one step. A second try mends the race with a `clear` that removes the folders."""
        for last in (False, True):
            temporary = self.folder / "temporary" / uuid.uuid4().hex
            try:
                temporary.parent.mkdir(parents=True, exist_ok=True)
                path.parent.mkdir(parents=True, exist_ok=True)
                temporary.write_bytes(content)
                os.replace(temporary, path)
                return
            except FileNotFoundError:
                if last:
                    raise
            except OSError:
                temporary.unlink(missing_ok=True)
                raise

    def _files(self, part: str) -> Iterator[Path]:
        """All files below one part of the folder; those that vanish meanwhile do no harm."""
        for directory, _, names in os.walk(self.folder / part):
            for name in names:
                yield Path(directory, name)

    def _shrink(self, keep: str) -> None:
        """Remove the least recently used entries until the cache fits; `keep` was stored just now and stays."""
        now = time.time()
        for path in list(self._files("temporary")):
            if now - _modified(path) > _ABANDONED_AFTER:
                path.unlink(missing_ok=True)
        sizes: dict[str, int] = {}
        files: dict[str, list[Path]] = {}
        used: dict[str, float] = {}
        for path in self._files("entries"):
            key = path.name[:64]
            files.setdefault(key, []).append(path)
            sizes[key] = sizes.get(key, 0) + _size(path)
            used[key] = max(used.get(key, 0.0), _modified(path))
        total = sum(sizes.values())
        for key in sorted(sizes, key=lambda key: used[key]):
            if total <= self.limit:
                break
            if key != keep:
                self._remove(files[key])
                total -= sizes[key]

    def _remove(self, files: Iterable[Path]) -> None:
        """The record goes first: without it the artefact cannot be found, the other way round is damage."""
        for path in sorted(files, key=lambda path: path.suffix != ".json"):
            path.unlink(missing_ok=True)


def _same_content(path: Path, digest: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == digest
    except OSError:
        return False


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
