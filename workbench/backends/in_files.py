"""In files: what a backend offers whose arrays may lie in files, for fields that are larger than memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from workbench.backends.base import Array, Instance
from workbench.planning.schedules.locality import TileSizes


@dataclass(frozen=True, slots=True)
class FileStorage:
    """Where arrays lie that are larger than memory: a folder, and how many bytes of them may be in memory."""

    folder: Path
    memory: int


class ArraysInFiles(Protocol):
    """The files of an instance's arrays."""

    @property
    def storage(self) -> FileStorage:
        """Where they lie."""

    @property
    def streamed(self) -> int:
        """Bytes that passed through memory in marches so far."""

    def apart(self, cells: Array) -> Array:
        """The cells, copied if they may lie in one of these files."""

    def copy(self, to: Array, origin: Array) -> None:
        """Copy cells piece by piece."""

    def part(self, cells: Array, index: tuple[int | slice, ...]) -> Array:
        """A copy in memory of the cells at an index."""


@runtime_checkable
class FilesInstance(Protocol):
    """An instance whose arrays may lie in files; `files` is None where they do not."""

    @property
    def files(self) -> ArraysInFiles | None:
        """The files."""

    @property
    def tiles(self) -> tuple[TileSizes | None, ...]:
        """Sizes of tiles and windows of each kernel."""


@runtime_checkable
class FilesProgram(Protocol):
    """A program whose arrays may lie in files; that of a backend on the host."""

    def instantiate_in_files(self, extents: tuple[int, ...], threads: int, storage: FileStorage) -> Instance:
        """Allocate a state whose arrays lie in files. NoRoomError if there is too little memory, or room for them."""
