"""Kept allocations: what long searches found, in notes of the build cache, of each program the last few."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from workbench.backends.build_cache import BuildCache
from workbench.backends.cache_folder import default_cache
from workbench.backends.code_digest import code_digest

_KEPT = 8
_ROOMS = ("graph", "planning")  # whose code decides what a search finds


class KeptAllocations:
    """An AllocationStore in a cache, the user's own if none is given. What other code has found is not there."""

    def __init__(self, folder: BuildCache | None = None) -> None:
        self._given = folder

    def find(self, program: str, key: str) -> Sequence[int] | None:
        """What was kept of a program under a key; None for what is damaged, too."""
        found = self._note(program).get(_of_this_code(key))
        return found if isinstance(found, list) and all(type(each) is int for each in found) else None

    def keep(self, program: str, key: str, found: Sequence[int]) -> None:
        """Keep it; what was kept first goes."""
        own = _of_this_code(key)
        others = [(known, value) for known, value in self._note(program).items() if known != own]
        self._cache().write_note(_name(program), dict([*others[1 - _KEPT :], (own, list(found))]))

    def _note(self, program: str) -> dict[str, object]:
        return dict(self._cache().read_note(_name(program)) or {})

    def _cache(self) -> BuildCache:
        return default_cache() if self._given is None else self._given


def _name(program: str) -> str:
    return f"allocation-{hashlib.sha256(program.encode()).hexdigest()[:16]}"


def _of_this_code(key: str) -> str:
    return hashlib.sha256(f"{code_digest(*_ROOMS)} {key}".encode()).hexdigest()
