"""Compiler report: what compilers say about every sub-kernel of a plan, asked for once a text."""

from __future__ import annotations

import threading
from collections import OrderedDict
from types import MappingProxyType

from workbench.backends.base import CompilerReport
from workbench.backends.registry import get_backend
from workbench.codegen.source import Source
from workbench.errors import StencilError
from workbench.planning.choices import BuildChoices
from workbench.planning.plan import Plan

_KEPT = 64

_Key = tuple[str, str, BuildChoices, int]
_known: OrderedDict[_Key, CompilerReport] = OrderedDict()
_lock = threading.Lock()


def report_of(plan: Plan, source: Source, backend: str) -> CompilerReport:
    """Compile the text as its backend would, or take it from the build cache, and read what the compiler says.

    Takes as long as the compiler does, up to minutes for large programs; later calls for one text return at once.
    Refusals of the compiler, or there being none, are told in `problem`.
    """
    key = _key(plan, source)
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    try:
        report = get_backend(backend).compiler_report(plan, source)
    except StencilError as error:
        return CompilerReport("", MappingProxyType({}), str(error))
    with _lock:
        _known[key] = report
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    return report


def known_report(plan: Plan, source: Source) -> CompilerReport | None:
    """What `report_of` has found already; compiles nothing."""
    with _lock:
        return _known.get(_key(plan, source))


def _key(plan: Plan, source: Source) -> _Key:
    choices = plan.choices.plan
    return source.language, source.text, choices.build, choices.largest_block
