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
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(temporary, "wb") as file:
            arrays: dict[str, Any] = {f"static/{name}": value for name, value in checkpoint.values.items()}
            np.savez(file, **{_ABOUT: np.array(json.dumps(about))}, **arrays)  # type: ignore[arg-type]  # keywords are names of arrays
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise RunError(
            f"cannot save to {target}: {error.strerror or error}", advice="Choose a folder that exists and has room."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def load_checkpoint(path: str | os.PathLike[str], graph: Graph) -> Checkpoint:
    """Read and check a file. Raises RunError if it is missing, damaged, no checkpoint, or of another machine."""
    target = Path(path)
    try:
        with np.load(target, allow_pickle=False) as archive:
            about = json.loads(str(archive[_ABOUT]))
            values = {name.removeprefix("static/"): archive[name] for name in archive.files if name != _ABOUT}
        extents = tuple(int(n) for n in about["extents"])
        checkpoint = Checkpoint(extents, int(about["steps"]), int(about["observed_step"]), values)
        written_by, machine, layout = str(about["graph"]), str(about["machine"]), int(about["format"])
    except FileNotFoundError as error:
        raise RunError(f"there is no file {target}", advice="Pass the path that save() was given.") from error
    except (OSError, ValueError, KeyError, TypeError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise RunError(
            f"{target} is damaged, or was not written by save(): {error}", advice="Restore from another file."
        ) from error
    if layout != FORMAT:
        raise RunError(f"{target} has format {layout}, this version reads {FORMAT}", advice="Use the version it is of.")
    if written_by != graph.fingerprint():
        raise RunError(
            f"{target} holds a state of machine {machine} ({written_by}), not of {graph.name} ({graph.fingerprint()})",
            advice="Restore it with the machine that wrote it; see Machine.graph.",
        )
    _check_values(target, graph, checkpoint)
    return checkpoint


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
