"""`workbench doctor`: what works on this machine, what does not, and the one command that mends it."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata

import numpy as np

from workbench._version import __version__
from workbench.backends.cache_folder import default_cache
from workbench.backends.cuda_availability import wheels_in_conflict
from workbench.backends.host import figures_text, host_figures, levels_text, measure_host, measured_figures
from workbench.backends.nvrtc import find_compilers
from workbench.backends.processor import available_threads, processor_name
from workbench.backends.registry import BACKENDS, get_backend, select_backend
from workbench.backends.toolchain import Toolchain, find_toolchain, install_command
from workbench.planning.checking import VARIABLE, is_checking
from workbench.tuning.wisdom import read_wisdom

_LABEL = 12
_OPTIONAL = ("ipykernel", "jupyterlab", "matplotlib", "xarray", "cupy-cuda13x", "cupy-cuda12x")


def examine(*, measure: bool = False) -> Iterator[str]:
    """Lines of the report, each as soon as it is known. `measure` takes about two seconds more."""
    yield _line("workbench", f"{__version__}, Python {platform.python_version()}, NumPy {np.__version__}")
    yield _line("system", f"{platform.system()} {platform.machine()}, {processor_name()}")
    yield _line("threads", f"{available_threads()} (affinity and control groups counted)")
    yield from _compiler_lines()
    yield from _cuda_lines()
    yield _line("cache", str(default_cache().info()))
    yield _line("wisdom", _wisdom())
    figures = measure_host() if measure else host_figures()
    yield _line("figures", figures_text(figures))
    if levels_text(figures):
        yield _line("caches", levels_text(figures))
    if not measure and measured_figures() is None:
        yield _line("", "measure them: workbench doctor --measure")
    yield from _library_lines()
    yield from _backend_lines()
    if is_checking():
        yield _line("checks", "on: every graph and plan is verified as it is made")
    else:
        yield _line("checks", f"off; {VARIABLE}=1 verifies every graph and plan as it is made")


def _wisdom() -> str:
    try:
        return str(read_wisdom())
    except OSError as error:
        return f"{error.filename} cannot be read: {error.strerror}"


def _compiler_lines() -> Iterator[str]:
    found = find_toolchain()
    if isinstance(found, Toolchain):
        yield _line("compiler", str(found))
        if not found.openmp:
            yield _line("", f"for all threads: {install_command('openmp')}")
    else:
        yield _line("compiler", found.reason)
        yield _line("", f"install one: {found.install}")


def _cuda_lines() -> Iterator[str]:
    yield _line("GPU", _devices() or "none that nvidia-smi knows")
    compilers = find_compilers()
    text = ", ".join(f"{compiler.kind} ({compiler.path})" for compiler in compilers)
    yield _line("CUDA text", text or "no compiler: neither nvcc nor NVRTC")
    conflict = wheels_in_conflict()
    if conflict:
        yield _line("", conflict)
    if not compilers:
        yield _line("", f"to check CUDA text: {sys.executable} -m pip install 'stencil-workbench[cuda-check]'")


def _devices() -> str:
    """The names of NVIDIA's devices as the driver's own tool lists them; "" without driver or device."""
    try:
        command = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20.0)
    except (OSError, subprocess.SubprocessError):
        return ""
    return "; ".join(done.stdout.splitlines()) if done.returncode == 0 else ""


def _library_lines() -> Iterator[str]:
    found = [f"{name} {version}" for name in _OPTIONAL if (version := _version(name))]
    yield _line("libraries", ", ".join(found) or "none of " + ", ".join(_OPTIONAL))
    if not _version("ipykernel"):
        yield _line("", f"for notebooks: {sys.executable} -m pip install 'stencil-workbench[lab]'")
    if _version("workbench"):
        yield _line("", "a foreign package 'workbench' is installed too: pip uninstall workbench")


def _backend_lines() -> Iterator[str]:
    for row in BACKENDS:
        state = get_backend(row.name).availability()
        yield _line(row.name, "works" if state.available else f"not here: {state.reason}")
        if not state.available and state.advice:
            yield _line("", state.advice)
    chosen = select_backend("auto")
    yield _line("auto", f"takes {chosen.name} ({chosen.reason})")


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _line(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}{text}"
