"""Tiles of several steps: which machines have them and why others do not, and that tiles give what steps give."""

import random
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

import workbench
from tests.kit.random_steps import random_steps
from tests.kit.random_tileable import BENT, HEAT, LATE, LEAPING, RINGED, TURNING, UNLIKE, WAVE, random_cell
from tests.kit.symbolic_tiles import TiledMachine
from tests.kit.tiled_kernels import TILED_SOLVERS
from workbench import solvers
from workbench.errors import PlanError
from workbench.frontend.cell import trace_cell
from workbench.planning import plan_graph
from workbench.planning.schedules.diamond import lattice, wave, windows_of_planes
from workbench.planning.schedules.tiling import refusal, roles_of, tile

ROOT = Path(workbench.__file__).parents[1]
BATCHES, BATCH = 4, 30


def planned(text, dim):
    return plan_graph(trace_cell(text, name="cell", dim=dim).graph)


def refused(text, dim=1):
    plan = planned(text, dim)
    return refusal(plan.main.kernel, plan.main.plain, dim)


def tiling_of(plan):
    return tile(plan.main.kernel, plan.main.plain, plan.graph.dim, "diamond")


# ---- refusals


REFUSED = {
    "burgers": (
        "dt needs the maximum of ((absolute(u) * (1 / dx0)) + (absolute(u) * (1 / dx1))) over all",
        "courant_step(",
    ),
    "hydro": ("dt needs the maximum of rate over all cells", "max("),
    "shallow_water": ("dt needs the maximum of ((absolute(", "courant_step("),
}


def solver(name):
    return import_module(f"workbench.solvers.{name}").machine().graph


def test_every_solver_is_listed():
    listed = {n for n in solvers.NAMES if hasattr(import_module(f"workbench.solvers.{n}"), "machine")}
    assert {*REFUSED, *TILED_SOLVERS} == listed


@pytest.mark.parametrize("name", REFUSED)
def test_solvers_are_refused_with_the_value_and_its_line(name):
    graph = solver(name)
    main = plan_graph(graph).main
    found, (why, told) = refusal(main.kernel, main.plain, graph.dim), REFUSED[name]
    assert found.by_meaning
    assert found.why.startswith(why)
    with pytest.raises(PlanError, match=r'Choose schedule="stepwise"\.') as caught:
        tile(main.kernel, main.plain, graph.dim, "diamond")
    line = caught.value.line
    assert line == found.line
    assert told in (ROOT / graph.origin).read_text(encoding="utf-8").split("\n")[line - 1]


@pytest.mark.parametrize("name", TILED_SOLVERS)
def test_solvers_are_tiled(name):
    """All have a scalar time, the axes are rings, and most take several loops a step."""
    graph = solver(name)
    plan = plan_graph(graph)
    assert refusal(plan.main.kernel, plan.main.plain, graph.dim) is None
    assert run_tiles(plan, 3, (9, 5)) > 0


def test_a_refusal_names_the_line_of_the_cell():
    text = 'u = field("u", boundary=constant(0.0))\nv = u[+1] - u\ntop = reduce_max(v)\nu.next = u + 0.1 * top * v\n'
    assert str(refused(text)) == "top needs the maximum of v over all cells, line 3"


def test_a_diagnostic_scalar_is_no_obstacle():
    text = 'u = field("u", boundary=constant(0.0))\ns = scalar("s")\nu.next = u[+1]\ns.next = reduce_max(u)\n'
    assert refused(text) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            'u = field("u", boundary="outflow")\nw = extend(u, reflect())\nu.next = u[+1] + w[-1]\n',
            "u is extended in two ways",
        ),
        ('u, w = fields("u w", boundary=constant(0.0))\nu.next = w\nw.next = u\n', "a step has no loop"),
    ],
)
def test_what_is_not_built_is_refused(text, why):
    assert refused(text).why == f"{why}, for which tiles of several steps are not built yet"


CIRCLE = [f"a{number}" for number in range(65)]
NOT_BUILT = {
    "fold": ('u = field("u")\nsums = reduce_sum(u, axis=1)\nu.next = u - 0.1 * sums\n', 2, "sums is a fold over y", 2),
    "scan": ('u = field("u")\n\nups = scan(add, u)\nu.next = 0.5 * ups\n', 1, "ups has a loop of its own", 3),
    "particles": (
        'u = field("u", boundary="periodic")\np, = particles("p")\nu.next = 0.5 * u[+1]\np.next = 0.5 * p\n',
        1,
        "p has the axes particles alone",
        2,
    ),
    "circle": (
        f'{", ".join(CIRCLE)} = fields("{" ".join(CIRCLE)}", boundary="periodic")\na64.next = 0.5 * a0[+1]\n'
        + "".join(f"{one}.next = {other}\n" for one, other in pairwise(CIRCLE)),
        1,
        "a0 comes back to its array after 66 steps, more than 64",
        2,
    ),
}


