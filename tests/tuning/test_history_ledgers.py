"""Every table of a history from the ledger that `record_history` made, and from fresh runs of few individuals."""

import lzma
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.tuning import record_history
from tests.tuning.conftest import quicken
from workbench.tuning import history_tables as tables
from workbench.tuning.history import BIRTHS
from workbench.tuning.history_births import MIXES, SEEDS, compare_mixes, mix_table
from workbench.tuning.history_components import component_table, hybrids, log_shares, swapped
from workbench.tuning.history_tests import correlations, family_lines
from workbench.tuning.replay import read_landscape
from workbench.tuning.study import Study

DATA = Path(__file__).resolve().parents[2] / "notebooks" / "data"
LANDSCAPES = Path(__file__).resolve().parent / "landscapes"
LARGEST = 2_000_000  # bytes
SMALL = """\
u = field("u", boundary="periodic")
a = u[+1] - u[-1]
b = a * a + u
c = b[+1] + b[-1]
u.next = 0.5 * u + 0.01 * sqrt(c * c + 1)
"""
OPTIONS = {"u": np.sin(np.arange(4096.0)), "backend": "openmp", "threads": 1, "fixed": ["threads"], "seed": 1}


def unpacked(name, folder):
    path = folder / name
    path.write_bytes(lzma.decompress((DATA / f"{name}.xz").read_bytes()))
    return Study.attach(path)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The study of a solver and the component swap of its champion, with what may be chosen."""
    folder = tmp_path_factory.mktemp("recorded")
    studies = unpacked("advection.sqlite", folder), unpacked("advection-swap.sqlite", folder)
    return *studies, record_history.solver().tunables("openmp")


def made_now(folder, budget):
    """The same of so many individuals of a small program, which begins with everything stored."""
    small = wb.trace(SMALL, dim=1, name="small").with_choices(preset="as_manifest", hints=False)
    with pytest.MonkeyPatch.context() as patch:  # tables count who was measured, not how often
        quicken(patch)
        study = small.tune(**OPTIONS, strategy="paraiso", budget=budget, path=folder / "small.sqlite").wait(600)
        mixed = hybrids(small.tunables("openmp"), study.individuals[0], study.best.individual)
        options = {**OPTIONS, "strategy": "paraiso", "budget": len(set(mixed)), "start": mixed}
        swap = small.tune(**options, path=folder / "swap.sqlite").wait(600)
    return study, swap, small.tunables("openmp")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    return made_now(tmp_path_factory.mktemp("fresh"), 15)


@pytest.fixture(scope="module")
def longer(tmp_path_factory):
    return made_now(tmp_path_factory.mktemp("longer"), 30)


@pytest.fixture(params=["recorded", "fresh", pytest.param("longer", marks=pytest.mark.proof)])
def both(request):
    return request.getfixturevalue(request.param)


def number(text):
    return int(text.partition(" ")[0])


def test_distances_count_everybody_once(both):
    history = both[0].history()
    table = tables.distance_table(history)
    counts = [[number(text) for text in row[1:]] for row in table.rows]
    assert [sum(column) for column in zip(*counts[:-1], strict=True)] == counts[-1]
    assert all(sum(row[:-1]) == row[-1] for row in counts)
    assert counts[-1][-1] == len(both[0].individuals) == len(history.members)
    assert history.top.distance == 0
    assert {one.number for one in history.family} <= {one.number for one in history.members if one.distance == 0}
    print(table)


def test_ranks_count_all_that_were_bred(both):
    history = both[0].history()
    table = tables.rank_table(history)
    for birth in BIRTHS:
        born = [one for one in history.members if len(one.parents) == BIRTHS.index(birth) + 1]
        rows = [row for row in table.rows if row[0] == birth]
        assert sum(number(row[2]) for row in rows) == len(born)
        assert {one.birth for one in born} <= {birth, "rule"}  # a mutation by a rule has one parent, too
        assert sum(number(row[3]) for row in rows) == sum(one.distance == 0 for one in born)
    assert not [row for row in table.rows if row[:2] == ("mutation", "≤")]  # one parent: not both best and slowest
    print(table)


def test_correlations_have_all_rows_and_the_controls_none(both):
    found = correlations(both[0].history())
    assert [one.row for one in found] == list(range(1, 18))
    assert not any(one.test.significant for one in found[-2:])
    print(tables.correlation_table(both[0].history()))


def test_family_lines_are_tested_with_computed_critical_values(both):
    history = both[0].history()
    found = family_lines(history)
    bred = {one.number for one in history.members if one.kind in BIRTHS}
    ends = [one for one in history.members if one.distance == 0 and one.number in bred]
    assert found.pairs == sum(parent in bred for one in ends for parent in one.parents)
    assert found.zeroth.degrees <= 4
    assert found.first.degrees <= 12
    print(tables.family_line_table(history))


def test_components_of_the_champion(both):
    study, swap, rows = both
    mixed = hybrids(rows, study.individuals[0], study.best.individual)
    found = swapped(rows, mixed, swap.individuals)
    assert (found[0].linear, found[-1].linear) == (0.0, 1.0)
    assert {one.outcome.status for one in swap.individuals} == {"success"}
    print(component_table(found))


def test_mixes_of_births_on_a_landscape():
    """Three mixes, three seeds each, on the recorded landscape of a Jacobi loop."""
    landscape = read_landscape(LANDSCAPES / "jac3d.npz")
    found = compare_mixes(landscape.space, lambda point: landscape.costs[point] / landscape.best, 120)
    assert [one.name for one in found] == list(MIXES)
    assert {len(one.runs) for one in found} == {len(SEEDS)} == {3}
    for run in (run for one in found for run in one.runs):
        assert len(run) == 120
        assert list(run) == sorted(run)
        assert run[-1] > 0.95
    assert len({one.runs for one in found}) == len(found)  # the mix is obeyed
    print(mix_table(found, (20, 60, 120)))


def test_champion_of_the_recorded_study(recorded):
    """What the ledger was recorded for: many individuals, all births, and a gain that storing values brings."""
    study, swap, rows = recorded
    history = study.history()
    assert len(history.members) >= 300
    assert {one.kind for one in history.members} >= set(BIRTHS)
    assert family_lines(history).pairs > 0
    assert study.best.gain > 10
    mixed = hybrids(rows, study.individuals[0], study.best.individual)
    shares = log_shares(swapped(rows, mixed, swap.individuals))
    assert max(shares, key=shares.get) == "M"
    assert shares["M"] > 0.8


def test_recorded_ledgers_are_small():
    assert sum(file.stat().st_size for file in DATA.iterdir()) < LARGEST
