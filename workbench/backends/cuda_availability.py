"""CUDA availability: what keeps CuPy from a device, each part with its own advice."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from workbench.backends.base import Availability
from workbench.backends.cuda_errors import first_line

WHEELS = ("cupy-cuda12x", "cupy-cuda13x")
_BROKEN_DRIVER = (
    "Type nvidia-smi: where it fails too, the machine's driver has to be mended. "
    "After an update of the driver, restart the machine."
)
_NO_DEVICE = 100  # cudaErrorNoDevice


def obstacle(cupy: Any) -> Availability | None:  # noqa: ANN401  # the module cupy
    """What is missing, or None where CuPy finds a device. Raises what CuPy raises for reasons unknown here."""
    runtime = cupy.cuda.runtime
    driver, wanted = int(runtime.driverGetVersion()), int(runtime.runtimeGetVersion())
    if driver == 0:
        return Availability(False, "there is no NVIDIA driver", "Install an NVIDIA driver, on a machine with its GPU.")
    if driver < wanted // 1000 * 1000:
        return _old_driver(driver, wanted // 1000)
    try:
        runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        if error.status != _NO_DEVICE:
            return Availability(False, f"the NVIDIA driver fails: {first_line(error)}", _BROKEN_DRIVER)
        hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
        return Availability(
            False,
            "there is no CUDA device" + (f" in CUDA_VISIBLE_DEVICES={hidden!r}" if hidden is not None else ""),
            "Name one in CUDA_VISIBLE_DEVICES." if hidden is not None else "Use a machine with an NVIDIA GPU.",
        )
    return None


def wheels_in_conflict() -> str:
    """How to mend two CuPy wheels of which each overwrites the other; "" if there is at most one."""
    if len([name for name in WHEELS if _is_installed(name)]) < 2:
        return ""
    return (
        f"{' and '.join(WHEELS)} overwrite each other: pip uninstall {' '.join(WHEELS)}, "
        "then install one extra, cuda or cuda12"
    )


def _old_driver(driver: int, cuda: int) -> Availability:
    """As CUDA's versions are numbered: 1000 * major + 10 * minor."""
    advice = "Install a newer NVIDIA driver."
    if driver // 1000 == 12:
        advice = (
            "Install the extra cuda12 in place of cuda: pip uninstall cupy-cuda13x, "
            "then pip install 'stencil-workbench[cuda12]'; or a newer driver."
        )
    known = f"{driver // 1000}.{driver % 1000 // 10}"
    return Availability(False, f"the NVIDIA driver knows CUDA {known} at most, and this CuPy needs {cuda}", advice)


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True