@pytest.mark.parametrize(("text", "dim", "why", "line"), NOT_BUILT.values(), ids=NOT_BUILT)
def test_what_is_not_built_is_refused_with_its_line(text, dim, why, line):
    machine = workbench.trace(text, dim, name="cell").with_choices(schedule="diamond")
    with pytest.raises(PlanError, match="schedule 'diamond' cannot run several steps together") as caught:
        machine.plan()
    assert f"together: {why}, for which tiles of several steps are not built yet" in caught.value.what
    assert caught.value.line == line


def test_rules_that_take_cells_from_the_other_side_are_refused(monkeypatch):
    """As a rule to come may do; of such rules tiles know periodic sides only."""
    text = 'u = field("u", boundary="outflow")\nu.next = (u[-1] + u[+1]) / 2'
    assert refused(text) is None
    monkeypatch.setattr("workbench.planning.schedules.tiling.maps_nearby", lambda rule: False)
    assert "u takes ghost cells from the other side by outflow" in str(refused(text))
    assert refused(text.replace("outflow", "periodic")) is None


def test_a_machine_without_steps_is_refused():
    called = workbench.trace('A = array("A", "rows")\noutput("twice", 2 * A)', name="twice")
    with pytest.raises(PlanError, match=r"twice has no steps: it runs once\nChoose schedule=\"stepwise\"\."):
        called.with_choices(schedule="diamond")(A=[1.0, 2.0])


@pytest.mark.parametrize("text", [UNLIKE, LATE])
def test_ghost_cells_that_change_while_their_array_stays_have_a_level_of_their_own(text):
    plan = planned(text, 1)
    assert tiling_of(plan).loops == (-1, 0)
    assert sum(run_tiles(plan, seed) for seed in range(8)) > 0
    assert tiling_of(planned(text.replace("1.0", "0.5").replace("k[-1]", "k"), 1)).loops == (0,)


# ---- the lattice


@pytest.mark.parametrize("seed", range(20))
def test_each_row_of_each_level_belongs_to_one_tile(seed):
    rng = random.Random(seed)
    rows, slope, width, depth = rng.randint(2, 60), rng.randint(1, 4), rng.randint(1, 40), rng.randint(1, 25)
    tiles = lattice(rows, slope, width, depth, seed % 2 == 1)
    assert (tiles is None) == (rows < 2 * slope)
    if tiles is None:
        return
    for level in range(depth):
        owner = {}
        for band in tiles.bands():
            first, last = tiles.levels(band)
            for number in range(tiles.tiles(band)) if first <= level < last else ():
                for row in (row for part in tiles.parts_of(band, number, level) for row in range(*part)):
                    assert owner.setdefault(row, (band, number)) == (band, number)
        assert sorted(owner) == list(range(rows))
        assert len({owner[row] for row in range(slope)}) == len({owner[rows - 1 - row] for row in range(slope)}) == 1


def test_widths_are_those_asked_for_where_there_is_room():
    assert lattice(384, 1, 32, 20).height == 16
    assert lattice(384, 1, 32, 20).spaces == 12
    assert lattice(5, 2, 32, 20).height == 1


