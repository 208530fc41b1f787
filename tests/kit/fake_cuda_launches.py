"""Modules, kernels and launches of the stand-in for CuPy; kernels run on the simulator."""

import ctypes
import json

import numpy as np

from tests.kit.fake_cubins import KERNELS, parameters_of
from tests.kit.fake_cuda_errors import CUDADriverError
from workbench.backends.compile_pool import build
from workbench.backends.nvrtc import with_prelude
from workbench.backends.simulated_device import (
    ArrayArgument,
    LaunchShape,
    SimulatedDevice,
    ValueArgument,
    simulator_source,
)

LAUNCH, KERNEL = 2.5, 1.0  # ms: the host's for a launch or event, the device's for a kernel


class FakeFunction:
    """A kernel of a module: `ptr` is what the driver knows it by."""

    def __init__(self, module, name, parameters):
        self.module, self.name, self.parameters, self.ptr = module, name, parameters, next(module.fake.names)
        module.fake.functions[self.ptr] = self

    def run(self, grid, block, passed):
        device = self.module.device
        assert device.launch(self.name, LaunchShape(grid, block, seed=3), passed) == 0, device.faults()


class FakeDriver:
    """Launches as CUDA's driver does: arguments by pointers, read at once; the thread must have a context."""

    CUDADriverError = CUDADriverError

    def __init__(self, fake):
        self.fake = fake

    def launchKernel(
        self,
        f,
        grid_dim_x,
        grid_dim_y,
        grid_dim_z,
        block_dim_x,
        block_dim_y,
        block_dim_z,
        shared_mem_bytes,
        stream,
        kernel_params,
        extra,
    ):
        fake, function = self.fake, self.fake.functions[f]
        into = next(s for s in fake.all_streams if s.ptr == stream)
        assert into is not fake.null, "launched outside of the instance's stream"
        if fake.current not in fake.contexts:
            raise CUDADriverError(201)
        if function.module.on != fake.current:
            raise CUDADriverError(400)
        assert (shared_mem_bytes, extra) == (0, 0)
        if into.captured is None:
            fake.log.append(function.name)
        addresses = (ctypes.c_uint64 * len(function.parameters)).from_address(kernel_params)
        passed = [self.argument(*each) for each in zip(function.parameters, addresses, strict=True)]
        grid, block = (grid_dim_x, grid_dim_y, grid_dim_z), (block_dim_x, block_dim_y, block_dim_z)
        into.submit(lambda: function.run(grid, block, [each() for each in passed]), KERNEL, LAUNCH)

    def argument(self, parameter, address):
        """What gives the argument when the kernel runs: of an array its memory up to the end, if it is still there."""
        if not parameter.is_array:
            value = ValueArgument(parameter.name, ctypes.string_at(address, parameter.size))
            return lambda: value
        begin = ctypes.c_uint64.from_address(address).value

        def found():
            if not begin:
                return ArrayArgument(parameter.name, np.zeros(0, np.uint8))
            rest = [start + n - begin for start, n in self.fake.allocated.items() if start <= begin < start + n]
            assert rest, f"{parameter.name} of a kernel lies in no array"
            cells = np.frombuffer((ctypes.c_uint8 * rest[0]).from_address(begin), np.uint8)
            return ArrayArgument(parameter.name, cells[: rest[0] - rest[0] % parameter.size].view(f"V{parameter.size}"))

        return found


class FakeModule:
    """Builds the text in a stand-in's cubin for the simulator. Unloads itself, of which CuPy can only warn."""

    def __init__(self, fake):
        self.fake, self.on, self.loaded = fake, fake.current, False

    def __del__(self):
        fake = self.fake
        if self.loaded:
            able = self.on == fake.current and self.on in fake.contexts and not fake.status
            able &= all(stream.captured is None for stream in fake.all_streams)
            (fake.unloaded if able else fake.warned).append(self.on)

    def load(self, cubin):
        self.fake.check()
        self.fake.contexts.add(self.on)
        self.loaded = True
        self.fake.loaded.append(self.on)
        text, flags = json.loads(cubin)
        names = KERNELS.findall(text)
        self.parameters = {name: parameters_of(text, name) for name in names}
        defined = ("-O1", *(flag for flag in flags if flag.startswith("-D")))
        unit = simulator_source("fake", with_prelude(text), dict.fromkeys(names, True), defined)
        self.device = SimulatedDevice(build([unit])[0].path)

    def get_function(self, name):
        return FakeFunction(self, name, self.parameters[name])
