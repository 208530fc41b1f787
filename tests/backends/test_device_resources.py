"""Registers and spills of a plan's sub-kernels, as NVIDIA's compilers say them."""

import pytest

from workbench.backends import nvrtc
from workbench.backends.device_resources import subkernel_resources
from workbench.backends.occupancy import device_limits, limits_for, resident_threads
from workbench.commands.cuda_check import check_machines
from workbench.errors import BuildError
from workbench.solvers import hydro


def compiler_of(kind):
    found = [compiler for compiler in nvrtc.find_compilers() if compiler.kind == kind]
    return found[0] if found else pytest.skip(f"no CUDA compiler: {kind} was not found")


@pytest.mark.parametrize("dim", [1, 2, pytest.param(3, marks=pytest.mark.proof)])
@pytest.mark.parametrize("kind", ["nvcc", "nvrtc"])
def test_every_sub_kernel_of_the_plan_has_its_figures(kind, dim):
    compiler = compiler_of(kind)
    plan = hydro.machine(dim).plan()
    found = subkernel_resources(plan, compiler=compiler)
    names = [entry.subkernel for entry in found]
    assert names[: len(plan.subkernels)] == [s.name for s in plan.subkernels]
    assert all(16 <= entry.registers <= 255 for entry in found)
    print([(entry.registers, entry.spill_store_bytes) for entry in found[: len(plan.subkernels)]])


def test_single_precision_takes_fewer_registers():
    compiler = compiler_of("nvrtc")
    single, double = (
        max(entry.registers for entry in subkernel_resources(hydro.machine(2, dtype=dtype).plan(), compiler=compiler))
        for dtype in ("f32", "f64")
    )
    assert single < double


def test_the_report_names_each_sub_kernel():
    compiler_of("nvrtc")
    said = []
    (check,) = check_machines([hydro.machine(1)], say=said.append)
    assert said == [str(check)]
    assert "hydro 1-D f64 for sm_90" in said[0]
    assert all(entry["subkernel"] in said[0] for entry in check.to_dict()["resources"])
    assert len(said[0].splitlines()) == 1 + len(check.resources)


def test_an_architecture_that_does_not_exist_is_refused():
    plan = hydro.machine(1).plan()
    for architecture in ("sm_1", "sm_89000", "hopper", ""):
        with pytest.raises(BuildError, match=rf"NVRTC does not compile for '{architecture}'\nUse one of .*sm_90, "):
            subkernel_resources(plan, compiler=compiler_of("nvrtc"), architecture=architecture)


@pytest.mark.parametrize(
    ("registers", "threads"), [(16, 2048), (32, 2048), (33, 1536), (40, 1536), (64, 1024), (255, 256)]
)
def test_threads_that_registers_suffice_for(registers, threads):
    assert resident_threads(device_limits("9.0"), registers) == threads


@pytest.mark.parametrize(
    ("architecture", "capability", "threads"),
    [("sm_90", "9.0", 2048), ("sm_90a", "9.0", 2048), ("sm_87", "8.6", 1536), ("sm_121", "12.0", 1536)],
)
def test_limits_of_an_architecture(architecture, capability, threads):
    assert limits_for(architecture) == device_limits(capability)
    assert resident_threads(limits_for(architecture), 32) == threads
    assert limits_for("sm_110") is None
