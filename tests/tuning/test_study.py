"""Studies: real builds in a sandbox, hostile candidates, files that survive a kill, and who may write."""

import fcntl
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.kit.ceilings import make_up_ceilings
from workbench.errors import FieldError, TuningError
from workbench.tuning.study import Study
from workbench.tuning.t1 import read_t1
from workbench.tuning.trials import Outcome
from workbench.views.study.view import open_study_view

MEAN = 'u = field("u", boundary="periodic")\nu.next = 0.5 * (u[-1] + u[+1])'
START = np.sin(np.arange(4096.0))


@pytest.fixture(scope="module")
def mean():
    return wb.trace(MEAN, dim=1, name="mean")


@pytest.fixture(scope="module")
def finished(mean, tmp_path_factory):
    """A study of six candidates on the CPU."""
    path = tmp_path_factory.mktemp("study") / "mean.sqlite"
    study = mean.tune(u=START, budget=6, path=path, backend="openmp", only=["threads", "tile"])
    assert study.wait(300).state == "done"
    return study


def first_told(individuals):
    """Individuals as they were added; races come later."""
    return [replace(one, finals=(), raced=0.0) for one in individuals]


def test_study_measures_what_it_is_told(finished):
    assert len(finished.individuals) == 6
    assert [one.number for one in finished.individuals] == [1, 2, 3, 4, 5, 6]
    assert {one.outcome.status for one in finished.individuals} == {"success"}
    assert finished.individuals[0].changes == ""
    assert all("threads" in one.changes or "tile" in one.changes for one in finished.individuals[1:])


def test_individuals_say_who_proposed_them(finished):
    """The default shares the work; the ledger names the search of each individual."""
    assert finished.individuals[0].birth == "start"
    assert {one.strategy for one in finished.individuals} <= {"sweep", "independence", "paraiso", "surrogate"}


def test_births_and_parents_are_kept(mean, tmp_path):
    """Parents are numbers of earlier individuals."""
    study = mean.tune(
        u=START, budget=8, strategy="paraiso", path=tmp_path / "s.sqlite", backend="openmp", only=["threads", "tile"]
    ).wait(300)
    assert {one.strategy for one in study.individuals} == {"paraiso"}
    assert study.individuals[0].birth == "start"
    bred = [one for one in Study.attach(study.path).individuals if one.birth not in ("start", "random")]
    assert bred
    assert {one.birth for one in bred} <= {"mutation", "crossover", "triangulation"}
    assert all(one.parents and max(one.parents) < one.number for one in bred)


def test_best_is_the_fastest_and_its_choices_give_the_same_bits(finished, mean):
    best = finished.best
    (race,) = finished.races
    seconds = race.seconds
    assert best.individual.number == min(seconds, key=seconds.get)
    assert best.score == pytest.approx(START.size / seconds[best.individual.number])
    assert best.score == max(one.final_score for one in finished.individuals if one.number in seconds)
    runs = [machine.simulate(u=START, backend="openmp").run(5).u for machine in (mean, mean.with_choices(best.choices))]
    assert np.array_equal(*runs)


def test_finalists_are_measured_in_turn_and_all_samples_are_kept(finished):
    """The fastest, thirty times each, after the last individual; the first samples stay beside them."""
    (race,) = finished.races
    assert race.after == 6
    assert race.tail == ""
    assert 2 <= len(race.samples) <= 6
    assert all(len(samples) == 30 and min(samples) > 0 for _, samples in race.samples)
    numbers = [number for number, _ in race.samples]
    individuals = {one.number: one for one in finished.individuals}
    assert {individuals[number].finals for number in numbers} == {samples for _, samples in race.samples}
    assert len(individuals[1].outcome.samples) == 7
    assert individuals[1].outcome.beside == ()
    others = [one for one in individuals.values() if one.number > 1]
    assert all(2 <= len(one.outcome.samples) == len(one.outcome.beside) <= 14 for one in others)
    assert all(one.paired == one.outcome.ratio * individuals[one.against].first_seconds for one in others)
    fastest = min(one.first_seconds for one in others)
    left = [one for one in individuals.values() if one.number not in numbers]
    assert all(one.first_seconds > fastest for one in left)


