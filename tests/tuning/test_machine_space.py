"""The space of a program: what may be chosen, what is left out, and what is believed to be independent."""

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.backends.toolchain import Missing, Toolchain, find_toolchain
from workbench.errors import TuningError
from workbench.pipeline import plan_for
from workbench.solvers import gray_scott, hydro, wave
from workbench.tuning import tune
from workbench.tuning.machine_space import machine_space
from workbench.tuning.strategies.independence import Independence

BLUR = """
u = field("u", boundary="periodic")
left = u[-1] + u
right = u[+1] + u
mean = left * right
u.next = mean + 0.1 * mean[+1]
"""


def space_of(machine, backend="openmp", **options):
    return machine_space(machine.graph, machine.choices, backend, **options)


@pytest.fixture(scope="module")
def blur():
    return wb.trace(BLUR, name="blur")


def children(tree):
    return {child.flatten() for child in tree.children}


def test_derived_tree_puts_launch_numbers_of_a_loop_together(blur):
    space = space_of(blur.annotate("mean", "manifest"), "cuda-sim", tree="derived").space
    loops = [group for group in children(space.tree) if group[0].startswith(("grid of", "block of"))]
    assert len(loops) == 2
    assert all(len(group) == 2 for group in loops)
    assert ("grid", "block") in children(space.tree)
    assert ("storage of step.mean",) in children(space.tree)
    assert sorted(space.tree.flatten()) == sorted(parameter.name for parameter in space.parameters)


def test_choices_of_few_values_come_first():
    """A short study has tried steps in tiles before it knows all tiles of a single step."""
    space = space_of(wave.machine(2), "openmp", extents=(64, 64), most_threads=2).space
    rank = {parameter.name: parameter.rank for parameter in space.parameters}
    names = ["schedule", "threads", "depth", "tile", "vector_width", "flags"]
    assert sorted(reversed(names), key=rank.get) == names
    assert all(rank[name] > rank["flags"] for name in rank if name.startswith(("storage", "barrier")))


def test_rows_of_a_task_are_a_part_with_the_seconds_of_its_loop(tmp_path):
    """A thread notes what it did for each loop; a search changes the tiles of all loops in the same runs."""
    text = 'u = field("u", boundary="periodic")\nmean = u[-1, 0] - u[0, 1]\nu.next = 0.5 * (mean[-1, 0] + mean[0, 1])'
    machine = wb.trace(text, dim=2, name="two").annotate("mean", "manifest")
    machine = machine.with_choices(loops="apart", schedule="stepwise")
    found = space_of(machine, "openmp", only=["loops"], tree="derived")
    names = [parameter.name for parameter in found.space.parameters]
    assert [[names[axis] for axis in part] for part in found.space.parts] == [[name] for name in names]
    assert len(names) == 2
    assert children(found.space.tree) == {(name,) for name in names}
    start = {"u": np.sin(np.arange(64 * 80.0)).reshape(64, 80)}
    asked = {"only": ["loops"], "strategy": "sweep", "budget": 14, "threads": 2}
    study = machine.tune(**start, backend="openmp", path=tmp_path / "s.sqlite", **asked).wait(300)
    costs = [found.costs(one.point, one.outcome.loops) for one in study.individuals]
    assert all(min(pair) > 0 for pair in costs)
    first, *_ = [one.changes for one in study.individuals[1:]]
    assert first.count("tile of") == 2


def test_launch_numbers_of_a_loop_are_a_part_with_its_seconds(blur):
    """Where another plan has no such loop, its numbers cost nothing that is known."""
    found = space_of(blur.annotate("mean", "manifest"), "cuda-sim")
    names = [parameter.name for parameter in found.space.parameters]
    parts = [[names[axis] for axis in part] for part in found.space.parts]
    assert parts == [[f"grid of {part[0][8:]}", f"block of {part[0][8:]}"] for part in parts]
    mean, last = (part[0][8:] for part in parts)
    assert found.costs(found.start, ((mean, 1.0), (last, 2.0))) == (1.0, 2.0)
    assert found.costs(found.start, ((last, 2.0),)) == (None, 2.0)
    assert found.costs(found.start, ()) == ()
    delayed = list(found.start)
    at = names.index("storage of step.mean")
    delayed[at] = 1 - delayed[at]
    plan = blur.with_choices(found.choices(tuple(delayed))).plan("cuda-sim")
    (loop,) = (subkernel.name for subkernel in plan.main.plain.subkernels)
    assert found.costs(tuple(delayed), ((loop, 3.0),)) == (None, 3.0)
    assert space_of(blur).space.parts == ()


