"""What keeps CUDA from working, each with its own advice; and what "auto" makes of it."""

import importlib.metadata
import os
import sys
import warnings

import pytest

from tests.kit.fake_cuda_errors import CUDARuntimeError
from tests.kit.fake_cupy import FakeCupy
from workbench.backends import cuda_availability, registry
from workbench.backends.cuda import CudaBackend
from workbench.errors import BuildError


def state_of(fake):
    state = CudaBackend(fake, fake.cubins).availability()
    return state.available, state.reason, state.advice


def test_a_device_that_works():
    assert state_of(FakeCupy()) == (True, "", "")


def test_no_driver():
    fake = FakeCupy(devices=0)
    fake.driver = 0
    available, reason, advice = state_of(fake)
    assert (available, reason) == (False, "there is no NVIDIA driver")
    assert advice.startswith("Install an NVIDIA driver")


@pytest.mark.parametrize(("driver", "known", "names"), [(12040, "12.4", "[cuda12]"), (11080, "11.8", "newer NVIDIA")])
def test_a_driver_for_an_older_cuda(driver, known, names):
    fake = FakeCupy()
    fake.driver = driver
    available, reason, advice = state_of(fake)
    assert (available, reason) == (False, f"the NVIDIA driver knows CUDA {known} at most, and this CuPy needs 13")
    assert names in advice


def test_an_older_driver_of_the_same_cuda_works():
    fake = FakeCupy()
    fake.driver = 13000
    assert state_of(fake)[0]


def test_no_device(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert state_of(FakeCupy(devices=0))[:2] == (False, "there is no CUDA device")
    monkeypatch.setitem(os.environ, "CUDA_VISIBLE_DEVICES", "")
    assert state_of(FakeCupy(devices=0))[1:] == (
        "there is no CUDA device in CUDA_VISIBLE_DEVICES=''",
        "Name one in CUDA_VISIBLE_DEVICES.",
    )


def test_no_nvrtc():
    fake = FakeCupy()
    fake.nvrtc = False
    assert state_of(fake) == (False, "NVRTC, the compiler of CUDA 13, was not found", "Install it.")
    fake.nvrtc = True
    assert state_of(fake)[0]


def test_nothing_that_cannot_compile_is_available():
    fake = FakeCupy()

    def refuse(*_):
        raise BuildError("NVRTC 13.5 does not compile for sm_140", advice="Install a newer NVRTC.")

    backend = CudaBackend(fake, fake.cubins)
    backend.cubins().architecture = refuse
    assert backend.availability().reason == "NVRTC 13.5 does not compile for sm_140"


def test_unknown_errors_are_said():
    fake = FakeCupy()

    def fail():
        raise RuntimeError("libcuda.so.1 is missing\nat length")

    fake.cuda.runtime.getDeviceCount = fail
    assert state_of(fake)[:2] == (False, "CuPy cannot use a CUDA device: libcuda.so.1 is missing")


@pytest.mark.parametrize("status", [802, 803, 999])
def test_a_driver_that_fails_is_no_reason_to_install_cupy(status):
    fake = FakeCupy()

    def broken():
        raise CUDARuntimeError(status)

    fake.cuda.runtime.getDeviceCount = broken
    available, reason, advice = state_of(fake)
    assert (available, reason) == (False, f"the NVIDIA driver fails: {CUDARuntimeError(status)}")
    assert advice.startswith("Type nvidia-smi")
    assert "pip" not in advice


def test_two_wheels_of_cupy_are_told(monkeypatch):
    there = {"cupy-cuda12x"}

    def version(name):
        if name not in there:
            raise importlib.metadata.PackageNotFoundError(name)
        return "14.2.0"

    monkeypatch.setattr(cuda_availability, "version", version)
    assert cuda_availability.wheels_in_conflict() == ""
    there.add("cupy-cuda13x")
    assert "pip uninstall cupy-cuda12x cupy-cuda13x" in cuda_availability.wheels_in_conflict()


def test_auto_takes_another_backend_where_cuda_cannot_compile(monkeypatch):
    fake = FakeCupy()
    fake.nvrtc = False
    backend, load = CudaBackend(fake, fake.cubins), registry._load
    monkeypatch.setattr(registry, "_load", lambda row: backend if row.name == "cuda" else load(row))
    chosen = registry.select_backend("auto")
    assert chosen.name != "cuda"
    assert "NVRTC, the compiler of CUDA 13, was not found" in str(chosen)


FRAMED = '''def fail():
    raise ImportError("libcublas.so.13: cannot open shared object file: No such file or directory")

try:
    fail()
except ImportError as exc:
    raise ImportError(f"""
================================================================
Failed to import CuPy.

Original error:
  {type(exc).__name__}: {exc}
================================================================
""") from exc
'''


def forget_cupy(monkeypatch):
    """Let the next import look for it, and let other tests find in sys.modules what they found before."""
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.delitem(sys.modules, "cupy")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (FRAMED, "ImportError: libcublas.so.13: cannot open shared object file"),
        (
            "raise AttributeError('module numpy has no attribute float_')",
            "AttributeError: module numpy has no attribute",
        ),
        ("raise ImportError('')", "ImportError: ImportError"),
    ],
)
def test_a_cupy_that_cannot_be_imported(text, words, tmp_path, monkeypatch):
    (tmp_path / "cupy.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    forget_cupy(monkeypatch)
    state = CudaBackend().availability()
    assert not state.available
    assert state.reason.startswith(f"CuPy cannot be imported: {words}")
    assert state.advice.startswith("Install it anew: pip install --force-reinstall 'stencil-workbench[cuda]'")


def test_one_line_warns_of_two_wheels(tmp_path, monkeypatch):
    (tmp_path / "cupy.py").write_text(
        "import warnings\n"
        "warnings.warn('\\n----\\n\\n  CuPy may not function correctly because multiple CuPy packages are installed')\n"
        "warnings.warn('something else')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    forget_cupy(monkeypatch)
    monkeypatch.setattr(cuda_availability, "version", lambda name: "14.2.0")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        backend = CudaBackend()
        for _ in range(2):
            backend.availability()
    assert [str(each.message).partition(":")[0] for each in caught] == [
        "something else",
        "cupy-cuda12x and cupy-cuda13x overwrite each other",
    ]
