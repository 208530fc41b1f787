"""The stand-in beside the real module cupy, where that is installed: names, arguments, errors. No GPU needed."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit import fake_cupy
from tests.kit.fake_cuda_launches import FakeFunction, FakeModule
from tests.kit.fake_cuda_streams import FakeEvent, FakeGraph, FakeStream
from tests.kit.fake_cupy import FakeArray, FakeCupy, FakeDevice
from workbench.backends.cuda import CudaBackend

FAKE = FakeCupy()
OWN = {
    "submit",
    "run",
    "argument",
    "module",
    "name",
    "loaded",
    "parameters",
}  # of the stand-in, nowhere used outside tests

USER = """
import workbench as wb
heat = wb.trace("u = field('u', boundary='periodic')\\nu.next = u[+1]", dim=1, name="heat")
sim = heat.simulate(u=1.0, shape=8, backend="auto")
print(sim.run(2))
total = wb.trace("xs = array('xs', 'n')\\noutput('total', fold(add, xs))", name="total")
assert total(xs=[1.0, 2.0])["total"] == 3
try:
    total(xs=[1.0, 2.0], backend="cuda")
except wb.StencilError as error:
    print(error)
heat.simulate(u=1.0, shape=8, backend="cuda")
"""


@pytest.fixture(scope="module")
def cupy():
    return pytest.importorskip("cupy", reason="no CuPy")


def used(kind):
    """What the stand-in has of a class, beside what is private to it."""
    own = set(vars(kind)) - OWN
    return {name for name in own if not name.startswith("_") or name in ("__enter__", "__exit__", "__call__")}


def arguments(function):
    """Names of a function's arguments; of one that Cython made, by the first line of its documentation."""
    try:
        return [name for name in inspect.signature(function).parameters if name != "self"]
    except (TypeError, ValueError):
        line = (function.__doc__ or "").strip().splitlines()[0]
        inside = re.sub(r"<[^>]*>", "", line[line.index("(") + 1 : line.rindex(")")])
        return [part.split("=")[0].split()[-1] for part in inside.split(",") if part.strip() not in ("self", "")]


@pytest.mark.parametrize(
    ("kind", "real"),
    [
        (FakeArray, "ndarray"),
        (FakeStream, "cuda.Stream"),
        (FakeGraph, "cuda.Graph"),
        (FakeDevice, "cuda.Device"),
        (FakeFunction, "cuda.Function"),
        (FakeModule, "cuda.Module"),
        (FakeEvent, "cuda.Event"),
        (fake_cupy.FakePool, "cuda.MemoryPool"),
        (fake_cupy.FakeRuntime, "cuda.runtime"),
    ],
)
def test_names_of_the_stand_in_are_those_of_cupy(kind, real, cupy):
    found = cupy
    for part in real.split("."):
        found = getattr(found, part)
    if real == "ndarray":
        assert hasattr(found, "data")
    missing = {name for name in used(kind) - {"given_back"} if not hasattr(found, name)}
    assert not missing


def test_names_of_the_modules(cupy):
    assert not {name for name in vars(FAKE.cuda) if not hasattr(cupy.cuda, name)}
    for name in ("empty", "zeros", "asarray", "asnumpy", "get_default_memory_pool"):
        assert callable(getattr(cupy, name))
    assert callable(cupy.lib.stride_tricks.as_strided)


def test_arguments_of_launches(cupy):
    assert arguments(cupy.cuda.driver.launchKernel) == arguments(FAKE.cuda.driver.launchKernel)


def test_page_locked_memory_is_a_buffer_of_numpy(cupy):
    assert arguments(cupy.cuda.alloc_pinned_memory) == arguments(FAKE.cuda.alloc_pinned_memory)
    assert {"ptr", "size"} <= set(dir(cupy.cuda.PinnedMemoryPointer))


@pytest.mark.parametrize("name", ["memcpyAsync", "memcpy2DAsync", "memsetAsync"])
def test_arguments_of_copies(name, cupy):
    assert arguments(getattr(cupy.cuda.runtime, name)) == arguments(getattr(FAKE.cuda.runtime, name))


def test_kinds_of_copies(cupy):
    for name in ("memcpyHostToDevice", "memcpyDeviceToHost", "memcpyDeviceToDevice"):
        assert getattr(cupy.cuda.runtime, name) == getattr(FAKE.cuda.runtime, name)


def test_classes_of_errors(cupy):
    assert issubclass(cupy.cuda.memory.OutOfMemoryError, MemoryError)
    assert issubclass(cupy.cuda.runtime.CUDARuntimeError, RuntimeError)
    assert issubclass(cupy.cuda.driver.CUDADriverError, RuntimeError)
    assert not issubclass(cupy.cuda.compiler.CompileException, RuntimeError)
    assert cupy.cuda.runtime.CUDARuntimeError(100).status == 100


def test_what_objects_know(cupy):
    """What the stand-in sets when it makes an object."""
    cuda = cupy.cuda
    assert all(hasattr(cuda.Device, name) for name in ("id", "compute_capability"))
    assert "ptr" in vars(cuda.stream.Stream.null)
    assert hasattr(cuda.MemoryPointer, "ptr")
    assert not hasattr(cupy.RawKernel, "ptr")  # why kernels are loaded as functions of a module
    assert hasattr(cupy.cuda.Function, "ptr")


def test_availability_says_what_is_missing_in_our_words(cupy):
    state = CudaBackend(cupy).availability()
    assert state.available or (state.reason and state.advice and "cudaError" not in state.reason)


@pytest.fixture(scope="module")
def driver(cupy, tmp_path_factory):
    """driver(version, status): what a user reads where the driver is one of that version that always fails."""
    if not sys.platform.startswith("linux"):
        pytest.skip("no CuPy on a system whose driver is libcuda.so.1")
    folder = tmp_path_factory.mktemp("driver")
    source, name = Path(__file__).with_name("driver_stub.c"), "libcuda.so.1"
    command = ["cc", "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", str(folder / name), str(source), "-ldl"]
    subprocess.run(command, check=True)

    def ask(version, status):
        environment = {key: value for key, value in os.environ.items() if key != "CUDA_VISIBLE_DEVICES"}
        environment |= {"LD_LIBRARY_PATH": str(folder), "STUB_VERSION": str(version), "STUB_STATUS": str(status)}
        done = subprocess.run(
            [sys.executable, "-c", USER], env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 1, done
        return done.stdout, done.stderr

    return ask


@pytest.mark.parametrize(
    ("version", "status", "reason", "advice"),
    [
        (0, 100, "there is no NVIDIA driver", "Install an NVIDIA driver"),
        (1, 100, "the NVIDIA driver knows CUDA .* at most, and this CuPy needs 1", "newer"),
        (2, 100, "there is no CUDA device", "Use a machine with an NVIDIA GPU"),
        (2, 803, "the NVIDIA driver fails: cudaErrorSystemDriverMismatch", "Type nvidia-smi"),
        (2, 999, "the NVIDIA driver fails: cudaErrorUnknown", "Type nvidia-smi"),
    ],
)
def test_each_driver_has_its_words(version, status, reason, advice, cupy, driver):
    """version: 0 none, 1 of the CUDA before CuPy's, 2 that of CuPy's."""
    needed = cupy.cuda.runtime.runtimeGetVersion()
    said, error = driver({0: 0, 1: needed - 1000, 2: needed}[version], status)
    assert re.search(rf"step 2, openmp \(no cuda: {reason}", said)
    assert re.search(f"cannot run here: {reason}.*\n.*{advice}", said)
    assert re.search(f"cannot run here: {reason}.*\n.*{advice}", error)
