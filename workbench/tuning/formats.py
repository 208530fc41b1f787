"""Formats: what a study measured as files that other tuners and programs read, and such files as tables.

Kernel Tuner's cache (versions 1.0 and 1.1), T4, the results format of the autotuning methodology, and CSV. Seconds
here are milliseconds in the first two. A ledger has more than any of them: parents, choices, races.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, TypeVar, get_args

from workbench.errors import TuningError
from workbench.tuning.trials import STATUSES, Status

Value = str | int | float | bool
Format = Literal["kernel-tuner", "t4", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)
_MILLI = 1e3
_LARGEST = 1e300  # of a number in a file
_TO_T4: Mapping[Status, str] = {"success": "correct", "constraint": "constraints"}
_FROM_T4: Mapping[str, Status] = {"correct": "success", "constraints": "constraint"}
_TO_CACHE: Mapping[Status, str] = {"constraint": "InvalidConfig", "compile": "CompilationFailedConfig"}
_FROM_CACHE: Mapping[str, Status] = {
    "InvalidConfig": "constraint",
    "CompilationFailedConfig": "compile",
    "RuntimeFailedConfig": "runtime",
}
_RUNTIME_FAILED = "RuntimeFailedConfig"  # all other failures: the cache knows three kinds
_CACHE_VERSION, _T4_VERSION = "1.1.0", "1.0.0"
_CSV_COLUMNS = ("status", "seconds", "samples", "build_seconds", "run_seconds", "timestamp", "tail")


@dataclass(frozen=True, slots=True)
class ConfigurationRow:
    """One configuration: its value of each parameter, what became of it, seconds of each measurement.

    `told`: when, in seconds since 1970.
    """

    values: tuple[Value, ...]
    status: Status
    samples: tuple[float, ...] = ()
    build_seconds: float = 0.0
    run_seconds: float = 0.0
    told: float = 0.0
    tail: str = ""


@dataclass(frozen=True, slots=True)
class MeasurementTable:
    """All measurements of one program on one device; `parameters` with all their values, in order."""

    name: str
    device: str
    extents: tuple[int, ...]
    parameters: Mapping[str, tuple[Value, ...]]
    rows: tuple[ConfigurationRow, ...]


def write_table(
    table: MeasurementTable, form: str, more: Mapping[str, Callable[[MeasurementTable], str]] | None = None
) -> str:
    """A table as text. more: writers of further forms, by their names. TuningError lists the forms."""
    return _of(form, {**_WRITERS, **(more or {})})(table)


def read_table(text: str, form: str) -> MeasurementTable:
    """The table in a text. TuningError says what is wrong with it.

    T4 and CSV name neither program nor device, and have those values of parameters that occur in them.
    """
    return _of(form, _READERS)(text)


def value_of(text: str) -> Value:
    """A number or truth value whose text this is, else the text."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if str(value) == text and abs(value) < inf:
            return value
    return {"True": True, "False": False}.get(text, text)


def _write_kernel_tuner(table: MeasurementTable) -> str:
    names = list(table.parameters)
    cache = {}
    for row in table.rows:
        timed = {"times": [_MILLI * one for one in row.samples]} if row.samples else {}
        failed = _TO_CACHE.get(row.status, _RUNTIME_FAILED)
        cache[",".join(map(str, row.values))] = {
            **dict(zip(names, row.values, strict=True)),
            "time": _MILLI * statistics.fmean(row.samples) if row.samples else failed,
            **timed,
            "compile_time": _MILLI * row.build_seconds,
            "verification_time": 0,
            "benchmark_time": _MILLI * row.run_seconds,
            "strategy_time": 0,
            "framework_time": 0,
            "timestamp": _timestamp(row.told),
            "status": row.status,
        }
    head = {
        "schema_version": _CACHE_VERSION,
        "device_name": table.device,
        "kernel_name": table.name,
        "problem_size": list(table.extents),
        "tune_params_keys": names,
        "tune_params": {name: list(values) for name, values in table.parameters.items()},
        "objective": "time",
        "cache": cache,
    }
    return json.dumps(head, indent=0) + "\n"


def _read_kernel_tuner(text: str) -> MeasurementTable:
    """A cache; one that is still written to, or was torn, has no end: what is whole of it is read."""
    head = _Fields(_closed(text), "the file")
    names = [str(name) for name in head.list("tune_params_keys")]
    given = _Fields(head.mapping("tune_params"), "tune_params")
    parameters = {name: tuple(_value(value, name) for value in given.list(name)) for name in names}
    rows = []
    for key, entry in head.mapping("cache").items():
        fields = _Fields(entry, f"the entry {key}")
        time = fields.record.get("time")
        samples: tuple[float, ...] = ()
        if isinstance(time, str):
            status = _status(
                str(fields.record.get("status", "")), _FROM_CACHE.get(time), f"{fields.what}: time {time!r}"
            )
        else:
            status, samples = "success", fields.times("times") or (fields.time("time"),)
        rows.append(
            ConfigurationRow(
                tuple(_value(fields.need(name), name) for name in names),
                status,
                samples,
                fields.number("compile_time", 0.0) / _MILLI,
                fields.number("benchmark_time", 0.0) / _MILLI,
                _seconds(fields.record.get("timestamp")),
            )
        )
    size = head.record.get("problem_size", [])
    extents = tuple(int(one) for one in (size if isinstance(size, list) else [size]) if str(one).isdecimal())
    return MeasurementTable(
        str(head.need("kernel_name")), str(head.need("device_name")), extents, parameters, tuple(rows)
    )