def test_padding_is_measured_and_stands_alone(tmp_path):
    machine = wb.trace('u = field("u", boundary="periodic")\nu.next = 0.5 * (u[-1, 0] + u[0, 1])', dim=2, name="lines")
    found = space_of(machine, "openmp", tree="derived")
    assert ("padding",) in children(found.space.tree)
    start = {"u": np.sin(np.arange(64 * 80.0)).reshape(64, 80)}
    asked = {"only": ["layout"], "strategy": "exhaustive", "budget": 9, "backend": "openmp"}
    study = machine.tune(**start, path=tmp_path / "s.sqlite", **asked).wait(300)
    assert [one.outcome.status for one in study.individuals] == ["success"] * 3
    assert {one.same_as for one in study.individuals} == {0}  # none is the program of another
    assert "padding" not in [row.name for row in space_of(wb.trace(BLUR, name="blur")).tunables]


@pytest.mark.proof
def test_a_study_on_a_device_searches_its_loops_together(tmp_path):
    """Some evaluation changes numbers of both loops at once, which a sweep of single ones does not at first."""
    text = 'u = field("u", boundary="periodic")\nmean = 0.5 * (u[-1] + u[+1])\nu.next = 0.5 * (mean[-1] + mean[+1])'
    machine = wb.trace(text, name="two").annotate("mean", "manifest")
    options = {"only": ["loops"], "strategy": "sweep", "budget": 3, "backend": "cuda-sim"}
    study = machine.tune(u=np.sin(np.arange(499.0)), path=tmp_path / "s.sqlite", **options).wait(300)
    assert {one.outcome.status for one in study.individuals} == {"success"}
    loops = {name for name, _ in study.individuals[0].outcome.loops}
    changed = [{name for name in loops if f"of {name} =" in one.changes} for one in study.individuals]
    assert loops in changed


def test_derived_tree_on_threads(blur):
    space = space_of(blur, only=["cpu", "build", "storage"], tree="derived").space
    assert ("threads", "tile", "loops") in children(space.tree)
    assert ("flags", "vector_width") in children(space.tree)
    assert ("storage of step.left",) in children(space.tree)


def test_declared_tree_knows_sections_and_names(blur):
    only = ["cpu", "build", "storage"]
    tree = space_of(blur, only=only, tree='{tile, {cpu}, {"storage of step.left", storage}}').space.tree
    assert tree.variables == ("tile",)
    cpu, storage, *rest = tree.children
    assert cpu.variables == ("threads", "loops")
    assert storage.variables[0] == "storage of step.left"
    assert {"storage of step.right", "storage of step.mean"} < set(storage.variables)
    assert {child.variables for child in rest} == {("flags",), ("vector_width",)}
    assert str(space_of(blur, only=["tile"], tree="{tile, {device}}").space.tree) == "{tile}"


@pytest.mark.parametrize("tree", ["{warp}", "{tile, {threads}}", "{tile, {tile}}", "{tile"])
def test_a_tree_of_what_is_not_tuned_is_refused(blur, tree):
    with pytest.raises(TuningError):
        space_of(blur, only=["tile"], tree=tree)


def test_the_search_begins_with_the_tree_of_the_space(blur):
    """Each group is swept until it improves no more, so that a declared pair is enumerated and singles are not."""
    space = space_of(blur, only=["threads", "tile", "loops"], tree="{{threads, tile}, {loops}}", most_threads=2).space
    asked, strategy = [], Independence(space, (tuple(0 for _ in space.parameters),))
    for _ in range(40):
        if (point := strategy.ask()) is None:
            break
        asked.append(point)
        strategy.tell(point, 1.0)
    axes = [parameter.name for parameter in space.parameters]
    pair = {(point[axes.index("threads")], point[axes.index("tile")]) for point in asked}
    assert len(pair) == 3 * 10


