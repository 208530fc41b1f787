"""The cuda backend in the place of its simulator, `pytest --on-device`: what is proven there is proven on a GPU too."""

import re
from pathlib import Path

from workbench.backends import cuda_sim, registry
from workbench.backends.cuda import CudaBackend

TESTS = Path(__file__).parents[1]
# Of the simulator itself: faults that only it finds, its records, its threads in an order of a seed, its compiler.
OF_THE_SIMULATOR = (
    *("test_cuda_sim", "test_launch_trace", "test_loaded_library", "test_phenotype", "test_registry"),
    *("test_build_choices", "test_names", "test_faults", "test_fuzz", "test_bounds", "test_diamond.py"),
)
# Of pages and views, which show the simulator by its name, and of the tuner, which counts on its speed.
ELSEWHERE = ("browser", "views", "experiments", "notebook", "planning", "tuning", "faults", "bench", "kit")
_NAMED = re.compile(r"cuda-sim|CudaSim|\bWAYS\b|backends_here")


def files():
    """The test files that name the simulator and are no tests of it."""
    found = sorted(TESTS.rglob("test_*.py"))
    return [
        path
        for path in found
        if path.relative_to(TESTS).parts[0] not in ELSEWHERE
        and not path.name.startswith(OF_THE_SIMULATOR)
        and _NAMED.search(path.read_text(encoding="utf-8"))
    ]


class DeviceInItsPlace(CudaBackend):
    """Made with the simulator's arguments."""

    def __init__(self, compiler=None, seed=1):
        super().__init__()


def replace_the_simulator():
    """From now on the name "cuda-sim" and its class stand for the real device."""
    load = registry._load

    def load_device(row):
        return load(registry.row_of("cuda") if row.name == "cuda-sim" else row)

    registry._load = load_device
    cuda_sim.CudaSimBackend = DeviceInItsPlace
