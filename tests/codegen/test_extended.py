"""The text of double-double arithmetic, compiled for host and simulated device: the bits of the reference."""

import ctypes
import re
from dataclasses import replace

import numpy as np
import pytest

from tests.kit.bits import assert_same_bits
from tests.kit.double_doubles import combine, numbers, pairs
from tests.kit.simulator_kernels import integer as simulated_integer
from workbench.backends import nvrtc
from workbench.backends.compile_pool import Unit, build
from workbench.backends.simulated_device import ArrayArgument, LaunchShape, SimulatedDevice, simulator_source
from workbench.backends.vectorisation import inner_loops
from workbench.codegen.cpp.headers import openmp_headers
from workbench.codegen.cuda.render import cuda_headers, inlined
from workbench.codegen.rendering import template_text
from workbench.codegen.runtime.extended import (
    FUNCTIONS_HEADER,
    HEADER,
    SUMS_HEADER,
    extended_header,
    functions_header,
)
from workbench.codegen.source import Source as Generated
from workbench.codegen.spelling import (
    CPP,
    CUDA,
    SUM,
    Text,
    cast_from_dd,
    cast_to_dd,
    function_name,
    literal,
    spell,
    type_name,
)
from workbench.graph.extended import from_scalar, sequences, to_scalar
from workbench.graph.extended_functions import function_sequences
from workbench.graph.extended_numbers import DoubleDouble, join
from workbench.graph.reduction import reduce_canonically, tree
from workbench.graph.sequences import apply
from workbench.graph.types import BOOL, DD, F32, I8, TYPES

CALLS = {
    **{function_name(name): sequence for name, sequence in sequences().items() if name != "fma"},  # two of them
    **{function_name(name): sequence for name, sequence in function_sequences().items()},
    **{cast_to_dd(t): from_scalar(t) for t in TYPES},
    **{cast_from_dd(t): to_scalar(t) for t in TYPES},
}
COPIES = {"dd_from_f64", "f64_from_dd"}  # gcc calls memcpy
FROM_BOOLS = {"dd_from_bool", "dd_select"}  # gcc 12 reads no array of bools beside one of doubles
TO_64_BITS = {"i64_from_dd", "u64_from_dd"}  # gcc 12 keeps the branches of saturated<int64_t>
FROM_64_BITS = {"dd_from_i64", "dd_from_u64"}  # a vector instruction of AVX-512 only
DEVICE_PAIRS = 400  # a simulated cell takes 0.1 ms


def loop_body(name, sequence):
    """What a cell does: reads components p0, p1, ..., calls, writes components r0, r1, ..."""
    names, arguments = [p.name for p in sequence.parameters], []
    for k, parameter in enumerate(names):
        if parameter.endswith("_hi"):
            arguments.append(f"dd{{p{k}[i], p{k + 1}[i]}}")
        elif not parameter.endswith("_lo"):
            arguments.append(f"p{k}[i]")
    call = f"{name}({', '.join(arguments)})"
    if len(sequence.results) == 1:
        return f"r0[i] = {call};"
    return f"const double hi = {call}.hi, lo = {call}.lo; r0[i] = hi; r1[i] = lo;"


def declared(sequence, pointer):
    results = [sequence.nodes[i].value_type for i in sequence.results]
    given = [(f"p{k}", p.type, "const ") for k, p in enumerate(sequence.parameters)]
    return ", ".join(
        pointer.format(f"{constant}{type_name(t)}", name)
        for name, t, constant in [*((f"r{k}", t, "") for k, t in enumerate(results)), *given]
    )


def host_text():
    """Loops as generated text has them. No struct has a name in them, because what is declared in a loop of OpenMP is
    kept for each lane, a struct in memory; the two calls become one."""
    parts = [f'#include "{FUNCTIONS_HEADER}"\nusing namespace stencil;\n']
    for name, sequence in CALLS.items():
        parameters = declared(sequence, "{}* __restrict {}")
        parts.append(
            f'extern "C" __attribute__((visibility("default"))) void run_{name}(int64_t n, {parameters}) {{\n'
            "#pragma omp simd\n"
            "    for (int64_t i = 0; i < n; ++i) {\n"
            f"        {loop_body(name, sequence)}\n"
            "    }\n"
            "}\n"
        )
    return "\n".join(parts)


