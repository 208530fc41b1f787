"""Setup: what all evaluations of a study share, kept in a folder that workers read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.backends.base import Array, Number
from workbench.graph import Graph
from workbench.graph.parse import parse


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
        return "cuda" if self.backend == "cuda" else "cpu"

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


def write_setup(setup: Setup, graph_text: str, fields: Mapping[str, Array], numbers: Mapping[str, Number]) -> None:
    """Fill the folder of a setup with all but the expected state."""
    folder = Path(setup.folder)
    (folder / "graph.txt").write_text(graph_text, encoding="utf-8")
    (folder / "numbers.json").write_text(json.dumps(dict(numbers)), encoding="utf-8")
    for name, array in fields.items():
        np.save(folder / f"field-{name}.npy", array, allow_pickle=False)
