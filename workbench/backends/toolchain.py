"""Toolchain: the host's C++ compiler, its flags and the CPU it compiles for, found without running it when known.

A compiler is probed once: which kind it is, which version, whether it accepts the flags below, links OpenMP, and what
`native` means here. The answer is a note in the build cache under the compiler's path, time and size, the CPU and the
C library, so that later look-ups read two small files and start no process.
"""

import hashlib
import itertools
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.backends.build_cache import BuildCache
from workbench.backends.cache_folder import default_cache
from workbench.backends.processor import processor_text
from workbench.errors import BuildError

Kind = Literal["gcc", "clang"]

_CANDIDATES = ("g++", "clang++", "c++")
_PROBE_SECONDS = 60.0
X86 = frozenset({"x86_64", "AMD64", "i686"})  # as platform.machine() says
_SHIMS = frozenset({"ccache", "sccache", "distcc", "icecc"})  # one file in front of whichever compiler is configured

# The meaning "ieee": every operation rounds once, as NumPy does, and integers wrap. Never -ffast-math or a part of it
# that may change a bit.
MEANING_FLAGS = ("-ffp-contract=off", "-fwrapv")  # the first: a*b + c stays two roundings
# These change no bit of any result and are needed for speed: without the first, sqrt must be called for the sake of
# errno and its loop stays scalar; without the second, gcc may not compute both sides of a select (a side not taken
# could raise a floating-point exception flag) and so does not vectorise loops with selects. Nothing here reads errno
# or exception flags. One trap: gcc 12 then turns double(int(x)) into trunc(x), whose zero keeps its sign; the text's
# saturating cast avoids the pattern. Clang assumes both from the start.
BIT_NEUTRAL_FLAGS = ("-fno-math-errno", "-fno-trapping-math")
# gcc joins the selects of one condition into a branch; to vectorise the loop it then computes all that the selects
# depend on twice, once a side. Without, each select is one instruction (2-D hydrodynamics: 1.24 times faster).
SELECT_FLAGS: dict[Kind, tuple[str, ...]] = {"gcc": ("-fno-thread-jumps",), "clang": ()}
# gcc makes a call of memcpy of a loop that copies, also of the 16 cells that a sum takes from an array, which then are
# in memory and not in registers: a sum of 10^6 f64 takes 2.5 times as long. Long copies are as fast as loops.
COPY_FLAGS: dict[Kind, tuple[str, ...]] = {"gcc": ("-fno-tree-loop-distribute-patterns",), "clang": ()}
# gcc tries to combine three and four instructions into one, in time that grows faster than the loop: half of what
# LULESH's longest loop takes, without making it faster. In texts of more than LONG_TEXT characters gcc combines pairs
# only, and allocates registers for a function as a whole. Nor does it look for equal values among instructions again,
# order them after registers are given out, as processors do, or look for vectors outside of loops.
_GCC_LONG = """--param=max-combine-insns=2 -fira-region=one -fno-gcse -fno-gcse-after-reload -fno-schedule-insns2
-fno-rerun-cse-after-loop -fno-tree-slp-vectorize"""
LONG_TEXT_FLAGS: dict[Kind, tuple[str, ...]] = {"gcc": tuple(_GCC_LONG.split()), "clang": ()}
LONG_TEXT = 120_000
# Outside of loops too, gcc makes vectors of neighbouring parts of records, with fmaddsub, which rounds only once.
RECORD_FLAGS: dict[Kind, tuple[str, ...]] = {"gcc": ("-fno-tree-slp-vectorize",), "clang": ()}
LIBRARY_FLAGS = ("-fPIC", "-shared", "-fvisibility=hidden")
# Texts for CPUs take nothing from the C++ library and throw nothing. To link that library is most of a linker's work:
# without it a program is there 0.13 s earlier, of 0.8 s for a short one. -z defs: a compiler that needs more libraries
# is noticed when it is probed. Then, and for one with options of its own (sanitizers), all is linked as ever.
ALONE_FLAGS: dict[Kind, tuple[str, ...]] = {
    "gcc": ("-fno-exceptions", "-nodefaultlibs", "-Wl,-z,defs"),
    "clang": ("-fno-exceptions", "-nostdlib++"),
}
ALONE_LIBRARIES: dict[Kind, tuple[str, ...]] = {"gcc": ("-lm", "-lgcc", "-lc"), "clang": ()}
# gcc's unique symbols, of which the standard library has some, keep a library loaded until the process ends.
UNLOADING_FLAGS: dict[Kind, tuple[str, ...]] = {"gcc": ("-fno-gnu-unique",), "clang": ()}

