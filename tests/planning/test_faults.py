"""Every seeded fault is noticed; a plan without one passes all checks."""

from dataclasses import replace
from functools import cache

import pytest

from tests.kit.paper_graphs import hello, wave
from tests.kit.pass_faults import FAULTS
from tests.kit.spaced_programs import deviation, spaced_programs
from tests.kit.symbolic import run_symbolically
from tests.planning.changed_plans import with_loop, with_step, with_storage
from tests.planning.random_graphs import random_choices, random_graph
from workbench.errors import PlanError, StencilError
from workbench.planning import Choices, Home, PlanChoices, Storage, plan_graph
from workbench.planning.verify import PLAN_CHECKS, STEP_CHECKS, find_faults, verify_plan

SEEDS = range(150)


@pytest.fixture(autouse=True)
def unchecked(monkeypatch):
    """The check named for a fault must notice it by itself."""
    monkeypatch.setenv("WORKBENCH_CHECK", "0")


def is_noticed(graph, choices, seed):
    """Whether the plan cannot be made, or does not mean what the graph means."""
    try:
        run_symbolically(plan_graph(graph, choices), (3,) * graph.dim, seed, steps=4)
    except (AssertionError, KeyError, IndexError, ValueError, StencilError, StopIteration):
        return True
    return False


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_the_executor_notices_a_faulty_pass(fault, monkeypatch):
    programs = sound_programs()  # choices are drawn while the pass is still right
    fault.edit(monkeypatch.setattr)
    noticed = (seed for graph, choices, seed in programs if is_noticed(graph, choices, seed))
    first = next(noticed, None)
    print(f"{fault.name}: noticed first by program {first} of {len(programs)}")
    assert first is not None


@cache
def sound_programs():
    random_ones = [(random_graph(seed), random_choices(random_graph(seed), seed), seed) for seed in SEEDS]
    return (*random_ones, *((graph, Choices(), 0) for graph in spaced_programs() if graph.dim < 4))


def test_sound_plans_pass_every_check():
    for seed in range(200):
        graph = random_graph(seed)
        assert find_faults(plan_graph(graph, random_choices(graph, seed))) == ()
    verify_plan(plan_graph(wave()))


def manifest_hello():
    return plan_graph(hello(), Choices(plan=PlanChoices().changed(preset="as_manifest")))


WAVE, HELLO, FOLDS = plan_graph(wave()), manifest_hello(), plan_graph(deviation(1))
LOOPS = WAVE.kernels[0].plain.subkernels
OBSERVED = WAVE.kernels[0].observed

BROKEN = {
    "slots begin with the fields": replace(WAVE, slots=WAVE.slots[::-1]),
    "every Global has a slot": replace(WAVE, global_slots=WAVE.global_slots[:-1]),
    "the halo covers all margins": replace(WAVE, halo=((0, 1),)),
    "storage is legal": with_storage(HELLO, 1, Storage.ROLLING),
    "every value is made once": with_step(WAVE, subkernels=LOOPS[:1]),
    "groups follow what they need": with_step(
        HELLO,
        subkernels=tuple(replace(s, index=i) for i, s in enumerate(HELLO.subkernels[::-1])),
    ),
    "margins cover every read": with_loop(WAVE, 0, margins=((1, 0),)),
    "every read is listed": with_loop(WAVE, 1, reads=LOOPS[1].reads[:1]),
    "reductions see the domain only": with_loop(WAVE, 2, "observed", margins=((1, 1),)),
    "loops have the axes of their values": with_loop(FOLDS, 0, reduced=(0,)),
    "slots have the axes of their values": replace(FOLDS, slots=tuple(replace(s, axes=()) for s in FOLDS.slots)),
    "launches hold everything once": with_step(WAVE, launches=WAVE.launches[:-1]),
    "Globals are finished before they are read": None,
    "slots hold what is read": with_loop(WAVE, 1, outputs=(Home(LOOPS[1].outputs[0].node, 0),)),
    "the rotation is a permutation": with_step(WAVE, rotation=(0, 0, 2)),
    "the operations are as predicted": with_loop(WAVE, 0, emitted=1),
    "scalars are stored": with_step(WAVE, "observed", scalar_stores=()),
}


def mean_removal():
    """u minus its maximum: a loop that reads a reduction."""
    from workbench.graph import Graph, KernelBuilder, Static, grid_space
    from workbench.graph.types import F64

    space = grid_space(1)
    statics = (Static("u", "field", F64, space),)
    b = KernelBuilder(space, statics)
    u = b.load("u")
    b.store("u", b.arith("subtract", u, b.broadcast(b.reduce("max", u))))
    return plan_graph(Graph("g", space, statics, (b.finish("step"),)))


@pytest.mark.parametrize("check", [name for name, _ in (*PLAN_CHECKS, *STEP_CHECKS)])
def test_each_check_finds_its_fault(check):
    broken = BROKEN[check]
    if broken is None:
        plan = mean_removal()
        broken = with_step(plan, launches=tuple(sorted(plan.launches, key=lambda launch: launch.kind == "finisher")))
    found = {fault.check for fault in find_faults(broken)}
    assert check in found
    with pytest.raises(PlanError, match=check):
        verify_plan(broken)
