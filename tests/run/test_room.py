"""Room: where an allocation fails, what waits for later calls is freed and the call tries again, or says what to do."""

import subprocess
import sys

import numpy as np
import pytest

import workbench as wb
from tests.kit.bits import assert_same_bits
from workbench.backends.device_instance import DeviceInstance
from workbench.backends.openmp import OpenmpInstance
from workbench.errors import BackendError, NoRoomError, ShapeError
from workbench.run import calling

INSTANCES = [("openmp", OpenmpInstance), ("cuda-sim", DeviceInstance)]


def lines(x):
    return np.cumsum(np.cumsum(x, axis=0), axis=1) * 2.0


@pytest.fixture
def failing(monkeypatch):
    """Let as many allocations of a kind of instance fail as `left` says."""

    def of(kind, failures):
        left, begun = [failures], kind.__init__

        def create(self, *arguments, **options):
            if left[0]:
                left[0] -= 1
                raise MemoryError("Unable to allocate 1 TiB")
            begun(self, *arguments, **options)

        monkeypatch.setattr(kind, "__init__", create)

    return of


@pytest.mark.parametrize(("backend", "kind"), INSTANCES)
def test_a_failed_allocation_takes_what_waits_and_tries_again(failing, backend, kind):
    program, other = wb.collective(lines), wb.collective(lambda x: np.sum(lines(x)))
    small, large = np.ones((3, 4)), np.arange(30.0).reshape(5, 6)
    for each in (program, other):
        each(small, backend=backend)
    waiting = [prepared for each in (program, other) for prepared in each._prepared.values()]
    assert all(prepared._idle for prepared in waiting)
    failing(kind, 1)
    assert_same_bits(program(large, backend=backend), lines(large))
    assert not any(prepared._idle for prepared in waiting)
    assert_same_bits(program(small, backend=backend), lines(small))


@pytest.mark.parametrize(("backend", "kind"), INSTANCES)
def test_an_allocation_that_fails_again_is_an_error_after_which_all_goes_on(failing, backend, kind):
    program, x = wb.collective(lines), np.ones((3, 4))
    failing(kind, 2)
    message = r"no memory for a call of lines with the axes \(3, 4\): Unable to allocate 1 TiB"
    with pytest.raises(NoRoomError, match=message) as caught:
        program(x, backend=backend)
    assert isinstance(caught.value, ShapeError | BackendError)
    assert str(caught.value).endswith("Give smaller arrays or float32, or close other programs.")
    assert_same_bits(program(x, backend=backend), lines(x))


def test_memory_of_called_cells_is_given_up_too(failing):
    cell = wb.trace('xs = array("xs", "n")\noutput("twice", 2 * xs)', name="doubled")
    cell(xs=np.ones(3), backend="openmp")
    assert calling._instances
    failing(OpenmpInstance, 1)
    assert wb.collective(lambda x: x + 1)(np.ones(2), backend="openmp").tolist() == [2.0, 2.0]
    assert not calling._instances


LIMITED = """
import resource
import numpy as np
import workbench as wb
table = wb.collective(backend="openmp", threads=1)(lambda x: x[:, None] * x[None, :])
table(np.ones(3))
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**27,) * 2)
try:
    table(np.ones(10_000))  # 800 MB
except wb.errors.NoRoomError as error:
    print(error)
print(table(np.ones(500)).sum())
"""


@pytest.mark.proof
def test_a_limit_of_the_system_ends_a_call_and_not_the_process():
    run = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=120, check=True)
    assert "no memory for results, float64 of shape (10000, 10000)" in run.stdout
    assert run.stdout.splitlines()[-1] == "250000.0"
