"""Ledgers: rows come back as they were added, files of earlier versions are read and taken over, readers follow."""

import os
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.kit.waiting import wait_for
from workbench.errors import TuningError
from workbench.tuning import migrations
from workbench.tuning.ledger import is_written, open_ledger, read_ledger
from workbench.tuning.migrations import STEPS, VERSION, migrate, version_of
from workbench.tuning.study import Study
from workbench.tuning.trials import Individual, Outcome, Race

ABOUT = {"program": "mean", "key": "k", "backend": "openmp", "extents": [64], "tunables": ["tile"]}


def individual(number, seconds=0.5):
    outcome = Outcome(
        "success",
        (seconds, 2 * seconds),
        f"p{number}",
        1.5,
        0.25,
        "",
        0.125,
        beside=(0.25, 0.5),
        compared="64 cells, 3 steps",
    )
    origin = ("sweep", "mutation", (1, 2))
    return Individual(
        number, (number, 3), "{}", "tile = 8", *origin, outcome, 64 / seconds, 0, 1e9, number, number - 1, 0, 1, 0.75
    )


def test_rows_come_back_as_they_were_added(tmp_path):
    rows = [individual(1), individual(2), individual(3)]
    races = [Race(1, 2, ((1, (0.5, 0.25)), (2, (0.75,))), "", 1e9), Race(2, 3, (), "it broke off", 1e9)]
    with open_ledger(tmp_path / "s.sqlite") as ledger:
        ledger.describe(ABOUT)
        for one in rows:
            ledger.add(one)
        for race in races:
            ledger.add_race(race)
    with read_ledger(tmp_path / "s.sqlite") as ledger:
        assert ledger.about == ABOUT
        assert ledger.individuals() == rows
        assert ledger.individuals(after=2) == rows[2:]
        assert ledger.races() == races
        assert ledger.races(after=1) == races[1:]


def test_row_that_is_there_is_not_added_again(tmp_path):
    with open_ledger(tmp_path / "s.sqlite") as ledger:
        ledger.add(individual(1))
        with pytest.raises(sqlite3.IntegrityError):
            ledger.add(individual(1, 0.25))
        assert ledger.individuals() == [individual(1)]


def test_race_is_added_whole_or_not_at_all(tmp_path):
    with open_ledger(tmp_path / "s.sqlite") as ledger:
        with pytest.raises(sqlite3.IntegrityError):
            ledger.add_race(Race(1, 1, ((1, (0.5,)), (1, (0.5,)))))
        assert ledger.races() == []


def test_equal_search_goes_on_and_another_one_begins(tmp_path):
    with open_ledger(tmp_path / "s.sqlite") as ledger:
        assert ledger.search_base(["sweep", 1], 0) == 0
        assert ledger.search_base(["sweep", 1], 5) == 0
        assert ledger.search_base(["sweep", 2], 5) == 5
        assert ledger.search_base(["sweep", 2], 9) == 5
        assert ledger.search_base(["sweep", 1], 9) == 9


FIRST = """INSERT INTO individual VALUES
    (1, '[0]', '{}', '', 'sweep', 'start', '[]', 'success', '[0.5]', 'p', 1, 2, '', 128, 0, 9)"""


def older(path, version):
    """A file as that version left it, with one individual."""
    connection = sqlite3.connect(path)
    connection.executescript(STEPS[0] + FIRST)
    connection.execute("INSERT INTO about VALUES ('program', '\"mean\"')")
    for step in STEPS[1:version]:
        connection.executescript(step)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()
    connection.close()


@pytest.mark.parametrize("version", range(1, VERSION))
def test_file_of_an_earlier_version_is_taken_over(tmp_path, version):
    path = tmp_path / "s.sqlite"
    older(path, version)
    before = path.read_bytes()
    with read_ledger(path) as ledger:
        read = ledger.individuals()
        assert ledger.races() == []
        assert ledger.state == ""
    assert path.read_bytes() == before
    with open_ledger(path) as ledger:
        (one,) = ledger.individuals()
        assert [one] == read
        assert (one.number, one.outcome.samples, one.score, one.outcome.bound, one.base) == (1, (0.5,), 128, 0.0, 0)
        ledger.add(individual(2))
        ledger.add_race(Race(1, 2, ((1, (0.5,)),)))
        assert ledger.about == {"program": "mean"}
    assert sqlite3.connect(path).execute("PRAGMA user_version").fetchone() == (VERSION,)
    assert len(Study.attach(path).individuals) == 2


def test_step_that_fails_leaves_the_version_before_it(tmp_path, monkeypatch):
    path = tmp_path / "s.sqlite"
    older(path, 1)
    monkeypatch.setattr(migrations, "STEPS", (STEPS[0], STEPS[1] + "INSERT INTO nowhere VALUES (1);"))
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(connection)
    assert version_of(connection) == 1
    assert connection.execute("SELECT name FROM sqlite_master WHERE name = 'race'").fetchall() == []
    monkeypatch.undo()
    migrate(connection)
    assert version_of(connection) == VERSION
    connection.close()


def test_readers_are_told_while_another_writes(tmp_path):
    """An attached study with a listener reads by itself what comes, races too, and that the writer has ended."""
    path = tmp_path / "s.sqlite"
    heard = []
    with open_ledger(path) as ledger:
        ledger.describe(ABOUT)
        ledger.say("running")
        ledger.add(individual(1))
        study = Study.attach(path)
        assert study.state == "watching"
        study.listen(lambda study: heard.append((len(study.individuals), len(study.races), study.state)))
        ledger.add(individual(2))
        wait_for(lambda: (2, 0, "watching") in heard)
        ledger.add_race(Race(1, 2, ((1, (0.25,)), (2, (0.125,)))))
        wait_for(lambda: (2, 1, "watching") in heard)
        assert study.best.individual.number == 2
        assert study.individuals[1].finals == (0.125,)
        ledger.say("done")
    wait_for(lambda: study.state == "done")
    assert heard[-1] == (2, 1, "done")
    study._follower.join(60)
    assert not study._follower.is_alive()


