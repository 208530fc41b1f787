"""Checkpoints: a simulation's whole state in one file, from which it continues to the bit.

A file fits a program with the same statics (semantics §5). Format 2 names program and statics by their keys; format 1
named the program alone, by its key of version 1, and its arrays are compared with the statics.
"""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.backends.base import Array
from workbench.errors import NoRoomError, RunError, warn_user
from workbench.graph import Graph
from workbench.graph.arithmetic import python_number
from workbench.graph.keys_1 import NotInVersion1Error, program_key_1
from workbench.run.archive import EmptyArray, read_array, read_text, write_arrays
from workbench.run.whole_file import whole_file

FORMAT = 2
_READ = (1, 2)
_WITHOUT_STATE = 1  # the format without a key of the statics, and with the program's key of version 1
_ABOUT = "about"
_MOST_TOLD = 6  # differences named in an error


class OtherProgramWarning(UserWarning):
    """A state is continued by a program with other formulas than the one that wrote it."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What is in a file: all statics by name (fields of shape extents, others 0-d), in their own dtypes."""

    extents: tuple[int, ...]
    steps: int
    observed_step: int
    values: dict[str, Array]


def save_checkpoint(path: str | os.PathLike[str], graph: Graph, checkpoint: Checkpoint) -> None:
    """Write the file in one step: afterwards it is there completely, or what was there before still is."""
    target = Path(path)
    about = {
        "format": FORMAT,
        "machine": graph.name,
        "graph": graph.fingerprint(),
        "state": graph.state_fingerprint(),
        "extents": checkpoint.extents,
        "steps": checkpoint.steps,
        "observed_step": checkpoint.observed_step,
    }
    try:
        with whole_file(target) as file:
            arrays = {f"static/{name}": value for name, value in checkpoint.values.items()}
            write_arrays(file, {_ABOUT: np.array(json.dumps(about)), **arrays})
    except OSError as error:
        raise RunError(
            f"cannot save to {target}: {error.strerror or error}", advice="Choose a folder that exists and has room."
        ) from error


def load_checkpoint(path: str | os.PathLike[str], graph: Graph, empty: EmptyArray = np.empty) -> Checkpoint:
    """Read and check a file. Raises RunError if it is missing, damaged, no checkpoint, or of other statics.

    empty: makes the arrays that are read to.
    Warns with OtherProgramWarning if a program of other formulas wrote it.
    """
    target = Path(path)
    try:
        with zipfile.ZipFile(target) as archive:
            about = json.loads(read_text(archive, _ABOUT))
            extents = tuple(_count(n, least=1) for n in about["extents"])
            values = _read_values(archive, graph, extents, empty)
        steps = _count(about["steps"])
        checkpoint = Checkpoint(extents, steps, _count(about["observed_step"], most=steps), values)
        written_by, machine, layout = str(about["graph"]), str(about["machine"]), int(about["format"])
        state = "" if layout == _WITHOUT_STATE else str(about["state"])
    except NoRoomError:
        raise
    except FileNotFoundError as error:
        raise RunError(f"there is no file {target}", advice="Pass the path that save() was given.") from error
    except Exception as error:  # the file may be anything, and each decompressor has errors of its own
        raise RunError(
            f"{target} is damaged, or was not written by save(): {str(error) or type(error).__name__}",
            advice="Restore from another file.",
        ) from error
    if layout not in _READ:
        raise RunError(
            f"{target} has format {layout}, this version reads {' and '.join(map(str, _READ))}",
            advice="Use the version it is of.",
        )
    differences = _differences(graph, values)
    if differences or (state and state != graph.state_fingerprint()):
        raise RunError(
            f"{target} holds a state of machine {machine}, which {graph.name} cannot continue: "
            f"{differences or 'roles or spaces of its statics differ'}",
            advice="Restore it with a machine of the same fields, scalars and params.",
        )
    _check_values(target, graph, checkpoint)
    _check_limits(target, graph, checkpoint)
    if written_by != _program_key(graph, layout):
        warn_user(
            f"{target} was written by another program, {machine} ({written_by}): {graph.name} continues its state "
            "with other formulas. Use the machine that wrote it to continue to the bit.",
            OtherProgramWarning,
        )
    return checkpoint


def _count(value: object, *, least: int = 0, most: int = 2**63 - 1) -> int:
    """A whole number as JSON has it. ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{value!r} is no number from {least} to {most}")
    return value


def _read_values(
    archive: zipfile.ZipFile, graph: Graph, extents: tuple[int, ...], empty: EmptyArray
) -> dict[str, Array]:
    """All arrays by their names; only those that the graph has are unpacked."""
    forms = {f"static/{s.name}": (s.space.extents_in(graph.space, extents), s.type.numpy) for s in graph.declared}
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    arrays = {name: read_array(archive, name, forms.get(name), empty) for name in names if name != _ABOUT}
    return {name.removeprefix("static/"): array for name, array in arrays.items()}


def _program_key(graph: Graph, layout: int) -> str:
    """The program's key as files of this format name it, empty if they had none for such a program."""
    if layout != _WITHOUT_STATE:
        return graph.fingerprint()
    try:
        return program_key_1(graph)
    except NotInVersion1Error:
        return ""


def _differences(graph: Graph, values: dict[str, Array]) -> str:
    """How the statics differ from those in a file, as far as its arrays tell: names, types, fields or numbers."""
    found = [f"it has {name}" for name in values if name not in {static.name for static in graph.declared}]
    for static in graph.declared:
        value = values.get(static.name)
        if value is None:
            found.append(f"it has no {static.name}")
        elif value.dtype != static.type.numpy:
            found.append(f"{static.name} is {value.dtype} there, {static.type.numpy} here")
        elif value.ndim != static.space.rank:
            found.append(f"{static.name} has {value.ndim} axes there")
    return ", ".join([*found[:_MOST_TOLD], f"and {len(found) - _MOST_TOLD} more"] if len(found) > _MOST_TOLD else found)


def _check_values(target: Path, graph: Graph, checkpoint: Checkpoint) -> None:
    """A file may be whole and yet not fit: edited by hand, or of extents that differ from its arrays."""
    for field in graph.fields:
        shape = field.space.extents_in(graph.space, checkpoint.extents)
        if checkpoint.values[field.name].shape != shape:
            raise RunError(
                f"{target} is damaged: {field.name} is not {field.type} of shape {shape}",
                advice="Restore from another file.",
            )


def _check_limits(target: Path, graph: Graph, checkpoint: Checkpoint) -> None:
    """What `set` would refuse is refused here too."""
    for param in graph.params:
        value = python_number(checkpoint.values[param.name], param.type)
        if not param.allows(value):
            raise RunError(
                f"{target} holds {param.name}={value!r}; in {graph.name} it must be {param.limits or 'finite'}",
                advice="Restore it with a machine whose limits allow that, or from another file.",
            )
