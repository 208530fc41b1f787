"""Phenotype: the key of what would run; plans with one key are one program, to be measured once."""

from __future__ import annotations

import hashlib
import json

from workbench.codegen.cuda.device import KernelLaunches, LaunchCode
from workbench.planning.choices import PlanChoices
from workbench.planning.plan import Plan


def phenotype_key(*parts: str) -> str:
    """Hash of generated text, compiler and flags, and launch numbers, in the words of a backend; 16 hex digits."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def memory_text(plan: Plan) -> str:
    """How arrays lie in memory: ghost cells, the bytes of each array's cell, its axes where it has not all, padding."""
    sizes = [(slot.itemsize, *slot.axes) if slot.axes else slot.itemsize for slot in plan.array_slots]
    padding = plan.choices.plan.layout.padding
    return json.dumps([plan.halo, sizes, len(plan.slots), len(plan.global_slots), *([padding] if padding else [])])


def launch_text(kernels: tuple[KernelLaunches, ...], choices: PlanChoices) -> str:
    """All launches of a program on a device, each with its grid and block."""
    told = []
    for kernel in kernels:
        for step in (kernel.plain, kernel.observed):
            told.append([kernel.name, step.rotation, [_launch(code, choices) for code in step.launches]])
    return json.dumps(told)


def _launch(code: LaunchCode, choices: PlanChoices) -> list[object]:
    numbers = choices.device_of(code.loop)
    arrays = [(array.kind, array.index, array.type.name) for array in code.arrays]
    return [code.kernel, code.kind, arrays, code.grown, code.whole, code.slot, numbers.grid, numbers.block]
