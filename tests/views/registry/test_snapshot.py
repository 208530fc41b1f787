"""The registry: everything that is alive with its figures, and nothing kept alive by it."""

import gc
import json
import weakref
from dataclasses import asdict, replace

import pytest

import workbench as wb
from tests.kit.fake_cupy import FakeCupy
from tests.programs.wave import TEXT, start
from workbench.backends.cuda import CudaBackend
from workbench.views.registry.snapshot import compiler_words, moved_bytes, registry, summarise_living

WAVE = wb.trace(TEXT, name="wave")


@pytest.fixture
def running():
    with WAVE.simulate(**start(30_000), backend="openmp", threads=1) as simulation:
        yield simulation.run(40)


def test_sub_kernels_have_calls_seconds_bandwidth_and_vectors(running):
    living = summarise_living(running)
    assert (living.machine, living.backend, living.extents, living.steps) == ("wave", "openmp", (30_000,), 40)
    assert living.state == "idle"
    assert living.memory == running.memory_bytes
    assert [s.name for s in living.subkernels] == [s.name for s in running.compiled.plan.subkernels]
    for row, subkernel in zip(living.subkernels, running.compiled.plan.subkernels, strict=True):
        assert row.calls == 40
        assert 0 < row.seconds < living.step_seconds
        assert row.moved == moved_bytes(subkernel, (30_000,)) >= 8 * 30_000
        assert row.bandwidth == row.moved / row.seconds
        assert "inner loop vectorised" in row.compiler
    assert living.age >= 0


def test_bytes_are_those_of_the_plan():
    (loop,) = WAVE.plan().subkernels[:1]
    cells = 1000 + sum(loop.margins[0])
    assert moved_bytes(loop, (1000,)) == cells * loop.cost.bytes_moved


def test_a_program_counts_its_own_calls(running):
    choices = replace(
        running.compiled.plan.choices, plan=running.compiled.plan.choices.plan.changed(preset="as_manifest")
    )
    running.replan(choices).wait(60)
    assert summarise_living(running).subkernels == ()
    running.run(3)
    living = summarise_living(running)
    assert {row.calls for row in living.subkernels} == {3}
    assert len(living.subkernels) == len(running.compiled.plan.subkernels) > 2
    assert living.steps == 43


def test_everything_is_listed_and_becomes_plain_values(running):
    mine = registry()
    assert "wave" in {machine.name for machine in mine.machines}
    assert summarise_living(running).subkernels in [s.subkernels for s in mine.simulations]
    assert mine.memory >= running.memory_bytes
    plain = asdict(mine)
    plain["cache"]["folder"] = str(plain["cache"]["folder"])
    assert json.loads(json.dumps(plain))["simulations"][-1]["machine"]


def test_words_and_table(running):
    text, page = str(registry()), registry()._repr_html_()
    assert "wave, 30,000 cells on openmp, step 40, idle" in text
    assert "40 calls" in text
    assert "GB/s" in text
    assert '<th scope="col">bandwidth</th>' in page
    assert page.count("<tr>") >= 3


def test_bandwidth_is_told_beside_the_measured_one(running):
    (living,) = [s for s in registry().simulations if s.extents == (30_000,)]
    row = replace(living.subkernels[0], calls=1, seconds=1.0, moved=10e9)
    told = [str(replace(registry(), simulations=(replace(living, subkernels=(replace(row, ceiling=c),)),)))
            for c in (40e9, 5e9, 0.0)]  # fmt: skip
    assert "10 GB/s (25 % of the measured bandwidth)" in told[0]
    assert "10 GB/s (100 % of the measured bandwidth)" in told[1]
    assert "10 GB/s" in told[2]
    assert "measured bandwidth" not in told[2]


def test_closed_simulations_are_not_listed(running):
    running.close()
    assert summarise_living(running) is None


def test_nothing_is_kept_alive():
    simulation = WAVE.simulate(**start(64), backend="openmp").run(2)
    gone = weakref.ref(simulation), weakref.ref(simulation._state.instance)
    kept = registry()
    del simulation
    gc.collect()
    assert [ref() for ref in gone] == [None, None]
    assert kept.simulations


def test_registers_and_spills_of_a_device_are_told():
    fake = FakeCupy()
    program = CudaBackend(fake, fake.cubins).compile(WAVE.plan())
    words = compiler_words(program)
    names = {(k.kernel.name, s.name) for k in program.plan.kernels for s in k.plain.subkernels}
    assert set(words) >= names
    assert set(words.values()) == {"40 registers, spills 8 + 16 bytes, 256 bytes shared"}