# What a user's $CXX must not bring along. The first few also link code that, once it is loaded, takes subnormal numbers
# for zero in the whole process, NumPy's too; flags that come later do not take that back.
_CHANGES_RESULTS = re.compile(
    r"-(Ofast|ffast-math|funsafe-math-optimizations|mdaz-ftz|ffinite-math-only|fassociative-math|freciprocal-math"
    r"|fno-signed-zeros|fsingle-precision-constant|ffp-model=(fast|aggressive)|fdenormal-fp-math=.*)"
)


def export_flags() -> tuple[str, str]:
    """Flags for a text that leaves this machine, as words: those for speed, and those that no bit may do without."""
    native = "-march=native" if platform.machine() in X86 else "-mcpu=native"
    return " ".join((native, *BIT_NEUTRAL_FLAGS)), " ".join(MEANING_FLAGS)


_PROBE_SOURCE = """
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || __FINITE_MATH_ONLY__ + 0
#error "it is set up to change the results of floating-point arithmetic, as -ffast-math does"
#endif
#ifdef _OPENMP
#include <omp.h>
extern "C" int threads() { return omp_get_max_threads(); }
#endif
extern "C" int probe() {
    int total = 0;
    #pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < 64; ++i) total += i;
    return total;
}
"""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A compiler that works, and all that decides what it makes of a source.

    `command` is the compiler and arguments that the user gave with it ($CXX may be "ccache g++"), `flags` the complete
    list for a shared library, `alone` what is added for a text that takes nothing from the C++ library (nothing where
    this compiler cannot do without), `version` the first line of --version, `cpu_features` what -march=native means on
    this host, `system` the machine and the C library that a binary needs. Without `openmp` pragmas for threads are
    ignored and the program runs on one thread.
    """

    command: tuple[str, ...]
    kind: Kind
    version: str
    flags: tuple[str, ...]
    alone: tuple[str, ...]
    openmp: bool
    cpu_features: str
    system: str

    @property
    def compiler(self) -> str:
        """Path of the compiler."""
        return self.command[0]

    @property
    def identity(self) -> str:
        """One text that differs whenever the same source could give another binary, the flags apart."""
        return "\n".join((" ".join(self.command), self.kind, self.version, self.system))

    def __str__(self) -> str:
        """One line for cards and `doctor`."""
        return f"{self.version} ({self.compiler}), {'OpenMP' if self.openmp else 'one thread: no OpenMP library'}"


@dataclass(frozen=True, slots=True)
class Missing:
    """No compiler that works: what was tried, why it was refused, and the one command that installs one here."""

    tried: tuple[str, ...]
    reason: str
    install: str

    def __str__(self) -> str:
        """Two lines: the reason and the command."""
        return f"{self.reason}\nInstall a compiler: {self.install}"

    def error(self) -> BuildError:
        """The same as an error to raise."""
        return BuildError(self.reason, advice=f"Install a compiler: {self.install}")


def find_toolchain(
    environ: Mapping[str, str] = os.environ, cache: BuildCache | None = None, kind: Kind | Literal[""] = ""
) -> Toolchain | Missing:
    """The first compiler that works, and is of this kind, of $WORKBENCH_CXX, $CXX, g++, clang++ and c++ on $PATH.

    A compiler that $WORKBENCH_CXX names is the only one tried: silently taking another would hide a mistyped name.
    """
    notes = default_cache(environ) if cache is None else cache
    search = environ.get("PATH", os.defpath)
    own = _words(environ.get("WORKBENCH_CXX", ""))
    general = _words(environ.get("CXX", ""))
    commands = [own] if own else [*([general] if general else []), *([name] for name in _CANDIDATES)]
    refused: list[str] = []
    seen: set[tuple[str, ...]] = set()
    for command in commands:
        path = shutil.which(command[0], path=search)
        if path is None:
            refused.append(f"{command[0]} is not on the path")
            continue
        full = (os.path.abspath(path), *command[1:])  # compilers run in folders of their own
        real = (os.path.realpath(path), *command[1:])
        if real in seen:  # c++ is mostly a link to one of the others
            continue
        seen.add(real)
        found = _examine(full, notes)
        if isinstance(found, Toolchain) and kind in ("", found.kind):
            return found
        refused.append(f"{command[0]} is {found.kind}" if isinstance(found, Toolchain) else f"{command[0]}: {found}")
    tried = tuple(command[0] for command in commands)
    named = " that $WORKBENCH_CXX names" if own else ""
    wanted = f" of the kind {kind}" if kind else ""
    return Missing(tried, f"no working C++ compiler{wanted}{named}: {'; '.join(refused)}", install_command())


def install_command(what: Literal["compiler", "openmp"] = "compiler") -> str:
    """The one command that installs a C++ compiler, or the OpenMP library of clang, on this system."""
    system = platform.system()
    try:
        release = Path("/etc/os-release").read_text(encoding="utf-8") if system == "Linux" else ""
    except OSError:
        release = ""
    return _install_command(what, system, release)


def _install_command(what: Literal["compiler", "openmp"], system: str, os_release: str) -> str:
    """`os_release` is the text of /etc/os-release; its ID and ID_LIKE name the distribution and its parents."""
    if system == "Darwin":
        return "xcode-select --install" if what == "compiler" else "brew install libomp"
    if system == "Windows":
        return "wsl --install"
    identifiers = " ".join(re.findall(r'^ID(?:_LIKE)?="?([^"\n]*)"?$', os_release, re.MULTILINE)).split()
    managers = (
        (("debian", "ubuntu"), "sudo apt install", "g++", "libomp-dev"),
        (("fedora", "rhel", "centos"), "sudo dnf install", "gcc-c++", "libomp-devel"),
        (("suse", "opensuse"), "sudo zypper install", "gcc-c++", "libomp-devel"),
        (("arch",), "sudo pacman -S", "gcc", "openmp"),
        (("alpine",), "sudo apk add", "g++", "openmp-dev"),
    )
    for names, install, compiler, openmp in managers:
        if set(names) & set(identifiers):
            return f"{install} {compiler if what == 'compiler' else openmp}"
    return f"conda install -c conda-forge {'cxx-compiler' if what == 'compiler' else 'llvm-openmp'}"


def _examine(command: tuple[str, ...], notes: BuildCache) -> Toolchain | str:
    """The toolchain of one command from its note or by a probe, or why it cannot be used."""
    changing = next((word for word in command[1:] if _CHANGES_RESULTS.fullmatch(word)), None)
    if changing is not None:
        return f"it is given {changing}, which changes results"
    try:
        status = os.stat(command[0])
    except OSError as error:
        return error.strerror or str(error)
    real = os.path.realpath(command[0])
    # This file's own bytes stand for its flags and its way to probe: a note of another version of it says nothing.
    probe = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    state: list[object] = [probe, command, real, status.st_mtime_ns, status.st_size, processor_text(), _system_text()]
    shim = os.path.basename(real) in _SHIMS or (sys.platform == "darwin" and real.startswith("/usr/bin/"))
    if shim:  # its own file says nothing about the compiler behind it
        state.append(_answer(command, "--version"))
    name = "toolchain-" + hashlib.sha256(repr(state).encode()).hexdigest()[:32]
    note = notes.read_note(name)
    known = None if note is None else _from_note(command, note)
    if known is not None:
        return known
    probed = _probe(command)
    if isinstance(probed, Toolchain):
        # A failure is not noted: what was missing (a library, room on a disk) may be there next time.
        notes.write_note(
            name,
            {
                "kind": probed.kind,
                "version": probed.version,
                "flags": probed.flags,
                "alone": probed.alone,
                "openmp": probed.openmp,
                "cpu_features": probed.cpu_features,
            },
        )
    return probed


def _from_note(command: tuple[str, ...], note: Mapping[str, object]) -> Toolchain | None:
    """The toolchain that a note describes, None if the note is not one of ours."""
    match note:
        case {
            "kind": "gcc" | "clang" as kind,
            "version": str(version),
            "flags": list(flags),
            "alone": list(alone),
            "openmp": bool(openmp),
            "cpu_features": str(features),
        }:
            for_all, for_texts = tuple(map(str, flags)), tuple(map(str, alone))
            return Toolchain(command, kind, version, for_all, for_texts, openmp, features, _system_text())
        case _:
            return None


def _probe(command: tuple[str, ...]) -> Toolchain | str:
    """Ask the compiler who it is and try it, best flags first; the reason if it cannot make a shared library at all."""
    answer = _answer(command, "--version")
    if not answer:
        return "does not answer --version"
    kind: Kind = "clang" if "clang" in answer else "gcc"
    native = ("-march=native",) if platform.machine() in X86 else ("-mcpu=native",)
    with tempfile.TemporaryDirectory(prefix="stencil-workbench-") as folder:
        source = Path(folder, "probe.cpp")
        source.write_text(_PROBE_SOURCE, encoding="utf-8")
        problem = ""
        for cpu in (native, ()):
            features = _cpu_features(command, kind, cpu)
            # Both compilers prefer vectors of half the width on most CPUs that have AVX-512, because whole ones once
            # lowered the clock. Measured on a 7-point stencil: whole ones are 10 to 20 % faster in the first cache, up
            # to 8 % slower in the second (loads that straddle lines), even in memory. `Source.flags` can say otherwise.
            wide = ("-mprefer-vector-width=512",) if "avx512f" in features.split() else ()
            shifted = ("-DSTENCIL_SHIFTED",) if wide and kind == "gcc" else ()
            base = ("-std=c++17", "-O3", *cpu, *wide, *shifted, *MEANING_FLAGS, *BIT_NEUTRAL_FLAGS, *LIBRARY_FLAGS)
            base += (*SELECT_FLAGS[kind], *COPY_FLAGS[kind], *UNLOADING_FLAGS[kind])
            for openmp in (*_openmp_flags(), ()):
                flags = (*base, *(openmp or ("-fopenmp-simd",)))
                for alone in (*_alone(command, kind, bool(openmp)), ()):
                    problem = _try(command, (*flags, *alone), source)
                    if not problem:
                        version = answer.splitlines()[0]
                        return Toolchain(command, kind, version, flags, alone, bool(openmp), features, _system_text())
        return f"cannot make a shared library ({problem})"


def _alone(command: tuple[str, ...], kind: Kind, openmp: bool) -> tuple[tuple[str, ...], ...]:
    """Ways to compile and link a text that takes nothing from the C++ library, beside the flags of all."""
    if any(word.startswith("-") for word in command[1:]):
        return ()
    threads = ("-lgomp",) if openmp and kind == "gcc" else ()
    return ((*ALONE_FLAGS[kind], *threads, *ALONE_LIBRARIES[kind]),)


def _openmp_flags() -> tuple[tuple[str, ...], ...]:
    """Ways to ask for OpenMP threads. Apple's clang needs the library named, which Homebrew keeps off its paths."""
    brew = tuple(
        ("-Xpreprocessor", "-fopenmp", f"-I{prefix}/include", f"-L{prefix}/lib", "-lomp")
        for prefix in ("/opt/homebrew/opt/libomp", "/usr/local/opt/libomp")
        if sys.platform == "darwin" and os.path.isdir(prefix)
    )
    return (("-fopenmp",), *brew)


