"""CUDA launches: arguments packed once, as the driver takes them; a later launch costs the host one call.

The driver reads each argument through a pointer at the moment of the launch. Those of arrays point to words that all
launches share, one for each array of an instance, so that an array that is lent anew is one word that is written.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from workbench.backends.base import Array
from workbench.backends.launch_sequence import DeviceLaunch


class _Functions(Protocol):
    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  # CuPy carries no annotations
        ...


class PackedLaunch:
    """A launch for one arrangement of the arrays: `head` and `arguments` are what `launchKernel` takes.

    code: as in DeviceLaunch. The words of the arrays, and the functions, must be kept alive beside it.
    """

    __slots__ = ("_alive", "arguments", "code", "head")

    def __init__(self, head: tuple[int, ...], addresses: Array, values: tuple[Array, ...], code: int) -> None:
        self.head, self.arguments, self.code = head, int(addresses.ctypes.data), code
        self._alive = addresses, values


class ArrayWords:
    """Where the arrays of an instance lie on the device, a word each, by kind and number."""

    def __init__(self, groups: dict[str, Sequence[Any]]) -> None:
        """groups: the arrays of CuPy of each kind."""
        cells = [(kind, number, each) for kind, arrays in groups.items() for number, each in enumerate(arrays)]
        self._words = (ctypes.c_uint64 * len(cells))()
        self._places = {(kind, number): place for place, (kind, number, _) in enumerate(cells)}
        for place, (_, _, each) in enumerate(cells):
            self._words[place] = each.data.ptr

    def lie(self, kind: str, number: int, address: int) -> None:
        """The array lies there from now on."""
        self._words[self._places[kind, number]] = address

    def word_of(self, kind: str, number: int) -> int:
        """The address of an array's word."""
        return ctypes.addressof(self._words) + 8 * self._places[kind, number]


def packed(
    launch: DeviceLaunch, functions: _Functions, words: ArrayWords, order: Sequence[int], shapes: Sequence[bytes]
) -> PackedLaunch:
    """A launch ready to be made. order: slot -> number of its array; shapes: of a launch without numbers."""
    given: list[bytes] = [
        struct for struct in (*([] if launch.numbers else shapes), launch.grown, launch.stage) if struct
    ]
    numbers: Array = np.array(launch.numbers, np.int64)
    structs: list[Array] = [np.frombuffer(each, np.uint8) for each in given]
    addresses = [
        words.word_of(each.kind, order[each.index] if each.kind == "slot" else each.index) for each in launch.arrays
    ]
    addresses.append(words.word_of("globals", 0))
    addresses += [numbers.ctypes.data + 8 * k for k in range(len(launch.numbers))]
    addresses += [each.ctypes.data for each in structs]
    head = (functions[launch.kernel].ptr, *(max(each, 1) for each in (*launch.grid, *launch.block)), 0)
    return PackedLaunch(head, np.array(addresses, np.uint64), (numbers, *structs), launch.code)


def launch_all(launches: Sequence[PackedLaunch], launch_kernel: Callable[..., None], stream: int) -> None:
    """Ask for the launches in order, in the stream of this address; returns before they are done."""
    for each in launches:
        launch_kernel(*each.head, stream, each.arguments, 0)
