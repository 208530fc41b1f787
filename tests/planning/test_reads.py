"""Reads of a plan hold every offset at which a loop reads, in the smallest box, whatever is stored and rolls."""

from dataclasses import replace

import pytest

from tests.kit.paper_graphs import wave
from tests.planning.changed_plans import with_loop
from tests.planning.random_graphs import random_choices, random_graph
from tests.planning.walk import reads_of
from workbench.planning import plan_graph
from workbench.planning.emission import box_of
from workbench.planning.reads import emission_in
from workbench.planning.verify import find_faults


def test_box_is_the_smallest_that_holds_the_offsets():
    assert box_of([(0, -2), (3, -1), (1, -4)]) == ((0, 3), (-4, -1))


def loops(plan):
    for each in plan.kernels:
        for step in (each.plain, each.observed):
            for loop in step.subkernels:
                yield each, step, loop


@pytest.mark.parametrize("seed", range(30))
def test_boxes_hold_what_a_walk_through_the_formulas_reads(seed):
    graph = random_graph(seed)
    for each, step, loop in loops(plan_graph(graph, random_choices(graph, seed))):
        walked, _ = reads_of(each.kernel, step, loop)
        nodes = sorted({node for node, _ in walked})
        assert [(r.node, r.box) for r in loop.reads] == [(n, box_of(c for m, c in walked if m == n)) for n in nodes]
        assert emission_in(each, step, loop).reads == frozenset(walked)
        homes = {home.node: home.slot for home in step.homes}
        assert all(read.slot == homes[read.node] for read in loop.reads)
        assert [r.is_at_cell for r in loop.reads] == [not any(any(c) for m, c in walked if m == n) for n in nodes]


WAVE = plan_graph(wave())


@pytest.mark.parametrize("change", [(-1, 0), (0, 1), (1, 0), (0, -1)])
def test_a_box_that_is_not_the_smallest_is_found(change):
    number, loop = next((i, s) for i, s in enumerate(WAVE.subkernels) if not all(r.is_at_cell for r in s.reads))
    *others, last = sorted(loop.reads, key=lambda read: not read.is_at_cell)
    ((least, largest),) = last.box
    wrong = replace(last, box=((least + change[0], largest + change[1]),))
    broken = with_loop(WAVE, number, reads=(*others, wrong))
    assert "every read is listed" in {fault.check for fault in find_faults(broken)}