def test_study_whose_process_was_killed_has_stopped(tmp_path):
    """It last said that it runs, but nobody holds its lock."""
    with open_ledger(tmp_path / "s.sqlite") as ledger:
        ledger.describe(ABOUT)
        ledger.say("running")
        assert is_written(tmp_path / "s.sqlite")
        assert Study.attach(tmp_path / "s.sqlite").state == "watching"
    assert not is_written(tmp_path / "s.sqlite")
    assert Study.attach(tmp_path / "s.sqlite").state == "stopped"


def test_watched_study_is_waited_for_and_not_ruled(tmp_path):
    path = tmp_path / "s.sqlite"
    with open_ledger(path) as ledger:
        ledger.describe(ABOUT)
        ledger.say("running")
        study = Study.attach(path)
        for call in (study.pause, study.resume, study.stop):
            with pytest.raises(TuningError, match="another process runs this study"):
                call()
        assert study.wait(0).state == "watching"
        ended = threading.Thread(target=study.wait, args=(60,))
        ended.start()
        ledger.add(individual(1))
        ledger.say("done")
    ended.join()
    assert (study.state, len(study.individuals)) == ("done", 1)
    assert study.stop().state == "done"


@pytest.mark.parametrize("replaced", [False, True])
def test_file_that_goes_while_it_is_written_is_noticed(tmp_path, replaced):
    """SQLite goes on without a word, and all rows are gone when the file is closed."""
    path = tmp_path / "s.sqlite"
    with open_ledger(path) as ledger:
        ledger.describe(ABOUT)
        ledger.add(individual(1))
        study = Study.attach(path)
        path.rename(tmp_path / "elsewhere")
        if replaced:
            path.write_bytes(b"")
        for add in (lambda: ledger.add(individual(2)), lambda: ledger.add_race(Race(1, 1, ()))):
            with pytest.raises(TuningError, match="was removed or replaced while its study ran"):
                add()
        if not replaced:
            with pytest.raises(TuningError, match="there is no study"):
                study.refresh()
            assert study.state == "stopped"


def test_place_where_no_study_can_be_kept_is_refused_and_left_alone(tmp_path):
    """Not even a lock is left beside a file that is no study."""
    notes = tmp_path / "notes"
    notes.write_text("my notes")
    for path in (notes / "s.sqlite", Path("/proc/s.sqlite")):
        with pytest.raises(TuningError, match="no study can be kept at"):
            open_ledger(path)
    with pytest.raises(TuningError, match="is no study"):
        open_ledger(notes)
    with pytest.raises(TuningError, match="is a folder\nPass path= with a file in it"):
        open_ledger(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_a_file_that_may_only_be_read_is_read_and_not_gone_on_with(tmp_path, monkeypatch):
    """As on a disk that is mounted so, where SQLite can put nothing beside it."""
    path = tmp_path / "s.sqlite"
    with open_ledger(path) as ledger:
        ledger.add(individual(1))
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(os, "access", lambda *_: False)
    with read_ledger(path) as ledger:
        assert len(ledger.individuals()) == 1
        assert sorted(tmp_path.iterdir()) == before
    with pytest.raises(TuningError, match=r"no study can be kept at .*: the file is for reading only"):
        open_ledger(path)


def test_looks_at_a_file_keep_nobody_from_writing(tmp_path):
    """A reader holds the lock for a moment; who wants to write tries again."""
    path = tmp_path / "s.sqlite"
    open_ledger(path).close()
    looks = []

    def look():
        while len(looks) < 300:
            looks.append(is_written(path))

    thread = threading.Thread(target=look)
    thread.start()
    for _ in range(50):
        open_ledger(path).close()
    thread.join()
    with open_ledger(path), pytest.raises(TuningError, match="another study writes"):
        open_ledger(path)


def test_full_disk_is_told_as_such(tmp_path):
    """What was added before is there, and the study fails with what to do."""
    path = tmp_path / "s.sqlite"
    with open_ledger(path) as ledger:
        ledger.add(individual(1))
        pages = ledger._connection.execute("PRAGMA page_count").fetchone()[0]
        ledger._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(TuningError, match=r"s.sqlite cannot be read or written: database or disk is full\nMend"):
            ledger.add(replace(individual(2), choices="x" * 200_000))
        with pytest.raises(TuningError, match="disk is full"):
            ledger.add_race(Race(1, 1, ((1, (0.5,) * 100_000),)))
        ledger.say("failed")
    with read_ledger(path) as ledger:
        assert ledger.individuals() == [individual(1)]
        assert ledger.races() == []


def test_damaged_file_is_told_as_such(tmp_path):
    """A copy that broke off has a whole header."""
    path = tmp_path / "s.sqlite"
    with open_ledger(path) as ledger:
        for number in range(1, 60):
            ledger.add(individual(number))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TuningError, match="is no study: "):
        Study.attach(path)


def test_empty_file_is_no_study_and_may_become_one(tmp_path):
    path = tmp_path / "s.sqlite"
    path.touch()
    with pytest.raises(TuningError, match=r"s\.sqlite is empty: no study was begun there"):
        Study.attach(path)
    with open_ledger(path):
        assert Study.attach(path).state == "watching"
    assert Study.attach(path).state == "stopped"
