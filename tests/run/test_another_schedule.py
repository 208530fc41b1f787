"""Another schedule is a value and a row: no other room is edited, and steps have the bits that they have one by one."""

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.kit.random_tileable import HEAT
from workbench.backends import registry
from workbench.errors import PlanError
from workbench.pipeline import plan_for
from workbench.planning import passes
from workbench.planning.schedules import table
from workbench.planning.schedules.diamond_schedule import DIAMOND
from workbench.planning.schedules.tiling import tile
from workbench.run.schedules import sized
from workbench.tuning.tile_space import tile_tunables
from workbench.views.launch.tiles import locality_lines
from workbench.views.tiles.summary import summarise_tiles

NAME = "flat"


def _flat(kernel, dim, choices):
    return tile(kernel.kernel, kernel.plain, dim, NAME)


def _told(choices, extents):
    return choices if choices.depth else replace(choices, depth=4)


def _about(kernel, extents, choices):
    return "no room for flat tiles" if choices is None else f"flat tiles, {choices.depth} steps at most"


@pytest.fixture
def flat(monkeypatch):
    """Tiles of four steps on threads, in the table; its word is not in the type of choices, which check it by hand."""
    value = replace(DIAMOND, name=NAME, block=_flat, told=_told, about=_about, lines=lambda *_: ("flat tiles",))
    rows = (*table.SCHEDULES, value)
    monkeypatch.setitem(table._BY_NAME, NAME, value)
    monkeypatch.setattr(registry, "SCHEDULES", rows)
    monkeypatch.setattr(passes, "check_choices", lambda plan: None)
    return value


def test_all_rooms_take_a_schedule_that_only_the_table_knows(flat):
    machine = wb.trace(HEAT, name="cell", dim=2)
    u = np.random.default_rng(3).random((37, 29))
    choices = replace(machine.choices, plan=machine.choices.plan.changed(schedule=NAME))
    plan = plan_for(machine.graph, choices, "openmp")
    assert plan.schedule == plan.main.blocking.schedule == NAME
    assert f"{NAME}, halo" in str(plan).splitlines()[0]
    assert "  flat tiles" in str(plan).splitlines()
    assert sized(choices, u.shape).plan.tiling.depth == 4
    assert any("tile" in line for line in locality_lines(plan, (512, 512), 2))
    assert summarise_tiles(plan).schedule == NAME
    with pytest.raises(PlanError, match="backend 'cuda-sim' has no schedule 'flat'"):
        plan_for(machine.graph, choices, "cuda-sim")

    schedule, *_ = tile_tunables(machine.graph, machine.choices, "openmp")
    assert schedule.sensible[-1] == NAME
    assert not any(NAME in row.sensible for row in tile_tunables(machine.graph, machine.choices, "cuda-sim"))

    right = machine.simulate(u=u, backend="openmp", threads=1, schedule="stepwise").run(11)
    made = machine.simulate(u=u, backend="openmp", threads=2, choices=choices).run(11)
    assert made.choices.plan.tiling.schedule == NAME
    assert "schedule: flat tiles, 4 steps at most" in str(made)
    assert made.u.tobytes() == right.u.tobytes()


def test_a_word_that_no_row_has_is_refused_by_the_words_that_there_are():
    machine = wb.trace(HEAT, name="cell", dim=2)
    choices = replace(machine.choices, plan=machine.choices.plan.changed(schedule=NAME))
    with pytest.raises(PlanError, match=r"(?s)there is no schedule 'flat'.*auto, stepwise, diamond, diamondtorre"):
        machine.simulate(u=np.ones((4, 4)), backend="openmp", choices=choices)
