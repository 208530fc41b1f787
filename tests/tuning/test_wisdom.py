"""Wisdom: what studies found is used again, where it holds and nowhere else, and no file can do harm."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench import cli
from workbench.errors import RunError, TuningError
from workbench.notebook.card_html import card_html
from workbench.notebook.card_text import card_text
from workbench.notebook.defining import summary
from workbench.tuning import tune, wisdom
from workbench.tuning.wisdom import StudyResult, WisdomWarning, environment_of, keep, read_wisdom, recall

MEAN = 'u = field("u", boundary="periodic")\nu.next = 0.5 * (u[-1] + u[+1])'
START = np.sin(np.arange(4096.0))


@pytest.fixture
def mean():
    return wb.trace(MEAN, dim=1, name="mean")


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    """A file of its own for each test."""
    path = tmp_path / "folder" / "wisdom.jsonl"
    monkeypatch.setenv("WORKBENCH_WISDOM", str(path))
    return path


def result(machine, extents=(4096,), score=2e9, backend="openmp", **choices):
    environment = environment_of(machine.graph.fingerprint(), backend)
    choices = machine.with_choices(**(choices or {"tile": 64})).choices
    return StudyResult(machine.name, environment, extents, choices, score, 1.5, 40, 1_700_000_000.0)


def chosen(machine, **values):
    """The choices that a simulation with choices="best" has, and its text."""
    with machine.simulate(choices="best", backend="openmp", **values) as simulation:
        return simulation.compiled.plan.choices, " ".join(repr(simulation).split())


def test_a_study_leaves_wisdom_and_best_takes_it(mean, tmp_path, file):
    path = tmp_path / "s.sqlite"
    study = mean.tune(u=START, budget=2, path=path, backend="openmp", only=["tile"], start=[mean.with_choices(tile=64)])
    study.wait(300)
    (kept,) = read_wisdom().results
    assert kept.choices == study.best.choices
    assert (kept.extents, kept.score, kept.evaluations) == ((4096,), study.best.score, 2)
    choices, text = chosen(mean, u=START)
    assert choices == study.best.choices
    assert f"choices: {kept}" in text
    assert "4096 cells" in text
    runs = [mean.simulate(u=START, backend="openmp", choices=each).run(5).u for each in (None, "best")]
    assert np.array_equal(*runs)
    assert oct(file.stat().st_mode)[-1] != "2"


@pytest.mark.parametrize("changed", ["compiler", "device"])
def test_a_study_is_not_continued_where_it_does_not_hold(mean, tmp_path, monkeypatch, changed):
    asked = {"u": START, "budget": 1, "path": tmp_path / "s.sqlite", "backend": "openmp", "only": ["tile"]}
    mean.tune(**asked).wait(300)
    assert len(mean.tune(**asked).wait(300).individuals) == 2
    elsewhere = replace(environment_of(mean.graph.fingerprint(), "openmp"), **{changed: "another one"})
    monkeypatch.setattr(tune, "environment_of", lambda *_: elsewhere)
    with pytest.raises(TuningError, match=f"has other {changed}: "):
        mean.tune(**asked)


def test_best_is_the_own_choice_where_nothing_is_known(mean):
    own = mean.with_choices(tile=32)
    choices, text = chosen(own, u=START)
    assert choices == own.choices
    assert "choices: the machine's own, because no study of about 4096 cells has ended here" in text
    assert chosen(own, u=START)[0] == own.choices
    assert "choices:" not in repr(own.simulate(u=START, backend="openmp"))


def test_the_nearest_size_is_taken_and_none_that_is_far(mean):
    keep(result(mean, (4096,), tile=8))
    keep(result(mean, (16384,), tile=16))
    for extent, tile in ((4096, 8), (2048, 8), (6000, 8), (10000, 16), (32768, 16), (2047, 0), (40000, 0)):
        assert chosen(mean, shape=extent, u=1.0)[0].plan.cpu.tile == tile, extent


@pytest.mark.parametrize(
    "other", [{"key": "0" * 16}, {"backend": "cuda"}, {"device": "another"}, {"compiler": "g++ 1"}, {"threads": 77}]
)
def test_elsewhere_it_does_not_hold(mean, other):
    one = result(mean)
    keep(replace(one, environment=replace(one.environment, **other)))
    assert recall(one.environment, (4096,)) is None
    keep(one)
    assert recall(one.environment, (4096,)) == one


def test_of_two_results_of_one_size_the_faster_stays(mean):
    for score, tile in ((2e9, 8), (3e9, 16), (1e9, 32)):
        keep(result(mean, score=score, tile=tile))
    (one,) = read_wisdom().results
    assert (one.score, one.choices.plan.cpu.tile) == (3e9, 16)
    keep(replace(result(mean, score=1e9, tile=64), version="another"))
    assert read_wisdom().results[0].choices.plan.cpu.tile == 64


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[]",
        "{}",
        '{"format": 1}',
        '{"format": "x"}',
        "\x00\xff",
        pytest.param({"score": -1}, id="score"),
        pytest.param({"extents": []}, id="extents"),
        pytest.param({"choices": {"format": 2, "plan": {"cpu": {"tile": -5}}}}, id="choices"),
        pytest.param({"place": {"key": "x"}}, id="place"),
    ],
)
def test_damaged_lines_are_dropped_with_a_word(mean, file, line):
    keep(result(mean))
    good = file.read_text()
    damaged = line if isinstance(line, str) else json.dumps({**json.loads(good), **line})
    file.write_text(damaged + "\n" + good[:-20] + "\n" + good)
    with pytest.warns(WisdomWarning, match="2 damaged lines, which were left out"):
        assert recall(result(mean).environment, (4096,)) == result(mean)
    assert "2 damaged lines left out" in str(read_wisdom())
    with pytest.warns(WisdomWarning, match="2 damaged lines, which were dropped"):
        keep(result(mean, (64,)))
    assert read_wisdom().damaged == 0
    assert len(read_wisdom().results) == 2


def test_lines_of_a_later_version_stay(mean, file):
    file.parent.mkdir()
    file.write_text('{"format": 2, "what": "new"}\n')
    keep(result(mean))
    assert '{"format": 2, "what": "new"}' in file.read_text()
    assert len(read_wisdom().results) == 1


def test_choices_that_cannot_be_planned_are_refused_with_a_word(mean):
    one = result(mean)
    plan = one.choices.plan.changed(manifest=frozenset({"step/0123456789abcdef"}))
    keep(replace(one, choices=replace(one.choices, plan=plan)))
    with pytest.warns(WisdomWarning, match="cannot be planned any more"):
        choices, text = chosen(mean, u=START)
    assert choices == mean.choices
    assert "the machine's own" in text


def test_an_unwritable_file_costs_a_warning(mean, tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("WORKBENCH_WISDOM", str(tmp_path / "a file" / "wisdom.jsonl"))
    with pytest.warns(WisdomWarning, match="what the study of mean found is not kept"):
        wisdom.keep_or_warn(result(mean))
    with pytest.warns(WisdomWarning, match="cannot be read"):
        assert chosen(mean, u=START)[0] == mean.choices


def test_replanned_simulation_no_longer_says_where_its_choices_came_from(mean):
    keep(result(mean))
    with mean.simulate(u=START, choices="best", backend="openmp") as simulation:
        assert "choices: 1.5 x" in repr(simulation)
        simulation.replan(mean.with_choices(tile=128).choices).wait(60)
        assert "choices:" not in repr(simulation)


@pytest.mark.parametrize(
    ("keywords", "cause"),
    [({"choices": "beste"}, "choices='beste' is unknown"), ({"choices": "best", "schedule": "diamond"}, "both given")],
)
def test_what_makes_no_sense_is_refused(mean, keywords, cause):
    with pytest.raises(RunError, match=cause):
        mean.simulate(u=START, **keywords)


def test_best_loads_no_database(mean):
    keep(result(mean))
    text = (
        "import sys, numpy as np, workbench as wb\n"
        f"machine = wb.trace({MEAN!r}, dim=1)\n"
        "simulation = machine.simulate(u=np.zeros(4096), choices='best', backend='openmp')\n"
        "print(simulation.compiled.plan.choices.plan.cpu.tile, 'sqlite3' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.stdout.split() == ["64", "False"], done.stderr


def test_the_card_says_that_something_is_known(mean):
    machine = replace(mean, backend="openmp")
    assert "best" not in card_text(summary(machine, extents=(4096,)))
    keep(result(mean))
    card = summary(machine, extents=(4096,))
    assert "1.5 x the start of a study of 4096 cells on 2023-11-1" in card.found_before
    assert 'simulate(choices="best") takes it' in " ".join(card_text(card).split())
    assert "1.5 x the start of a study" in card_html(card)
    assert summary(machine, extents=(100_000,)).found_before == ""


def test_the_command_line_knows_the_file(mean, file, capsys):
    keep(result(mean))
    assert cli.main(["cache", "info"]) == 0
    assert f"{file}: 1 result of studies" in capsys.readouterr().out
    assert cli.main(["cache", "forget"]) == 0
    assert "removed 1 result of studies" in capsys.readouterr().out
    assert not file.exists()
    assert cli.main(["cache", "forget"]) == 0
    assert "removed 0 results" in capsys.readouterr().out
