"""Compiled code leaves the process when nobody can call it any more: whoever searches plans makes thousands."""

import ctypes
import gc
import os
from pathlib import Path

import pytest

from tests.backends.device_cells import WAVE
from workbench.backends.base import MarchRequest
from workbench.backends.cuda_sim import CudaSimBackend
from workbench.backends.openmp import OpenmpBackend
from workbench.frontend.cell import trace_cell
from workbench.planning import Choices, PlanChoices, plan_graph

MAPPINGS = Path("/proc/self/maps")


def is_loaded(path):
    try:
        library = ctypes.CDLL(str(path), os.RTLD_NOW | os.RTLD_NOLOAD)
    except OSError:
        return False
    ctypes.CDLL(None).dlclose(ctypes.c_void_p(library._handle))  # the question was a loading of its own
    return True


def count_mappings():
    """0 where the system does not tell."""
    return len(MAPPINGS.read_text(encoding="ascii").splitlines()) if MAPPINGS.exists() else 0


@pytest.mark.parametrize("backend", [OpenmpBackend, CudaSimBackend], ids=["openmp", "cuda-sim"])
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "dropped"])
def test_a_library_goes_with_its_last_user(backend, closed):
    plan = plan_graph(trace_cell(WAVE, dim=1).graph, Choices(plan=PlanChoices().changed(block=256)))
    program = backend().compile(plan)
    path = program.built.path
    gc.collect()
    before = count_mappings()
    first, second = program.instantiate((100,)), program.instantiate((50,))
    for instance in (first, second):
        instance.march(MarchRequest("step", 2))
    if closed:
        first.close()
    del first, instance
    gc.collect()
    second.march(MarchRequest("step", 2))
    assert is_loaded(path)
    if closed:
        second.close()
    del second, program
    gc.collect()
    assert not is_loaded(path)
    assert count_mappings() <= before + 32  # the stacks of 256 simulated threads would be 512
