"""Towers of DiamondTorre: which programs have them and why others do not, and that each tower finds what it needs."""

import random
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest

from tests.planning.symbolic_towers import Towers
from workbench.errors import PlanError
from workbench.frontend.cell import trace_cell
from workbench.planning import plan_graph
from workbench.planning.choices import Choices, PlanChoices
from workbench.planning.dependence import dependences_of
from workbench.planning.schedules.diamondtorre import threads_for, torre_of
from workbench.planning.schedules.locality_table import shape_row
from workbench.planning.schedules.shapes import tower
from workbench.planning.schedules.torre import Torre, torre
from workbench.planning.schedules.tower_table import tower_table, values_moved
from workbench.planning.tunables import tunable
from workbench.solvers import heat, hydro, wave

RINGS = [(False, False), (True, False), (False, True), (True, True)]


def planned(graph, **choices):
    plan = PlanChoices().changed(schedule="diamondtorre", **choices)
    return plan_graph(graph, Choices(plan=plan), follows_chains=False)


def cell(text, dim=3):
    return trace_cell(text, name="cell", dim=dim).graph


def star(reach):
    along = [k for k in range(-reach, reach + 1) if k]
    return [(0, 0), *((k, 0) for k in along), *((0, k) for k in along)]


def run(extents, reach, size, depth, rings, older, seed, offsets=None):
    """The towers, None if there is no room; what they do was checked."""
    made = torre(extents, reach, size, depth, rings)
    if made is not None:
        Towers(made, offsets or star(reach), older, seed).run()
    return made


# ---- the order of towers


@pytest.mark.parametrize("rings", RINGS)
@pytest.mark.parametrize("older", [False, True])
def test_each_tower_finds_what_it_needs(rings, older):
    """Three towers along each axis, at least three stages; towers of a stage in random turns."""
    for reach, size, depth in ((1, 1, 6), (1, 2, 4), (2, 1, 4)):
        wide = 2 * reach * size
        made = run((3 * wide + 4 * reach, 3 * wide + 2 * reach), reach, size, depth, rings, older, seed=size)
        stages = list(made.stages())
        assert len(stages) >= 3
        assert max(stage.towers for stage in stages) >= 3


def test_towers_of_any_grid_find_what_they_need():
    ran = sum(_random(seed) for seed in range(16))
    assert ran >= 5


@pytest.mark.proof(seeds=range(100, 20_000), batch=400, sample=100)
def test_towers_of_random_grids_find_what_they_need(proof_seeds):
    ran = sum(_random(seed) for seed in proof_seeds)
    print(f"{ran} grids had room for towers")
    assert ran > len(proof_seeds) // 4


def _random(seed):
    """One grid with random rings, reaches (of stars, and of some cells that need not be one), sizes and depths."""
    rng = random.Random(seed)
    reach, size, depth = rng.choice((1, 1, 2, 3, 4)), rng.choice((1, 2, 3)), rng.choice((2, 3, 4, 6, 8, 12))
    offsets = star(reach)
    if rng.random() < 0.4:
        cells = [(x, y) for x in range(-reach, reach + 1) for y in range(-reach, reach + 1) if abs(x) + abs(y) <= reach]
        offsets = [(0, 0), *(offset for offset in cells if rng.random() < 0.5)]
    most = 3 * 2 * reach * size + 3
    extents = rng.randint(1, most), rng.randint(1, most)
    if extents[0] * extents[1] * depth > 10_000:
        return False
    rings = rng.random() < 0.5, rng.random() < 0.5
    return run(extents, reach, size, depth, rings, rng.random() < 0.6, seed, offsets) is not None


def test_there_is_no_room_in_short_or_odd_rings():
    assert torre((3, 40), 1, 1, 8, (True, False)) is None
    assert torre((40, 9), 1, 1, 8, (False, True)) is None
    assert torre((40, 4), 1, 2, 8, (False, True)) is None
    assert torre((40, 40), 1, 1, 1) is None
    assert torre((20, 40), 2, 1, 64, (True, False)).levels == 4  # of 5 that would fit, whole turns


