"""Setup: what all evaluations of a study share, kept in a folder that workers read."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.backends.base import Array, Number
from workbench.backends.registry import row_of
from workbench.graph import Graph
from workbench.graph.parse import parse

_FOLDER = "stencil-workbench-study-"
_LOCK = "in-use"


@dataclass(frozen=True, slots=True)
class Setup:
    """What all evaluations of a study share; `folder` holds the graph, the values and the expected state.

    extents: of the timed run. check_extents, check_steps: of the run that is compared. threads as in `simulate`.
    bound: above which the relative error of no result may be after `bound_steps` steps of the timed run, 0 where no
    choice changes results; precision: the types by name that the study's start has then (`Meaning.precision`).
    """

    folder: str
    backend: str
    extents: tuple[int, ...]
    check_extents: tuple[int, ...]
    check_steps: int
    threads: int = 0
    bound: float = 0.0
    bound_steps: int = 0
    precision: tuple[tuple[str, str], ...] = ()

    @property
    def device(self) -> str:
        """What is measured on, of which a machine has one place for measurements."""
        return row_of(self.backend).device

    def graph(self) -> Graph:
        """The program."""
        return parse((Path(self.folder) / "graph.txt").read_text(encoding="utf-8"))

    def values(self) -> dict[str, object]:
        """What `simulate` was given: arrays mapped from their files, and numbers."""
        values: dict[str, object] = json.loads((Path(self.folder) / "numbers.json").read_text(encoding="utf-8"))
        for path in Path(self.folder).glob("field-*.npy"):
            values[path.stem.removeprefix("field-")] = np.load(path, mmap_mode="r", allow_pickle=False)
        return values

    def to_json(self) -> dict[str, Any]:
        """As a message."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Setup:
        """From a message."""
        lists = {name: tuple(record[name]) for name in ("extents", "check_extents")}
        precision = tuple((name, type_) for name, type_ in record.get("precision", ()))
        return cls(**{**record, **lists, "precision": precision})


def new_folder() -> tuple[str, Callable[[], None]]:
    """A folder for a setup, and what removes it; folders of studies whose processes were killed are removed.

    A lock on a file in it says that its process lives.
    """
    for path in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        with contextlib.suppress(OSError):
            lock = os.open(path / _LOCK, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(lock)
    folder = tempfile.mkdtemp(prefix=_FOLDER)
    begun = os.path.join(folder, f"{_LOCK}.new")
    lock = os.open(begun, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(begun, os.path.join(folder, _LOCK))  # no process finds it without its lock

    def remove() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)

    return folder, remove


def write_setup(setup: Setup, graph_text: str, fields: Mapping[str, Array], numbers: Mapping[str, Number]) -> None:
    """Fill the folder of a setup with all but the expected state."""
    folder = Path(setup.folder)
    (folder / "graph.txt").write_text(graph_text, encoding="utf-8")
    (folder / "numbers.json").write_text(json.dumps(dict(numbers)), encoding="utf-8")
    for name, array in fields.items():
        np.save(folder / f"field-{name}.npy", array, allow_pickle=False)