def _closed(text: str) -> object:
    """The JSON value of a text whose end may be missing."""
    kept = text.rstrip().rstrip(",")
    while kept:
        for end in ("", "}", "}}") if kept.endswith("}") else ("",):  # else its last entry is torn
            try:
                return json.loads(kept + end)
            except ValueError:
                continue
        kept = kept[: kept.rfind("},") + 1]  # an entry less
    raise TuningError("the file is no JSON object", advice="Pass a cache file of Kernel Tuner.")


def _write_t4(table: MeasurementTable) -> str:
    results = []
    for row in table.rows:
        least = min(row.samples, default=None)
        results.append(
            {
                "timestamp": _timestamp(row.told),
                "configuration": dict(zip(table.parameters, row.values, strict=True)),
                "times": {
                    "compilation_time": _MILLI * row.build_seconds,
                    "benchmark": _MILLI * row.run_seconds,
                    "runtimes": [_MILLI * one for one in row.samples],
                    "framework": 0,
                    "search_algorithm": 0,
                    "validation": 0,
                },
                "invalidity": _TO_T4.get(row.status, row.status),
                "correctness": 0 if row.status == "correctness" else 1,
                "measurements": [] if least is None else [{"name": "time", "value": _MILLI * least, "unit": "ms"}],
                "objectives": ["time"],
            }
        )
    return json.dumps({"schema_version": _T4_VERSION, "results": results}, indent=1) + "\n"


def _read_t4(text: str) -> MeasurementTable:
    head = _Fields(_json(text), "the file")
    parameters: dict[str, dict[Value, None]] = {}
    rows = []
    for at, result in enumerate(head.list("results"), start=1):
        fields = _Fields(result, f"result {at}")
        configuration = {name: _value(value, name) for name, value in fields.mapping("configuration").items()}
        if at > 1 and set(configuration) != set(parameters):
            raise _wrong(f"{fields.what} has other parameters than the first one", "Give each result all parameters.")
        for name, value in configuration.items():
            parameters.setdefault(name, {})[value] = None
        invalidity = str(fields.need("invalidity"))
        status = _status(invalidity, _FROM_T4.get(invalidity), f"{fields.what}: invalidity {invalidity!r}")
        times = _Fields(fields.mapping("times"), f"times of result {at}")
        samples = times.times("runtimes")
        rows.append(
            ConfigurationRow(
                tuple(configuration[name] for name in parameters),
                status,
                (samples or _measured(fields)) if status == "success" else (),
                times.number("compilation_time", times.number("compilation", 0.0)) / _MILLI,
                times.number("benchmark", 0.0) / _MILLI,
                _seconds(fields.record.get("timestamp")),
            )
        )
    return MeasurementTable("", "", (), {name: tuple(values) for name, values in parameters.items()}, tuple(rows))


def _measured(fields: _Fields) -> tuple[float, ...]:
    """The time among the measurements of a result without run times."""
    for one in fields.list("measurements") if "measurements" in fields.record else []:
        measurement = _Fields(one, f"a measurement of {fields.what}")
        if measurement.record.get("name") == "time" and measurement.record.get("unit", "ms") == "ms":
            return (measurement.time("value"),)
    raise _wrong(f"{fields.what} has neither runtimes nor a measurement of time in ms", "Give it one of them.")


def _write_csv(table: MeasurementTable) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["number", *table.parameters, *_CSV_COLUMNS])
    for number, row in enumerate(table.rows, start=1):
        least = min(row.samples, default="")
        samples = " ".join(map(repr, row.samples))
        told = [row.build_seconds, row.run_seconds, _timestamp(row.told), row.tail]
        writer.writerow([number, *row.values, row.status, least, samples, *told])
    return text.getvalue()


