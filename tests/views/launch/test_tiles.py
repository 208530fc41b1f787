"""What a launch view says of steps that run in tiles."""

import pytest

from tests.kit.tiled_kernels import FIGURES
from workbench.language import constant
from workbench.machine import trace
from workbench.planning.schedules.least_traffic import least_bytes
from workbench.solvers import wave
from workbench.views.launch.summary import describe_launch, summarise_launch
from workbench.views.launch.tiles import locality_lines

HEAT = 'u = field("u", boundary=constant(0.0))\nu.next = u + 0.1 * laplacian(u, 1.0)\n'


def test_tiles_have_their_locality_table_and_what_is_expected():
    plan = trace(HEAT, 2, name="heat", dtype="f32").with_choices(schedule="diamond").plan()
    lines = locality_lines(plan, (2048, 2048), 2, FIGURES)
    assert [line.split()[0] for line in lines[3:8]] == ["cell", "row", "step", "tile", "band"]
    assert lines[-2].startswith("step: ")
    assert lines[-2].endswith("limit: memory")
    assert lines[-1].startswith("tile: ")
    text = describe_launch(summarise_launch(plan, extents=(2048, 2048), backend="openmp", threads=2))
    assert "updates per value moved" in text


def test_towers_have_their_locality_table_and_the_least_that_is_moved():
    machine = wave.machine(3, order=2, time_order=2, dtype="f32", boundary=constant(0.0))
    plan = machine.with_choices(schedule="diamondtorre", diamond_size=2, depth=8, column_threads=64).plan("cuda")
    extents = (60, 48, 64)
    lines = describe_launch(summarise_launch(plan, extents=extents, backend="cuda")).split("\n")
    names = ("cell", "row", "step", "level", "tower", "stage")
    rows = {words[0]: words[1:] for words in map(str.split, lines) if words and words[0] in names and len(words) == 4}
    assert (*rows,) == names
    n, size = 2, 2  # 8 levels are 2 DTS n
    for shape, most in (("tower", 4), ("stage", 4 - 1 / size)):
        locality = size * n / (n * most + 2 - 2 / size + 1 / size**2)
        assert [float(number) for number in rows[shape][:2]] == pytest.approx([locality, 4 / locality], abs=6e-3)
    least = least_bytes(plan.main, extents, 4 * plan.main.towers.values * 64, (2,))
    (told,) = (line for line in lines if "and do not cut z move at least" in line)
    assert f"move at least {least:.3g} bytes an update" in told
    assert least < float(rows["stage"][1])
    assert "locality at" in str(machine.with_choices(schedule="diamondtorre").plan("cuda"))


def test_other_plans_have_none():
    plan = trace(HEAT, 2, name="heat").with_choices(schedule="stepwise").plan()
    assert locality_lines(plan, (64, 64)) == ()
    assert "locality" not in describe_launch(summarise_launch(plan, extents=(64, 64), backend="openmp"))
