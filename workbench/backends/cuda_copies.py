"""CUDA copies: strided cells between host and device, without temporaries, page-locked memory or a kernel of CuPy.

A copy of strided cells by CuPy's own assignment needs a contiguous one on the device first, as large as the field, and
page-locked memory of the next power of two, which CuPy keeps. The runtime's copies of planes need neither.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.backends.base import Array

LARGEST_PITCH = 2**31 - 1  # bytes between two rows that cudaMemcpy2D takes on every device


class CudaCopies:
    """Copies in one stream of the current device. Cells are arrays of any shape whose last axis is contiguous."""

    def __init__(self, cupy: Any, stream: Any) -> None:  # noqa: ANN401  # CuPy carries no annotations
        self._runtime = cupy.cuda.runtime
        self._stream = stream

    def to_host(self, cells: Any) -> Array:  # noqa: ANN401
        """A fresh C-ordered array with what the cells hold when the stream has come here. Waits."""
        found: Array = np.empty(cells.shape, cells.dtype)
        source, target = (cells.data.ptr, cells.strides), (found.ctypes.data, found.strides)
        self._move(target, source, found.shape, found.itemsize, self._runtime.memcpyDeviceToHost)
        self._stream.synchronize()
        return found

    def from_host(self, cells: Any, values: Array) -> None:  # noqa: ANN401
        """Fill the cells with values of their shape and dtype. Waits, so that the values may change afterwards."""
        given = np.ascontiguousarray(values).reshape(cells.shape)
        source, target = (given.ctypes.data, given.strides), (cells.data.ptr, cells.strides)
        self._move(target, source, given.shape, given.itemsize, self._runtime.memcpyHostToDevice)
        self._stream.synchronize()

    def between(self, cells: Any, others: Any) -> None:  # noqa: ANN401
        """Fill the cells with others of their shape and dtype, on the same device; may return before it is done."""
        source, target = (others.data.ptr, others.strides), (cells.data.ptr, cells.strides)
        self._move(target, source, cells.shape, cells.dtype.itemsize, self._runtime.memcpyDeviceToDevice)

    def _move(
        self,
        target: tuple[int, tuple[int, ...]],
        source: tuple[int, tuple[int, ...]],
        shape: tuple[int, ...],
        itemsize: int,
        kind: int,
    ) -> None:
        """One call a plane, or a row where rows are too far apart for a plane. Strides are in bytes."""
        (to, to_strides), (begin, strides) = target, source
        width = shape[-1] * itemsize
        planes = len(shape) >= 2 and max(to_strides[-2], strides[-2]) <= LARGEST_PITCH
        outer = len(shape) - (2 if planes else 1)
        for index in np.ndindex(*shape[:outer]):
            there = to + sum(i * stride for i, stride in zip(index, to_strides, strict=False))
            here = begin + sum(i * stride for i, stride in zip(index, strides, strict=False))
            if planes:
                rows = (there, to_strides[-2], here, strides[-2], width, shape[-2])
                self._runtime.memcpy2DAsync(*rows, kind, self._stream.ptr)
            else:
                self._runtime.memcpyAsync(there, here, width, kind, self._stream.ptr)


class GlobalsOnHost:
    """The Globals block in page-locked memory, which the device reads and writes without a copy by the driver.

    A copy of few bytes from memory of other kinds takes twice as long as all else that a short call asks for.
    """

    def __init__(self, cupy: Any, stream: Any, cells: Any) -> None:  # noqa: ANN401  # CuPy carries no annotations
        """cells: the block on the device, u64."""
        self._runtime, self._stream = cupy.cuda.runtime, stream
        self._there, self._bytes = int(cells.data.ptr), int(cells.nbytes)
        memory = cupy.cuda.alloc_pinned_memory(2 * self._bytes)
        words = np.frombuffer(memory, np.uint64, 2 * cells.size)
        self._found, self._sent = words[: cells.size], words[cells.size :]
        self._found_at, self._sent_at = self._found.ctypes.data, self._sent.ctypes.data

    def fetch(self) -> Array:
        """The block when the stream has come here; valid until the next fetch. Waits."""
        stream = self._stream
        self._runtime.memcpyAsync(
            self._found_at, self._there, self._bytes, self._runtime.memcpyDeviceToHost, stream.ptr
        )
        stream.synchronize()
        return self._found

    def send(self, index: int, words: Array) -> None:
        """Write words from this one on, when it is their turn; the same words again after a `fetch` or a wait only."""
        self._sent[index : index + len(words)] = words
        self._runtime.memcpyAsync(
            self._there + 8 * index,
            self._sent_at + 8 * index,
            8 * len(words),
            self._runtime.memcpyHostToDevice,
            self._stream.ptr,
        )
