"""Storage: whether the arrays of a simulation lie in memory or in files, and what is refused of those in files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.amounts import bytes_in, bytes_text
from workbench.arguments import shown
from workbench.backends.array_files import array_in_file, check_room
from workbench.backends.base import Array, Instance
from workbench.backends.in_files import ArraysInFiles, FilesInstance, FilesProgram, FileStorage
from workbench.backends.registry import row_of
from workbench.errors import BackendError, FieldError, PlanError, RunError
from workbench.graph import Graph
from workbench.pipeline import Compiled, memory_of, plan_for
from workbench.planning.choices import Choices
from workbench.planning.plan import Plan
from workbench.planning.schedules.windows import streams
from workbench.run.parts import FieldParts, Part, index_of

Memory = int | str | None
"""What arrays may take: bytes, a text such as "4 GiB", or None for no bound."""

VARIABLE = "WORKBENCH_FIELDS"


def read_memory(memory: Memory) -> int:
    """Return the bytes that memory= names, 0 for None: no bound. RunError for what is no amount."""
    if memory is None:
        return 0
    found = memory if isinstance(memory, int) and not isinstance(memory, bool) else None
    if isinstance(memory, str):
        found = bytes_in(memory)
    if found is None or found < 1:
        raise RunError(f"memory={shown(memory)} is no amount", advice='Pass a text, memory="4 GiB", or whole bytes.')
    return found


def in_files(
    graph: Graph, choices: Choices, backend: str, extents: tuple[int, ...], memory: int
) -> tuple[Choices, str] | None:
    """Return the choices of a simulation of arrays larger than memory, and its schedule in words; None for others.

    Steps run in tiles where they can, as far as the choices leave it open: each step that runs alone moves all arrays
    from the disk and back. Raises BackendError where the backend has no files, PlanError for loops that do not go
    through arrays in their order.
    """
    if not memory:
        return None
    plan = plan_for(graph, choices, backend)
    needed = memory_of(plan, extents, backend)
    tiled = next((schedule.name for schedule in row_of(backend).schedules if schedule.is_automatic), None)
    if tiled is None:
        raise BackendError(f"backend {backend} keeps no arrays in files", advice='Leave memory= out, or take "openmp".')
    if needed <= memory:
        return None
    why, words = "", ""
    if choices.plan.tiling.schedule == "auto":
        try:
            together = replace(choices, plan=choices.plan.changed(schedule=tiled))
            plan, choices = plan_for(graph, together, backend), together
        except PlanError as error:
            why = error.what.partition("together: ")[2] or error.what
            words = f"one step after the other, each of which moves all arrays from the disk and back: {why}"
    obstacle = streams(plan)
    if obstacle is not None:
        what = f"arrays of {bytes_text(needed, 4)} with memory={bytes_text(memory, 4)} would lie in files"
        refused = PlanError(f"{what}, but {obstacle.why}", advice="Choose a smaller shape or more memory.")
        raise refused if obstacle.line is None else refused.located(obstacle.line)
    return choices, words


def folder() -> Path:
    """Where files are made: $WORKBENCH_FIELDS, else the system's folder for temporary files."""
    return Path(os.environ.get(VARIABLE, "") or tempfile.gettempdir())


def empty_array(memory: int) -> Callable[[int, np.dtype[Any]], Array]:
    """What makes arrays: in memory, or in a file those that are larger than so many bytes, 0 for any number."""

    def made(count: int, dtype: np.dtype[Any]) -> Array:
        if not memory or count * dtype.itemsize <= memory:
            return np.empty(count, dtype)
        return array_in_file(folder(), (count,), dtype)

    return made


def instantiate_in_files(compiled: Compiled, extents: tuple[int, ...], threads: int, memory: int) -> Instance:
    """An instance whose arrays lie in files, of which so many bytes are in memory at most."""
    program = compiled.program
    if not isinstance(program, FilesProgram):
        raise BackendError(
            f"{compiled.graph.name} has a while_loop, and arrays in files are not built for loops yet",
            advice="Choose a smaller shape or more memory.",
        )
    check_room(folder(), memory_of(compiled.plan, extents, compiled.selection.name))
    return program.instantiate_in_files(extents, threads, FileStorage(folder(), memory))


def check_types(graph: Graph, fields: Mapping[str, object], memory: int) -> None:
    """Raise FieldError for arrays larger than memory that would have to be converted as a whole."""
    types = {static.name: static.type.numpy for static in graph.fields}
    for name, value in fields.items() if memory else ():
        if isinstance(value, np.ndarray) and value.nbytes > memory and types.get(name, value.dtype) != value.dtype:
            raise FieldError(
                f"{name} is {types[name]}, the array is {value.dtype} and larger than memory={bytes_text(memory, 4)}",
                advice=f"Pass an array of {types[name]}, which is copied piece by piece.",
            )


def files_of(instance: Instance) -> ArraysInFiles | None:
    """The files that its arrays lie in, None for those in memory."""
    return instance.files if isinstance(instance, FilesInstance) else None


def files_text(plan: Plan, instance: Instance) -> str:
    """Where arrays lie in files, how steps pass through memory, and how many bytes did; "" for those in memory."""
    if not isinstance(instance, FilesInstance) or instance.files is None:
        return ""
    storage, sizes = instance.files.storage, instance.tiles[plan.kernels.index(plan.main)]
    streamed = bytes_text(instance.files.streamed)
    where = f"in files in {storage.folder}, at most {bytes_text(storage.memory)} of them in memory"
    if sizes is None:
        return f"{where}; each step moves all of them, {streamed} so far"
    units = "planes" if plan.graph.dim > 2 else "rows of tiles" if plan.graph.dim > 1 else "tiles"
    return f"{where}; windows of {sizes.window} {units} do {sizes.depth} steps each pass, {streamed} streamed so far"


def parts_in_files(
    instance: Instance, name: str, parts: Sequence[Part], kept: Callable[[Array], Array]
) -> FieldParts | None:
    """What is `kept` of the values of some parts of a field, whose array lies in a file; None for those in memory."""
    files = files_of(instance)
    if files is None:
        return None
    cells = instance.device_view(name)
    read = {part: kept(files.part(cells, index_of(part))) for part in dict.fromkeys(parts)}
    return FieldParts(cells.shape, read)


def stacked(instance: Instance, names: Sequence[str], shape: tuple[int, ...]) -> Array:
    """A fresh array of several fields in order, its first axes of this shape; in a file, where fields lie in files."""
    files = files_of(instance)
    if files is None:
        parts = [instance.read_field(name) for name in names]
        return np.stack(parts).reshape((*shape, *parts[0].shape))
    views = [instance.device_view(name) for name in names]
    made = array_in_file(folder(), (len(views), *views[0].shape), views[0].dtype)
    for part, view in zip(made, views, strict=True):
        files.copy(part, view)
    return made.reshape((*shape, *views[0].shape))


def refuse_in_files(instance: Instance, what: str, advice: str) -> None:
    """Raise RunError where arrays lie in files: `what` would have whole fields in memory."""
    if files_of(instance) is not None:
        raise RunError(f"{what} takes whole fields, which are larger than memory= here", advice=advice)
