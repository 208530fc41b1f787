"""Remembered: what a long search for an allocation found is kept for other processes, by all that it depends on.

A search through thousands of values takes its whole budget, half a second, and finds the same each time. Any allocation
is right, so that nothing that is kept can change a result; that it is what the search would find, the key is for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Protocol

from workbench.graph.spaces import GLOBAL
from workbench.graph.text import space_text
from workbench.planning.estimate import Estimate
from workbench.planning.kernel_plan import Storage
from workbench.planning.search import Found, cheapest_allocation

_LEAST = 500
"""Nodes of a step; a search through fewer is as quick as a look into a file."""


class AllocationStore(Protocol):
    """Where they are kept. It forgets those that other code of the workbench has found."""

    def find(self, program: str, key: str) -> Sequence[int] | None:
        """What was kept of a program under a key, None if nothing was."""

    def keep(self, program: str, key: str, found: Sequence[int]) -> None:
        """Keep it, as long as there is room."""


def remembered_allocation(
    store: AllocationStore, program: str, estimate: Estimate, wanted: Sequence[Storage | None]
) -> Found:
    """Return what `cheapest_allocation` finds, without its search where it is known; program: a name for people."""
    if len(estimate.live) < _LEAST:
        return cheapest_allocation(estimate, wanted)
    key, free = _key(estimate, wanted), {i for i in estimate.live if wanted[i] is None}
    kept = store.find(program, key)
    if kept and set(kept[1:]) <= free:
        start = [storage or Storage.DELAYED for storage in wanted]
        for index in kept[1:]:
            start[index] = Storage.MANIFEST
        return Found(tuple(start), bool(kept[0]))
    found = cheapest_allocation(estimate, wanted)
    stored = [index for index in sorted(free) if found.storage[index] is Storage.MANIFEST]
    store.keep(program, key, [int(found.ended), *stored])
    return found


def _key(estimate: Estimate, wanted: Sequence[Storage | None]) -> str:
    """Hash of all that a search looks at; names and lines are no part of it. Margins follow from these."""
    kernel = estimate.kernel
    asked = [None if storage is None else storage.value for storage in wanted]
    how = [sorted(estimate.live), list(estimate.copies), estimate.together, estimate.through_fills]
    parts = [list(kernel.keys()), space_text(kernel.space, GLOBAL), asked, how]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
