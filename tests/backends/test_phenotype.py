"""Phenotype keys: one for plans that are the same program, another for whatever changes what runs."""

from dataclasses import replace

import pytest

import workbench as wb
from tests.backends.cell_plans import cell_plan
from tests.backends.device_cells import HEAT, HELLO
from tests.kit.fake_cupy import FakeCupy
from workbench.backends.cuda import CudaBackend
from workbench.backends.cuda_sim import CudaSimBackend
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.reference import ReferenceBackend
from workbench.planning import Choices
from workbench.planning.choices import LoopChoices
from workbench.planning.genome import genome_of
from workbench.planning.loop_keys import loop_names

OPENMP = OpenmpBackend()
DEVICES = (CudaSimBackend(), CudaBackend(FakeCupy()))


def key_of(backend, cell=HEAT, dim=2, **choices):
    return backend.phenotype(cell_plan(cell, dim, **choices))


def test_what_changes_the_program_changes_the_key():
    changes = (
        {},
        {"preset": "as_manifest"},
        {"threads": 2},
        {"tile": 8},
        {"flags": ("-O2",)},
        {"flags": ("-O2", "-funroll-loops")},
    )
    assert len({key_of(OPENMP, **each) for each in changes}) == len(changes)
    assert key_of(OPENMP) == key_of(OpenmpBackend())


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_on_a_device_grid_and_block_of_every_launch_count(device):
    changes = ({}, {"preset": "as_manifest"}, {"grid": 4}, {"block": 64})
    assert len({key_of(device, **each) for each in changes}) == len(changes)
    assert key_of(device) == key_of(device, threads=3, tile=2, flags=("-O2",))


def test_what_nothing_reads_leaves_the_key_alone():
    plan = cell_plan(HELLO, 1)
    value = f"step/{plan.main.kernel.keys()[0]}"
    idle = cell_plan(HELLO, 1, before=frozenset({value}))
    assert genome_of(idle) != genome_of(plan)
    assert OPENMP.phenotype(idle) == OPENMP.phenotype(plan)
    assert key_of(OPENMP) == key_of(OPENMP, grid=7, block=32)
    assert key_of(ReferenceBackend()) == key_of(ReferenceBackend(), preset="as_manifest", threads=2)


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_numbers_of_a_loop_count_if_the_plan_has_it(device):
    plan = cell_plan(HEAT, 2)
    (key, *_) = loop_names(plan)

    def with_loop(name, **numbers):
        choices = plan.choices.plan.with_loop(name, LoopChoices(**numbers))
        return device.phenotype(replace(plan, choices=Choices(plan=choices)))

    assert with_loop(key, block=32) != device.phenotype(plan) == with_loop("0" * 16, block=32)
    assert with_loop(key, grid=0) == device.phenotype(plan)


def test_rows_of_a_task_count_for_loops_that_are_shared_out():
    text = 'u = field("u", boundary="periodic")\nmean = u[-1, 0] + u[0, 1]\nu.next = mean[-1, 0] + mean[0, 1]'
    plan = wb.trace(text, dim=2).annotate("mean", "manifest").with_choices(loops="apart", tile=8).plan("openmp")
    (key, other) = loop_names(plan)

    def of(**tiles):
        choices = plan.choices.plan
        for loop, tile in tiles.items():
            choices = choices.with_loop(loop[1:], LoopChoices(tile=tile))
        return OPENMP.phenotype(replace(plan, choices=Choices(plan=choices)))

    keys = {of(), of(**{f"k{key}": 4}), of(**{f"k{other}": 4}), of(**{f"k{key}": 4, f"k{other}": 4})}
    assert len(keys) == 4
    assert of() == of(**{f"k{key}": 8}) == of(k0123456789abcdef=4)


def test_sizes_of_tiles_count_where_there_are_tiles():
    cell = 'u = field("u", boundary=constant(0.0))\nu.next = u[+1]\n'
    sizes = ({"depth": 4}, {"depth": 8}, {"depth": 8, "widths": (6,)}, {"depth": 8, "tile_count": 3})
    keys = [OPENMP.phenotype(cell_plan(cell, 1, schedule="diamond", **each)) for each in sizes]
    assert len({*keys, key_of(OPENMP)}) == 5
    assert OPENMP.phenotype(cell_plan(cell, 1)) == OPENMP.phenotype(cell_plan(cell, 1, depth=8))


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_levels_of_towers_count_where_there_are_towers(device):
    cell = 'u = field("u", boundary=constant(0.0))\nu.next = u[+1, 0, 0]\n'
    keys = [key_of(device, cell, 3, schedule="diamondtorre", depth=depth) for depth in (4, 8)]
    assert len({*keys, key_of(device, cell, 3)}) == 3
    assert key_of(device, cell, 3) == key_of(device, cell, 3, depth=8)


def test_streams_count_on_a_device():
    device = DEVICES[1]
    keys = [device.phenotype(cell_plan(HEAT, 2, streams=streams)) for streams in (1, 2, 3)]
    assert len(set(keys)) == 3
    assert OPENMP.phenotype(cell_plan(HEAT, 2, streams=2)) == OPENMP.phenotype(cell_plan(HEAT, 2))


def test_identity_names_device_and_compiler():
    host = OPENMP.identity()
    assert host.device
    assert host == CudaSimBackend().identity()
    assert OPENMP._compiler("").toolchain.version in host.compiler
    device = DEVICES[1].identity()
    assert device.device == "device 0"
    assert str(DEVICES[1].cubins().version) in device.compiler
    assert ReferenceBackend().identity().compiler == ""