@pytest.mark.parametrize(("size", "turns"), [(1, 1), (2, 3), (6, 8)])
def test_locality_is_that_of_the_paper(size, turns):
    """Computation 4 (2016) 29, section 5: DTS n / (4 n + 2 - 2 / DTS + 1 / DTS²) with Nt = 2 DTS n."""
    levels = 2 * size * turns
    towers = planned(wave.machine(3, order=4, time_order=2).graph, diamond_size=size).main.towers
    ends = 2 - 2 / size + 1 / size**2
    found = towers.cells * levels / values_moved(towers, levels)
    assert found == pytest.approx(size * turns / (4 * turns + ends), rel=1e-12)
    beside = towers.cells * levels / values_moved(towers, levels, row=True)
    assert beside == pytest.approx(size * turns / (turns * (4 - 1 / size) + ends), rel=1e-12)


TEXTS = {
    "wave": wave.machine(3, order=4, time_order=2, dtype="f32").graph,
    "heat": trace_cell(
        'u = field("u", boundary=constant(0.0))\n'
        "u.next = u + 0.1 * sum(u.at(+1, x) + u.at(-1, x) - 2 * u for x in axes)\n",
        name="heat",
        dim=3,
    ).graph,
}


@pytest.mark.parametrize("name", [*TEXTS])
@pytest.mark.parametrize("size", [1, 2])
def test_the_table_of_towers_is_what_a_count_of_all_values_gives(name, size):
    """Of one level, a tower, a row of towers: values that cross the border and updates at a time, cell by cell."""
    plan = planned(TEXTS[name], diamond_size=size, column_threads=32)
    kernel, towers, extents = plan.main, plan.main.towers, (48, 36, 20)
    made = torre_of(towers, extents, replace(plan.choices.plan.tiling, depth=4 * size))
    itemsize = kernel.kernel.nodes[kernel.plain.subkernels[0].outputs[0].node].value_type.itemsize
    rows = {row.shape: row for row in tower_table(kernel, extents, made)}
    assert [*rows] == ["cell", "row", "step", "level", "tower", "stage"]
    for shape, height, row in (("level", 1, False), ("tower", 4 * size, False), ("stage", 4 * size, True)):
        counted = shape_row(kernel, tower((0, 1), towers.reach, size, height, row=row), extents)
        # Of one level of time alone nobody needs the last value but one; a tower stores it, as both arrays are whole.
        kept = 0 if towers.older or height == 1 else 2 * towers.reach**2 * (size - 1) ** 2 / (towers.cells * height)
        assert 1 / rows[shape].vertices_per_edge == pytest.approx(1 / counted.vertices_per_edge + kept)
        assert rows[shape].bytes_per_update == pytest.approx(counted.bytes_per_update + kept * itemsize)
    assert rows["tower"].asynchrony == rows["level"].asynchrony == counted.asynchrony
    widest = max(
        sum(made.has_cells(stage.sweep, made.tower(stage.number, stage.first + k)) for k in range(stage.towers))
        for stage in made.stages()
    )
    assert rows["stage"].asynchrony == widest * counted.asynchrony


@pytest.mark.parametrize(("reach", "size"), [(1, 1), (1, 2), (2, 1), (2, 3)])
def test_asynchrony_of_a_row_of_towers_is_that_of_the_paper(reach, size):
    """Section 5: a tier of Nz 2 DTS² S² updates, times Ny / (2 DTS S) in a row; a tower more at an end."""
    columns, nz = 2 * reach * size * 30, 20
    kernel = planned(cell(STAR.format(reach=reach)), diamond_size=size).main
    made = torre((200, columns), reach, size, 6)
    rows = {row.shape: row for row in tower_table(kernel, (200, columns, nz), made)}
    assert rows["tower"].asynchrony == nz * 2 * size**2 * reach**2
    ring = replace(made, rings=(False, True))
    assert ring.most_towers == columns / (2 * size * reach)
    assert rows["stage"].asynchrony / rows["tower"].asynchrony - columns // (2 * size * reach) in (0, 1)


STAR = """
u = field("u", boundary=constant(0.0))
u.next = u[+{reach}, 0, 0] + u[-{reach}, 0, 0] + u[0, +{reach}, 0] + u[0, -{reach}, 0]
"""


