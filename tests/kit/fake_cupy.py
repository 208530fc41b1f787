"""A stand-in for the module cupy: as strict and as lazy as CUDA is, kernels run on the simulator.

Work waits in its stream until somebody waits for it, or until a seeded coin says so; streams know nothing of each other
but the default stream. Arrays are no NumPy arrays. `test_real_cupy.py` compares the names with the real module's.
"""

import ctypes
import itertools
import random
import threading
import weakref
from types import SimpleNamespace

import numpy as np

from tests.kit.fake_cubins import FakeCubins
from tests.kit.fake_cuda_errors import CompileException, CUDARuntimeError, OutOfMemoryError
from tests.kit.fake_cuda_launches import KERNEL, FakeDriver, FakeModule
from tests.kit.fake_cuda_streams import FakeEvent, FakeStream

FILL = 0.1  # ms of the host for a fill; of the device as for a kernel


class FakeArray:
    """Cells on the device: NumPy gets at them by `get` alone, as of CuPy's."""

    def __init__(self, fake, cells):
        self.fake, self.cells = fake, cells
        self.data = SimpleNamespace(ptr=cells.ctypes.data)
        self.device, self.flags = FakeDevice(fake), SimpleNamespace(c_contiguous=cells.flags.c_contiguous)

    ndim = property(lambda self: self.cells.ndim)
    __cuda_array_interface__ = property(lambda self: {"shape": self.shape, "typestr": self.dtype.str, "version": 3})
    shape = property(lambda self: self.cells.shape)
    strides = property(lambda self: self.cells.strides)
    dtype = property(lambda self: self.cells.dtype)
    nbytes = property(lambda self: self.cells.nbytes)
    size = property(lambda self: self.cells.size)

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")

    def __getitem__(self, key):
        return FakeArray(self.fake, self.cells[key, ...] if isinstance(key, int) else self.cells[key])

    def __setitem__(self, key, value):
        assert np.isscalar(value), "CuPy takes no arrays of NumPy here"
        self.fake.stream.submit(lambda: self.cells.__setitem__(key, value))

    def view(self, dtype):
        return FakeArray(self.fake, self.cells.view(dtype))

    def reshape(self, *shape):
        return FakeArray(self.fake, self.cells.reshape(*shape))

    def copy(self):
        made = self.fake.empty(self.shape, self.dtype)
        self.fake.stream.submit(lambda: np.copyto(made.cells, self.cells))
        return made

    def get(self):
        self.fake.stream.submit(lambda: None)
        self.fake.stream.synchronize()
        return self.cells.copy()


class FakeDevice:
    def __init__(self, fake, number=None):
        self.fake, self.id = fake, fake.current if number is None else number
        self.compute_capability = fake.capability

    def use(self):
        self.fake.local.device = self.id

    def __enter__(self):
        self.fake.before.append(self.fake.current)
        self.use()
        return self

    def __exit__(self, *_):
        self.fake.local.device = self.fake.before.pop()


class FakePool:
    """Freed arrays stay here, of no use to others, until `free_all_blocks`."""

    def __init__(self, fake):
        self.fake, self.free = fake, 0

    def free_all_blocks(self, stream=None):
        for each in self.fake.all_streams:  # cudaFree waits for the device
            if each.last:
                each.last.run()
        self.fake.room, self.free = self.fake.room + self.free, 0

    def free_bytes(self):
        return self.free

    def given_back(self, count):
        self.free += count


class FakeRuntime:
    memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice = 1, 2, 3
    CUDARuntimeError = CUDARuntimeError

    def __init__(self, fake):
        self.fake = fake

    def driverGetVersion(self):
        return self.fake.driver

    def runtimeGetVersion(self):
        return 13020

    def getDeviceCount(self):
        if not self.fake.devices:
            raise CUDARuntimeError(100)
        return self.fake.devices

    def getDeviceProperties(self, device):
        return {"name": f"device {device}".encode()}

    def memGetInfo(self):
        self.fake.check()
        self.fake.contexts.add(self.fake.current)
        return self.fake.room, 1 << 30

    def memcpyAsync(self, dst, src, size, kind, stream):
        self.memcpy2DAsync(dst, size, src, size, size, 1, kind, stream)

    def memcpy2DAsync(self, dst, dpitch, src, spitch, width, height, kind, stream):
        fake = self.fake
        into, out_of = fake.holds(dst, dpitch * (height - 1) + width), fake.holds(src, spitch * (height - 1) + width)
        assert (into, out_of) == {1: (True, False), 2: (False, True), 3: (True, True)}[kind]
        assert width <= min(dpitch, spitch) or height == 1
        stream = next(s for s in fake.all_streams if s.ptr == stream)
        if stream.captured is not None:
            raise CUDARuntimeError(900)
        fake.log.append({1: "to device", 2: "to host", 3: "on device"}[kind])
        rows = [(dst + row * dpitch, src + row * spitch) for row in range(height)]
        host = (src, spitch) if kind == 1 else (dst, dpitch)
        locked = kind != 3 and fake.is_locked(host[0], host[1] * (height - 1) + width)
        if kind == 1 and not locked:  # CUDA keeps a copy of memory that is not page-locked
            staged = [(to, ctypes.string_at(begin, width)) for to, begin in rows]
            stream.submit(lambda: [ctypes.memmove(to, cells, width) for to, cells in staged])
        else:
            stream.submit(lambda: [ctypes.memmove(to, begin, width) for to, begin in rows])
        if kind == 2 and not locked:
            stream.last.run()

    def memsetAsync(self, ptr, value, size, stream):
        assert self.fake.holds(ptr, size)
        next(s for s in self.fake.all_streams if s.ptr == stream).submit(lambda: None, KERNEL, FILL)


