"""Padding of rows and planes: where cells lie changes, what they are does not, whatever is done with the arrays."""

import re

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from tests.kit.capabilities import backends_here
from workbench.backends.registry import get_backend
from workbench.errors import PlanError
from workbench.planning.plan_figures import memory_bytes

BACKENDS = [backend for backend in backends_here() if backend != "reference"]
EXTENTS = {2: (13, 21), 3: (5, 7, 19)}
PADDINGS = {2: ((), (0,), (3,)), 3: ((), (0,), (1,), (0, 1), (2, 5))}
CASES = [(dim, lines) for dim, several in PADDINGS.items() for lines in several]
PATIENCE = 120


def program(dim):
    """Values of two widths, ghost cells of every depth, a value of fewer axes, and a total."""
    here, there = ", ".join(["2", *["0"] * (dim - 1)]), ", ".join([*["0"] * (dim - 1), "-3"])
    text = f"""
u = field("u", boundary="periodic")
w = field("w", dtype="f32", boundary="reflect")
top = scalar("top", dtype="f64")
middle = u[{here}] - 0.5 * u[{there}]
rows = reduce_sum(u, axis=0)
u.next = 0.5 * middle + 0.25 * astype(w[{there}], "f64") + 0.01 * rows
w.next = astype(middle, "f32") - w[{here}]
top.next = reduce_max(u)
"""
    return wb.trace(text, dim=dim, name="two_widths").annotate("middle", "manifest")


MACHINES = {dim: program(dim) for dim in EXTENTS}


def start(dim):
    draw = np.random.default_rng(dim)
    return {"u": draw.standard_normal(EXTENTS[dim]), "w": draw.standard_normal(EXTENTS[dim]).astype(np.float32)}


def state_after(machine, dim, backend, steps=4):
    with machine.simulate(**start(dim), backend=backend) as simulation:
        simulation.run(steps)
        return simulation.to_dict()


def same(found, wanted):
    for name, value in wanted.items():
        assert_same_bits(np.asarray(found[name]), np.asarray(value), name)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("dim", "lines"), CASES)
def test_results_are_those_of_the_reference(dim, lines, backend):
    same(
        state_after(MACHINES[dim].with_choices(padding=lines), dim, backend),
        state_after(MACHINES[dim], dim, "reference"),
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("dim", "lines"), CASES)
def test_the_memory_that_a_plan_tells_is_what_arrays_take(dim, lines, backend):
    machine = MACHINES[dim].with_choices(padding=lines)
    told = memory_bytes(machine.plan(backend), EXTENTS[dim], on_device=backend != "openmp")
    automatic = memory_bytes(MACHINES[dim].plan(backend), EXTENTS[dim], on_device=backend != "openmp")
    assert told > automatic if any(lines) else told == automatic
    taken = {}
    for each in (machine, MACHINES[dim]):
        with each.simulate(**start(dim), backend=backend) as simulation:
            taken[each is machine] = simulation.memory_bytes
    assert taken[True] - taken[False] == told - automatic


