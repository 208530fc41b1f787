"""CUDA text to a cubin with nvcc or NVRTC, whichever is here; needs no GPU.

NVRTC is taken from the NVIDIA wheels (extra `cuda-check`) or from a toolkit; nvcc from the path.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.errors import BuildError

PRELUDE = Path(__file__).parent / "include" / "cuda_prelude.h"

# The arithmetic of "ieee": no contraction, IEEE division and root, no flush to zero. Both compilers know them.
IEEE_FLAGS = ("--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false")

# NVRTC 13.0 takes a lambda inside a generic lambda for host code unless told that there is none.
_NVRTC_FLAGS = ("--std=c++17", "--device-as-default-execution-space")
# Where there is a driver, NVRTC keeps what it compiled, and the second time says nothing of registers and spills.
_FORGETFUL, _KEEPS_SINCE = "--no-cache", (12, 9)

_USUAL_BLOCK, _LARGEST_BLOCK = 256, 1024
_WHEELS = ("nvidia.cu13", "nvidia.cuda_nvrtc")
_NOTHING_FOUND = "no CUDA compiler: neither nvcc nor NVRTC was found"
_ADVICE = "Install the extra cuda-check (pip install 'stencil-workbench[cuda-check]') or a CUDA toolkit."


@dataclass(frozen=True, slots=True)
class CudaCompiler:
    """A compiler of CUDA text; `path` is the program nvcc or the library NVRTC."""

    kind: Literal["nvcc", "nvrtc"]
    path: str

    @property
    def name(self) -> str:
        """As people write it."""
        return "NVRTC" if self.kind == "nvrtc" else self.kind


@dataclass(frozen=True, slots=True)
class KernelResources:
    """What ptxas says a kernel needs: registers per thread, bytes spilled and bytes of static shared memory."""

    kernel: str
    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    shared_bytes: int


@dataclass(frozen=True, slots=True)
class CudaBinary:
    """A compiled text: the cubin, the compiler's log and the resources read from it, in order of the log.

    `ptx` is what the cubin was made of, for people and tests; nvcc keeps it for itself.
    """

    cubin: bytes
    log: str
    resources: tuple[KernelResources, ...]
    compiler: CudaCompiler
    ptx: str = ""


def find_compilers() -> tuple[CudaCompiler, ...]:
    """The CUDA compilers of this machine, nvcc first; empty if there is none."""
    found = []
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if nvcc:
        found.append(CudaCompiler("nvcc", nvcc))
    library = next(_nvrtc_libraries(), None)
    if library:
        found.append(CudaCompiler("nvrtc", library))
    return tuple(found)


def find_nvrtc(cuda: int) -> CudaCompiler | None:
    """NVRTC of this major version of CUDA: drivers of an older one do not load what a newer one compiles."""
    for library in _nvrtc_libraries():
        compiler = CudaCompiler("nvrtc", library)
        try:
            if nvrtc_version(compiler)[0] == cuda:
                return compiler
        except (OSError, AttributeError):  # not for this machine, or no NVRTC
            continue
    return None


def nvrtc_version(compiler: CudaCompiler) -> tuple[int, int]:
    """Major and minor version of CUDA to which this NVRTC belongs. OSError if it cannot be loaded."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    ctypes.CDLL(compiler.path).nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def known_architectures(compiler: CudaCompiler) -> tuple[int, ...]:
    """What the compiler compiles for: compute capabilities such as 90, in ascending order."""
    if compiler.kind == "nvcc":
        done = subprocess.run([compiler.path, "--list-gpu-arch"], capture_output=True, text=True, check=False)
        return tuple(sorted(int(found) for found in re.findall(r"compute_(\d+)", done.stdout)))
    nvrtc = ctypes.CDLL(compiler.path)
    count = ctypes.c_int()
    nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    found = (ctypes.c_int * count.value)()
    nvrtc.nvrtcGetSupportedArchs(found)
    return tuple(sorted(found))


def compile_cuda(
    text: str,
    *,
    architecture: str = "sm_90",
    compiler: CudaCompiler | None = None,
    flags: Sequence[str] = IEEE_FLAGS,
    name: str = "kernels.cu",
) -> CudaBinary:
    """Compile `text` (it includes nothing; the prelude is put in front) for `architecture`.

    Raises BuildError when the compiler refuses the text, with its log, when it does not know the architecture, and when
    there is no compiler.
    """
    if compiler is None:
        compilers = find_compilers()
        if not compilers:
            raise BuildError(_NOTHING_FOUND, advice=_ADVICE)
        compiler = compilers[0]
    _check_architecture(compiler, architecture)
    source = with_prelude(text, name)
    options = (*flags, f"--gpu-architecture={architecture}", "--ptxas-options=-v")
    cubin, log, ptx = (_by_nvcc if compiler.kind == "nvcc" else _by_nvrtc)(compiler.path, source, options, name)
    resources = read_resources(log)
    silent = set(re.findall(r"\.entry (\w+)\(", ptx)) - {each.kernel for each in resources}
    if silent:
        raise BuildError(
            f"{compiler.name} compiled kernel {min(silent)} and does not say what registers it needs",
            advice="Report this with the version of NVRTC, which `workbench doctor` shows.",
        )
    return CudaBinary(cubin, log, resources, compiler, ptx)


