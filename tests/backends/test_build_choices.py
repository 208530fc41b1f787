"""What choices tell the compiler: it arrives there, changes no bit, and is refused where it cannot be had."""

from dataclasses import replace

import pytest

from tests.backends.cell_plans import cell_plan
from tests.backends.device_cells import HEAT
from tests.kit.backend_agreement import assert_agrees
from workbench.backends.base import MarchRequest
from workbench.backends.build_flags import build_flags
from workbench.backends.compile_pool import default_compiler
from workbench.backends.cuda_sim import CudaSimBackend
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.toolchain import X86, find_toolchain
from workbench.errors import BuildError
from workbench.planning.choices import BuildChoices
from workbench.planning.tunables import tunable

COMPILER = default_compiler()
WIDTH = 128 if X86 & set(COMPILER.toolchain.system.split()) else 0


def test_flags_reach_the_compiler_and_change_no_bit():
    told = {"flags": ("-O2", "-funroll-loops", "-fprefetch-loop-arrays"), "vector_width": WIDTH}
    plans = [cell_plan(HEAT, 2), cell_plan(HEAT, 2, **told), cell_plan(HEAT, 2, preset="as_manifest")]
    programs = OpenmpBackend().compile_many(plans)
    assert [program.plan for program in programs] == plans
    plain, changed, other = (program.built for program in programs)
    assert plain.key == other.key != changed.key  # one unit for those that are built alike
    for program in programs[:2]:
        assert_agrees(program, (9, 37), MarchRequest("step", 3, observe_every=1))
    again = OpenmpBackend().compile(plans[1])
    assert again.source.text == programs[0].source.text
    assert_agrees(again, (9, 37), MarchRequest("step", 1))


def test_what_follows_the_toolchains_flags():
    chain = replace(COMPILER.toolchain, system="Linux x86_64 glibc 2.36")
    assert build_flags(BuildChoices(), chain) == ()
    told = BuildChoices(("-O2",), vector_width=256)
    assert build_flags(told, chain) == ("-O2", "-mprefer-vector-width=256", "-USTENCIL_SHIFTED")
    with pytest.raises(BuildError, match="vectors of 256 bits, which only compilers for x86"):
        build_flags(told, replace(chain, system="Linux aarch64 glibc 2.36"))


def test_all_flags_are_ones_that_the_compiler_knows():
    groups = tunable("flags").legal.groups
    tried = [tuple(group[min(k, len(group) - 1)] for group in groups) for k in range(max(map(len, groups)))]
    assert {flag for flags in tried for flag in flags} == {flag for group in groups for flag in group}
    OpenmpBackend().compile_many([cell_plan(HEAT, 2, flags=flags) for flags in tried])


def test_no_flag_may_change_a_bit():
    words = ("math", "-Ofast", "contract", "finite", "signed-zeros", "associative", "reciprocal", "-mfma", "-m32")
    assert not [f for group in tunable("flags").legal.groups for f in group if any(word in f for word in words)]


def test_a_compiler_of_the_kind_that_was_asked_for():
    kind = COMPILER.toolchain.kind
    other = "clang" if kind == "gcc" else "gcc"
    assert find_toolchain(kind=kind) == COMPILER.toolchain
    only = {"WORKBENCH_CXX": COMPILER.toolchain.compiler, "PATH": "/usr/bin:/bin"}
    missing = find_toolchain(only, COMPILER.cache, kind=other)
    assert f"of the kind {other} that $WORKBENCH_CXX names: " in missing.reason
    assert f"is {kind}" in missing.reason
    assert OpenmpBackend().compile(cell_plan(HEAT, 2, compiler=kind)).built.key


def test_the_simulator_is_built_its_own_way():
    plans = [cell_plan(HEAT, 2), cell_plan(HEAT, 2, flags=("-O2",), compiler="clang")]
    one, other = CudaSimBackend().compile_many(plans)
    assert one.built == other.built
