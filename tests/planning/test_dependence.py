"""Dependences between the phases of a step and of the next ones, beside those found cell by cell."""

from collections import defaultdict
from dataclasses import replace

import pytest

from tests.planning.dependences_by_brute_force import walk_cells
from tests.planning.random_graphs import random_choices, random_graph
from workbench.frontend.cell import trace_cell
from workbench.planning import plan_graph
from workbench.planning.dependence import dependences_of, orbit
from workbench.planning.emission import box_of

WAVE = """
u, w = fields("u w", boundary=constant(0.0))
u.next = 2 * u - w + 0.1 * (u[+1, 0] + u[-1, 0] + u[0, +2] + u[0, -2] - 4 * u)
w.next = u
"""
HEAT = """
u = field("u", boundary=constant(0.0))
u.next = u + 0.1 * (u[+3] - 3 * u + u[-1])
"""
STAGES = """
u = field("u", boundary=constant(0.0))
half = extend(u + 0.05 * (u[+1] - 2 * u + u[-1]), constant(0.0))
u.next = u + 0.1 * (half[+1] - 2 * half + half[-1])
"""


def planned(text, dim):
    return plan_graph(trace_cell(text, name="cell", dim=dim).graph)


def listed(text, dim):
    step = planned(text, dim).main.plain
    return {
        (d.kind, f"{d.source.kind} {d.source.member}", f"{d.sink.kind} {d.sink.member}", d.gap, d.box)
        for d in dependences_of(step, dim).found
        if d.box is not None
    }


def test_wave_writes_in_place_and_reads_the_step_before():
    star, cell = ((-1, 1), (-2, 2)), ((0, 0), (0, 0))
    assert listed(WAVE, 2) == {
        ("flow", "loop 0", "loop 0", 1, star),
        ("anti", "loop 0", "loop 0", 1, star),
        ("flow", "loop 0", "loop 0", 2, cell),
        ("output", "loop 0", "loop 0", 2, cell),
    }
    assert dependences_of(planned(WAVE, 2).main.plain, 2).slopes(2) == (1, 2)


def test_an_anti_dependence_looks_the_other_way():
    reads, overwrites = ((-1, 3),), ((-3, 1),)
    assert {(kind, gap, box) for kind, _, _, gap, box in listed(HEAT, 1)} == {
        ("flow", 1, reads),
        ("anti", 1, overwrites),
        ("output", 2, ((0, 0),)),
    }
    assert dependences_of(planned(HEAT, 1).main.plain, 1).slopes(1) == (3,)


def test_stages_are_levels_of_a_step():
    step = planned(STAGES, 1).main.plain
    found = dependences_of(step, 1)
    assert found.levels == 2
    assert found.slopes(1) == (1,)
    gaps = {(d.kind, d.source.member, d.sink.member, d.steps, d.gap) for d in found.found if d.box is not None}
    assert {("flow", 0, 1, 0, 1), ("flow", 1, 0, 1, 1)} <= gaps
    # u is written in place: the second stage of a step may not overwrite what the first one still reads.
    assert any(d.kind == "anti" and d.source.member == 0 and d.sink.member == 1 for d in found.found)


def test_fills_belong_to_the_level_that_they_prepare():
    found = dependences_of(planned(STAGES, 1).main.plain, 1)
    assert [(p.kind, p.level) for p in found.phases] == [("fill", 0), ("loop", 0), ("fill", 1), ("loop", 1)]
    assert any(d.source.kind == "fill" and d.sink.kind == "loop" and d.gap == 0 for d in found.found)


def test_fills_may_have_a_level_of_their_own():
    """One before the loops that follow them; what their values come from is no further away than they reach."""
    step = planned(STAGES, 1).main.plain
    found = dependences_of(step, 1, apart=(1,))
    assert [(p.kind, p.level) for p in found.phases] == [("fill", 0), ("loop", 0), ("fill", 1), ("loop", 2)]
    assert (found.levels, found.slopes(1)) == (3, (1,))
    assert dependences_of(step, 1, apart=(0, 1)).levels == 4


def test_an_array_comes_back_to_its_slot():
    assert orbit((1, 2, 0, 3), 0) == (0, 2, 1)
    assert orbit((1, 2, 0, 3), 3) == (3,)


def boxes(step, dim):
    found = defaultdict(list)
    for d in dependences_of(step, dim).found:
        if d.box is not None:
            ends = (d.source.kind, d.source.member), (d.sink.kind, d.sink.member)
            found[d.kind, *ends, d.steps].append(d.box)
    return {key: box_of([corner for box in some for corner in zip(*box, strict=True)]) for key, some in found.items()}


def walked(kernel, step, dim):
    far = max((max(-low, high) for s in step.subkernels for r in s.reads for low, high in r.box), default=0)
    found = walk_cells(kernel, step, (2 * far + 2,) * dim, len(step.rotation) + 2)
    return {key: box_of(offsets) for key, offsets in found.items()}


@pytest.mark.parametrize("batch", range(4))
def test_random_programs_have_the_dependences_of_their_cells(batch):
    kinds = set()
    for seed in range(batch * 15, (batch + 1) * 15):
        graph = random_graph(seed)
        for kernel in plan_graph(graph, random_choices(graph, seed)).kernels:
            for step in {id(s): s for s in (kernel.plain, kernel.observed)}.values():
                analysed = boxes(step, graph.dim)
                assert analysed == walked(kernel, step, graph.dim), f"seed {seed}"
                kinds |= {key[0] for key in analysed}
    assert kinds == {"flow", "anti", "output"}


def test_another_rotation_or_reach_is_another_dependence():
    step = planned(WAVE, 2).main.plain
    kernel = planned(WAVE, 2).main
    (loop,) = step.subkernels
    wider = replace(loop.reads[0], box=((-2, 1), (-2, 2)))
    for wrong in (
        replace(step, rotation=(0, 1)),
        replace(step, subkernels=(replace(loop, reads=(wider, *loop.reads[1:])),)),
    ):
        assert boxes(wrong, 2) != walked(kernel, step, 2)