def device_text():
    parts = [f'#include "stencil_cuda.h"\n#include "{FUNCTIONS_HEADER}"\nusing namespace stencil;\n']
    for name, sequence in CALLS.items():
        parts.append(
            f'extern "C" __global__ void run_{name}(int n, {declared(sequence, "stencil::array<{}> {}")}) {{\n'
            "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
            f"    if (i < n) {{ {loop_body(name, sequence)} }}\n"
            "}\n"
        )
    return "\n".join(parts)


def arguments(name, sequence, count):
    """Random numbers of all magnitudes and all pairs of special ones, as arrays of the parameters' types."""
    rng = np.random.default_rng(len(name))
    if name == "dd_select":
        a, b = pairs(rng, "less", count)
        return (rng.random(count) < 0.5, *a, *b)
    if [p.name for p in sequence.parameters] == ["x"]:
        type_ = sequence.parameters[0].type
        random_bits = rng.integers(0, 256, (count, type_.itemsize), np.uint8)
        return ((random_bits.view(type_.numpy).ravel() if type_.name != "bool" else random_bits[:, 0] > 99),)
    a, b = pairs(rng, name.removeprefix("dd_"), count)
    if name.endswith("_from_dd") or name.removeprefix("dd_") in function_sequences():
        a = numbers(rng, rng.integers(-3, 70, count))
    ends = np.array(
        [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.0, 1.7976931348623157e308, 5e-324, 2.0**63, -(2.0**63)]
    )
    first, second = np.array(np.meshgrid(ends, ends)).reshape(2, -1)
    zeros = np.zeros(first.size)
    a, b = ((np.append(x[0], s), np.append(x[1], zeros)) for x, s in ((a, first), (b, second)))
    return (*a, *b)[: len(sequence.parameters)]


def compare(name, sequence, given, found):
    expected = apply(sequence, given)
    for part, (e, f) in enumerate(zip(expected, found, strict=True)):
        assert_same_bits(f, e, f"{name}, component {part}")


def empty_results(sequence, count):
    return [np.zeros(count, sequence.nodes[i].value_type.numpy) for i in sequence.results]


@pytest.fixture(scope="module")
def host():
    text = host_text()
    return build([Unit("double_double", text, headers=openmp_headers(text))])[0]


def test_the_host_gives_the_bits_of_the_reference(host):
    library = ctypes.CDLL(str(host.path))
    for name, sequence in CALLS.items():
        given = [np.ascontiguousarray(a) for a in arguments(name, sequence, 20_000)]
        found = empty_results(sequence, len(given[0]))
        addresses = (ctypes.c_void_p(a.ctypes.data) for a in (*found, *given))
        getattr(library, f"run_{name}")(ctypes.c_int64(len(given[0])), *addresses)
        compare(name, sequence, given, found)


def test_loops_over_cells_are_vectorised(host):
    text = host_text()
    loops = inner_loops(Generated("c++", text, "", (), (), ()), host.report, "double_double.cpp")
    assert len(loops) == len(CALLS)
    scalar = {name for name, loop in zip(CALLS, loops, strict=True) if not loop.vectors}
    assert scalar <= COPIES | FROM_BOOLS | TO_64_BITS | FROM_64_BITS