def with_prelude(text: str, name: str = "kernels.cu") -> str:
    """The text as a device compiler gets it: prelude first, lines still counted from the start of `text`."""
    prelude = PRELUDE.read_text(encoding="utf-8").replace("#pragma once\n", "\n")
    return f'{prelude}\n#line 1 "{name}"\n{text}'


def read_resources(log: str) -> tuple[KernelResources, ...]:
    """Registers, spills and shared memory of every kernel in the output of `ptxas -v`."""
    found = []
    for part in re.split(r"Compiling entry function '", log)[1:]:
        spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", part)
        registers = re.search(r"Used (\d+) registers", part)
        shared = re.search(r"(\d+) bytes smem", part)
        if registers:
            stored, loaded = (int(spills[1]), int(spills[2])) if spills else (0, 0)
            kernel = part.split("'", 1)[0]
            found.append(KernelResources(kernel, int(registers[1]), stored, loaded, int(shared[1]) if shared else 0))
    return tuple(found)


def _check_architecture(compiler: CudaCompiler, architecture: str) -> None:
    known, wanted = known_architectures(compiler), re.fullmatch(r"sm_(\d+)[af]?", architecture)
    if wanted is None or int(wanted[1]) not in known:
        raise BuildError(
            f"{compiler.name} does not compile for {architecture!r}",
            advice=f"Use one of {', '.join(f'sm_{each}' for each in known)}.",
        )


def _by_nvcc(nvcc: str, source: str, options: Sequence[str], name: str) -> tuple[bytes, str, str]:
    with tempfile.TemporaryDirectory(prefix="stencil-nvcc-") as folder:
        file = Path(folder) / name
        file.write_text(source, encoding="utf-8")
        binary = file.with_suffix(".cubin")
        command = [nvcc, "-std=c++17", "-cubin", *options, "-o", str(binary), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        log = done.stdout + done.stderr
        if done.returncode != 0:
            raise _refused("nvcc", log)
        return binary.read_bytes(), log, ""


def _by_nvrtc(library: str, source: str, options: Sequence[str], name: str) -> tuple[bytes, str, str]:
    nvrtc = ctypes.CDLL(library)
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
    program = ctypes.c_void_p()

    def check(code: int) -> None:
        if code:
            raise BuildError(f"NVRTC failed: {nvrtc.nvrtcGetErrorString(code).decode()}", advice=_ADVICE)

    def text_of(size_of: str, content_of: str) -> bytes:
        size = ctypes.c_size_t()
        check(getattr(nvrtc, size_of)(program, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        check(getattr(nvrtc, content_of)(program, buffer))
        return buffer.raw

    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None))
    try:
        forgetful = (_FORGETFUL,) if nvrtc_version(CudaCompiler("nvrtc", library)) >= _KEEPS_SINCE else ()
        encoded = [option.encode() for option in (*_NVRTC_FLAGS, *forgetful, *options)]
        code = nvrtc.nvrtcCompileProgram(program, len(encoded), (ctypes.c_char_p * len(encoded))(*encoded))
        log = text_of("nvrtcGetProgramLogSize", "nvrtcGetProgramLog").rstrip(b"\0").decode("utf-8", "replace")
        if code:
            raise _refused("NVRTC", log or nvrtc.nvrtcGetErrorString(code).decode())
        ptx = text_of("nvrtcGetPTXSize", "nvrtcGetPTX").rstrip(b"\0").decode("utf-8", "replace")
        return text_of("nvrtcGetCUBINSize", "nvrtcGetCUBIN"), log, ptx
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _refused(compiler: str, log: str) -> BuildError:
    return BuildError(
        f"{compiler} refused the generated text:\n{log.strip()}",
        advice="Report this text with the program that made it; another backend may do meanwhile.",
    )


def _nvrtc_libraries() -> Iterator[str]:
    """Paths of libnvrtc: in NVIDIA's wheels, in a toolkit or an environment of conda, last what the loader finds."""
    for wheel in _WHEELS:
        try:
            spec = importlib.util.find_spec(wheel)
        except ModuleNotFoundError:
            continue
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            yield from _in_folder(Path(folder, "lib"))
    for root in (os.environ.get("CUDA_PATH", ""), os.environ.get("CUDA_HOME", ""), "/usr/local/cuda", sys.prefix):
        for name in ("lib64", "lib") if root else ():
            yield from _in_folder(Path(root, name))
    system = ctypes.util.find_library("nvrtc")
    if system:
        yield system


def _in_folder(folder: Path) -> Iterator[str]:
    yield from (str(file) for file in sorted(folder.glob("libnvrtc.so.*"), reverse=True)[:1])


def compile_options(block_size: int, index: str) -> tuple[str, ...]:
    """Flags of `compile_cuda`: IEEE arithmetic, the type of element numbers, and how large blocks may be.

    Registers are shared out for one of two sizes only, so that another block size seldom needs another binary.
    """
    block = _USUAL_BLOCK if block_size <= _USUAL_BLOCK else _LARGEST_BLOCK
    return (*IEEE_FLAGS, f"-DSTENCIL_INDEX={index}", f"-DSTENCIL_BLOCK={block}")
