"""Compile pool: generated sources to shared libraries, in parallel, each in a folder and a process group of its own."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from workbench._version import __version__
from workbench.amounts import seconds_text
from workbench.backends.base import Availability
from workbench.backends.build_cache import BuildCache, BuildCancelledError, Recipe
from workbench.backends.cache_folder import default_cache, in_use, leave_folder
from workbench.backends.compiler_failures import (
    PLAIN_FLAGS,
    may_not_execute,
    not_loaded,
    not_started,
    own_fault,
    refused,
    warn_of_fault,
)
from workbench.backends.compiler_memory import bounded, exhausted, is_exhausted, memory_limit
from workbench.backends.loaded_library import loading_problem
from workbench.backends.processor import available_threads
from workbench.backends.toolchain import (
    LONG_TEXT,
    LONG_TEXT_FLAGS,
    RECORD_FLAGS,
    Kind,
    Missing,
    Toolchain,
    find_toolchain,
)
from workbench.errors import BuildError

Result = TypeVar("Result")
Language = Literal["c++", "cuda"]  # "cuda" is CUDA text for the simulator; both go through the C++ compiler

DEFAULT_TIMEOUT = 300.0
_POLL = 0.05  # seconds between two looks for a request to cancel
_SUFFIXES: dict[Language, str] = {"c++": ".cpp", "cuda": ".cu"}
# What the compiler says about vectorised loops is always asked for: it costs no time and changes no code.
_REPORT_FLAGS: dict[Kind, tuple[str, ...]] = {"gcc": ("-fopt-info-vec",), "clang": ("-Rpass=loop-vectorize",)}
_OF_LINKING = ("-shared", "-nodefaultlibs", "-nostdlib++", "-l", "-Wl,")


@dataclass(frozen=True, slots=True)
class Unit:
    """One translation unit. `name` is for people and names the file; `headers` (name, text) lie beside the source.

    `flags` come after the toolchain's own, so they win. `objects` are units of their own that the library links: each
    is compiled once for all libraries that name it. cut(n): the text as at most n texts that are compiled side by side
    and linked, with every line in its place; they compute the same, so that the library has the same key.
    """

    name: str
    text: str
    language: Language = "c++"
    flags: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    objects: tuple["Unit", ...] = ()
    cut: Callable[[int], tuple[str, ...]] | None = field(default=None, compare=False)

    @property
    def file_name(self) -> str:
        """The source's name in the compiler's messages."""
        return re.sub(r"[^A-Za-z0-9_.-]", "_", self.name) + _SUFFIXES[self.language]


@dataclass(frozen=True, slots=True)
class Built:
    """A shared library in the build cache, ready to be loaded.

    `report` is all the compiler printed, warnings and vectorised loops; `seconds` how long it worked when the library
    was made, be it now or (`from_cache`) earlier.
    """

    name: str
    key: str
    path: Path
    seconds: float
    from_cache: bool
    report: str


@dataclass(frozen=True, slots=True)
class Compiler:
    """What turns sources into libraries: toolchain, cache and limits. One value serves any number of threads.

    `timeout` (seconds) holds for each source; `jobs` compilers run at once, by default one for each available CPU.
    `memory`: bytes of address space that each may have, None: as `memory_limit` says.
    """

    toolchain: Toolchain
    cache: BuildCache
    jobs: int = 0
    timeout: float = DEFAULT_TIMEOUT
    memory: int | None = None

    def recipe(self, unit: Unit) -> Recipe:
        """All that decides the library's bits; its `key` is the name under which the cache knows it."""
        linked = "".join(f"// {each.name} {self.object_recipe(each).key}\n" for each in unit.objects)
        return self._recipe(unit, (unit.language, *self.library_flags(unit)), linked + _text_of(unit), ".so")

    def object_recipe(self, unit: Unit) -> Recipe:
        """All that decides the bits of one of a library's `objects`."""
        return self._recipe(unit, (unit.language, *self.object_flags(unit)), _text_of(unit), ".o")

    def library_flags(self, unit: Unit) -> tuple[str, ...]:
        """The compiler's options for a library. Several texts in one unit are as many short ones."""
        chain, is_long = self.toolchain, unit.cut is not None and len(unit.text) > LONG_TEXT
        alone = () if unit.language == "cuda" else chain.alone  # the simulator needs the C++ library
        own = LONG_TEXT_FLAGS[chain.kind] if is_long else RECORD_FLAGS[chain.kind] if "alone(" in unit.text else ()
        return (*chain.flags, *alone, *own, *unit.flags)

    def object_flags(self, unit: Unit) -> tuple[str, ...]:
        """The compiler's options for one of a library's `objects`."""
        return (*_of_object(self.toolchain.flags), *unit.flags)

    def _recipe(self, unit: Unit, flags: tuple[str, ...], text: str, suffix: str) -> Recipe:
        chain = self.toolchain
        return Recipe(unit.name, text, flags, chain.identity, chain.cpu_features, __version__, suffix)


