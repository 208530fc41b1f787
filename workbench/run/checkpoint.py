"""Checkpoints: a simulation's whole state in one file, from which it continues to the bit."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.backends.base import Array
from workbench.errors import RunError
from workbench.graph import Graph
from workbench.run.archive import read_array, read_text
from workbench.run.whole_file import whole_file

FORMAT = 1
_ABOUT = "about"


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
        "extents": checkpoint.extents,
        "steps": checkpoint.steps,
        "observed_step": checkpoint.observed_step,
    }
    try:
        with whole_file(target) as file:
            arrays: dict[str, Any] = {f"static/{name}": value for name, value in checkpoint.values.items()}
            np.savez(file, **{_ABOUT: np.array(json.dumps(about))}, **arrays)  # type: ignore[arg-type]  # keywords are names of arrays
    except OSError as error:
        raise RunError(
            f"cannot save to {target}: {error.strerror or error}", advice="Choose a folder that exists and has room."
        ) from error


def load_checkpoint(path: str | os.PathLike[str], graph: Graph) -> Checkpoint:
    """Read and check a file. Raises RunError if it is missing, damaged, no checkpoint, or of another machine."""
    target = Path(path)
    try:
        with zipfile.ZipFile(target) as archive:
            about = json.loads(read_text(archive, _ABOUT))
            extents = tuple(_count(n, least=1) for n in about["extents"])
            values = _read_values(archive, graph, extents)
        steps = _count(about["steps"])
        checkpoint = Checkpoint(extents, steps, _count(about["observed_step"], most=steps), values)
        written_by, machine, layout = str(about["graph"]), str(about["machine"]), int(about["format"])
    except FileNotFoundError as error:
        raise RunError(f"there is no file {target}", advice="Pass the path that save() was given.") from error
    except Exception as error:  # the file may be anything, and each decompressor has errors of its own
        raise RunError(
            f"{target} is damaged, or was not written by save(): {str(error) or type(error).__name__}",
            advice="Restore from another file.",
        ) from error
    if layout != FORMAT:
        raise RunError(f"{target} has format {layout}, this version reads {FORMAT}", advice="Use the version it is of.")
    if written_by != graph.fingerprint():
        raise RunError(
            f"{target} holds a state of machine {machine} ({written_by}), not of {graph.name} ({graph.fingerprint()})",
            advice="Restore it with the machine that wrote it; see Machine.graph.",
        )
    _check_values(target, graph, checkpoint)
    _check_limits(target, graph, checkpoint)
    return checkpoint


def _count(value: object, *, least: int = 0, most: int = 2**63 - 1) -> int:
    """A whole number as JSON has it. ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{value!r} is no number from {least} to {most}")
    return value


def _read_values(archive: zipfile.ZipFile, graph: Graph, extents: tuple[int, ...]) -> dict[str, Array]:
    """All arrays by their names; only those that the graph has are unpacked."""
    forms = {f"static/{s.name}": (extents if s.role == "field" else (), s.type.numpy) for s in graph.statics}
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    arrays = {name: read_array(archive, name, forms.get(name)) for name in names if name != _ABOUT}
    return {name.removeprefix("static/"): array for name, array in arrays.items()}


def _check_values(target: Path, graph: Graph, checkpoint: Checkpoint) -> None:
    """A file may be whole and yet not fit: edited by hand, or of extents that differ from its arrays."""
    for static in graph.statics:
        value = checkpoint.values.get(static.name)
        shape = checkpoint.extents if static.role == "field" else ()
        if (
            value is None
            or value.shape != shape
            or value.dtype != static.type.numpy
            or len(shape) not in (0, graph.dim)
        ):
            raise RunError(
                f"{target} is damaged: {static.name} is not {static.type} of shape {shape}",
                advice="Restore from another file.",
            )


def _check_limits(target: Path, graph: Graph, checkpoint: Checkpoint) -> None:
    """What `set` would refuse is refused here too."""
    for param in graph.params:
        value = checkpoint.values[param.name].item()
        if not param.allows(value):
            raise RunError(
                f"{target} holds {param.name}={value!r}; in {graph.name} it must be {param.limits or 'finite'}",
                advice="Restore it with a machine whose limits allow that, or from another file.",
            )
