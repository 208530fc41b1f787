"""What marches are made of is compiled once and linked; a text that leaves the machine has all inside."""

import ctypes
import threading
from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from workbench import pipeline
from workbench.backends import march_objects
from workbench.backends.base import MarchRequest
from workbench.backends.build_cache import BuildCache, counters
from workbench.backends.compile_pool import Unit, build, default_compiler
from workbench.backends.march_objects import begin_march_object, march_object, with_march_objects
from workbench.backends.march_record import MarchRecord
from workbench.backends.openmp import OpenmpBackend
from workbench.pipeline import compile_graph
from workbench.planning.choices import Choices
from workbench.solvers import advection, heat, hydro

MACHINES = [heat.machine(1), heat.machine(2), advection.machine(2), heat.machine(3)]


@pytest.fixture
def compiler(tmp_path):
    """With an empty cache, one text at a time."""
    return replace(default_compiler(), cache=BuildCache(tmp_path), jobs=1)


@pytest.fixture
def backend(compiler):
    return OpenmpBackend(compiler)


def values_after(program, dim, steps=3):
    instance = program.instantiate((6,) * dim)
    names = [static.name for static in program.plan.graph.fields]
    for name in names:
        instance.write_field(name, np.random.default_rng(5).random((6,) * dim))
    instance.march(MarchRequest(program.plan.main.kernel.name, steps))
    found = [instance.read_field(name) for name in names]
    instance.close()
    return found


def test_one_object_serves_all_programs_with_as_many_axes(backend):
    before = counters().compiled
    backend.compile(MACHINES[1].plan())
    assert counters().compiled == before + 2
    backend.compile(MACHINES[2].plan())
    assert counters().compiled == before + 3


def begun():
    """Wait for threads that compile objects."""
    for thread in [each for each in threading.enumerate() if each.name == "march object"]:
        thread.join()


def test_an_object_is_compiled_while_the_thread_that_asked_goes_on(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(march_objects, "available_threads", lambda: 2)
    compiler = default_compiler()
    keys = [compiler.object_recipe(march_object(axes)).key for axes in (1, 2)]
    begin_march_object(2, "")
    begin_march_object(march_objects.MOST_AXES + 1, "")
    begun()
    assert [compiler.cache.find(key) is not None for key in keys] == [False, True]


def test_one_processor_is_left_to_the_thread_that_asked(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(march_objects, "available_threads", lambda: 1)
    begin_march_object(2, "")
    begun()
    assert not [*tmp_path.rglob("*.o")]


def test_objects_are_begun_before_a_long_program_is_planned_that_no_process_has_planned(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    asked = []
    monkeypatch.setattr(march_objects, "begin_march_object", lambda *what: asked.append(what))
    monkeypatch.setattr(pipeline, "build", lambda plan, selection: None)
    found = []
    for machine, backend in (
        (heat.machine(2), "openmp"),
        (hydro.machine(2), "reference"),
        *[(hydro.machine(2), "openmp")] * 2,
    ):
        monkeypatch.setattr(pipeline, "_plans", OrderedDict())  # as in another process
        compile_graph(machine.graph, Choices(), backend)
        found.append(len(asked))
    assert found == [0, 0, 1, 1]
    assert asked == [(2, "")]


def test_texts_with_several_numbers_of_axes_share_a_unit(backend, monkeypatch):
    programs = backend.compile_many([machine.plan() for machine in MACHINES])
    assert len({program.built.path for program in programs}) == 1
    monkeypatch.setattr(march_objects, "MOST_AXES", 0)  # all inside each text
    for program, machine in zip(programs, MACHINES, strict=True):
        whole = backend.compile(machine.plan())
        assert whole.built.path != program.built.path
        dim = machine.graph.dim
        for one, other in zip(values_after(program, dim), values_after(whole, dim), strict=True):
            assert_same_bits(one, other)


def test_a_text_without_a_march_or_with_one_of_more_axes_needs_none():
    assert with_march_objects(Unit("none", "int x;\n")).objects == ()
    assert with_march_objects(Unit("four", "run_march<2>(); run_march<4>();\n")).objects == ()
    both = with_march_objects(Unit("both", "run_march<3>(); run_march<1>(); run_march<3>();\n", flags=("-O2",)))
    assert both.objects == (march_object(1), march_object(3))
    assert both.flags == ("-DSTENCIL_APART=5", "-O2")


def test_the_object_has_all_that_a_text_leaves_to_it(compiler):
    """The linker would name what is missing; the text of a machine with tiles and ghost cells asks for everything."""
    unit = with_march_objects(Unit("asks", '#include "stencil_openmp.h"\n' + ASKS, headers=march_object(2).headers))
    (built,) = build([unit], compiler)
    library = ctypes.CDLL(str(built.path))
    assert library.all
    assert library.stencil_march_bytes() == ctypes.sizeof(MarchRecord)
    assert not hasattr(library, "_ZN7stencil9next_taskERNS_4TeamERNS_5ShareE")  # another program's is never taken


ASKS = """
namespace stencil {
const void* const asked[] = {(void*)&note_lap<2>, (void*)&begin_step<2>, (void*)&pause_tiles<2>, (void*)&cut<2>,
    (void*)&cut_rows<2>, (void*)&walk_inside<2, 8>, (void*)&next_task, (void*)&arrives_last, (void*)&run_march<2>};
extern "C" __attribute__((visibility("default"))) const void* const* all() { return asked; }
}
"""
