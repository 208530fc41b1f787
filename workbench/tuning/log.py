"""Log: each test of a general tuning as a row of a CSV file, written when it is done, and read again."""

from __future__ import annotations

import contextlib
import csv
import fcntl
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from workbench.errors import TuningError
from workbench.tuning.configuration import Configuration
from workbench.tuning.general import STATUSES, Trial
from workbench.tuning.independence import Valuation
from workbench.tuning.text_file import text_of


class Log:
    """An open CSV file; a row is on the disk before the next test begins, so that a killed run loses no test.

    Columns: test number, one a variable, one a repeat, overall score, status. A failed test has empty scores.
    """

    def __init__(self, path: Path, configuration: Configuration, *, append: bool = False) -> None:
        """Begins a new file, or goes on in an old one. TuningError if it cannot, or if another tuning writes to it."""
        self._path = path
        with self._refusing():
            self._file: TextIO = path.open("a", newline="", encoding="utf-8")
            self._lock()
            if path.is_file() and append:  # no pipe or device
                _cut_torn_row(path)
            elif path.is_file():
                self._file.truncate(0)
        self._repeat = configuration.repeat
        self._writer = csv.writer(self._file)
        if not append:
            self._write(_header(configuration))

    def _lock(self) -> None:
        """Until the file is closed, also by the end of the process."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise TuningError(
                f"another tuning writes the log {self._path}", advice="Wait for it, stop it, or name another log."
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._refusing():  # a row that did not fit on the disk is tried once more
            self._file.close()

    def add(self, test: Trial) -> None:
        """Append one test."""
        scores = [repr(score) for score in test.scores] or [""] * self._repeat
        overall = "" if test.overall is None else repr(test.overall)
        self._write([str(test.number), *test.valuation, *scores, overall, test.status])

    def _write(self, row: list[str]) -> None:
        with self._refusing():
            self._writer.writerow(row)
            self._file.flush()

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        """TuningError for what the system refuses."""
        try:
            yield
        except OSError as error:
            raise TuningError(
                f"the log {self._path} cannot be written: {error.strerror}", advice="Name another file."
            ) from None


def read_log(path: Path, configuration: Configuration) -> Mapping[Valuation, Trial]:
    """Trials of a log that was written for the same variables and number of repeats.

    A torn last row is left out, and so are tests of values that the configuration does not have any more.
    Raises TuningError if the columns are others, or with the line that is damaged.
    """
    rows = list(csv.reader(io.StringIO(text_of(path), newline="")))
    header = _header(configuration)
    if not rows or rows[0] != header:
        raise TuningError(
            f"the log {path} has other columns than this configuration: {', '.join(rows[0]) if rows else 'none'}",
            advice="Name another log, or remove the file.",
        )
    tests: dict[Valuation, Trial] = {}
    for line, row in enumerate(rows[1:], start=2):
        if len(row) == len(header) and row[-1] in STATUSES:
            try:
                test = _test(row, configuration)
            except ValueError as error:
                raise TuningError(f"row {line} of the log {path}: {error}", advice="Remove that row.") from None
            tests[test.valuation] = test
    lists = [configuration.values[name] for name in configuration.tree.flatten()]
    return {
        valuation: test
        for valuation, test in tests.items()
        if all(value in values for value, values in zip(valuation, lists, strict=True))
    }


def _cut_torn_row(path: Path) -> None:
    """Remove what stands after the last end of a line, which a kill has left: the next row would go on with it."""
    with path.open("r+b") as file:
        file.truncate(file.read().rfind(b"\n") + 1)


def _header(configuration: Configuration) -> list[str]:
    repeats = [f"score {at}" for at in range(1, configuration.repeat + 1)]
    return ["test", *configuration.tree.flatten(), *repeats, "overall", "status"]


def _test(row: list[str], configuration: Configuration) -> Trial:
    variables = len(configuration.tree.flatten())
    number, valuation, scores = row[0], tuple(row[1 : 1 + variables]), row[1 + variables : -2]
    kept = tuple(float(score) for score in scores if score)
    status = STATUSES[STATUSES.index(row[-1])]
    return Trial(int(number), valuation, kept, float(row[-2]) if row[-2] else None, status)