def test_the_simulated_device_gives_the_bits_of_the_reference():
    unit = simulator_source("double_double", device_text(), {f"run_{name}": False for name in CALLS})
    unit = replace(unit, headers=(*unit.headers, *cuda_headers()))
    device = SimulatedDevice(build([unit])[0].path)
    for name, sequence in CALLS.items():
        given = [np.ascontiguousarray(a) for a in arguments(name, sequence, DEVICE_PAIRS)]
        count = len(given[0])
        found = empty_results(sequence, count)
        arrays = [ArrayArgument(f"r{k}", a) for k, a in enumerate(found)]
        arrays += [ArrayArgument(f"p{k}", a) for k, a in enumerate(given)]
        shape = LaunchShape((-(-count // 128), 1, 1), (128, 1, 1), 1)
        number = simulated_integer("n", count)
        assert device.launch(f"run_{name}", shape, [number, *arrays]) == 0, device.faults()
        compare(name, sequence, given, found)
    device.close()


def test_the_text_compiles_for_a_device():
    compilers = nvrtc.find_compilers() or pytest.skip("no CUDA compiler: neither nvcc nor NVRTC was found")
    binary = nvrtc.compile_cuda(
        inlined(device_text()), compiler=compilers[-1], flags=nvrtc.compile_options(128, "int32_t")
    )
    kernels = {entry.kernel: entry for entry in binary.resources}
    assert set(kernels) == {f"run_{name}" for name in CALLS}
    assert all(entry.spill_store_bytes == 0 for entry in kernels.values())


def test_the_headers_are_the_golden_ones(golden):
    golden(HEADER, extended_header())
    golden(FUNCTIONS_HEADER, functions_header())


SUMS = """\
#include "stencil_extended_sums.h"
using namespace stencil;
extern "C" __attribute__((visibility("default")))
void sum(int64_t n, const dd* cells, dd* found) {
    dd partials[8];
    int64_t chunks = 0;
    for (int64_t first = 0; first < n; first += CHUNK) {
        const int64_t count = n - first < CHUNK ? n - first : CHUNK;
        partials[chunks++] = reduce_chunk(cells + first, count, 0, dd{-0.0, -0.0}, combine_add());
    }
    tree(partials, chunks, combine_add());
    found[0] = partials[0];
}
"""
LANES = """\
#include "stencil_cuda.h"
#include "stencil_extended.h"
using namespace stencil;
extern "C" __global__ void lanes(stencil::array<dd> found, stencil::array<const dd> cells) {
    const int i = threadIdx.x;
    const dd cell = cells[i];
    found[i] = combine_lanes(cell, combine_multiply());
}
"""


@pytest.mark.parametrize("count", [1, 15, 1023, 1024, 1025, 5000])
def test_sums_on_the_host_have_the_bits_of_the_reference(count):
    built = build([Unit("double_double_sums", SUMS, headers=openmp_headers(SUMS))])[0]
    library = ctypes.CDLL(str(built.path))
    values = join(*numbers(np.random.default_rng(count), np.zeros(count, int)))
    cells, found = np.empty(count + 1, np.complex128)[1:], np.zeros(1, np.complex128)  # of the alignment of a dd
    cells.view(DD.numpy)[:] = values
    library.sum(ctypes.c_int64(count), ctypes.c_void_p(cells.ctypes.data), ctypes.c_void_p(found.ctypes.data))
    assert found.view(DD.numpy)[0].item() == reduce_canonically("sum", values, DD).item()


def test_lanes_of_a_chunk_have_vectors():
    built = build([Unit("double_double_sums", SUMS, headers=openmp_headers(SUMS))])[0]
    lines = template_text(SUMS_HEADER).split("\n")
    loop = lines.index("#pragma omp simd") + 2
    assert re.search(rf"{SUMS_HEADER}:{loop}:.* loop vectorized", built.report)


def test_lanes_of_a_warp_combine_in_the_order_of_the_reference():
    unit = simulator_source("double_double_lanes", LANES, {"lanes": True})
    unit = replace(unit, headers=(*unit.headers, *cuda_headers()))
    device = SimulatedDevice(build([unit])[0].path)
    values = join(*numbers(np.random.default_rng(3), np.zeros(32, int)))
    found = np.zeros(32, DD.numpy)
    arrays = [ArrayArgument("found", found), ArrayArgument("cells", values)]
    assert device.launch("lanes", LaunchShape((1, 1, 1), (32, 1, 1)), arrays) == 0, device.faults()
    device.close()
    expected = [tree(combine("multiply"), part).item() for part in (values[:16], values[16:])]
    assert [found[k].item() for k in (0, 16)] == expected


def test_operators_and_constants_are_spelled_by_type():
    x = Text("x")
    for target in (CPP, CUDA):
        assert spell("add", (x, x), DD, DD, target).text == "dd_add(x, x)"
        assert spell("fma", (x, x, x), DD, DD, target).text == "dd_add(dd_multiply(x, x), x)"
        assert spell("less", (x, x), DD, BOOL, target).text == "dd_less(x, x)"
        assert spell("select", (x, x, x), DD, DD, target).text == "dd_select(x, x, x)"
        assert spell("cast", (x,), F32, DD, target).text == "dd_from_f32(x)"
        assert spell("cast", (Text("a + b", SUM, loose=True),), I8, DD, target).text == "dd_from_i8(int8_t(a + b))"
        assert spell("cast", (x,), DD, F32, target).text == "f32_from_dd(x)"
    assert literal(DoubleDouble(0.5, -0.0), DD).text == "dd{0.5, -0.0}"
    assert literal(3, DD).text == "dd{3.0, 0.0}"
