"""Compiler failures: what is said when a compiler makes nothing, and how a text gets past a fault of the compiler."""

from __future__ import annotations

import re
from pathlib import Path
from types import MappingProxyType

from workbench.backends.toolchain import Kind, Toolchain
from workbench.errors import BuildError, warn_user

# What gcc and clang say when they stop through a fault of their own.
_OWN_FAULT = re.compile(r"internal compiler error|PLEASE submit a bug report")
# Flags that come after all others for a second try. g++ 12 cannot encode some masked operations of AVX-512 on two
# operands in memory, which it makes of vectorised selects; without vectors it has no such operations to choose.
PLAIN_FLAGS: MappingProxyType[Kind, tuple[str, ...]] = MappingProxyType(
    {"gcc": ("-fno-tree-vectorize",), "clang": ("-fno-vectorize", "-fno-slp-vectorize")}
)
_ERROR = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<message>.*)$", re.MULTILINE)
_NOT_EXECUTED = "failed to map segment"  # what loaders say where nothing may be executed, whatever forbids it


class CompilerFaultWarning(UserWarning):
    """A compiler stopped through a fault of its own; the program was compiled in another way."""


def own_fault(report: str) -> str:
    """The line in which a compiler's messages tell of a fault of its own; "" without one."""
    return next((f"{line}\n" for line in report.splitlines() if _OWN_FAULT.search(line)), "")


def warn_of_fault(name: str, version: str) -> None:
    """Tell the user of a program that was compiled without vectors for that reason."""
    text = (
        f"the compiler stopped with an internal error at {name!r}. It was compiled again without vectorised loops: the "
        f"results are the same, but it runs slower. The compiler is {version}; WORKBENCH_CXX selects another one."
    )
    warn_user(text, CompilerFaultWarning)


def not_started(program: str, why: str) -> BuildError:
    """The error for a compiler that is not there."""
    return BuildError(
        f"the compiler {program} cannot be started: {why}",
        advice="Run `workbench doctor` to see which compilers work here.",
    )


def may_not_execute(problem: str) -> bool:
    """Whether a library could not be loaded because nothing may be executed from its folder."""
    return _NOT_EXECUTED in problem


def not_loaded(name: str, toolchain: Toolchain, problem: str) -> BuildError:
    """The error for a library that was made and cannot be loaded."""
    made = f"the library of {name!r}, made by {toolchain}, cannot be loaded: {problem}"
    if may_not_execute(problem):
        return BuildError(made, advice="Set WORKBENCH_CACHE to a folder on a file system that is not mounted noexec.")
    return BuildError(made, advice="Set WORKBENCH_CXX to another compiler; `workbench doctor` shows which work here.")


def refused(
    name: str, file: str, text: str, kept: Path | None, toolchain: Toolchain, status: int, report: str
) -> BuildError:
    """The error for a source that the compiler did not accept: its first complaint and the line it points to.

    `file` is the source's name in the messages, `kept` where the text lies now.
    """
    first = _ERROR.search(report)
    if first is None:
        tail = [line for line in report.splitlines() if line.strip()][-3:]
        complaint = "\n".join(f"    {line}" for line in tail) or f"    exit status {status}, no message"
    else:
        complaint = f"    {first['file']}:{first['line']}: {first['message']}"
        lines = text.splitlines()
        number = int(first["line"])
        if first["file"] == file and 1 <= number <= len(lines):
            complaint += f"\n    {number} | {lines[number - 1].strip()}"
    where = "it could not be kept" if kept is None else f"it is kept in {kept}"
    return BuildError(
        f"the compiler refused the generated source of {name!r} ({where}):\n{complaint}\n    by {toolchain.version}",
        advice="Report this text and that file: generated source must always compile.",
    )