def _of_object(flags: Sequence[str]) -> tuple[str, ...]:
    """A library's flags for what is linked into it later."""
    return (*(flag for flag in flags if not flag.startswith(_OF_LINKING)), "-c")


def _text_of(unit: Unit) -> str:
    return "".join(f"// {name}\n{header}\n" for name, header in unit.headers) + unit.text


class _Groups:
    """Whether each compiler leads a process group of its own."""

    own = True


_groups = _Groups()


def keep_compilers_in_group() -> None:
    """From now on compilers belong to this process' group; for one whose whole group another process stops and ends."""
    _groups.own = False


def default_compiler(kind: Kind | Literal[""] = "") -> Compiler:
    """The host's compiler of this kind, with the user's cache. BuildError says how to install one if there is none."""
    cache = default_cache()
    found = find_toolchain(cache=cache, kind=kind)
    if isinstance(found, Missing):
        raise found.error()
    return Compiler(found, cache)


def compiler_availability() -> Availability:
    """Whether a compiler works here; the first look on a machine takes about a second, later ones a millisecond."""
    found = find_toolchain()
    if isinstance(found, Missing):
        return Availability(False, found.reason, f"Install a compiler: {found.install}")
    return Availability(True)


def build(
    units: Sequence[Unit], compiler: Compiler | None = None, cancel: threading.Event | None = None
) -> tuple[Built, ...]:
    """Compile what the cache does not have, in parallel; the result has the order of `units`.

    The first failure stops the others. Raises BuildError with the compiler's first error, BuildCancelledError when
    `cancel` is set; KeyboardInterrupt stops all compilers and goes on to the caller.
    """
    chosen = default_compiler() if compiler is None else compiler
    stop = threading.Event()

    def cancelled() -> bool:
        return stop.is_set() or (cancel is not None and cancel.is_set())

    most = chosen.jobs or available_threads()
    jobs = min(most, len(units))
    if jobs <= 1:
        return _told(chosen, [_build_one(unit, chosen, cancelled, most) for unit in units])
    with ThreadPoolExecutor(jobs, thread_name_prefix="compile") as pool:
        futures = [pool.submit(_build_one, unit, chosen, cancelled, most // jobs) for unit in units]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            if not all(future.done() for future in futures):
                stop.set()
    return _told(chosen, _results(futures))


def _told(compiler: Compiler, made: Sequence[Built]) -> tuple[Built, ...]:
    """The libraries; the user is told of those made now in spite of a fault of the compiler."""
    for built in made:
        if not built.from_cache and own_fault(built.report):
            warn_of_fault(built.name, compiler.toolchain.version)
    return tuple(made)


def _results(futures: Sequence[Future[Result]]) -> tuple[Result, ...]:
    """What all of them made. Those stopped for a failure say only "cancelled": the failure itself is what to raise."""
    errors = [error for future in futures if (error := future.exception()) is not None]
    if errors:
        raise next((error for error in errors if not isinstance(error, BuildCancelledError)), errors[0])
    return tuple(future.result() for future in futures)


def _build_one(unit: Unit, compiler: Compiler, cancelled: Callable[[], bool], jobs: int) -> Built:
    """The unit's library, from the cache or made now by at most so many compilers at once."""
    recipe = compiler.recipe(unit)
    cache: BuildCache | None = in_use(compiler.cache)
    problem = ""
    while cache is not None:

        def make(cache: BuildCache = cache) -> tuple[bytes, str]:
            flags, objects = compiler.library_flags(unit), partial(build_objects, unit, compiler, cache, cancelled)
            beside = jobs > 1 and any(cache.find(compiler.object_recipe(o).key) is None for o in unit.objects)
            return _compile(unit, compiler, recipe.key, cancelled, flags, objects, jobs, beside)

        entry = cache.obtain(recipe, make, cancelled)
        problem = loading_problem(entry.path)
        if not problem:
            return Built(unit.name, entry.key, entry.path, entry.seconds, entry.from_cache, entry.report)
        cache.drop(recipe.key)
        cache = leave_folder(cache) if may_not_execute(problem) else None
    raise not_loaded(unit.name, compiler.toolchain, problem)


def build_objects(unit: Unit, compiler: Compiler, cache: BuildCache, cancelled: Callable[[], bool]) -> list[Path]:
    """A library's objects, each from the cache or compiled now; threads that ask for one at once share it."""
    found = []
    for each in unit.objects:
        recipe = compiler.object_recipe(each)
        make = partial(_compile, each, compiler, recipe.key, cancelled, compiler.object_flags(each))
        found.append(cache.obtain(recipe, make, cancelled).path)
    return found


def _compile(
    unit: Unit,
    compiler: Compiler,
    key: str,
    cancelled: Callable[[], bool],
    flags: tuple[str, ...],
    objects: Callable[[], Sequence[Path]] = tuple,
    jobs: int = 1,
    beside: bool = False,
) -> tuple[bytes, str]:
    """The bytes of a library or object and all that was printed. `objects` are linked, `beside`: compiled meanwhile."""
    if cancelled():
        raise BuildCancelledError(unit.name)
    folder = Path(tempfile.mkdtemp(prefix="stencil-workbench-"))
    try:
        for name, text in unit.headers:
            (folder / name).write_text(text, encoding="utf-8")
        texts = unit.cut(jobs) if unit.cut is not None and jobs > 1 else (unit.text,)
        if len(texts) == 1 and not beside:
            return _compile_text(unit, texts[0], folder, compiler, key, cancelled, flags, objects())
        parts, said = _compile_parts(unit, texts, folder, compiler, key, cancelled, flags, objects)
        # An empty text, so that the compiler that links finds what it does for any other text.
        library, last = _compile_text(unit, "", folder, compiler, key, cancelled, flags, parts)
        return library, said + last
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _compile_parts(
    unit: Unit,
    texts: Sequence[str],
    folder: Path,
    compiler: Compiler,
    key: str,
    cancelled: Callable[[], bool],
    flags: tuple[str, ...],
    objects: Callable[[], Sequence[Path]],
) -> tuple[list[Path], str]:
    """Compile the parts of a text at once, each below `folder`, where the headers lie, and beside them the objects.

    Returns all that is to be linked, and what was printed of the parts.
    """
    stop = threading.Event()

    def stopped() -> bool:
        return stop.is_set() or cancelled()

    def make(number: int) -> tuple[Path, str]:
        path, inside = folder / f"{number}.o", folder / str(number)
        inside.mkdir()
        options = (*_of_object(flags), "-I", "..")
        try:
            made, report = _compile_text(unit, texts[number], inside, compiler, key, stopped, options)
        except BaseException:
            stop.set()
            raise
        path.write_bytes(made)
        return path, report

    with ThreadPoolExecutor(len(texts) + 1, thread_name_prefix="compile") as pool:
        try:
            beside = pool.submit(objects)
            parts = _results([pool.submit(make, number) for number in range(len(texts))])
            return [*(path for path, _ in parts), *beside.result()], "".join(report for _, report in parts)
        finally:  # an interrupt stops the compilers, for which the pool waits
            stop.set()


def _compile_text(
    unit: Unit,
    text: str,
    folder: Path,
    compiler: Compiler,
    key: str,
    cancelled: Callable[[], bool],
    flags: tuple[str, ...],
    linked: Sequence[Path] = (),
) -> tuple[bytes, str]:
    """Compile a unit's text, or one of those that it is cut into, in a folder of its own.

    A compiler that stops through a fault of its own gets a second try without vectors; the messages begin with the
    fault's line.
    """
    chain = compiler.toolchain
    (folder / unit.file_name).write_text(text, encoding="utf-8")
    objects = [str(path) for path in linked]
    command = [*chain.command, "-x", "c++", unit.file_name, "-x", "none", *objects, *flags, *_REPORT_FLAGS[chain.kind]]
    memory = memory_limit() if compiler.memory is None else compiler.memory
    if shutil.which(command[0]) is None:  # the shell that sets the bound would only say so in its messages
        raise not_started(command[0], "no such program")
    made, fault = folder / "made", ""
    for plain in ((), PLAIN_FLAGS[chain.kind]):
        whole = bounded([*command, *plain, "-o", "made"], memory)
        status, report = _run(whole, folder, unit.name, compiler.timeout, cancelled)
        if status == 0 and made.exists():
            return made.read_bytes(), fault + report
        if is_exhausted(report, memory):
            raise exhausted(unit.name, memory)
        fault = own_fault(report)
        if not fault:
            break
    stem, suffix = os.path.splitext(unit.file_name)
    kept = compiler.cache.keep_failure(f"{stem}-{key[:12]}{suffix}", unit.text)
    raise refused(unit.name, unit.file_name, unit.text, kept, chain, status, report)


def _run(command: list[str], folder: Path, name: str, timeout: float, cancelled: Callable[[], bool]) -> tuple[int, str]:
    """Exit status and messages of one compiler; it is stopped with all its children when cancelled or out of time."""
    # LC_ALL: messages are parsed. TMPDIR: what a stopped compiler leaves behind goes with the folder.
    environ = os.environ | {"LC_ALL": "C", "TMPDIR": str(folder)}
    deadline = time.monotonic() + timeout
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=_groups.own,  # an interrupt from the keyboard reaches us, not half of them
        )
    except OSError as error:
        raise not_started(command[0], error.strerror or str(error)) from error
    try:
        while True:
            try:
                output, _ = process.communicate(timeout=_POLL)
                return process.returncode, output.decode(errors="replace")
            except subprocess.TimeoutExpired:
                if cancelled():
                    raise BuildCancelledError(name) from None
                if time.monotonic() > deadline:
                    raise BuildError(
                        f"compiling {name!r} took longer than {seconds_text(timeout)} and was stopped",
                        advice="Make some values Manifest, so that the generated sub-kernels get smaller.",
                    ) from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                (os.killpg if _groups.own else os.kill)(process.pid, signal.SIGKILL)
            process.communicate()
