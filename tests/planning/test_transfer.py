"""Choices carried over to related programs: other types, more axes, another text; and what is said of the rest."""

import pytest

import workbench as wb
from workbench.errors import PlanError
from workbench.planning.choices import LoopChoices
from workbench.planning.kernel_plan import Storage
from workbench.planning.loop_keys import loop_names
from workbench.planning.relatives import labels_of
from workbench.planning.sites import storage_sites
from workbench.solvers import hydro

DELAYED = {"preset": "as_delayed", "hints": False}
BLUR = """
u = field("u", boundary="periodic")
left = u[-1] + u
right = u[+1] + u
mean = left * right
u.next = mean + 0.1 * mean[+1]
"""


def stored(machine, backend="openmp"):
    """Names of the free values that are stored."""
    plan = machine.plan(backend)
    found = set()
    for site in storage_sites(plan.graph):
        kernel = plan.kernel(site.key.partition("/")[0])
        node = kernel.kernel.keys().index(site.key.partition("/")[2])
        if kernel.storage[node] is Storage.MANIFEST:
            found.add(site.called)
    return found


def openmp(machine):
    return wb.Machine(machine.graph, machine.choices, backend="openmp")


def test_the_same_program_takes_everything():
    other = openmp(wb.trace(BLUR)).with_choices(**DELAYED, tile=8).annotate("mean", "manifest", sync="after")
    machine = openmp(wb.trace(BLUR, name="again")).with_choices_of(other)
    assert machine.genome == other.genome
    assert machine.carried.lost == machine.carried.new == machine.carried.relatives == ()
    assert "choices of another machine: 4 values carried over, 0 lost (none)" in str(machine)
    assert machine.with_choices(tile=4).carried is None


def test_other_types_keep_every_choice():
    """Keys hash types, so that no key of one program is one of the other; casts and rounded constants do no harm."""
    double = openmp(hydro.machine(1)).with_choices(**DELAYED).annotate("flux0_density", "manifest")
    single = openmp(hydro.machine(1, dtype="f32")).with_choices_of(double)
    assert stored(single) == stored(double) == {"step.flux0_density"}
    assert len(single.carried.carried) == len(storage_sites(double.plan().graph))
    assert (single.carried.lost, single.carried.new) == ((), ())


def test_more_axes_take_the_choices_of_relatives():
    flat = openmp(hydro.machine(1)).with_choices(**DELAYED, threads=2)
    for name in ("flux0_density", "flux0_momentum0", "flux0_energy"):
        flat = flat.annotate(name, "manifest")
    plane = openmp(hydro.machine(2)).with_choices_of(flat)
    fluxes = {f"step.flux{axis}_{name}" for axis in "01" for name in ("density", "momentum0", "momentum1", "energy")}
    assert fluxes <= stored(plane)
    assert not {name for name in stored(plane) - fluxes if "value" not in name}
    assert "step.flux1_momentum1" in plane.carried.relatives
    assert "step.flux0_density" in plane.carried.carried
    assert plane.choices.plan.cpu.threads == 2


def test_components_that_differ_say_nothing_of_a_new_one():
    two = "u, v = fields('u v', boundary='periodic')\n"
    two += "a0 = u[+1] * u\na1 = v[+1] * v\nu.next = a0 + a0[+1]\nv.next = a1 + a1[+1]"
    three = two + "\na2 = u[+1] * v\nw = field('w', boundary='periodic')\nw.next = a2 + a2[+1]"
    other = openmp(wb.trace(two)).with_choices(**DELAYED).annotate("a0", "manifest")
    machine = openmp(wb.trace(three)).with_choices_of(other)
    assert "step.a2" in machine.carried.new
    assert "step.a2" in openmp(wb.trace(three)).with_choices_of(other.annotate("a1", "manifest")).carried.relatives


def test_what_finds_no_place_is_named():
    other = openmp(wb.trace(BLUR)).with_choices(**DELAYED).annotate("left", "manifest", sync="before")
    machine = openmp(wb.trace(BLUR.replace("left", "sinister"))).with_choices_of(other)
    assert machine.carried.lost == ("step.left",)
    assert machine.carried.new == ("step.sinister",)
    assert machine.choices.plan.barriers.before == frozenset()
    assert "1 lost (step.left)" in str(machine.carried)