HEAT = 'u = field("u", boundary=constant(0.0))\nu.next = u + 0.1 * (u[-1, 0] + u[+1, 0] + u[0, -1] + u[0, +1] - 4 * u)'


@pytest.fixture(scope="module")
def heat():
    return wb.trace(HEAT, name="heat")


def values_of(space, name):
    return next(parameter.values for parameter in space.parameters if parameter.name == name)


def test_stages_are_tried_where_loops_have_boundary_rules_between_them(heat):
    found = space_of(gray_scott.machine(), only=["tiling", "stages"])
    assert values_of(found.space, "stages") == ("False", "True")
    names = [parameter.name for parameter in found.space.parameters]
    point = list(found.start)
    assert not found.choices(tuple(point)).plan.cpu.stages
    point[names.index("stages")] = 1
    staged = found.choices(tuple(point))
    assert any(chain.fills for chain in plan_for(found.graph, staged, "openmp").main.plain.chains)
    assert found.space.legal(tuple(point))
    point[names.index("schedule")] = values_of(found.space, "schedule").index("diamond")
    assert not found.space.legal(tuple(point))  # tiles have loops of their own
    assert found.refusal(tuple(point)) == "stages is of single steps, and several run together in tiles"
    assert found.settled(tuple(point))[names.index("stages")] == 0
    point[names.index("stages")] = 0
    assert found.space.legal(tuple(point))
    for machine, backend in ((heat, "openmp"), (gray_scott.machine(), "cuda-sim")):
        names = [parameter.name for parameter in space_of(machine, backend).space.parameters]
        assert "stages" not in names


def test_schedules_are_tried_where_the_program_has_them(heat):
    found = space_of(heat, only=["tiling", "threads"], most_threads=2)
    assert values_of(found.space, "schedule") == ("stepwise", "diamond")
    assert {"0", "8", "64"} <= set(values_of(found.space, "depth"))
    assert "16" in values_of(found.space, "width along x")
    assert "1024" in values_of(found.space, "width along y")
    names = [parameter.name for parameter in found.space.parameters]
    point = list(found.start)
    for name, value in (("schedule", "diamond"), ("depth", "8"), ("width along y", "1024")):
        point[names.index(name)] = values_of(found.space, name).index(value)
    tiling = found.choices(tuple(point)).plan.tiling
    assert (tiling.schedule, tiling.depth, tiling.widths) == ("diamond", 8, (0, 1024))
    assert found.space.legal(tuple(point))
    assert heat.with_choices(found.choices(tuple(point))).plan("openmp").main.tiling is not None
    point[names.index("width along x")] = values_of(found.space, "width along x").index("16")
    point[names.index("width along y")] = 0
    assert found.choices(tuple(point)).plan.tiling.widths == (16,)


