"""Headers: those that C++ text includes, with those that these include; others are not even written."""

from __future__ import annotations

import re
from collections.abc import Callable

from workbench.codegen.rendering import template_text
from workbench.codegen.runtime import elementary
from workbench.codegen.runtime.extended import (
    FUNCTIONS_HEADER,
    HEADER,
    QUICK_HEADER,
    extended_header,
    functions_header,
    quick_header,
)

INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.MULTILINE)

_WRITTEN: dict[str, Callable[[], str]] = {
    HEADER: extended_header,
    QUICK_HEADER: quick_header,
    FUNCTIONS_HEADER: functions_header,
    elementary.HEADER: elementary.elementary_header,
}
"""From sequences of operations, which takes a tenth of a second and more; the others are files."""


def openmp_headers(text: str) -> tuple[tuple[str, str], ...]:
    """The headers that a text includes, as (name, text), each after the one that includes it first."""
    found: dict[str, str] = {}
    waiting = INCLUDE.findall(text)[::-1]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _WRITTEN[name]() if name in _WRITTEN else template_text(name)
            waiting += INCLUDE.findall(found[name])[::-1]
    return tuple(found.items())
