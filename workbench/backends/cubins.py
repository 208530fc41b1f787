"""Cubins: CUDA texts compiled by NVRTC for a device's architecture, kept in the build cache.

CuPy's own way to NVRTC is not taken: it adds options after the caller's, `-ftz=true` among them, which wins. So what
runs is what `workbench cuda-check` shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from workbench._version import __version__
from workbench.backends.build_cache import BuildCache, Recipe
from workbench.backends.cache_folder import default_cache
from workbench.backends.nvrtc import (
    CudaCompiler,
    KernelResources,
    compile_cuda,
    find_nvrtc,
    known_architectures,
    nvrtc_version,
    read_resources,
    with_prelude,
)
from workbench.errors import BuildError

_WHEELS = {12: "nvidia-cuda-nvrtc-cu12>=12.8,<13", 13: "nvidia-cuda-nvrtc>=13,<14"}


@dataclass(frozen=True, slots=True)
class Cubin:
    """A text compiled for one architecture. `key` names its bits; `seconds` is what compiling took, 0 from the cache.

    `resources` are the figures of ptxas, so that spills are spills and not all local memory.
    """

    key: str
    binary: bytes
    resources: tuple[KernelResources, ...]
    seconds: float
    from_cache: bool


class Cubins:
    """Compiles with the NVRTC that belongs to one major version of CUDA, by default into the user's build cache."""

    def __init__(self, cuda: int, store: BuildCache | None = None) -> None:
        """`cuda` as CuPy was built for, such as 13. BuildError if there is no such NVRTC here."""
        self._compiler = _nvrtc(cuda)
        self._store = store
        self.version = nvrtc_version(self._compiler)

    def architecture(self, capability: int) -> str:
        """The architecture to compile for, so that a device of this compute capability, such as 90, loads the cubin.

        Cubins run on devices of the same major and no smaller minor capability. BuildError if NVRTC knows none.
        """
        known = known_architectures(self._compiler)
        fitting = [each for each in known if each // 10 == capability // 10 and each <= capability]
        if fitting:
            return f"sm_{fitting[-1]}"
        version = ".".join(map(str, self.version))
        raise BuildError(
            f"NVRTC {version} does not compile for this device's architecture, sm_{capability}",
            advice="Install the extra cuda12, whose NVRTC knows older devices: pip install 'stencil-workbench[cuda12]'."
            if capability < known[0]
            else "Install a newer NVRTC: pip install --upgrade 'stencil-workbench[cuda]'.",
        )

    def obtain(self, name: str, text: str, architecture: str, flags: tuple[str, ...]) -> Cubin:
        """The cubin of a text, compiled now unless it was before. BuildError if NVRTC refuses it, with its log."""
        store = self._store or default_cache()
        version = ".".join(map(str, self.version))
        recipe = Recipe(name, with_prelude(text), flags, f"NVRTC {version}", architecture, __version__, ".cubin")
        compiled: list[bytes] = []

        def make() -> tuple[bytes, str]:
            made = compile_cuda(text, architecture=architecture, compiler=self._compiler, flags=flags)
            compiled.append(made.cubin)
            return made.cubin, made.log

        entry = store.obtain(recipe, make)
        binary = compiled[0] if compiled else _content(store, recipe.key) or make()[0]
        seconds = 0.0 if entry.from_cache else entry.seconds
        return Cubin(entry.key, binary, read_resources(entry.report), seconds, entry.from_cache)


def _content(store: BuildCache, key: str) -> bytes:
    """The bytes of an entry; none if the cache was cleared meanwhile."""
    found = store.find(key)
    try:
        return found.path.read_bytes() if found else b""
    except OSError:
        return b""


@cache
def _nvrtc(cuda: int) -> CudaCompiler:
    found = find_nvrtc(cuda)
    if found is None:
        wheel = _WHEELS.get(cuda)
        raise BuildError(
            f"NVRTC, the compiler of CUDA {cuda}, was not found",
            advice=f"Type: pip install '{wheel}'." if wheel else f"Install the toolkit of CUDA {cuda}.",
        )
    return found
