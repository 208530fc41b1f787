"""Choices: everything a person or the tuner may set; meaning (changes results) apart from plan (never does)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

AllocationChoice = Literal["manifest", "delayed"]
Preset = Literal["cost", "as_delayed", "as_manifest"]
Loops = Literal["together", "apart"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What may change results: applied first, graph to graph, and shown on the card.

    precision: (name of a value, storage type name) pairs.
    """

    arithmetic: Literal["ieee"] = "ieee"
    precision: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PlanChoices:
    """What never changes results.

    allocation: preset for the values that nobody names. manifest and delayed: structural keys of nodes set by hand,
    either `key` (wherever a kernel has such a node) or `kernel/key`. sync_before and sync_after: keys of nodes with a
    barrier at the sub-kernels that evaluate them. grid_size and block_size: CUDA blocks (0: one thread a cell) and
    threads a block. threads: CPU threads, 0 for all available. tile: rows a task on the CPU, 0 for automatic. hints:
    whether what the cell asks for counts; a genome says everything itself, so choices made from one set it to False.
    loops: whether sub-kernels may run together over blocks, as far as the backend can.
    """

    preset: Preset = "cost"
    manifest: frozenset[str] = frozenset()
    delayed: frozenset[str] = frozenset()
    sync_before: frozenset[str] = frozenset()
    sync_after: frozenset[str] = frozenset()
    grid_size: int = 0
    block_size: int = 256
    threads: int = 0
    tile: int = 0
    schedule: Literal["stepwise"] = "stepwise"
    hints: bool = True
    loops: Loops = "together"


@dataclass(frozen=True, slots=True)
class Choices:
    """All choices for one program."""

    meaning: Meaning = field(default_factory=Meaning)
    plan: PlanChoices = field(default_factory=PlanChoices)


def names_node(keys: frozenset[str], kernel: str, key: str) -> bool:
    """Whether a set of keys names the node with structural key `key` of the kernel called `kernel`."""
    return key in keys or f"{kernel}/{key}" in keys
