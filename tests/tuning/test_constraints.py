"""Constraints: points that no compiler is given and no device has room for are none to try, and say why."""

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.backends.nvrtc import compile_options
from workbench.backends.occupancy import DEVICES, MOST_REGISTERS, occupancy, registers_of_a_thread
from workbench.backends.toolchain import Missing, find_toolchain
from workbench.errors import PlanError, TuningError
from workbench.pipeline import plan_for
from workbench.planning.emission import EMISSION_LIMIT
from workbench.solvers import hydro, wave
from workbench.tuning import tune
from workbench.tuning.machine_space import machine_space

SUPPORTED = [device for device in DEVICES if float(device.capability) >= 7.0]


def space_of(machine, backend="openmp", **options):
    return machine_space(machine.graph, machine.choices, backend, **options)


def chain(length):
    """Each value is read at four places: n of them recomputed in one loop are some 2 n^3 additions."""
    lines = ['u = field("u", boundary="periodic")', "y0 = u"]
    lines += [f"y{n} = y{n - 1}[-1, 0] + y{n - 1}[+1, 0] + y{n - 1}[0, -1] + y{n - 1}[0, +1]" for n in range(1, length)]
    return wb.trace("\n".join([*lines, f"u.next = {0.25 ** (length - 1)} * y{length - 1}"]), dim=2, name="chain")


@pytest.fixture(scope="module")
def long():
    return chain(40).with_choices(schedule="stepwise")


@pytest.fixture(scope="module")
def short():
    return chain(3)


def test_storage_whose_loop_no_compiler_is_given_is_refused(long):
    """The rule asks the plan itself, so that what can be planned is always tried."""
    found = space_of(long, only=["storage"])
    nothing = found.space.outlook.without_storage(found.start)
    assert found.space.outlook.longest(nothing) > EMISSION_LIMIT
    assert f"would hold more than {EMISSION_LIMIT} operations" in found.refusal(nothing)
    assert not found.space.legal(nothing)
    with pytest.raises(PlanError):
        plan_for(found.graph, found.choices(nothing), "openmp")
    middle = list(nothing)
    y16 = [parameter.name for parameter in found.space.parameters].index("storage of step.y16")
    middle[y16] = found.values[y16].index("manifest")
    assert found.refusal(tuple(middle)) == ""
    plan_for(found.graph, found.choices(tuple(middle)), "openmp")


def test_start_that_cannot_be_planned_is_refused_with_the_reason(long, tmp_path):
    found = space_of(long, only=["storage"])
    nothing = found.choices(found.space.outlook.without_storage(found.start))
    with pytest.raises(TuningError, match=r"start\[1\] cannot be tried: .*would hold more than 50000 operations"):
        long.tune((64, 64), u=1.0, start=[long, nothing], only=["storage"], path=tmp_path / "s.sqlite", budget=1)
    assert not (tmp_path / "s.sqlite").exists()


def test_no_rule_where_nothing_can_be_too_large():
    """Then no point costs a look at its loops."""
    found = space_of(hydro.machine(1, manifest=None))
    assert found.space.legal(found.start)
    assert found.refusal.__name__ == "accepted"


@pytest.mark.parametrize("threads", [32, 64, 128, 256, 512, 1024])
@pytest.mark.parametrize("device", SUPPORTED, ids=lambda device: device.capability)
def test_registers_of_a_thread_are_the_most_that_a_block_can_have(device, threads):
    most = registers_of_a_thread(threads)
    assert occupancy(device, threads, most).blocks >= 1
    more = occupancy(device, threads, most + 8)
    assert most == MOST_REGISTERS or (more.blocks, more.limit) == (0, "registers")


@pytest.mark.parametrize("device", SUPPORTED, ids=lambda device: device.capability)
@pytest.mark.parametrize("block", [1, 32, 256, 257, 768, 1024])
def test_loops_of_single_steps_always_have_room(device, block):
    """The compiler is told how many threads a block may have, and shares out no more registers than those have."""
    (told,) = (flag for flag in compile_options(block, "int32_t") if flag.startswith("-DSTENCIL_BLOCK="))
    bound = int(told.partition("=")[2])
    assert bound >= block
    assert occupancy(device, block, registers_of_a_thread(bound)).blocks >= 1


def test_towers_have_room_for_their_values_in_registers():
    """64 registers are what each of 1024 threads may have: 2 (9 + 4) values of f64 fit, 2 (25 + 16) do not."""
    found = space_of(wave.machine(3, order=2, time_order=2), "cuda-sim", only=["tiling"], longest=1000)
    names = [parameter.name for parameter in found.space.parameters]
    sizes = dict(zip(found.space.parameters[names.index("diamond_size")].values, range(7), strict=True))

    def point(size):
        chosen = {"schedule": 1, "diamond_size": sizes[size]}
        return tuple(chosen.get(name, 0) for name in names)

    assert found.refusal(point("2")) == ""
    assert found.space.legal(point("2"))
    assert found.refusal(point("4")) == (
        "a thread of a tower of size 4 has 82 values in 164 registers, and one of 1024 threads may have 64"
    )
    assert not found.space.legal(point("4"))


@pytest.mark.parametrize(("features", "widest"), [("avx512f avx", 512), ("avx sse2", 256), ("sse2", 128)])
def test_vectors_that_the_processor_lacks_are_not_tried(short, monkeypatch, features, widest):
    real = replace(find_toolchain(), cpu_features=features, system="Linux x86_64")
    monkeypatch.setattr(tune, "find_toolchain", lambda environ: real)
    assert tune.widest_vectors() == widest
    found = space_of(short, only=["build"], widest=widest)
    widths = next(p.values for p in found.space.parameters if p.name == "vector_width")
    assert max(map(int, widths)) == widest


def test_where_vectors_cannot_be_told_no_width_is_tried(short, monkeypatch):
    monkeypatch.setattr(tune, "find_toolchain", lambda environ: Missing((), "none", ""))
    assert tune.widest_vectors() == 0
    found = space_of(short, only=["build"], widest=0)
    assert "vector_width" not in [parameter.name for parameter in found.space.parameters]


def test_file_with_other_values_is_refused(short, tmp_path, monkeypatch):
    """The numbers of its points would stand for other settings."""
    start = np.random.default_rng(0).random((64, 64))
    arguments = {"u": start, "only": ["vector_width"], "backend": "openmp", "path": tmp_path / "s.sqlite"}
    monkeypatch.setattr(tune, "widest_vectors", lambda: 256)
    short.tune(budget=1, **arguments).wait(300)
    monkeypatch.setattr(tune, "widest_vectors", lambda: 128)
    with pytest.raises(TuningError, match="has other values"):
        short.tune(budget=1, **arguments)
