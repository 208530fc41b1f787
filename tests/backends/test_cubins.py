"""What the cuda backend gives a device: compiled by NVRTC as IEEE arithmetic wants it, and kept."""

import json
from dataclasses import replace

import pytest

from tests.backends.cell_plans import cell_plan
from tests.backends.nvrtc_path import nvrtc_path
from workbench.backends import cubins, nvrtc
from workbench.backends.cubins import Cubins
from workbench.backends.cuda import CudaBackend
from workbench.errors import BuildError

DECAY = 'u = field("u", boundary="outflow", dtype="f32")\nu.next = u + 0.2 * (u[-1] - 2 * u + u[+1]) / 3.0\n'


@pytest.fixture
def made(monkeypatch, tmp_path):
    return nvrtc_path(monkeypatch, tmp_path)


@pytest.mark.parametrize("capability", ["80", "90", "100"])
def test_float32_is_ieee_in_what_is_loaded(made, capability):
    made.fake.capability = capability
    program = made.backend.compile(cell_plan(DECAY, 1))
    program.instantiate((100,))
    (binary,) = made.binaries
    assert made.loaded == [binary.cubin]
    assert f".target sm_{capability}" in binary.ptx
    assert "add.rn.f32" in binary.ptx
    assert "div.rn.f32" in binary.ptx
    assert ".ftz" not in binary.ptx


def test_a_cubin_is_found_again_with_its_figures(made):
    plan = cell_plan(DECAY, 1)
    first = made.backend.compile(plan)
    again = CudaBackend(made.fake, lambda cuda: Cubins(cuda, made.store)).compile(plan)
    assert (first.from_cache, again.from_cache, again.compile_seconds) == (False, True, 0.0)
    assert first.compile_seconds > 0.0
    assert len(made.binaries) == 1
    assert again.resources() == first.resources() == made.binaries[0].resources
    (record,) = (json.loads(path.read_bytes()) for path in made.store.folder.rglob("entries/*/*.json"))
    assert (record["target"], record["compiler"][:9]) == ("sm_90", "NVRTC 13.")


def test_a_title_in_any_script_compiles(made):
    plan = cell_plan(DECAY, 1)
    plan = replace(plan, graph=replace(plan.graph, name="Strömung ψ"))
    assert made.backend.compile(plan).resources()


@pytest.mark.parametrize(
    ("capability", "architecture"), [(75, "sm_75"), (90, "sm_90"), (100, "sm_100"), (101, "sm_100"), (129, "sm_121")]
)
def test_architecture_of_a_device(capability, architecture, monkeypatch):
    monkeypatch.setattr(cubins, "known_architectures", lambda compiler: (75, 80, 86, 90, 100, 120, 121))
    monkeypatch.setattr(cubins, "nvrtc_version", lambda compiler: (13, 5))
    monkeypatch.setattr(cubins, "_nvrtc", lambda cuda: None)
    assert Cubins(13).architecture(capability) == architecture
    with pytest.raises(BuildError, match=r"NVRTC 13\.5 does not compile .* sm_140\nInstall a newer NVRTC"):
        Cubins(13).architecture(140)
    with pytest.raises(BuildError, match=r"sm_70\nInstall the extra cuda12"):
        Cubins(13).architecture(70)


def test_missing_nvrtc_names_the_wheel(monkeypatch):
    monkeypatch.setattr(cubins, "find_nvrtc", lambda cuda: None)
    with pytest.raises(BuildError, match=r"CUDA 12, was not found\nType: .*nvidia-cuda-nvrtc-cu12>=12.8,<13"):
        cubins._nvrtc(12)


def test_nvrtc_of_another_cuda_is_not_taken():
    if not any(compiler.kind == "nvrtc" for compiler in nvrtc.find_compilers()):
        pytest.skip("no CUDA compiler: nvrtc was not found")
    assert nvrtc.find_nvrtc(11) is None
    assert nvrtc.nvrtc_version(nvrtc.find_nvrtc(13))[0] == 13