def test_chunks_of_a_wave_lag_by_the_skew():
    assert list(wave(5, 1, 2, (3, 5))) == [
        (3, (0, 2)), (4, (0, 1)),
        (3, (2, 4)), (4, (1, 3)),
        (3, (4, 5)), (4, (3, 5)),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_a_wave_does_each_plane_of_each_level_once(seed):
    rng = random.Random(seed)
    planes, skew, chunk, ring = rng.randint(1, 30), rng.randint(0, 3), rng.randint(1, 8), seed % 2 == 1
    done = [(level, p) for level, part in wave(planes, skew, chunk, (2, 7), ring) for p in range(*part)]
    assert sorted(done) == [(level, p) for level in range(2, 7) for p in range(planes)]


def test_a_wave_cuts_a_ring():
    assert list(wave(6, 1, 3, (0, 3), ring=True)) == [
        (0, (0, 3)), (1, (1, 2)),
        (0, (3, 6)), (1, (2, 5)), (2, (2, 4)),
        (1, (5, 6)), (1, (0, 1)), (2, (4, 6)), (2, (0, 2)),
    ]  # fmt: skip
    assert list(wave(3, 1, 1, (0, 3), ring=True)) == [(0, (0, 3)), (1, (0, 3)), (2, (0, 3))]  # no room for a wedge
    assert list(wave(6, 1, 6, (0, 2), ring=True)) == [(0, (0, 6)), (1, (0, 6))]  # no reason to cut


@pytest.mark.parametrize("seed", range(40))
def test_windows_do_each_plane_of_each_level_once(seed):
    rng = random.Random(seed)
    planes, skew, size, ring = rng.randint(1, 30), rng.randint(0, 3), rng.randint(1, 9), seed % 2 == 1
    bands = [(0, 3), (1, 6), (4, 9)]  # levels of bands overlap; here each is done where it is the first one's
    done = [
        (level, plane)
        for window in windows_of_planes(planes, skew, 9, size, ring)
        for first, levels in zip((0, 3, 6), bands, strict=True)
        for level, part in wave(planes, skew, rng.randint(1, 8), levels, ring, window)
        for plane in (range(*part) if first <= level < first + 3 else ())
    ]
    assert sorted(done) == [(level, plane) for level in range(9) for plane in range(planes)]


@pytest.mark.parametrize("seed", range(40))
def test_windows_do_each_tile_once_after_those_below_it(seed):
    rng = random.Random(seed)
    tiles = lattice(rng.randint(8, 90), 1, rng.randint(2, 16), rng.randint(1, 40), seed % 2 == 1)
    done = []
    for window in tiles.windows(rng.randint(1, 6)):
        for band in tiles.bands():
            for each in tiles.tiles_in(band, window):
                below = (each, each + 1) if band % 2 else (each - 1, each)
                count = tiles.tiles(band - 1)
                for lower in below if band >= 0 else ():
                    there = lower % count if tiles.ring else lower
                    assert not 0 <= there < count or (band - 1, there) in done
                done.append((band, each))
    assert sorted(done) == [(band, each) for band in tiles.bands() for each in range(tiles.tiles(band))]


def test_roles():
    assert roles_of(1) == ("diamond",)
    assert roles_of(2) == ("diamond", "wave")
    assert roles_of(3) == ("wave", "diamond", "whole")


# ---- the proof


def run_tiles(plan, seed, extents=()):
    """Several tiles of random depth and widths after another; how many there were."""
    rng = random.Random(seed)
    largest = {1: 14, 2: 9, 3: 6}[plan.graph.dim]
    drawn = tuple(rng.randint(1, largest) for _ in range(plan.graph.dim))
    machine = TiledMachine(plan, extents or drawn, rng)
    tiling, count = tiling_of(plan), 0
    for _ in range(2):
        depth, width, chunk = rng.randint(1, 6), rng.randint(1, 9), rng.randint(1, 4)
        window = rng.choice((0, 1, 2, 3))
        count += machine.run_tiles(plan.main.kernel.name, tiling, depth, width, chunk, window)
        machine.step(plan.main.kernel.name, rng.random() < 0.5)
    return count


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("text", [WAVE, HEAT, TURNING, BENT], ids=["wave", "heat", "turning", "bent"])
def test_tiles_give_what_steps_give(text, dim):
    assert sum(run_tiles(planned(text, dim), seed) for seed in range(8 if dim < 3 else 4)) > 0


@pytest.mark.parametrize(
    "text", [WAVE, HEAT, TURNING, RINGED, LEAPING], ids=["wave", "heat", "turning", "ring", "leap"]
)
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_windows_give_what_steps_give(text, dim):
    """Many along axis 0, of few planes or tiles, and marches of several bands."""
    plan, met = planned(text, dim), 0
    for seed in range(4):
        rng = random.Random(seed)
        machine = TiledMachine(plan, (rng.randint(12, 24), 5, 3)[:dim], rng)
        for size in (1, 2):
            depth, chunk = rng.randint(2, 5), rng.randint(1, 3)
            met += machine.run_tiles(plan.main.kernel.name, tiling_of(plan), depth, 2, chunk, size) > 0
    assert met


@pytest.mark.parametrize("batch", range(BATCHES))
def test_tiles_of_random_machines_with_rules_and_stages_give_what_steps_give(batch):
    """Those that are refused are; the rest has several loops a step, sides of all rules, and scalars that change."""
    tiled = 0
    for seed in range(batch * 10, (batch + 1) * 10):
        dim = random.Random(seed).choice((1, 1, 2))
        plan = planned(random_steps(seed, dim)[0], dim)
        if refusal(plan.main.kernel, plan.main.plain, dim) is None:
            tiled += run_tiles(plan, seed) > 0
    assert tiled >= 4


@pytest.mark.parametrize("batch", range(BATCHES))
def test_tiles_of_random_machines_give_what_steps_give(batch):
    tiled = 0
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        dim = random.Random(seed).choice((1, 1, 2))
        plan = planned(random_cell(seed, dim), dim)
        if refusal(plan.main.kernel, plan.main.plain, dim) is None:
            tiled += run_tiles(plan, seed) > 0
    assert tiled >= BATCH // 3