def test_bound_by_the_ceilings_is_kept_beside_the_samples(finished):
    """Ceilings that were measured on a busy machine may be too low: then no share is told."""
    assert all(one.outcome.bound > 0 for one in finished.individuals)
    assert all(one.share is None or 0 < one.share <= 1 for one in finished.individuals)
    said = str(open_study_view(finished))
    assert ("of what the ceilings allow" in said) == (finished.best.individual.share is not None)
    assert f"race: the fastest {len(finished.races[0].samples)} in turn, 30 measurements each" in said


@pytest.mark.parametrize("form", ["t4", "kernel-tuner", "csv"])
def test_study_is_exported_for_others(finished, tmp_path, form):
    """All samples, those of the race too; what is read again has the same scores."""
    file = finished.export(tmp_path / "results", form)
    again = Study.from_file(file, tmp_path / "again.sqlite", form)
    assert [one.point for one in again.individuals] != []
    for old, new in zip(finished.individuals, again.individuals, strict=True):
        assert new.outcome.samples == pytest.approx((*old.outcome.samples, *old.finals), rel=1e-14)
        assert new.changes.count("=") == 2
    assert [file.name for file in tmp_path.iterdir() if "part" in file.name] == []


def test_space_of_a_study_is_exported(finished, tmp_path):
    problem = read_t1(finished.export(tmp_path / "problem.json", "t1").read_text())
    assert problem.name == "mean"
    assert list(problem.values) == ["threads", "tile"]
    with pytest.raises(TuningError, match="'xml'\nUse one of kernel-tuner, t4, csv, t1"):
        finished.export(tmp_path / "x", "xml")
    assert not (tmp_path / "x").exists()


def test_study_goes_on_where_it_ended(finished, mean):
    """The first six are answered from the file: no process is started for them."""
    study = mean.tune(u=START, budget=1, path=finished.path, backend="openmp", only=["threads", "tile"]).wait(300)
    assert first_told(study.individuals[:6]) == first_told(finished.individuals)
    assert len(study.individuals) == 7
    assert len({one.point for one in study.individuals}) == 7


def test_file_of_another_program_is_refused(finished):
    other = wb.trace(MEAN.replace("0.5", "0.25"), dim=1)
    with pytest.raises(TuningError, match="has other key"):
        other.tune(u=START, budget=1, path=finished.path, backend="openmp", only=["threads", "tile"])
    with pytest.raises(TuningError, match="has other extents"):
        wb.trace(MEAN, dim=1, name="mean").tune(
            u=START[:100], budget=1, path=finished.path, backend="openmp", only=["threads", "tile"]
        )