def _try(command: tuple[str, ...], flags: tuple[str, ...], source: Path) -> str:
    """Compile and link the probe; "" if that works, else the compiler's first complaint."""
    library = source.with_suffix(".so")
    try:
        done = subprocess.run(
            [*command, source.name, *flags, "-o", library.name],
            cwd=source.parent,
            env=os.environ | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_SECONDS,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    if done.returncode == 0 and library.exists():
        return ""
    lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
    return lines[0].strip() if lines else f"exit status {done.returncode}"


def _answer(command: tuple[str, ...], *arguments: str) -> str:
    """What the compiler prints on both channels; "" if it fails."""
    try:
        done = subprocess.run(
            [*command, *arguments],
            env=os.environ | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_PROBE_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _cpu_features(command: tuple[str, ...], kind: Kind, cpu: tuple[str, ...]) -> str:
    """What the CPU flags mean here: the CPU's name and its features in alphabetic order, separated by blanks.

    Both compilers resolve `native` before they start the compiler proper and show that command with -###.
    """
    return resolved_features(_answer(command, *cpu, "-###", "-E", "-x", "c++", os.devnull), kind)


def resolved_features(commands: str, kind: Kind) -> str:
    """CPU name and features in the text that -### prints."""
    tokens = [token for line in commands.splitlines() for token in _words(line)]
    pairs = list(itertools.pairwise(tokens))
    match kind:
        case "gcc":
            names = {token.split("=", 1)[1] for token in tokens if token.startswith(("-march=", "-mcpu="))}
            features = {token[2:] for token in tokens if re.fullmatch(r"-m(?!no-)[a-z0-9.\-]+", token)}
        case "clang":
            names = {value for option, value in pairs if option == "-target-cpu"}
            features = {value[1:] for option, value in pairs if option == "-target-feature" and value[:1] == "+"}
    return " ".join([*sorted(names - {"native"}), *sorted(features)])


def _words(line: str) -> list[str]:
    """Cut a line as a shell does."""
    try:
        return shlex.split(line)
    except ValueError:  # a lone quotation mark in a message
        return line.split()


def _system_text() -> str:
    """Machine, system and C library: a binary made with a newer C library does not load beside an older one."""
    try:
        library = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, ValueError, OSError):
        library = platform.mac_ver()[0]
    return " ".join(part for part in (platform.system(), platform.machine(), library) if part)