def test_sizes_of_tiles_without_tiles_are_one_point(heat):
    """Stepwise plans of other sizes are the same program."""
    space = space_of(heat, only=["tiling"]).space
    points = list(space)
    stepwise = [point for point in points if point[0] == 0]
    assert len(stepwise) == 1
    assert len(points) - 1 == len(set(points)) - 1 == (space.combinations // 2)


def test_schedules_go_with_any_storage():
    """With the difference stored a step has two loops."""
    text = 'u = field("u", boundary=constant(0.0))\ny = u[+1] - u\nu.next = u + 0.1 * (y - y[-1])'
    machine = wb.trace(text).with_choices(preset="as_delayed", hints=False)
    found = space_of(machine, only=["schedule", "storage"])
    names = [parameter.name for parameter in found.space.parameters]
    y = names.index("storage of step.y")
    assert names[0] == "schedule"
    for schedule in (0, 1):
        points = [point for point in found.space if point[0] == schedule]
        assert {found.values[y][point[y]] for point in points} == {"delayed", "manifest"}


def test_compilers_beside_the_first_are_tried(blur):
    found = space_of(blur, only=["build"], compilers=("clang",))
    assert values_of(found.space, "compiler") == ("", "clang")
    names = [parameter.name for parameter in found.space.parameters]
    point = tuple(int(name == "compiler") for name in names)
    assert found.choices(point).plan.build.compiler == "clang"
    assert "compiler" not in [parameter.name for parameter in space_of(blur, only=["build"]).space.parameters]


@pytest.mark.parametrize(
    ("first", "works", "others"),
    [("gcc", ("gcc", "clang"), ("clang",)), ("clang", ("clang", "gcc"), ("gcc",)), ("gcc", ("gcc",), ()), ("", (), ())],
)
def test_other_compilers_are_of_another_kind_and_work(monkeypatch, first, works, others):
    real = find_toolchain()
    assert isinstance(real, Toolchain), real

    def find(environ, kind=""):
        wanted = kind or first
        return replace(real, kind=wanted) if wanted in works else Missing((), "none", "")

    monkeypatch.setattr(tune, "find_toolchain", find)
    assert tune.other_compilers() == others


@pytest.fixture(scope="module")
def waves():
    return wave.machine(3, order=2, time_order=2, dtype="f32")


def test_towers_are_tried_on_devices(waves):
    """Size of a diamond, threads of a column, steps of a move; never a tower without room for the last axis."""
    found = space_of(waves, "cuda-sim", only=["tiling"], longest=100)
    assert values_of(found.space, "schedule") == ("stepwise", "diamondtorre")
    assert values_of(found.space, "diamond_size") == ("0", "1", "2", "3", "4", "6", "8")
    assert values_of(found.space, "column_threads") == ("128", "256", "512", "1024")
    names = [parameter.name for parameter in found.space.parameters]
    assert names == ["schedule", "depth", "diamond_size", "column_threads"]
    tiling = found.choices((1, 2, 3, 1)).plan.tiling
    assert (tiling.schedule, tiling.depth) == ("diamondtorre", 8)
    assert (tiling.diamond_size, tiling.column_threads) == (3, 256)
    assert found.choices(found.start).plan.tiling.column_threads == 128
    towers = waves.with_choices(found.choices((1, 2, 3, 1))).plan("cuda-sim").main.towers
    assert (towers.size, towers.threads) == (3, 256)
    assert len([point for point in found.space if point[0] == 0]) == 1
    assert found.refusal((0, 2, 0, 0)) == "depth is of tiles, and steps run one after the other"
    assert values_of(space_of(waves, "cuda-sim").space, "column_threads")[0] == "0"
    assert "diamond_size" not in [p.name for p in space_of(waves, "openmp").space.parameters]


@pytest.mark.proof
def test_a_study_on_a_device_tries_towers(waves, tmp_path):
    draw = np.random.default_rng(1)
    fields = {name: draw.random((26, 12, 8), np.float32) for name in ("u", "before")}
    study = waves.tune(**fields, backend="cuda-sim", budget=8, only=["tiling"], path=tmp_path / "s.sqlite").wait()
    towers = [one for one in study.individuals if "diamondtorre" in one.changes]
    assert len(towers) >= 3
    assert {one.outcome.status for one in towers} == {"success"}


def test_where_there_are_no_tiles_nothing_of_them_is_tuned(heat):
    twice = wb.trace(BLUR.replace("mean[+1]", 'extend(u, "outflow")[+1]'), name="twice")
    for space in (space_of(twice).space, space_of(heat, "cuda-sim").space):
        assert not {"schedule", "depth"} & {parameter.name for parameter in space.parameters}
    with pytest.raises(TuningError, match="nothing is left to tune"):
        space_of(twice, only=["tiling"])


def test_a_schedule_that_is_given_stays_where_it_is_fixed(heat):
    tiled = heat.with_choices(schedule="diamond", depth=24, widths=(48,), tile_count=3)
    found = space_of(tiled, only=["tiling"], fixed=["schedule"])
    assert "schedule" not in [parameter.name for parameter in found.space.parameters]
    assert found.choices(found.start).plan.tiling == tiled.choices.plan.tiling
    assert "24" in values_of(found.space, "depth")
    assert "48" in values_of(found.space, "width along x")
    names = [parameter.name for parameter in found.space.parameters]
    other = list(found.start)
    other[names.index("width along x")] = values_of(found.space, "width along x").index("64")
    tiling = found.choices(tuple(other)).plan.tiling
    assert (tiling.widths, tiling.tile_count) == ((64,), 0)  # three tiles of 48 cells need not be three of 64
    assert len(space_of(tiled, only=["tiling"], fixed=["widths"]).space.parameters) == 2


def test_a_study_tries_tiles_of_several_steps(heat, tmp_path):
    """A sample has at least the steps of a tile: one long step says nothing of tiles."""
    given = {"u": 1.0, "path": tmp_path / "s.sqlite", "backend": "openmp", "only": ["schedule"]}
    study = heat.with_choices(schedule="stepwise").tune((600, 200), budget=2, **given)
    assert study.wait(300).state == "done"
    one, other = study.individuals
    assert (one.changes, other.changes) == ("", "schedule = diamond")
    assert {one.outcome.status, other.outcome.status} == {"success"}
    assert one.outcome.phenotype != other.outcome.phenotype


def test_the_start_has_the_schedule_that_simulate_takes(heat, tmp_path, monkeypatch):
    """Gains are over that, where the size decides for tiles."""

    def tiles(graph, choices, backend, extents, threads):
        assert (backend, extents, threads) == ("openmp", (600, 200), 2)
        return replace(choices, plan=choices.plan.changed(schedule="diamond")), "several steps together"

    monkeypatch.setattr(tune, "resolved", tiles)
    given = {"u": 1.0, "path": tmp_path / "s.sqlite", "backend": "openmp", "threads": 2}
    study = heat.tune((600, 200), budget=1, only=["schedule", "depth"], **given).wait(300)
    assert study.best.individual.changes == ""
    assert study.best.choices.plan.tiling.schedule == "diamond"
    assert study.best.gain == 1.0


def test_ties_follow_the_program():
    """All barriers, all storage, the fluxes through a face, and what one line makes."""
    found = space_of(hydro.machine(1, manifest=None).with_choices(preset="as_delayed", hints=False))
    names = [parameter.name for parameter in found.space.parameters]
    ties = [{names[number] for number in tie} for tie in found.space.ties]
    assert {name for name in names if name.startswith("barrier ")} in ties
    assert {name for name in names if name.startswith("storage ")} in ties
    plane = space_of(hydro.machine(2, manifest=None).with_choices(preset="as_delayed", hints=False), only=["storage"])
    names = [parameter.name for parameter in plane.space.parameters]
    ties = [{names[number] for number in tie} for tie in plane.space.ties]
    assert {"storage of step.flux0_density", "storage of step.flux1_density"} in ties
    sizes = [len(tie) for tie in plane.space.ties]
    assert sizes == sorted(sizes, reverse=True)


def test_values_of_a_line_are_tied(blur):
    text = BLUR.replace("left = u[-1] + u\nright = u[+1] + u", "left, right = u[-1] + u, u[+1] + u")
    found = space_of(wb.trace(text), only=["storage"])
    names = [parameter.name for parameter in found.space.parameters]
    ties = [{names[number] for number in tie} for tie in found.space.ties]
    assert any({"storage of step.left", "storage of step.right"} == tie for tie in ties)
    apart = space_of(blur, only=["storage"])
    assert not any(len(tie) == 2 and "left" in str(tie) and "right" in str(tie) for tie in apart.space.ties)


def test_what_is_tied_can_be_set_at_once(blur):
    found = space_of(blur, only=["barriers"])
    (tie,) = found.space.ties
    point = tuple(1 for _ in found.space.parameters)
    assert found.choices(found.space.tied(point, tie, 0)).plan.barriers == found.base.plan.barriers


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize(("backend", "name"), [("openmp", "tile"), ("cuda", "block"), ("cuda-sim", "block")])
def test_a_candidate_is_compared_on_more_than_two_of_its_tiles_and_blocks(backend, name, dim):
    """Rows of a task are lines along the last axis; a thread of a block has a cell."""
    most = max(map(int, values_of(space_of(wave.machine(dim), backend).space, name)))
    extents = tune.checked_extents(dim, backend)
    assert np.prod(extents[:-1] if name == "tile" and dim > 1 else extents) > 2 * most > 64