class FakeCupy:
    """What the cuda backend uses of CuPy."""

    def __init__(self, devices=1, room=1 << 30, seed=0):
        self.log, self.compiled, self.before, self.refuses, self.room = [], {}, [], False, room
        self.devices, self.driver, self.capability, self.nvrtc, self.status = devices, 13020, "90", True, 0
        self.random, self.host, self.all_streams, self.local = random.Random(seed), 0.0, [], threading.local()
        self.allocated, self.pool, self.null = {}, FakePool(self), None
        self.locked, self.names = {}, itertools.count(7000)  # page-locked memory of the host
        self.functions = weakref.WeakValueDictionary()  # by what the driver calls them
        self.loaded, self.unloaded, self.warned = [], [], []  # devices of modules; the last: unloading failed
        self.null = FakeStream(self, null=True)
        self.lib = SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=self.as_strided))
        self.cuda = SimpleNamespace(
            Device=lambda number=None: FakeDevice(self, number),
            Stream=lambda **options: FakeStream(self, **options),
            get_current_stream=lambda: self.stream,
            Module=lambda: FakeModule(self),
            memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            runtime=FakeRuntime(self),
            driver=FakeDriver(self),
            alloc_pinned_memory=self.alloc_pinned_memory,
            Event=lambda **options: FakeEvent(self, **options),
            get_elapsed_time=lambda first, last: last.at - first.at,
            compiler=SimpleNamespace(CompileException=CompileException),
        )

    current = property(lambda self: getattr(self.local, "device", 0))

    @property
    def contexts(self):
        """The devices with which this thread has had to do."""
        return self.local.__dict__.setdefault("contexts", set())

    @property
    def stack(self):
        self.local.__dict__.setdefault("streams", [])
        return self.local.streams

    @property
    def stream(self):
        return self.stack[-1] if self.stack else self.null

    def cubins(self, cuda):
        return FakeCubins(self, cuda)

    def check(self):
        """An error that lasts comes again and again."""
        if self.status:
            raise CUDARuntimeError(self.status)

    def holds(self, begin, size):
        """Whether all of this memory is the device's; half of it may not be."""
        found = [start for start, count in self.allocated.items() if start <= begin and begin + size <= start + count]
        assert found or not any(s < begin + size and begin < s + n for s, n in self.allocated.items())
        return bool(found)

    def empty(self, shape, dtype):
        cells = np.full(shape, 0x5A, dtype)
        self.check()
        self.contexts.add(self.current)
        if cells.nbytes > self.room:
            raise OutOfMemoryError(f"Out of memory allocating {cells.nbytes} bytes")
        self.room -= cells.nbytes
        self.allocated[cells.ctypes.data] = cells.nbytes
        weakref.finalize(cells, self.freed, cells.ctypes.data, cells.nbytes)
        return FakeArray(self, cells)

    def alloc_pinned_memory(self, size):
        self.check()
        cells = np.full(size, 0x5A, np.uint8)
        self.locked[cells.ctypes.data] = size
        weakref.finalize(cells, self.locked.pop, cells.ctypes.data)
        return cells.data

    def is_locked(self, begin, size):
        return any(start <= begin and begin + size <= start + count for start, count in self.locked.items())

    def freed(self, begin, count):
        self.allocated.pop(begin, None)
        self.pool.given_back(count)

    def zeros(self, shape, dtype):
        made = self.empty(shape, dtype)
        self.stream.submit(lambda cells=made.cells: cells.fill(0))
        return made

    def asarray(self, cells):
        made, given = self.empty(cells.shape, cells.dtype), cells.copy()
        self.stream.submit(lambda: made.cells.__setitem__(..., given))
        return made

    def as_strided(self, cells, shape, strides):
        return FakeArray(self, np.lib.stride_tricks.as_strided(cells.cells, shape, strides))

    def asnumpy(self, cells):
        return cells.get()

    def get_default_memory_pool(self):
        return self.pool
