"""The hand-written kernels of the simulator's tests, their library, and arguments for them."""

import struct
from pathlib import Path

import numpy as np

from workbench.backends.compile_pool import build
from workbench.backends.simulated_device import ArrayArgument, ValueArgument, simulator_source

TEXT = (Path(__file__).parent / "simulator_kernels.cu").read_text(encoding="utf-8")
WITH_BARRIER = (
    *("tiled", "warp_sum", "block_sum", "warp_facts", "warp_exchange", "races_in_block", "diverges", "leaves_early"),
    *("reads_stale_shared", "splits_warp", "shuffles_from_nobody", "takes_everything"),
)
PLAIN = (
    *("copy", "histogram", "expressions", "record_block", "reads_outside", "writes_outside", "races_between_blocks"),
    *("forgets_declaration", "wrong_everywhere"),
)


KERNELS = {**dict.fromkeys(WITH_BARRIER, True), **dict.fromkeys(PLAIN, False)}
FIBERS = {"native": (), "ucontext": ("-DSTENCIL_SIM_UCONTEXT",)}  # our own switch, and that of the C library


def kernel_library(fibers):
    """The built library; warnings in the headers or kernels are errors."""
    flags = ("-Wall", "-Wextra", "-Werror")
    return build([simulator_source("simulator_kernels", TEXT, KERNELS, flags, (*flags, *FIBERS[fibers]))])[0].path


def shape_bytes(nx, ny=1, stride=0):
    return ValueArgument("shape", struct.pack("qqq", nx, ny, stride))


def integer(name, value):
    return ValueArgument(name, struct.pack("i", value))


def scale_argument(value):
    return ArrayArgument("globals", np.array([value]).view(np.uint64))


def line_of(kernel, mark):
    """The line, inside the text of `kernel`, that ends in the comment `mark`."""
    lines = TEXT.splitlines()
    start = next(n for n, line in enumerate(lines) if f"void {kernel}(" in line)
    return next(n + 1 for n in range(start, len(lines)) if lines[n].endswith(f"// {mark}"))


def one_fault(device):
    faults = device.faults()
    assert len(faults) == 1, [fault["message"] for fault in faults]
    return faults[0]
