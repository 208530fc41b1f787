"""Formats: what is written is read again, files of other tuners are read as they are, and damaged ones are refused."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.errors import TuningError
from workbench.tuning.formats import FORMATS, ConfigurationRow, MeasurementTable, read_table, value_of, write_table
from workbench.tuning.replay import read_landscape
from workbench.tuning.study import Study
from workbench.tuning.t1 import read_t1, write_t1
from workbench.tuning.tables import keep_table, landscape_of, table_of, within
from workbench.tuning.trials import STATUSES, Individual, Outcome

ROWS = (
    ConfigurationRow((16, "-O3", True), "success", (0.003, 0.0025), 0.5, 0.25, 1703238845.5),
    ConfigurationRow((32, "-O3", True), "compile", (), 0.75, 0.0, 1703238846.0, "no, thank you"),
    ConfigurationRow((16, "-O2, really", False), "correctness", (), 0.5, 0.125, 1703238847.0),
    ConfigurationRow((32, "-O2, really", False), "success", (0.004,), 0.5, 0.25, 1703238848.0),
    ConfigurationRow((32, "-O2, really", True), "timeout", (), 0.5, 60.0, 1703238849.0),
    ConfigurationRow((16, "-O2, really", True), "runtime", (), 0.5, 1.0, 1703238850.0),
    ConfigurationRow((16, "-O3", False), "constraint", (), 0.0, 0.0, 1703238851.0),
)
PARAMETERS = {"block": (16, 32), "flags": ("-O3", "-O2, really"), "padded": (True, False)}
TABLE = MeasurementTable("wave", "openmp", (64, 32), PARAMETERS, ROWS)


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_written_is_read_again(form):
    read = read_table(write_table(TABLE, form), form)
    assert {row.status for row in ROWS} == set(STATUSES)
    tails = ROWS if form == "csv" else tuple(replace(row, tail="") for row in ROWS)
    assert read.rows == tails
    assert read.parameters == PARAMETERS
    if form == "kernel-tuner":
        assert replace(read, rows=()) == replace(TABLE, rows=())


# As Kernel Tuner writes it: a convolution, one entry a line.
CACHE = """{
"device_name": "NVIDIA RTX A4000",
"kernel_name": "convolution_kernel",
"problem_size": [4096, 4096],
"tune_params_keys": ["block_size_x", "block_size_y"],
"tune_params": {"block_size_x": [16, 32], "block_size_y": [1, 2]},
"objective": "time",
"cache": {
"16,1": {"block_size_x": 16, "block_size_y": 1, "time": 3.9, "times": [4.0, 3.8], "compile_time": 918.5, \
"verification_time": 0, "benchmark_time": 126.25, "GFLOP/s": 1948.2, "strategy_time": 0, "framework_time": 105.2, \
"timestamp": "2023-12-22 09:54:05.500000+00:00"},
"16,2": {"block_size_x": 16, "block_size_y": 2, "time": "InvalidConfig", "compile_time": 1.5, "verification_time": 0, \
"benchmark_time": 0, "strategy_time": 0, "framework_time": 2.0, "timestamp": "2023-12-22 09:54:06.500000+00:00"},
"32,1": {"block_size_x": 32, "block_size_y": 1, "time": "RuntimeFailedConfig", "compile_time": 842.0, \
"verification_time": 0, "strategy_time": 0, "framework_time": 1.9, "timestamp": "2023-12-22 09:54:07.500000+00:00"}}
}
"""


def test_cache_of_kernel_tuner_is_read():
    table = read_table(CACHE, "kernel-tuner")
    assert (table.name, table.device, table.extents) == ("convolution_kernel", "NVIDIA RTX A4000", (4096, 4096))
    assert [row.status for row in table.rows] == ["success", "constraint", "runtime"]
    first = table.rows[0]
    assert first.values == (16, 1)
    assert first.samples == pytest.approx((0.0040, 0.0038))
    assert (first.build_seconds, first.run_seconds) == pytest.approx((0.9185, 0.12625))
    assert first.told == 1703238845.5


@pytest.mark.parametrize(
    ("cut", "count"), [("}\n}\n", 3), ("}}\n}\n", 2), ('"timestamp": "2023-12-22 09:54:07', 2), ("842.0", 2)]
)
def test_cache_that_is_still_written_to_is_read_as_far_as_it_goes(cut, count):
    """Kernel Tuner closes the braces only at the end; the tuner itself refuses a record that was torn."""
    table = read_table(CACHE[: CACHE.index(cut, CACHE.index('"32,1"'))], "kernel-tuner")
    assert len(table.rows) == count
    assert table.rows == read_table(CACHE, "kernel-tuner").rows[: len(table.rows)]


# As the methodology's tools write it.
T4 = {
    "results": [
        {
            "timestamp": "2023-12-21 10:44:42.250000+00:00",
            "configuration": {"block_size_x": 16, "read_only": 0},
            "times": {"compilation": 661.5, "benchmark": 393.75, "framework": 53.1, "runtimes": [12.5, 12.25]},
            "invalidity": "correct",
            "correctness": 1,
            "measurements": [{"name": "time", "value": 12.375, "unit": "ms"}],
            "objectives": ["time"],
        },
        {
            "configuration": {"read_only": 1, "block_size_x": 16},
            "times": {"compilation_time": 5.0},
            "invalidity": "correct",
            "correctness": 1,
            "measurements": [{"name": "time", "value": 8.0, "unit": "ms"}],
        },
        {
            "configuration": {"block_size_x": 32, "read_only": 1},
            "times": {},
            "invalidity": "constraints",
            "correctness": 1,
        },
    ],
    "schema_version": "1.0.0",
}


def test_t4_results_are_read():
    table = read_table(json.dumps(T4), "t4")
    assert table.parameters == {"block_size_x": (16, 32), "read_only": (0, 1)}
    assert [row.values for row in table.rows] == [(16, 0), (16, 1), (32, 1)]
    assert [row.status for row in table.rows] == ["success", "success", "constraint"]
    assert table.rows[0].samples == (0.0125, 0.01225)
    assert table.rows[0].build_seconds == 0.6615
    assert table.rows[1].samples == (0.008,)


def test_t4_has_what_its_schema_requires():
    """Names and words of results-schema.json, version 1.0.0."""
    written = json.loads(write_table(TABLE, "t4"))
    assert written["schema_version"] == "1.0.0"
    for result in written["results"]:
        assert {"configuration", "times", "invalidity", "correctness"} <= set(result)
        assert result["invalidity"] in ("timeout", "compile", "runtime", "correctness", "constraints", "correct")
        assert isinstance(result["times"]["runtimes"], list)
    assert [result["correctness"] for result in written["results"]] == [1, 1, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("form", "text", "cause"),
    [
        ("kernel-tuner", "no", "no JSON object"),
        ("kernel-tuner", "[]", "no JSON object"),
        ("kernel-tuner", '{"tune_params_keys": 3}', "tune_params_keys of the file is no list: 3"),
        ("kernel-tuner", CACHE.replace('"InvalidConfig"', '"Odd"'), "time 'Odd' is no known one"),
        ("kernel-tuner", CACHE.replace('"block_size_y": 2, "time"', '"time"'), "entry 16,2 has no block_size_y"),
        (
            "kernel-tuner",
            CACHE.replace('"time": 3.9, "times": [4.0, 3.8], ', ""),
            "time of the entry 16,1 is no number: None",
        ),
        (
            "kernel-tuner",
            CACHE.replace('"times": [', '"times": ["fast", ', 1),
            "times of the entry 16,1 is no number: 'fast'",
        ),
        (
            "kernel-tuner",
            CACHE.replace('"times": [', '"times": [NaN, ', 1),
            "times of the entry 16,1 is no number: nan",
        ),
        ("kernel-tuner", CACHE.replace("918.5", "9" * 400), "compile_time of the entry 16,1 is no number: 999"),
        ("t4", "{", "no JSON"),
        ("t4", '{"results": [3]}', "result 1 is no JSON object"),
        ("t4", json.dumps(T4).replace("constraints", "odd"), "result 3: invalidity 'odd' is no known one"),
        ("t4", json.dumps(T4).replace('"read_only": 1, ', ""), "result 2 has other parameters"),
        (
            "t4",
            json.dumps(T4).replace('"value": 8.0, "unit": "ms"', '"value": 8.0, "unit": "J"'),
            "result 2 has neither",
        ),
        (
            "t4",
            json.dumps(T4).replace('"runtimes": [', '"runtimes": [0.0, ', 1),
            "runtimes of times of result 1 is no time: 0",
        ),
        (
            "t4",
            json.dumps(T4).replace('"value": 8.0', '"value": "8 ms"'),
            "value of a measurement of result 2 is no number: '8 ms'",
        ),
        (
            "t4",
            json.dumps(T4).replace('"value": 8.0', '"other": 8.0'),
            "value of a measurement of result 2 is no number: None",
        ),
        ("csv", "a,b\n", "the file has other columns"),
        ("csv", write_table(TABLE, "csv").replace("0.003 ", "-0.003 "), "line 2 has times that are none: '-0.003 "),
        ("csv", re.sub(",success,[^,]*,[^,]*,", ",success,,,", write_table(TABLE, "csv")), "line 2 passed and has no"),
        ("csv", write_table(TABLE, "csv").replace("compile", "odd"), "line 3: status 'odd' is no known one"),
        ("csv", write_table(TABLE, "csv").replace("0.003 ", "fast "), "line 2: could not convert"),
        ("csv", write_table(TABLE, "csv") + "8,1\n", "line 9 has 2 columns"),
        ("xml", "", "there is no format 'xml'"),
    ],
)
def test_damaged_files_are_refused_with_the_place(form, text, cause):
    with pytest.raises(TuningError) as caught:
        read_table(text, form)
    assert cause in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("16", 16),
        ("0.5", 0.5),
        ("True", True),
        ("-O3", "-O3"),
        ("1e3", "1e3"),
        ("nan", "nan"),
        ("", ""),
        ("9" * 400, int("9" * 400)),
    ],
)
def test_values_are_numbers_where_their_text_is_one(text, value):
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)
    assert str(value_of(text)) == text


PROBLEM = {
    "ConfigurationSpace": {
        "TuningParameters": [
            {"Name": "block_size_x", "Type": "int", "Values": "[1, 2, 4, 8, 16, 32, 48, 64]", "Default": 32},
            {"Name": "tile_size_x", "Type": "int", "Values": "list(range(1, 9))", "Default": 1},
            {"Name": "layout", "Type": "string", "Values": "['aos', 'soa']"},
        ],
        "Conditions": [
            {"Expression": "(block_size_x * tile_size_x) >= 64", "Parameters": ["block_size_x", "tile_size_x"]},
            {"Expression": "layout == 'soa' or block_size_x % 16 == 0", "Parameters": ["layout", "block_size_x"]},
        ],
    },
    "KernelSpecification": {"Language": "CUDA", "KernelName": "convolution", "KernelFile": "convolution.cu"},
}


def test_t1_problem_is_a_space():
    problem = read_t1(json.dumps(PROBLEM))
    assert problem.name == "convolution"
    assert problem.values["tile_size_x"] == (1, 2, 3, 4, 5, 6, 7, 8)
    blocks, tiles, layouts = problem.values.values()
    wanted = [
        (b, t, k)
        for b in range(len(blocks))
        for t in range(len(tiles))
        for k in range(len(layouts))
        if blocks[b] * tiles[t] >= 64 and (layouts[k] == "soa" or blocks[b] % 16 == 0)
    ]
    assert list(problem.space) == wanted
    assert [parameter.ordered for parameter in problem.space.parameters] == [True, True, False]


def test_problem_that_is_written_is_read_again():
    problem = read_t1(write_t1(TABLE))
    assert dict(problem.values) == PARAMETERS
    assert problem.space.combinations == 8
    written = json.loads(write_t1(TABLE))
    assert {"ConfigurationSpace", "KernelSpecification"} <= set(written)
    assert {"Language", "KernelName", "KernelFile", "GlobalSize", "LocalSize"} <= set(written["KernelSpecification"])
    kinds = [row["Type"] for row in written["ConfigurationSpace"]["TuningParameters"]]
    assert kinds == ["int", "string", "bool"]


@pytest.mark.parametrize(
    ("values", "condition", "cause"),
    [
        ("__import__('os').system('true')", "True", "cannot be read: it has"),
        ("[].__class__", "True", "cannot be read"),
        ("list(range(10**9))", "True", "cannot be read"),
        ("list(range(1000000000))", "True", "1000000000 values"),
        ("[1] * 1000000000", "True", "something else than numbers"),
        ("[1, 2", "True", "is no expression"),
        ("[]", "True", "no list of numbers or texts"),
        ("7", "True", "no list of numbers or texts"),
        ("[1, 2]", "b > 1", "cannot be read: it has 'b'"),
        ("[0, 1]", "1 / a > 1", "division by zero"),
        ("[0, 1]", "a < 'x'", "not supported"),
    ],
)
def test_expressions_are_numbers_comparisons_and_names_only(values, condition, cause):
    space = {"TuningParameters": [{"Name": "a", "Values": values}], "Conditions": [{"Expression": condition}]}
    problem = {"ConfigurationSpace": space, "KernelSpecification": {"KernelName": "k"}}
    with pytest.raises(TuningError) as caught:
        read_t1(json.dumps(problem))
    assert cause in str(caught.value)


def test_file_that_is_no_problem_is_refused():
    with pytest.raises(TuningError, match="no T1 problem"):
        read_t1('{"ConfigurationSpace": []}')


def test_table_is_a_landscape_to_replay():
    landscape = landscape_of(TABLE)
    assert landscape.costs == {(0, 0, 0): 0.0025, (1, 1, 1): 0.004}
    assert len(list(landscape.space)) == len(ROWS)
    assert landscape.best == 0.0025


def test_recorded_landscape_goes_through_every_format():
    """All 27,480 samples of one of ours."""
    recorded = read_landscape(Path(__file__).parent / "landscapes" / "tt2d.npz")
    names = [parameter.name for parameter in recorded.space.parameters]
    values = {p.name: tuple(value_of(text) for text in p.values) for p in recorded.space.parameters}
    rows = tuple(
        ConfigurationRow(tuple(values[name][at] for name, at in zip(names, point, strict=True)), "success", samples)
        for point, samples in recorded.samples.items()
    )
    for form in FORMATS:
        again = landscape_of(read_table(write_table(MeasurementTable("tt2d", "cpu", (1,), values, rows), form), form))
        assert sorted(again.costs.values()) == pytest.approx(sorted(recorded.costs.values()), rel=1e-14)
        assert again.within(0.05) == recorded.within(0.05)


def individual(number, point, outcome, finals=()):
    score = None if outcome.seconds is None else 2048 / outcome.seconds
    return Individual(
        number, point, "", "", "sweep", "start", (), outcome, score, 0, 1700000000.0 + number, finals=finals
    )


def test_study_is_a_table_with_all_its_samples():
    about = {"program": "wave", "backend": "openmp", "extents": [64, 32], "tunables": ["block", "flags"]}
    individuals = [
        individual(1, (0, 1), Outcome("success", (0.5, 0.25), "", 1.0, 2.0), (0.125, 0.25)),
        individual(2, (1, 0), Outcome("compile", (), "", 1.5, 0.0, "sorry")),
    ]
    with pytest.raises(TuningError, match="did not keep the values"):
        table_of(about, individuals)
    table = table_of({**about, "values": [["16", "32"], ["-O3", "none"]]}, individuals)
    assert table.parameters == {"block": (16, 32), "flags": ("-O3", "none")}
    assert table.rows[0] == ConfigurationRow((16, "none"), "success", (0.5, 0.25, 0.125, 0.25), 1.0, 2.0, 1700000001.0)
    assert table.rows[1] == ConfigurationRow((32, "-O3"), "compile", (), 1.5, 0.0, 1700000002.0, "sorry")


def test_results_of_another_tuner_are_a_study(tmp_path):
    path = tmp_path / "convolution.sqlite"
    keep_table(read_table(CACHE, "kernel-tuner"), path)
    study = Study.attach(path)
    assert study.state == "done"
    assert [one.outcome.status for one in study.individuals] == ["success", "constraint", "runtime"]
    assert study.best.individual.changes == "block_size_x = 16, block_size_y = 1"
    assert study.best.score == pytest.approx(4096**2 / 0.0038)
    with pytest.raises(TuningError, match="there is a file"):
        keep_table(TABLE, path)


def test_results_of_another_tuner_are_placed_in_their_problem(tmp_path):
    """T4 names no program and has those values only that were tried."""
    rows = [
        {"block_size_x": 64, "tile_size_x": 2, "layout": "soa"},
        {"tile_size_x": 1, "block_size_x": 8, "layout": "soa"},
    ]
    results = [
        {"configuration": row, "times": {"runtimes": [4.0]}, "invalidity": word, "correctness": 1}
        for row, word in zip(rows, ("correct", "constraints"), strict=True)
    ]
    (tmp_path / "results.json").write_text(json.dumps({"results": results}))
    (tmp_path / "problem.json").write_text(json.dumps(PROBLEM))
    study = Study.from_file(tmp_path / "results.json", tmp_path / "s.sqlite", space=tmp_path / "problem.json")
    assert study.about["program"] == "convolution"
    assert study.about["values"][1] == [str(value) for value in range(1, 9)]
    assert [one.outcome.status for one in study.individuals] == ["success", "constraint"]
    assert study.best.individual.changes == "block_size_x = 64, tile_size_x = 2, layout = soa"


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"layout": "soa", "width": 3}, "the results and the problem convolution differ in width"),
        ({"layout": "other"}, "row 1 has the value 'other'"),
        ({"block_size_x": 8}, "row 1 passed and breaks a condition of convolution: (block_size_x * tile_size_x) >= 64"),
    ],
)
def test_results_of_another_problem_are_refused(change, cause):
    row = {"block_size_x": 64, "tile_size_x": 2, "layout": "soa", **change}
    table = MeasurementTable(
        "",
        "",
        (),
        {name: (value,) for name, value in row.items()},
        (ConfigurationRow(tuple(row.values()), "success", (1.0,)),),
    )
    with pytest.raises(TuningError) as caught:
        within(table, json.dumps(PROBLEM))
    assert cause in str(caught.value)


def test_problem_is_not_read_as_results(tmp_path):
    (tmp_path / "problem.json").write_text("{}")
    with pytest.raises(TuningError, match="has no results") as caught:
        Study.from_file(tmp_path / "problem.json", tmp_path / "s.sqlite", form="t1")
    assert "space=" in caught.value.advice
