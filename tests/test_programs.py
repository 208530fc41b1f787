"""All programs on all backends: the property each one is for, and the reference's bits."""

from itertools import product

import numpy as np
import pytest

import workbench as wb
from tests.kit.capabilities import CAPABILITIES, backends_here
from tests.programs import MODULES, all_programs, dimension
from tests.programs.wave import TEXT as WAVE
from tests.programs.wave import fluctuation
from tests.programs.wave import start as wave_start
from workbench.graph.deviation import is_exact
from workbench.planning.choices import Choices, PlanChoices
from workbench.run.verification import distance

PROGRAMS = all_programs()


@pytest.fixture(params=backends_here())
def backend(request):
    return request.param


def started(program, backend):
    return wb.trace(program.text, dim=dimension(program), name=program.name).simulate(
        backend=backend, **program.start()
    )


def test_every_module_has_a_program():
    print(f"{len(PROGRAMS)} programs of {len(MODULES)} modules on {backends_here()}")
    assert len(PROGRAMS) >= len(MODULES)
    assert len({p.name for p in PROGRAMS}) == len(PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS, ids=repr)
def test_program_has_its_property(program, backend):
    with started(program, backend) as simulation:
        program.check(simulation.run(program.steps))


@pytest.mark.parametrize("backend", [name for name in backends_here() if name != "reference"])
@pytest.mark.parametrize("program", PROGRAMS, ids=repr)
def test_program_has_the_bits_of_the_reference(program, backend):
    with started(program, backend) as simulation, started(program, "reference") as expected:
        for _ in range(2):
            found, right = simulation.run(program.steps).to_dict(), expected.run(program.steps).to_dict()
            for static in expected.graph.statics:
                value, reference = found[static.name], right[static.name]
                if is_exact(expected.graph) or not static.type.is_float:
                    assert distance(value, reference, static.type) == 0, static.name
                else:  # functions of a few ulp each, and what cancellation makes of them
                    scale = CAPABILITIES[backend].rtol * np.max(np.abs(reference))
                    assert np.allclose(value, reference, rtol=0, atol=scale, equal_nan=True), static.name


# Compiling three plans of every program for the simulator takes minutes, so that half is a proof. The interpreter asks
# for no allocation: a second preset says of it what the first does.
LONG = {*product(["cuda-sim"], ["as_delayed", "as_manifest"]), ("reference", "as_delayed")}
ALLOCATIONS = [
    pytest.param(name, preset, marks=pytest.mark.proof(sample=3) if (name, preset) in LONG else ())
    for name in backends_here()
    for preset in ("as_delayed", "as_manifest")
]


@pytest.mark.parametrize(("backend", "preset"), ALLOCATIONS)
@pytest.mark.parametrize("program", PROGRAMS, ids=repr)
def test_allocation_changes_no_bit(program, preset, backend):
    machine = wb.trace(program.text, dim=dimension(program), name=program.name)
    other = machine.with_choices(Choices(plan=PlanChoices().changed(preset=preset)))
    with (
        machine.simulate(backend=backend, **program.start()) as simulation,
        other.simulate(backend=backend, **program.start()) as changed,
    ):
        expected, found = simulation.run(program.steps).to_dict(), changed.run(program.steps).to_dict()
    for static in machine.graph.statics:
        assert distance(found[static.name], expected[static.name], static.type) == 0, static.name


@pytest.mark.parametrize("cells", [8, 37, 256, 3072])
def test_energy_of_the_wave_does_not_drift(cells, backend):
    steps = 1000 if cells * 1000 <= CAPABILITIES[backend].cell_steps else 100
    with wb.trace(WAVE, name="wave").simulate(backend=backend, **wave_start(cells)) as simulation:
        energy = simulation.record("energy")
        simulation.run(steps)
        assert len(energy) == steps
        assert fluctuation(energy.values) <= 1e-13  # the paper's own figure