def test_loops_keep_their_launch_numbers_by_what_they_make():
    double = wb.Machine(hydro.machine(1).graph, backend="cuda-sim")
    key, name = next((key, name) for key, name in loop_names(double.plan()).items() if "flux0" in name)
    single = wb.Machine(hydro.machine(1, dtype="f32").graph, backend="cuda-sim")
    plan = double.choices.plan.with_loop(key, LoopChoices(block=64))
    machine = single.with_choices_of(double.with_choices(wb.Machine(double.graph).choices.__class__(plan=plan)))
    ((found, numbers),) = machine.choices.plan.loops
    assert numbers == LoopChoices(block=64)
    assert loop_names(machine.plan())[found] == name != found
    assert machine.carried.left_out == ()


def test_numbers_of_a_loop_that_is_not_there_are_told():
    other = wb.Machine(wb.trace(BLUR).graph, backend="cuda-sim").annotate("mean", "manifest")
    key = next(key for key, name in loop_names(other.plan()).items() if "mean" in name)
    plan = other.choices.plan.with_loop(key, LoopChoices(grid=4))
    other = other.with_choices(other.choices.__class__(plan=plan))
    changed = wb.Machine(wb.trace(BLUR.replace("mean", "average")).graph, backend="cuda-sim")
    machine = changed.with_choices_of(other)
    assert machine.choices.plan.loops == ()
    (sentence,) = machine.carried.left_out
    assert sentence.startswith("launch numbers of step_0_mean")
    assert sentence.endswith("found no loop")


HEAT = 'u = field("u", boundary=constant(0.0))\nu.next = u + 0.1 * ({} - {} * u)'
LINE = HEAT.format("u[-1] + u[+1]", 2)
PLANE = HEAT.format("u[-1, 0] + u[+1, 0] + u[0, -1] + u[0, +1]", 4)


def test_schedules_go_where_they_can():
    tiled = openmp(wb.trace(LINE)).with_choices(schedule="diamond", depth=8, widths=(64,), tile_count=2)
    plane = openmp(wb.trace(PLANE)).with_choices_of(tiled)
    assert (plane.choices.plan.tiling.schedule, plane.choices.plan.tiling.depth) == ("diamond", 8)
    assert plane.choices.plan.tiling.tile_count == 0
    assert plane.carried.left_out == ("widths of tiles left out: they are of 1 axes",)
    twice = openmp(wb.trace(LINE.replace("u[-1]", 'extend(u, "outflow")[-1]'))).with_choices_of(tiled)
    assert twice.choices.plan.tiling.schedule == "auto"
    assert twice.carried.left_out[0].startswith('schedule "diamond" left out: ')


def test_choices_that_cannot_be_met_are_an_error():
    """Nothing but the schedule is given up silently."""
    other = openmp(wb.trace(LINE))
    broken = openmp(wb.trace(LINE)).with_choices(precision_free(other))
    with pytest.raises(PlanError):
        broken.with_choices_of(other)


def precision_free(machine):
    """Choices with a precision for an unknown name."""
    meaning = machine.choices.meaning.__class__(precision=(("nothing", "f32"),))
    return machine.choices.__class__(meaning=meaning)


def test_labels_tell_apart_what_plays_another_part():
    kernel = wb.trace(BLUR).graph.kernels[0]
    exact = labels_of(kernel).exact
    named = {node.names[0]: exact[i] for i, node in enumerate(kernel.nodes) if node.names}
    assert named["left"] != named["right"]
    turned = wb.trace(BLUR.replace("u[-1]", "u[+2]")).graph.kernels[0]
    assert labels_of(turned).exact != exact


def test_choices_come_from_a_machine():
    machine = wb.trace(BLUR)
    for other in (3, machine.choices, machine.genome):
        with pytest.raises(PlanError, match="has no choices of a machine"):
            machine.with_choices_of(other)
