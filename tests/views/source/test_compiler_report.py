"""What compilers say reaches the function they said it about."""

import pytest

from tests.views.machines import trade_off
from workbench.backends.compiler_words import vector_sentence
from workbench.backends.nvrtc import KernelResources, find_compilers
from workbench.backends.register_words import resource_sentence
from workbench.backends.vectorisation import InnerLoop, inner_loops
from workbench.codegen.source import Source
from workbench.views.source.compiler_report import known_report, report_of

TEXT = "static void f() {\n#pragma omp simd\n    for (int i = 0;;) {\n        x;\n    }\n}\n" * 2
SOURCE = Source("c++", TEXT, "f", (), ())


def test_gcc_names_the_first_line_of_the_body():
    report = (
        "m.cpp:4:41: optimized: loop vectorized using 32 byte vectors\n"
        "m.cpp:4:41: optimized: loop vectorized using 16 byte vectors\n"
        "other.h:10:1: optimized: loop vectorized using 64 byte vectors\n"
    )
    assert inner_loops(SOURCE, report, "m.cpp") == (InnerLoop(3, "32 bytes"), InnerLoop(9, ""))


def test_clang_names_the_loop():
    report = "m.cpp:9:5: remark: vectorized loop (vectorization width: 4, interleaved count: 2) [-Rpass]\n"
    assert inner_loops(SOURCE, report, "m.cpp") == (InnerLoop(3, ""), InnerLoop(9, "4 numbers"))


@pytest.mark.parametrize(
    ("vectors", "sentence"),
    [
        (("64 bytes",), "inner loop vectorised, 64 bytes at a time"),
        (("64 bytes", "32 bytes"), "all 2 inner loops vectorised, 64 bytes, 32 bytes at a time"),
        (("",), "not vectorised (line 0)"),
        (("64 bytes", ""), "1 of 2 inner loops vectorised, 64 bytes at a time; not line 1"),
    ],
)
def test_sentences_about_loops(vectors, sentence):
    assert vector_sentence(tuple(InnerLoop(line, width) for line, width in enumerate(vectors))) == sentence


def test_sentences_about_registers():
    assert resource_sentence(KernelResources("f", 20, 0, 0, 0)) == "20 registers, no spills"
    assert resource_sentence(KernelResources("f", 255, 8, 16, 512)) == (
        "255 registers, spills 8 + 16 bytes, 512 bytes shared"
    )


def test_the_report_is_that_of_the_very_build():
    machine = trade_off("manifest")
    source = machine.source("openmp")
    report = report_of(machine.plan(), source, "openmp")
    assert not report.problem
    assert set(report.functions) == {f"sweep_{s.name}" for s in machine.plan().subkernels}
    assert all("vectorised" in said for said in report.functions.values())
    assert known_report(machine.plan(), source) is report


@pytest.mark.skipif(not find_compilers(), reason="no CUDA compiler: neither nvcc nor NVRTC was found")
def test_registers_of_a_cuda_text():
    machine = trade_off("manifest")
    report = report_of(machine.plan("cuda"), machine.source("cuda"), "cuda")
    assert "sm_90" in report.title
    assert "registers, " in report.functions["sweep_step_0_b"]


def test_a_refusal_is_told_and_not_kept():
    source = Source("cuda", "this is no CUDA", "", (), ())
    report = report_of(trade_off().plan(), source, "cuda")
    assert report.problem
    assert not report.functions
    assert known_report(trade_off().plan(), source) is None
