"""Tables: studies as tables for other programs, and tables of other tuners as studies and as landscapes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

from workbench.errors import TuningError
from workbench.run.whole_file import whole_file
from workbench.tuning.formats import ConfigurationRow, MeasurementTable, read_table, value_of, write_table
from workbench.tuning.replay import Landscape
from workbench.tuning.search_space import Point, SearchSpace, TuningParameter
from workbench.tuning.t1 import read_t1, write_t1
from workbench.tuning.text_file import text_of
from workbench.tuning.trials import Individual, Outcome

_IMPORTED = "imported"


def table_of(about: Mapping[str, Any], individuals: Sequence[Individual]) -> MeasurementTable:
    """All individuals of a study, with all samples, those of races after the first ones."""
    if "values" not in about:
        raise TuningError(
            "the study is of a version that did not keep the values of its parameters",
            advice="Go on with it once: tune with the same path and budget=1.",
        )
    values = [tuple(value_of(text) for text in texts) for texts in about["values"]]
    rows = tuple(_row(one, values) for one in individuals)
    extents = tuple(about["extents"])
    return MeasurementTable(
        about["program"], about["backend"], extents, dict(zip(about["tunables"], values, strict=True)), rows
    )


def write_study(about: Mapping[str, Any], individuals: Sequence[Individual], form: str, path: Path) -> Path:
    """A study as a file: "t1" is its problem, all others its results. TuningError lists the forms."""
    table = table_of(about, individuals)
    text = write_table(table, form, {"t1": write_t1})
    try:
        with whole_file(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise TuningError(f"{path} cannot be written: {error.strerror}", advice="Name another file.") from None
    return path


def landscape_of(table: MeasurementTable) -> Landscape:
    """A table to replay strategies on; only its configurations are legal, those that failed have no cost."""
    points = _points(table)
    known = set(points)
    space = SearchSpace(_parameters(table), known.__contains__)
    samples = {point: row.samples for point, row in zip(points, table.rows, strict=True) if row.samples}
    return Landscape(table.name, space, {point: min(row) for point, row in samples.items()}, samples)


def keep_table(table: MeasurementTable, path: Path) -> None:
    """A new ledger at `path` with the rows of a table as individuals. TuningError if something is there."""
    from workbench.tuning.ledger import open_ledger

    if path.expanduser().exists():
        raise TuningError(f"there is a file at {path}", advice="Pass the path of a file that is not there yet.")
    cells = prod(table.extents) if table.extents else 1
    with open_ledger(path) as ledger:
        ledger.describe(
            {
                "program": table.name or _IMPORTED,
                "key": _IMPORTED,
                "backend": table.device or _IMPORTED,
                "extents": table.extents or (1,),
                "tunables": list(table.parameters),
                "values": [list(map(str, values)) for values in table.parameters.values()],
            }
        )
        for number, (point, row) in enumerate(zip(_points(table), table.rows, strict=True), start=1):
            ledger.add(_individual(number, point, row, table, cells))
        ledger.say("done")


def table_in(source: str | Path, form: str, space: str | Path | None = None) -> MeasurementTable:
    """The results in a file of a form, `within` the T1 file `space` if one is given."""
    if form == "t1":
        raise TuningError("a T1 file is a problem and has no results", advice="Pass it as space=, beside the results.")
    table = _read(source, lambda text: read_table(text, form))
    return table if space is None else _read(space, lambda text: within(table, text))


def _read(path: str | Path, made: Callable[[str], MeasurementTable]) -> MeasurementTable:
    """What is made of the text of a file. TuningError says in which file the fault is."""
    text = text_of(path)
    try:
        return made(text)
    except TuningError as error:
        raise TuningError(f"{path}: {error.what}", advice=error.advice) from None


def within(table: MeasurementTable, problem_text: str) -> MeasurementTable:
    """The table with the name, the parameters and all their values of a T1 problem.

    TuningError if its rows have others, or if one that passed breaks a condition.
    """
    problem = read_t1(problem_text)
    if set(problem.values) != set(table.parameters):
        differing = ", ".join(sorted(set(problem.values) ^ set(table.parameters)))
        raise TuningError(
            f"the results and the problem {problem.name} differ in {differing}", advice="Pass the files of one problem."
        )
    names = list(table.parameters)
    places = [names.index(name) for name in problem.values]
    rows = tuple(replace(row, values=tuple(row.values[at] for at in places)) for row in table.rows)
    found = replace(table, name=table.name or problem.name, parameters=problem.values, rows=rows)
    for number, (point, row) in enumerate(zip(_points(found), rows, strict=True), start=1):
        if row.status == "success" and not problem.space.legal(point):
            raise TuningError(
                f"row {number} passed and breaks a condition of {problem.name}: {', '.join(problem.conditions)}",
                advice="Pass the files of one problem.",
            )
    return found


def _row(one: Individual, values: Sequence[tuple[Any, ...]]) -> ConfigurationRow:
    found = one.outcome
    chosen = tuple(texts[at] for texts, at in zip(values, one.point, strict=True))
    samples = (*found.samples, *one.finals)
    return ConfigurationRow(chosen, found.status, samples, found.build_seconds, found.run_seconds, one.told, found.tail)


def _individual(number: int, point: Point, row: ConfigurationRow, table: MeasurementTable, cells: int) -> Individual:
    outcome = Outcome(row.status, row.samples, "", row.build_seconds, row.run_seconds, row.tail)
    valued = dict(zip(table.parameters, row.values, strict=True))
    changes = ", ".join(f"{name} = {value}" for name, value in valued.items())
    score = cells / min(row.samples) if row.samples else None
    born = (_IMPORTED, _IMPORTED, ())
    return Individual(number, point, json.dumps(valued), changes, *born, outcome, score, 0, row.told)


def _points(table: MeasurementTable) -> list[Point]:
    places = [{value: at for at, value in enumerate(values)} for values in table.parameters.values()]
    points = []
    for number, row in enumerate(table.rows, start=1):
        try:
            points.append(tuple(place[value] for place, value in zip(places, row.values, strict=True)))
        except KeyError as error:
            raise TuningError(
                f"row {number} has the value {error}, which its parameter does not have", advice="Mend that row."
            ) from None
    return points


def _parameters(table: MeasurementTable) -> tuple[TuningParameter, ...]:
    return tuple(
        TuningParameter(name, tuple(map(str, values)), all(type(value) in (int, float) for value in values))
        for name, values in table.parameters.items()
    )