@pytest.mark.parametrize(("reach", "size", "depth"), [(1, 1, 2), (1, 1, 4), (1, 2, 4), (1, 2, 6), (2, 1, 4)])
def test_stages_of_several_moves_may_run_at_the_same_time(reach, size, depth):
    """Each stage as soon as all have ended whose values it reads: at most as many at a time as the formula says.

    The paper: towers at other places and times make it Nx / (2 Nt S) times as many, about; here they are twice that.
    """
    made = torre((24 * reach, 4 * reach * size), reach, size, depth)
    stages = list(made.stages())
    moves = made.moves_at_once(len(stages)) + 1
    offsets, ended, begun = star(reach), {}, []
    for move in range(moves):
        for stage in stages:
            made_now, needed = [], [0]
            for one in (made.tower(stage.number, stage.first + k) for k in range(stage.towers)):
                for level, a, b in product(range(depth), range(made.width), range(made.width)):
                    if (a + b) % 2 or not made.computes(stage.sweep, one, level, a, b):
                        continue
                    (x, y), step = made.cell(one, level, a, b), move * depth + level
                    made_now.append((x, y, step))
                    reads = [((x + dx, y + dy, step - 1)) for dx, dy in offsets] + [(x, y, step - 2)]
                    needed += [ended.get(read, 0) for read in reads]
            start = max(needed)
            begun.append(start)
            ended |= dict.fromkeys(made_now, start + 1)
    most = max(Counter(begun).values())
    assert most == made.moves_at_once(len(stages)) >= 3
    assert most >= made.rows / (2 * depth * reach)
    assert replace(made, rings=(True, False)).moves_at_once(len(stages)) == 1


# ---- plans


def test_a_wave_of_two_levels_has_towers():
    plan = planned(wave.machine(3, order=4, time_order=2, dtype="f32").graph, diamond_size=2, column_threads=96)
    towers = plan.main.towers
    assert (towers.reach, towers.size, towers.threads, towers.along, towers.older) == (2, 2, 96, 2, True)
    assert towers.rings == (True, True, True)
    assert towers.cells % towers.group == 0
    assert 2 * towers.group * towers.pitch * 4 <= 48 << 10
    text = str(plan)
    assert "several plain steps in towers: x and y in diamonds of 32 cells (reach 2, DTS 2)" in text
    assert plan.main.tiling is None


def test_the_size_of_a_diamond_follows_from_the_registers_of_a_thread():
    sizes = [planned(wave.machine(3, order=n, time_order=2, dtype="f32").graph).main.towers.size for n in (2, 4, 8)]
    assert sizes == [4, 2, 1]
    assert planned(wave.machine(3, order=2, time_order=2).graph).main.towers.size == 3  # f64


HEAT = 'u = field("u", boundary={rule})\nu.next = u + 0.1 * (u[+1, 0, 0] + u[0, -1, 0] + u[0, 0, +1])\n'
OTHER = """
u = field("u", boundary="periodic")
k = field("k", boundary="periodic")
u.next = u[+1, 0, 0] * {k}
"""


@pytest.mark.parametrize(
    ("text", "dim", "why"),
    [
        ('u = field("u", boundary="periodic")\nu.next = u[+1, 0]\n', 2, "the grid has 2 axes, towers need three"),
        (HEAT.format(rule='"outflow"'), 3, "u has sides that are neither constant nor periodic"),
        (HEAT.format(rule="periodic(sign=-1)"), 3, "u has sides that are neither constant nor periodic"),
        (
            't = scalar("t")\nt.next = t + 1\n' + HEAT.format(rule="constant(t)"),
            3,
            "u has values outside that change in time",
        ),
        (OTHER.format(k="k[0, -1, 0]"), 3, "2 arrays with ghost cells, towers have one"),
        (
            'u = field("u", boundary="periodic")\nu.next = u[+1, 0, +1]\n',
            3,
            "u is read at (1, 0, 1), along the last axis and another one",
        ),
        (
            'u, w, s = fields("u w s", boundary="periodic")\nu.next, w.next, s.next = s, u, w[+1, 0, 0]\n',
            3,
            "a step does not exchange two arrays and leave the others",
        ),
        (
            'u, w = fields("u w", boundary="periodic")\nu.next, w.next = u[+1, 0, 0], u[-1, 0, 0]\n',
            3,
            "towers make one array a step",
        ),
    ],
)
def test_what_towers_cannot_do_is_refused(text, dim, why):
    with pytest.raises(PlanError, match="schedule 'diamondtorre' cannot run several steps together") as refused:
        planned(cell(text, dim))
    assert why in refused.value.what
    assert "stepwise" in refused.value.advice


