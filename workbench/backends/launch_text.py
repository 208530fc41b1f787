"""Launch text: with which numbers the kernels of a text for a GPU are launched, for the key of what would run."""

from __future__ import annotations

import json

from workbench.codegen.cuda.device import KernelLaunches, LaunchCode
from workbench.planning.choices import PlanChoices


def launch_text(kernels: tuple[KernelLaunches, ...], choices: PlanChoices) -> str:
    """All launches of a program on a device, each with its grid and block."""
    told: list[list[object]] = []
    for kernel in kernels:
        for step in (kernel.plain, kernel.observed):
            told.append([kernel.name, step.rotation, [_launch(code, choices) for code in step.launches]])
        if kernel.towers is not None:
            told.append([kernel.name, "levels of towers", choices.tiling.depth])
    if choices.device.streams > 1:
        told.append(["streams", choices.device.streams])
    return json.dumps(told)


def _launch(code: LaunchCode, choices: PlanChoices) -> list[object]:
    numbers = choices.device_of(code.loop)
    arrays = [(array.kind, array.index, array.type.name) for array in code.arrays]
    return [code.kernel, code.kind, arrays, code.grown, code.whole, code.slot, numbers.grid, numbers.block]