@pytest.mark.parametrize(
    ("wrong", "cause"),
    [
        ({"budget": 0}, "budget=0 is neither"),
        ({"budget": "ten minutes"}, "is neither a number of evaluations nor a time"),
        ({"strategy": "swep"}, "there is no strategy 'swep'"),
        ({"workers": 0}, "workers=0 is no number of workers"),
        ({"only": ["tiles"]}, "called 'tiles'"),
        ({"tree": "{warp}"}, "'warp' in the tree {warp} is not tuned here"),
        ({"tree": "{cpu}", "strategy": "sweep"}, "strategy='sweep' uses no tree"),
        ({"only": ["tile"], "fixed": ["cpu"]}, "nothing is left to tune"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(mean, tmp_path, wrong, cause):
    with pytest.raises(TuningError) as caught:
        mean.tune(**{"u": START, "budget": 1, "path": tmp_path / "s.sqlite", "backend": "openmp", **wrong})
    assert cause in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_values_are_those_of_simulate(mean, tmp_path):
    with pytest.raises(FieldError, match="u"):
        mean.tune(100, budget=1, path=tmp_path / "s.sqlite")


def test_file_that_is_no_study_is_refused_and_kept(mean, tmp_path):
    path = tmp_path / "notes.sqlite"
    path.write_text("my notes, which are longer than a header of SQLite would be " * 10)
    with pytest.raises(TuningError, match="is no study"):
        mean.tune(u=START, budget=1, path=path)
    with pytest.raises(TuningError, match="is no study"):
        Study.attach(path)
    assert path.read_text().startswith("my notes")
    with pytest.raises(TuningError, match="there is no study"):
        Study.attach(tmp_path / "none")


def test_study_of_a_later_version_is_refused(mean, tmp_path):
    path = tmp_path / "s.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE about (x)")
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(TuningError, match="no study of this version"):
        mean.tune(u=START, budget=1, path=path)


# A compiler that does what it is told, and with some flags something else.
HOSTILE = """#!/bin/sh
extra=
for word in "$@"; do
    case "$word" in
    *.cpp) source=$word ;;
    -O2) [ -n "$HOSTILE" ] && echo "sorry, not with -O2" >&2 && exit 1 ;;
    -funroll-loops) extra="-include $HOSTILE/hang.h" ;;
    -fno-unroll-loops) extra="-include $HOSTILE/allocate.h" ;;
    -fprefetch-loop-arrays) extra="-include $HOSTILE/crash.h" ;;
    -mprefer-vector-width=128) sed -i 's/0\\.5/0.25/' "$source" ;;
    -mprefer-vector-width=256) extra="-include $HOSTILE/leave.h" ;;
    esac
done
case "$*" in *-funroll-loops*-fprefetch-loop-arrays*) extra="-include $HOSTILE/kill.h" ;; esac
exec g++ "$@" $extra
"""
HEADERS = {
    "hang.h": "__attribute__((constructor)) static void hang() { for (volatile int i = 0; ; i = i + 1) {} }",
    "crash.h": """#include <csignal>
    __attribute__((constructor)) static void crash() { std::raise(SIGSEGV); }""",
    "allocate.h": """#include <cstdlib>
    __attribute__((constructor)) static void allocate() { if (!std::malloc(1ull << 45)) std::abort(); }""",
    # A process of its own, which holds a lock for ever.
    "leave.h": """#include <cstdio>
    #include <cstdlib>
    #include <fcntl.h>
    #include <sys/file.h>
    #include <unistd.h>
    __attribute__((constructor)) static void leave() {
        char path[4096];
        std::snprintf(path, sizeof path, "%s/held", std::getenv("HOSTILE"));
        const int file = open(path, O_CREAT | O_RDWR, 0600);
        if (file < 0 || flock(file, LOCK_EX) != 0) std::abort();
        if (fork() == 0) for (;;) pause();
        std::fprintf(stderr, "left one behind");
        std::_Exit(7);
    }""",
    "kill.h": """#include <csignal>
    #include <unistd.h>
    __attribute__((constructor)) static void end() { kill(getppid(), SIGKILL); for (;;) pause(); }""",
}
FAILURES = {  # what a candidate sets, its status and a part of what is told
    ("-O2",): ("compile", "sorry, not with -O2"),
    ("-funroll-loops",): ("timeout", "longer than its limit"),
    ("-fno-unroll-loops",): ("runtime", "SIGABRT"),
    ("-fprefetch-loop-arrays",): ("runtime", "SIGSEGV"),
    128: ("correctness", "u differs from the reference"),
    256: ("runtime", "ended with status 7\nleft one behind"),
    ("-funroll-loops", "-fprefetch-loop-arrays"): ("runtime", "the worker process ended"),
}


def test_hostile_candidates_end_nothing(mean, tmp_path, monkeypatch):
    """A row for each, with its status and the end of its words; nobody is there to help; the good one wins."""
    monkeypatch.setenv("HOSTILE", str(tmp_path))
    compiler = tmp_path / "g++-hostile"
    compiler.write_text(HOSTILE)
    compiler.chmod(0o755)
    for name, text in HEADERS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("WORKBENCH_CXX", str(compiler))
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    make_up_ceilings(tmp_path / "cache")
    monkeypatch.setattr("workbench.tuning.tune.TIMEOUT_FLOOR", 8.0)
    settings = [{"flags": wish} if isinstance(wish, tuple) else {"vector_width": wish} for wish in FAILURES]
    study = mean.tune(
        u=START,
        budget=1 + len(FAILURES),
        strategy="exhaustive",
        path=tmp_path / "s.sqlite",
        backend="openmp",
        start=[mean.with_choices(**setting) for setting in settings],
        only=["flags", "vector_width"],
        workers=2,
    ).wait(300)
    first, *others = sorted(study.individuals, key=lambda one: one.asked)
    assert first.outcome.status == "success"
    assert study.best.individual == first
    found = [(one.outcome.status, one.outcome.tail) for one in others]
    assert [status for status, _ in found] == [status for status, _ in FAILURES.values()]
    assert [words in tail for (_, words), (_, tail) in zip(FAILURES.values(), found, strict=True)] == [True] * 7
    with (tmp_path / "held").open() as left:
        fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)  # whoever held it was ended


SCRIPT = """
import sys
import numpy as np, workbench as wb
from workbench.tuning import experiment, tune
if __name__ == "__main__":
    tune._SAMPLES, experiment.ROUNDS = 2, 5
    machine = wb.trace(sys.argv[1], dim=1, name="mean")
    start = np.sin(np.arange(4096.0))
    path, budget = sys.argv[2], int(sys.argv[3])
    study = machine.tune(u=start, budget=budget, seed=4, path=path, backend="openmp", only=["cpu"], workers=2)
    study.listen(lambda study: print(len(study.individuals), flush=True))
    study.wait()
"""


def run_script(path, budget):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), MEAN, str(path), str(budget)],
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("kills", [1, pytest.param(6, marks=pytest.mark.proof)])
def test_killed_study_loses_nothing_and_doubles_nothing(tmp_path, kills):
    """What a listener has heard of is in the file, and is not measured again; two candidates were under way."""
    path = tmp_path / "killed.sqlite"
    kept = ()
    for kill in range(kills):
        process = run_script(path, 100)
        heard = [process.stdout.readline() for _ in range(1 + (kill + 2) % 3)]
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        before, kept = kept, Study.attach(path).individuals
        assert len(kept) >= int(heard[-1]) > len(before)
        assert kept[: len(before)] == before
    again = run_script(path, 2)
    assert again.wait(300) == 0
    again.stdout.close()
    all_of_them = Study.attach(path).individuals
    assert first_told(all_of_them[: len(kept)]) == first_told(kept)
    assert len({one.point for one in all_of_them}) == len(all_of_them) == len(kept) + 2