def _read_csv(text: str) -> MeasurementTable:
    lines = list(csv.reader(io.StringIO(text)))
    header = lines[0] if lines else []
    if header[:1] != ["number"] or tuple(header[-len(_CSV_COLUMNS) :]) != _CSV_COLUMNS:
        columns = ", ".join(("number", "<parameters>", *_CSV_COLUMNS))
        raise _wrong("the file has other columns", f"Name them {columns}.")
    names = header[1 : -len(_CSV_COLUMNS)]
    rows = []
    for at, line in enumerate(lines[1:], start=2):
        if len(line) != len(header):
            raise _wrong(f"line {at} has {len(line)} columns, the first one {len(header)}", "Mend that line.")
        status, _, samples, build, run, told, tail = line[-len(_CSV_COLUMNS) :]
        values = tuple(value_of(text) for text in line[1 : 1 + len(names)])
        try:
            taken, numbers = tuple(map(float, samples.split())), (float(build or 0), float(run or 0))
        except ValueError as error:
            raise _wrong(f"line {at}: {error}", "Mend that line.") from None
        if not all(0 < one < inf for one in taken) or not all(0 <= one < inf for one in numbers):
            found = f"{samples!r:.60}, {build}, {run}"
            raise _wrong(f"line {at} has times that are none: {found}", "Write seconds above 0.")
        known = _status(status, None, f"line {at}: status {status!r}")
        if known == "success" and not taken:
            raise _wrong(f"line {at} passed and has no samples", "Write the seconds of its measurements.")
        rows.append(ConfigurationRow(values, known, taken, *numbers, _seconds(told), tail))
    parameters = {name: tuple(dict.fromkeys(row.values[at] for row in rows)) for at, name in enumerate(names)}
    return MeasurementTable("", "", (), parameters, tuple(rows))


@dataclass(frozen=True, slots=True)
class _Fields:
    """A JSON object whose fields are checked as they are asked for; `what` names it in errors."""

    given: object
    what: str

    @property
    def record(self) -> Mapping[str, Any]:
        if not isinstance(self.given, dict):
            raise _wrong(f"{self.what} is no JSON object", "Pass a file of the format that was named.")
        return self.given

    def need(self, name: str) -> object:
        if name not in self.record:
            raise _wrong(f"{self.what} has no {name}", f"Add {name}, or name the format that the file has.")
        found: object = self.record[name]
        return found

    def list(self, name: str) -> list[Any]:
        found = self.need(name)
        if not isinstance(found, list):
            raise _wrong(f"{name} of {self.what} is no list: {found!r:.60}", "Write a list.")
        return found

    def times(self, name: str) -> tuple[float, ...]:
        """Seconds of a list of times in ms; none where there is no such list."""
        found = self.list(name) if name in self.record else []
        return tuple(_Fields({name: one}, self.what).time(name) for one in found)

    def time(self, name: str) -> float:
        """Seconds of a time in ms."""
        found = self.number(name)
        if found <= 0:
            raise _wrong(f"{name} of {self.what} is no time: {found:g}", "Write milliseconds above 0.")
        return found / _MILLI

    def mapping(self, name: str) -> Mapping[str, Any]:
        return _Fields(self.need(name), f"{name} of {self.what}").record

    def number(self, name: str, default: float | None = None) -> float:
        found = self.record.get(name, default)
        if isinstance(found, bool) or not isinstance(found, int | float) or not abs(found) < _LARGEST:
            raise _wrong(f"{name} of {self.what} is no number: {found!r:.60}", "Write a number.")
        return float(found)


def _json(text: str) -> object:
    try:
        found: object = json.loads(text)
    except ValueError as error:  # also a number of too many digits
        raise _wrong(f"the file is no JSON: {error}", "Mend that line.") from None
    return found


def _value(value: object, name: str) -> Value:
    if isinstance(value, str | int | float | bool):
        return value
    raise _wrong(f"a value of {name} is neither a number nor a text: {value!r:.60}", "Write one of these.")


def _status(word: str, known: Status | None, what: str) -> Status:
    found = next((status for status in STATUSES if status == word), known)
    if found is None:
        raise _wrong(f"{what} is no known one", f"Use {', '.join(STATUSES)}.")
    return found


def _timestamp(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(" ")


def _seconds(timestamp: object) -> float:
    """Seconds since 1970; 0 where no time is told."""
    try:
        return datetime.datetime.fromisoformat(str(timestamp)).timestamp()
    except ValueError:
        return 0.0


def _wrong(what: str, advice: str) -> TuningError:
    return TuningError(what, advice=advice)


_Function = TypeVar("_Function")


def _of(form: str, table: Mapping[str, _Function]) -> _Function:
    if form not in table:
        raise _wrong(f"there is no format {form!r}", f"Use one of {', '.join(table)}.")
    return table[form]


_WRITERS: Mapping[str, Callable[[MeasurementTable], str]] = {
    "kernel-tuner": _write_kernel_tuner,
    "t4": _write_t4,
    "csv": _write_csv,
}
_READERS: Mapping[str, Callable[[str], MeasurementTable]] = {
    "kernel-tuner": _read_kernel_tuner,
    "t4": _read_t4,
    "csv": _read_csv,
}