def test_a_refusal_names_the_line_of_the_cell():
    with pytest.raises(PlanError, match="line") as refused:
        planned(hydro.machine(3).graph)
    assert "needs the maximum of" in refused.value.what
    with pytest.raises(PlanError, match="a step has 2 loops, towers have one"):
        planned(heat.machine(3).graph)


def test_reads_along_both_axes_reach_further():
    plan = planned(cell('u = field("u", boundary="periodic")\nu.next = u[+1, -2, 0] + u[0, 0, +3]\n'))
    assert (plan.main.towers.reach, plan.main.towers.along) == (3, 3)
    assert plan.main.towers.around == ((0, 1), (2, 0), (0, 3))


@pytest.mark.parametrize(
    "text",
    [
        'u = field("u", boundary="periodic")\nu.next = u[+1, -2, 0] + u[0, 0, +3]\n',
        'u, w = fields("u w", boundary="periodic")\nu.next, w.next = w + u[-2, 0, 0] - u[0, +1, -1 + 1], u\n',
        OTHER.format(k="k"),
        STAR.format(reach=4),
    ],
)
def test_towers_keep_every_dependence_of_their_step(text):
    """One analysis finds them: to the step before with the reach of towers, to the one before that at the same cell.

    It knows boxes of cells, which for a star have corners twice as far away as anything is read.
    """
    kernel = planned(cell(text)).main
    towers, found = kernel.towers, dependences_of(kernel.plain, 3)
    assert all(
        slope <= reach for slope, reach in zip(found.slopes(3), (towers.reach,) * 2 + (towers.along,), strict=True)
    )
    inner = [each for each in found.found if each.box is not None and each.source.kind == each.sink.kind == "loop"]
    changing = [each for each in inner if each.slot in (towers.even, towers.odd)]
    assert {(each.kind, each.gap) for each in changing} >= {("flow", 1), ("output", 2)}
    for each in changing:
        low, high = zip(*each.box, strict=True)
        if each.gap == 1 and each.kind == "flow":
            assert towers.around == tuple((-least, most) for least, most in each.box)
            assert max(map(abs, (*low[:2], *high[:2]))) <= towers.reach
        elif each.gap == 1:
            assert each.kind == "anti"
        else:
            assert (each.gap, set(low), set(high)) == (2, {0}, {0})


def test_a_coefficient_of_each_cell_is_read_beside_towers():
    assert planned(cell(OTHER.format(k="k"))).main.towers.reach == 1


def test_a_last_axis_needs_as_many_threads():
    plan = planned(wave.machine(3, time_order=2).graph, column_threads=64)
    with pytest.raises(PlanError, match="the last axis has 70 cells, more than the 64 threads of a tower") as error:
        torre_of(plan.main.towers, (30, 30, 70), plan.choices.plan.tiling)
    assert error.value.advice == "Choose column_threads=96."
    assert [threads_for(n) for n in (1, 32, 33, 1000, 5000)] == [32, 32, 64, 1024, 1024]


def test_columns_that_do_not_fit_into_shared_memory_are_refused():
    graph = wave.machine(3, order=8, time_order=2).graph
    assert planned(graph, column_threads=1024).main.towers.group == 2
    wide = cell('u = field("u", boundary="periodic")\nu.next = u[+1, 0, 0] + u[0, 0, +1100]\n')
    with pytest.raises(PlanError, match="a column of 1024 threads does not fit into the shared memory of a block"):
        planned(wide, column_threads=1024)


@pytest.mark.parametrize(("name", "value"), [("diamond_size", 9), ("column_threads", 1025), ("diamond_size", -1)])
def test_sizes_of_towers_are_checked(name, value):
    with pytest.raises(PlanError, match=name):
        tunable(name).check(value)


def test_cuts_of_a_ring_repeat_with_its_cells():
    made = Torre(30, 14, 1, 2, 6, (False, True))
    assert [made.cut(k) for k in range(-4, 6)] == [-14, -10, -6, -2, 0, 4, 8, 12, 14, 18]
    assert replace(made, rings=(False, False)).cut(-3) == -12