def test_second_writer_is_refused_and_a_reader_is_not(mean, tmp_path):
    path = tmp_path / "s.sqlite"
    study = mean.tune(u=START, budget=50, path=path, backend="openmp", only=["cpu"])
    try:
        with pytest.raises(TuningError, match="another study writes"):
            mean.tune(u=START, budget=1, path=path, backend="openmp", only=["cpu"])
        deadline = time.monotonic() + 120
        while not Study.attach(path).individuals and time.monotonic() < deadline:
            time.sleep(0.1)
        assert Study.attach(path).individuals
    finally:
        study.stop().wait(120)
    assert study.state == "stopped"


def test_pause_measures_nothing_and_resume_goes_on(mean, tmp_path):
    study = mean.tune(u=START, budget=4, path=tmp_path / "s.sqlite", backend="openmp", only=["cpu"]).pause()
    time.sleep(0.2)
    assert len(study.individuals) <= 1
    assert study.state == "paused"
    study.resume().wait(300)
    assert len(study.individuals) == 4


def test_two_workers_build_beside_each_other(mean, tmp_path):
    """The second candidate begins before the first one has a score; every row is there once."""
    study = mean.tune(u=START, budget=5, path=tmp_path / "s.sqlite", backend="openmp", only=["cpu"], workers=2).wait(
        300
    )
    assert study.state == "done"
    assert {one.outcome.status for one in study.individuals} == {"success"}
    assert sorted(one.asked for one in study.individuals) == [1, 2, 3, 4, 5]
    assert {one.after for one in study.individuals if one.asked in (1, 2)} == {0}
    assert Study.attach(study.path).individuals == study.individuals


def test_equal_programs_are_measured_once(mean, tmp_path):
    """A barrier after the only loop changes nothing that runs."""
    study = mean.tune(
        u=START,
        budget=3,
        path=tmp_path / "s.sqlite",
        backend="openmp",
        strategy="exhaustive",
        only=[row.name for row in mean.tunables("openmp") if row.name.startswith("barrier after")],
    ).wait(300)
    first, *others = study.individuals
    assert first.same_as == 0
    assert [one.same_as for one in others] == [1, 1]
    assert all(one.outcome.samples == first.outcome.samples for one in others)


def test_least_sample_is_the_score():
    assert Outcome("success", (3.0, 1.0, 2.0)).seconds == 1.0
    assert Outcome("compile").seconds is None


def test_import_of_the_package_loads_no_database():
    code = "import sys, workbench; workbench.trace; assert 'sqlite3' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_workers_are_of_this_workbench_wherever_a_study_begins(mean, tmp_path, monkeypatch):
    """A folder of that name beside the notebook is another program."""
    (tmp_path / "workbench").mkdir()
    (tmp_path / "workbench" / "__init__.py").write_text("raise ImportError('the wrong one')")
    monkeypatch.chdir(tmp_path)
    study = mean.tune(u=START, budget=1, path=tmp_path / "s.sqlite", backend="reference", only=["storage"])
    assert [one.outcome.status for one in study.wait(300).individuals] == ["success"]
