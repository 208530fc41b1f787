"""Python text, parsed in one thread at a time.

CPython 3.11 keeps one count of how deeply a tree is nested, for all threads. Where garbage collection lets another
thread parse in the middle, `ast.parse` raises a SystemError about its recursion depth (CPython issue 106905).
"""

from __future__ import annotations

import ast
from typing import Literal, overload

from workbench.forking import forkable_lock

_TURNS = 10
_lock = forkable_lock()


@overload
def parse(text: str, filename: str = ..., *, mode: Literal["exec"] = ...) -> ast.Module: ...


@overload
def parse(text: str, filename: str = ..., *, mode: Literal["eval"]) -> ast.Expression: ...


def parse(
    text: str, filename: str = "<unknown>", *, mode: Literal["exec", "eval"] = "exec"
) -> ast.Module | ast.Expression:
    """The tree of a text; errors are those of `ast.parse`. Safe from any thread."""
    with _lock:
        for _ in range(_TURNS):
            try:
                return _parsed(text, filename, mode)
            except SystemError:  # a thread that others own parses too, such as the kernel's for completion
                continue
        return _parsed(text, filename, mode)


def _parsed(text: str, filename: str, mode: Literal["exec", "eval"]) -> ast.Module | ast.Expression:
    return ast.parse(text, filename, "eval") if mode == "eval" else ast.parse(text, filename)
