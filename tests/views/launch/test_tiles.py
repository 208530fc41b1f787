"""What a launch view says of steps that run in tiles."""

from tests.kit.tiled_kernels import FIGURES
from workbench.machine import trace
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


def test_other_plans_have_none():
    plan = trace(HEAT, 2, name="heat").with_choices(schedule="stepwise").plan()
    assert locality_lines(plan, (64, 64)) == ()
    assert "locality" not in describe_launch(summarise_launch(plan, extents=(64, 64), backend="openmp"))
