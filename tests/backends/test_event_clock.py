"""Events around launches: every launch once a batch, on demand, and the same values as without."""

import numpy as np
import pytest

from tests.backends.cell_plans import cell_plan
from tests.kit.fake_cupy import FakeCupy
from tests.kit.spaced_programs import Program
from tests.programs.wave import TEXT as WAVE
from workbench.backends.base import MarchRequest
from workbench.backends.cuda import CudaBackend
from workbench.graph.types import I64
from workbench.planning import plan_graph

PLAN = cell_plan(WAVE, 1)


def instance(timed):
    fake = FakeCupy()
    made = CudaBackend(fake, fake.cubins).compile(PLAN).instantiate((40,))
    made.write_field("u", np.sin(np.arange(40.0)))
    made.time_launches(timed)
    return made


def test_launches_are_timed_on_demand_and_bits_stay():
    plain, timed = instance(False), instance(True)
    for each in (plain, timed):
        each.march(MarchRequest("step", 50, observe_every=10))
    for name in ("u", "v"):
        assert np.array_equal(plain.read_field(name), timed.read_field(name))
    assert plain.launch_times() == ()
    times = timed.launch_times()
    for observed, step in ((False, PLAN.main.plain), (True, PLAN.main.observed)):
        mine = [t for t in times if t.observed == observed]
        places = [(number, member) for number, launch in enumerate(step.launches) for member in launch.members]
        assert [(t.launch, t.member) for t in mine] == places
        assert len({t.steps for t in mine}) == 1
        # A kernel takes a millisecond, the host longer to ask for it; a tree may take several launches.
        loops = [t.seconds for t in mine if step.launches[t.launch].kind != "finisher"]
        assert loops == pytest.approx([0.001] * len(loops))
    assert {t.kernel for t in times} == {"step"}


def test_loops_of_several_launches_are_timed_as_one():
    """A scan of three launches and a scatter of two, then a loop of one."""
    p = Program(1, I64)
    p.field("sums", p.b.scan("sum", p.u, 0))
    p.field("most", p.b.scatter("max", p.b.index(0), p.u, [p.b.index(0)]))
    p.b.store("u", p.plus(p.u, p.b.imm(1, I64, p.space)))
    fake, plan = FakeCupy(), plan_graph(p.graph("several"))
    made = CudaBackend(fake, fake.cubins).compile(plan).instantiate((3000,))
    made.time_launches(True)
    made.march(MarchRequest("step", 1))
    names = [subkernel.name for subkernel in plan.main.plain.subkernels]
    seconds = {names[t.member]: t.seconds for t in made.launch_times()}
    assert sorted(seconds.values()) == pytest.approx([0.001, 0.002, 0.003])
    assert [name for name, taken in seconds.items() if taken < 0.0015] == [names[-1]]


def test_timing_ends_when_asked():
    timed = instance(True)
    timed.march(MarchRequest("step", 5))
    before = timed.launch_times()
    timed.time_launches(False)
    timed.march(MarchRequest("step", 5))
    assert timed.launch_times() == before != ()


def test_ptxas_tells_registers_and_spills():
    fake = FakeCupy()
    resources = CudaBackend(fake, fake.cubins).compile(PLAN).resources()
    assert {r.kernel for r in resources} >= {"sweep_step_0_u1", "sweep_step_1_v1"}
    assert {(r.registers, r.spill_store_bytes, r.spill_load_bytes, r.shared_bytes) for r in resources} == {
        (40, 8, 16, 256)
    }