def test_strides_are_what_was_asked_for():
    with MACHINES[3].with_choices(padding=(2, 5)).simulate(**start(3), backend="openmp") as simulation:
        instance = simulation._state.instance
        u, halo = instance.device_view("u"), simulation.compiled.plan.halo
        row = -(-(sum(halo[2]) + 19) // 16) + 2  # lines of 16 of the narrowest values, which have 4 bytes
        assert u.strides == (8 * 16 * ((sum(halo[1]) + 7) * row + 5), 8 * 16 * row, 8)
        assert instance.device_view("w").strides == tuple(stride // 2 for stride in u.strides)


def test_rows_of_a_power_of_two_bytes_may_have_no_line_behind_them():
    text = 'u = field("u", boundary="periodic")\nu.next = u + 1.0'
    machine = wb.trace(text, dim=2, name="bare").with_choices(padding=(0,))
    with machine.simulate(u=0.0, shape=(4, 512), backend="openmp") as simulation:
        assert simulation._state.instance.device_view("u").strides == (4096, 8)


@pytest.mark.parametrize("backend", BACKENDS)
def test_plans_of_other_padding_take_over_and_files_are_read_by_them(backend, tmp_path):
    machines = [MACHINES[3].with_choices(padding=lines) for lines in PADDINGS[3]]
    wanted = state_after(MACHINES[3], 3, "reference", len(machines) + 3)
    with machines[0].simulate(**start(3), backend=backend) as simulation:
        for machine in machines:
            simulation.replan(machine.choices).wait(PATIENCE)
            simulation.run(1)
        simulation.save(tmp_path / "kept")
        simulation.run(3)
        same(simulation.to_dict(), wanted)
    with machines[2].restore(tmp_path / "kept", backend=backend) as simulation:
        simulation.run(3)
        same(simulation.to_dict(), wanted)


@pytest.mark.parametrize("backend", BACKENDS)
def test_arrays_that_are_handed_out_or_looked_at_are_the_domain(backend):
    machine, values = MACHINES[3].with_choices(padding=(1, 3)), start(3)
    with machine.simulate(**values, backend=backend) as simulation:
        assert simulation.u.flags.c_contiguous
        assert_same_bits(simulation.u, values["u"], "copy")
        assert_same_bits(np.from_dlpack(simulation.u), values["u"], "by DLPack")
        view = np.asarray(simulation._state.instance.device_view("u"))
        assert_same_bits(np.from_dlpack(view), values["u"], "what a frame is drawn from")
        simulation.set(u=2.0 * values["u"])
        assert_same_bits(simulation.u, 2.0 * values["u"], "written")
        frame = simulation.view("u")
        assert "u" in repr(frame)
        frame.close()


@pytest.mark.parametrize("lines", PADDINGS[2])
def test_steps_in_tiles_have_the_same_bits(lines):
    text = 'u = field("u", boundary="periodic")\nu.next = 0.25 * (u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1])'
    machine = wb.trace(text, dim=2, name="heat").with_choices(schedule="diamond", padding=lines, threads=2)
    u = np.random.default_rng(5).standard_normal((70, 130))
    with machine.simulate(u=u, backend="openmp") as one, machine.simulate(u=u, backend="reference") as other:
        for simulation in (one, other):
            simulation.run(17)
        assert_same_bits(one.u, other.u, "u")


def test_calls_have_arrays_as_numpy_makes_them():
    machine = wb.trace(
        'x = array("x", "n", "m")\ny = array("y", "n", "m")\noutput("z", 2.0 * x + y)', name="sums"
    ).with_choices(padding=(1,))
    x = np.arange(35.0).reshape(5, 7)
    assert_same_bits(machine(x=x, y=x[::-1], backend="openmp")["z"], 2.0 * x + x[::-1], "z")


@pytest.mark.parametrize("backend", BACKENDS)
def test_programs_that_lie_otherwise_are_measured_by_themselves(backend):
    keys = {machine_key(MACHINES[3].with_choices(padding=lines), backend) for lines in PADDINGS[3]}
    assert len(keys) == len(PADDINGS[3])


def machine_key(machine, backend):
    return get_backend(backend).phenotype(machine.plan(backend))


@pytest.mark.parametrize(
    ("dim", "lines", "said"), [(1, (0,), "one axis"), (2, (0, 1), "2 axes"), (3, (0, 0, 0), "3 axes")]
)
def test_more_numbers_than_there_are_rows_to_part_are_refused(dim, lines, said):
    machine = wb.trace('u = field("u", boundary="periodic")\nu.next = 2.0 * u', dim=dim, name="twice")
    with pytest.raises(PlanError, match=re.escape(f"padding is {lines}, and twice has {said}")):
        machine.with_choices(padding=lines).plan("openmp")


def test_padding_is_carried_between_programs_of_as_many_axes():
    padded = MACHINES[3].with_choices(padding=(0, 1))
    assert MACHINES[3].with_choices_of(padded).choices.plan.layout.padding == (0, 1)
    carried = MACHINES[2].with_choices_of(padded)
    assert carried.choices.plan.layout.padding == ()
    assert "padding left out: it is of 3 axes" in str(carried.carried)


def test_a_search_tries_padding_where_there_are_rows():
    tried = {row.name: row.sensible for row in MACHINES[3].tunables("openmp")}
    assert tried["padding"] == ((), (0,), (1,), (0, 1), (1, 1))
    assert {row.name: row.sensible for row in MACHINES[2].tunables("cuda-sim")}["padding"] == ((), (0,), (1,))
