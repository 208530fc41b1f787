"""Windows: their sizes follow from the planes that memory has room for, and never take more."""

from dataclasses import replace

import pytest

from tests.kit.random_tileable import HEAT, RINGED, STAGED, WAVE
from workbench.frontend.cell import trace_cell
from workbench.planning import plan_graph
from workbench.planning.choices import Choices, TilingChoices
from workbench.planning.schedules.locality import tile_sizes
from workbench.planning.schedules.windows import Streaming, planes_in_use, streams, with_windows

CASES = [(HEAT, 3, (900, 300, 300)), (WAVE, 3, (900, 300, 300)), (RINGED, 3, (900, 300, 300))]
CASES += [(HEAT, 2, (9000, 3000)), (RINGED, 2, (9000, 3000)), (STAGED, 2, (9000, 3000)), (HEAT, 1, (9_000_000,))]


def planned(text, dim, schedule="diamond"):
    plan = Choices().plan.changed(schedule=schedule)
    return plan_graph(trace_cell(text, name="cell", dim=dim).graph, replace(Choices(), plan=plan))


def sized(text, dim, extents, planes, depth=0):
    kernel, tiling = planned(text, dim).main, TilingChoices("diamond", depth)
    return kernel, with_windows(
        kernel, extents, tiling, Streaming(planes, 1), lambda tried: tile_sizes(kernel, extents, tried)
    )


@pytest.mark.parametrize(("text", "dim", "extents"), CASES)
def test_windows_take_the_planes_that_there_are_and_no_more(text, dim, extents):
    for planes in (extents[0] // 30, extents[0] // 10, extents[0] // 4):
        kernel, sizes = sized(text, dim, extents, planes)
        assert sizes.window >= 1
        assert sizes.depth >= 2
        assert planes_in_use(kernel.tiling, extents, sizes) <= planes
        larger = replace(sizes, window=sizes.window + max(sizes.chunk if dim == 3 else 1, 1))
        assert planes_in_use(kernel.tiling, extents, larger) > planes


@pytest.mark.parametrize(("text", "dim", "extents"), CASES)
def test_more_memory_makes_no_march_shorter(text, dim, extents):
    depths = [sized(text, dim, extents, extents[0] // part)[1].depth for part in (30, 10, 4)]
    assert depths == sorted(depths)


def test_a_march_is_as_deep_as_choices_say_at_most():
    assert sized(HEAT, 3, (900, 300, 300), 400)[1].depth == 64
    assert sized(HEAT, 3, (900, 300, 300), 400, 10)[1].depth == 10


@pytest.mark.parametrize(("text", "dim", "extents"), CASES)
def test_too_little_memory_has_no_windows(text, dim, extents):
    assert sized(text, dim, extents, 3)[1] is None


def test_lower_tiles_are_taken_where_those_for_the_cache_leave_no_room():
    kernel, sizes = sized(HEAT, 2, (9000, 3000), 60)
    assert sizes.height < tile_sizes(kernel, (9000, 3000), TilingChoices("diamond")).height


def test_loops_that_go_through_arrays_in_their_order_stream():
    assert streams(planned(HEAT, 3)) is None
    gathered = "u = field('u')\n\nu.next = gather(u, (7 * index(0)) % size(0))\n"
    found = streams(planned(gathered, 1, "stepwise"))
    assert (found.why, found.line) == ("u is read at computed places", 3)
    scanned = "u = field('u')\nups = scan(add, u)\nu.next = 0.5 * ups\n"
    assert (
        streams(planned(scanned, 1, "stepwise")).why
        == "ups needs a loop of its own, such as a scan or a fold along an axis"
    )
