"""CUDA errors: what CuPy and CUDA raise, as errors of ours with advice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from workbench.errors import BackendError, NoRoomError, StencilError

INSTALL = (
    "Install the extra cuda (pip install 'stencil-workbench[cuda]'; with a driver for CUDA 12: [cuda12]) "
    "on a machine with an NVIDIA GPU."
)
REINSTALL = (
    "Install it anew: pip install --force-reinstall 'stencil-workbench[cuda]' (with a driver for CUDA 12: [cuda12]); "
    "python -c 'import cupy' says more."
)
RESTART = "Restart the Python process: after such an error no CUDA call of a process works."
_SIMULATE = "Run the same on the backend cuda-sim, which names the line."
# After these errors of a kernel (bad address or instruction, time limit, ...; cudaError_t) all calls of a process fail.
_LASTING = frozenset({214, 700, 702, 710, *range(714, 720)})


class CudaErrors:
    """Turns errors of the module cupy into ours, and remembers one after which nothing works any more."""

    def __init__(self) -> None:
        self.lasting = ""

    @contextmanager
    def as_ours(self, cupy: Any, what: str, *, advice: str = _SIMULATE, memory: str = "") -> Iterator[None]:  # noqa: ANN401  # the module cupy
        """BackendError in place of what CuPy raises. `what` failed, such as "the CUDA device"; `memory`: for whom."""
        try:
            yield
        except Exception as error:
            ours = self.in_our_words(cupy, error, what, advice=advice, memory=memory)
            if ours is None:
                raise
            raise ours from error

    def in_our_words(
        self,
        cupy: Any,  # noqa: ANN401  # the module cupy
        error: BaseException,
        what: str,
        *,
        advice: str = _SIMULATE,
        memory: str = "",
    ) -> StencilError | None:
        """The error to raise from one of CuPy, as in `as_ours`; None for one that is not CuPy's. Notes what lasts."""
        if isinstance(error, StencilError):
            return None
        if isinstance(error, cupy.cuda.memory.OutOfMemoryError):
            return NoRoomError(
                f"the device has no memory{memory}: {first_line(error)}",
                advice="Use smaller extents or float32, or close other simulations.",
            )
        if not isinstance(error, (RuntimeError, OSError, ImportError, cupy.cuda.compiler.CompileException)):
            return None
        # CUDA's own errors and missing libraries are RuntimeErrors.
        lasting = getattr(error, "status", 0) in _LASTING
        if lasting:
            self.lasting = first_line(error)
        return BackendError(f"{what} failed: {first_line(error)}", advice=f"{RESTART} {advice}" if lasting else advice)


def first_line(error: BaseException) -> str:
    """What an error says, without what follows at length; CuPy frames some of its texts with lines of signs."""
    said = (line.strip() for line in str(error).splitlines())
    return next((line for line in said if any(map(str.isalnum, line))), type(error).__name__)
