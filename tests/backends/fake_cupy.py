"""A stand-in for the module cupy: arrays are NumPy's, kernels run on the simulator, streams and graphs keep a log."""

import re
from types import SimpleNamespace

import numpy as np

from workbench.backends.compile_pool import build
from workbench.backends.simulated_device import (
    ArrayArgument,
    LaunchShape,
    SimulatedDevice,
    ValueArgument,
    simulator_source,
)

_KERNEL = re.compile(r'extern "C" __global__ void __launch_bounds__\(\w+\) (\w+)\(')


class FakeGraph:
    def __init__(self, fake, launches):
        self.fake, self.launches = fake, launches

    def launch(self, stream):
        assert not stream.captured
        self.fake.log.append("graph")
        for run in self.launches:
            run()


class FakeStream:
    def __init__(self, fake):
        self.fake, self.captured = fake, None

    def __enter__(self):
        self.fake.streams.append(self)
        return self

    def __exit__(self, *_):
        self.fake.streams.pop()

    def begin_capture(self):
        assert self.captured is None
        self.captured = []

    def end_capture(self):
        launches, self.captured = self.captured, None
        self.fake.log.append("capture")
        return FakeGraph(self.fake, launches)

    def synchronize(self):
        assert self.captured is None
        self.fake.log.append("synchronize")


class FakeDevice:
    id = 0
    compute_capability = "90"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class FakeModule:
    """Builds the text for the simulator; a text with the word `refused` does not compile."""

    def __init__(self, fake, code, options):
        self.fake = fake
        fake.modules.append((code, options))
        if fake.refuses:
            raise fake.cuda.compiler.CompileException("kernels.cu(7): error")
        names = _KERNEL.findall(code)
        flags = ("-O1", *(option for option in options if option.startswith("-D")))
        self.device = SimulatedDevice(
            build([simulator_source("fake", code, dict.fromkeys(names, True), flags)])[0].path
        )

    def get_function(self, name):
        launch = self.launcher(name)
        launch.ptr = name
        return launch

    def launcher(self, name):
        def launch(grid, block, arguments):
            assert self.fake.streams, "launched outside of the instance's stream"
            stream = self.fake.streams[-1]
            run = lambda: self.run(name, grid, block, arguments)  # noqa: E731
            if stream.captured is not None:
                stream.captured.append(run)
            else:
                self.fake.log.append(name)
                run()

        return launch

    def run(self, name, grid, block, arguments):
        passed = []
        for number, argument in enumerate(arguments):
            if isinstance(argument, np.ndarray) and argument.dtype.fields is None:
                passed.append(ArrayArgument(f"argument{number}", argument))
            else:
                assert argument.size == 1, "CuPy passes arrays of one element by value, and refuses others"
                passed.append(ValueArgument(f"argument{number}", argument.tobytes()))
        assert self.device.launch(name, LaunchShape(grid, block, seed=3), passed) == 0, self.device.faults()


class FakeEvent:
    """Notes how many entries the log had; a millisecond an entry."""

    def __init__(self, fake):
        self.fake = fake

    def record(self, stream):
        assert stream.captured is None
        self.at = len(self.fake.log)


class FakeCupy:
    """What backends/cuda.py uses of CuPy."""

    def __init__(self, devices=1, room=1 << 30):
        self.log, self.modules, self.streams, self.refuses, self.room = [], [], [], False, room
        self.lib, self.asarray = np.lib, np.asarray
        errors = {name: type(name, (Exception,), {}) for name in ("memory", "runtime", "driver", "compiler")}
        self.cuda = SimpleNamespace(
            Device=FakeDevice,
            Stream=lambda: FakeStream(self),
            memory=SimpleNamespace(OutOfMemoryError=errors["memory"]),
            runtime=SimpleNamespace(CUDARuntimeError=errors["runtime"], getDeviceCount=lambda: devices),
            driver=SimpleNamespace(
                CUDADriverError=errors["driver"],
                funcGetAttribute=lambda attribute, name: {4: 40, 3: 16, 1: 256}[attribute],
            ),
            Event=lambda: FakeEvent(self),
            get_elapsed_time=lambda first, last: float(last.at - first.at),
            nvrtc=SimpleNamespace(getVersion=lambda: (12, 9)),
            compiler=SimpleNamespace(CompileException=errors["compiler"]),
        )

    def zeros(self, count, dtype):
        self.room -= count * np.dtype(dtype).itemsize
        if self.room < 0:
            raise self.cuda.memory.OutOfMemoryError("out of memory")
        return np.zeros(count, dtype)

    def asnumpy(self, cells):
        assert self.streams
        return np.array(cells)

    def RawModule(self, *, code, options, backend):
        assert backend == "nvrtc"
        return FakeModule(self, code, options)
