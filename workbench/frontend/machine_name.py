"""The name of a machine: free text on one line, because generated text, files and messages contain it."""

from __future__ import annotations

from workbench.errors import TraceError

LONGEST = 100
"""Characters; file systems take names of 255 bytes."""


def check_machine_name(name: object) -> None:
    """Raise TraceError unless it is text that stays on its line in C++, where a backslash joins it with the next."""
    if not isinstance(name, str) or len(name) > LONGEST or not name.isprintable() or "\\" in name:
        shown = repr(name) if len(repr(name)) <= LONGEST else f"{repr(name)[:40]}..."
        raise TraceError(
            f"name={shown} is no name for a machine",
            advice=f"Give at most {LONGEST} characters on one line, without a backslash.",
        )
