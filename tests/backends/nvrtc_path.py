"""The path on which the cuda backend compiles, with the real NVRTC and a stand-in for the device."""

from types import SimpleNamespace

import pytest

from tests.kit.fake_cupy import FakeCupy
from workbench.backends import cubins, nvrtc
from workbench.backends.build_cache import BuildCache
from workbench.backends.cubins import Cubins
from workbench.backends.cuda import CudaBackend


def nvrtc_path(monkeypatch, folder):
    """A backend, the stand-in (whose `capability` may be set), binaries compiled, cubins loaded, and the store."""
    if not any(compiler.kind == "nvrtc" for compiler in nvrtc.find_compilers()):
        pytest.skip("no CUDA compiler: nvrtc was not found")
    binaries, loaded = [], []

    def compile_cuda(*arguments, **options):
        binaries.append(nvrtc.compile_cuda(*arguments, **options))
        return binaries[-1]

    monkeypatch.setattr(cubins, "compile_cuda", compile_cuda)
    fake, store = FakeCupy(), BuildCache(folder)
    fake.cuda.Module = lambda: SimpleNamespace(load=loaded.append, get_function=lambda name: name)
    backend = CudaBackend(fake, lambda cuda: Cubins(cuda, store))
    return SimpleNamespace(backend=backend, fake=fake, binaries=binaries, loaded=loaded, store=store)
