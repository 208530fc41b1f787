"""Phenotype: the key of what would run; plans with one key are one program, to be measured once."""

from __future__ import annotations

import hashlib
import json

from workbench.planning.plan import Plan


def phenotype_key(*parts: str) -> str:
    """Hash of generated text, compiler and flags, and launch numbers, in the words of a backend; 16 hex digits."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def memory_text(plan: Plan) -> str:
    """How arrays lie in memory: ghost cells, the bytes of each array's cell, its axes where it has not all, padding."""
    sizes = [(slot.itemsize, *slot.axes) if slot.axes else slot.itemsize for slot in plan.array_slots]
    padding = plan.choices.plan.layout.padding
    return json.dumps([plan.halo, sizes, len(plan.slots), len(plan.global_slots), *([padding] if padding else [])])
