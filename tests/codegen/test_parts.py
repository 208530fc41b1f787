"""A long text cut into parts: each loop defined once, every line in its place, the same bits from the library."""

import numpy as np
import pytest

from tests.kit.backend_agreement import assert_agrees
from workbench import collective
from workbench.backends.base import MarchRequest
from workbench.backends.build_cache import BuildCache
from workbench.backends.compile_pool import Compiler
from workbench.backends.openmp import OpenmpBackend
from workbench.backends.toolchain import find_toolchain
from workbench.codegen.cpp import parts
from workbench.codegen.cpp.parts import LEAST_LINES, parts_of
from workbench.codegen.cpp.render import render_openmp
from workbench.codegen.functions import functions_in
from workbench.codegen.source import Source
from workbench.planning import plan_graph
from workbench.solvers import heat, hydro, maxwell, wave


@pytest.fixture(scope="module")
def source():
    return render_openmp(plan_graph(hydro.machine(3).graph))


def loops_of(text):
    """Names of loops whose functions the text defines, and of those that it declares only."""
    lines = text.split("\n")
    defined, declared = [], []
    for number, line in enumerate(lines):
        if " void " in line and line.endswith("("):
            end = next(each for each in lines[number:] if each.endswith((") {", ");")))
            (defined if end.endswith("{") else declared).append(line.split()[-1])
    return defined, declared


@pytest.mark.parametrize("most", [2, 3])
def test_each_loop_is_defined_in_one_part_and_declared_in_the_others(source, most, monkeypatch):
    monkeypatch.setattr(parts, "LEAST_LINES", 50)
    loops = loops_of(source.text)[0]
    texts = parts_of(source, most)
    assert len(texts) == most
    found = [loops_of(text) for text in texts]
    assert sorted(name for defined, _ in found for name in defined) == sorted(loops)
    assert all(defined for defined, _ in found[1:])  # the first has all that is no loop
    for defined, declared in found:
        assert sorted(defined + declared) == sorted(loops)
    assert [text.count('extern "C"') for text in texts] == [1] + [0] * (most - 1)


def test_every_line_keeps_its_number(source):
    whole = source.text.split("\n")
    for text in parts_of(source, 2):
        lines = text.split("\n")
        assert len(lines) == len(whole)
        changed = {number for number, (line, own) in enumerate(zip(whole, lines, strict=True)) if own not in (line, "")}
        heads = {each.first - 1 for each in functions_in(source)}
        assert all(number in heads or lines[number].endswith(");") for number in changed)


def test_the_longest_part_is_not_much_longer_than_the_others(source):
    """A line of what calls loops takes a compiler about as long as half a line of a loop of 140 lines."""
    loops = [each for each in functions_in(source) if each.name.startswith("sweep_")]
    efforts = []
    for text in parts_of(source, 2):
        defined = set(loops_of(text)[0])
        own = sum(each.last - each.first + 1 for each in loops if f"{each.name}(" in defined)
        apart = sum(line != "" for line in text.split("\n")) - own
        efforts.append(own + (0.5 * apart if 'extern "C"' in text else 0))
    assert max(efforts) < 1.3 * min(efforts)


def test_folds_and_scans_are_shared_out_as_loops_are(monkeypatch, tmp_path):
    """A text that has all three kinds, in two parts with the bits of the reference."""

    @collective
    def mixed(a, b):
        products = [np.sum(a * (b + k), axis=1) / (k + 1.5) for k in range(3)]
        summed = np.cumsum(products[0] - products[2])
        return summed, np.max(a - b, axis=0), sum(products[1:], products[0])

    monkeypatch.setattr(parts, "LEAST_LINES", 10)
    extents = (9, 70)
    plan, toolchain = mixed.machine(np.ones(extents), np.ones(extents)).plan("openmp"), find_toolchain()
    whole = render_openmp(plan)
    names = loops_of(whole.text)[0]
    assert {name.split("_")[0] for name in names} == {"fold", "scan", "sweep"}
    shares = [loops_of(text)[0] for text in parts_of(whole, 2)]
    assert sorted(shares[0] + shares[1]) == sorted(names)
    assert any(name.startswith(("fold_", "scan_")) for name in shares[1])
    for jobs in (1, 2):
        program = OpenmpBackend(Compiler(toolchain, BuildCache(tmp_path / str(jobs)), jobs)).compile(plan)
        assert not program.from_cache
        assert_agrees(program, extents, MarchRequest("main", 1), threads=2)


def test_a_long_loop_has_company_of_fewer_lines():
    """A line of it takes a compiler longer than one of a short loop."""
    lengths = [1000, 400, 400, 400, 400]
    loops = [
        [f"static STENCIL_PROCEDURE void sweep_{number}(", "    int n) {", *["    ;"] * (length - 3), "}"]
        for number, length in enumerate(lengths)
    ]
    text = "\n".join(line for loop in loops for line in loop)
    first, second = parts_of(Source("c++", text, "march", (), (), ()), 2)
    assert sorted(len(loops_of(part)[0]) for part in (first, second)) == [1, 4]


def test_a_loop_that_combines_values_has_company_of_fewer_loops():
    """What the headers make of an operator takes a compiler as long as a loop."""
    combining = ["    combine_minimum();"] * 3 + ["    ;"] * 194
    loops = [
        [f"static STENCIL_PROCEDURE void sweep_{number}(", "    int n) {", *body, "}"]
        for number, body in enumerate([combining, *[["    ;"] * 197] * 4])
    ]
    text = "\n".join(line for loop in loops for line in loop)
    shares = [loops_of(part)[0] for part in parts_of(Source("c++", text, "march", (), (), ()), 2)]
    assert [len(share) for share in shares if any("sweep_0" in name for name in share)] == [2]


def test_short_texts_and_single_compilers_cut_nothing(source):
    short = render_openmp(plan_graph(heat.machine(2).graph))
    assert parts_of(short, 8) == (short.text,)
    assert parts_of(source, 1) == (source.text,)
    assert len(parts_of(source, 100)) <= source.text.count("\n") // LEAST_LINES


@pytest.mark.parametrize("solver", [wave, maxwell, hydro])
def test_a_library_of_parts_computes_the_same_bits_and_keeps_its_vectors(solver, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "LEAST_LINES", 10)
    plan, toolchain, words = solver.machine(2).plan(), find_toolchain(), []
    assert len(parts_of(render_openmp(plan), 3)) > 1
    for jobs in (1, 3):
        program = OpenmpBackend(Compiler(toolchain, BuildCache(tmp_path / str(jobs)), jobs)).compile(plan)
        assert not program.from_cache
        assert_agrees(program, (9, 70), MarchRequest("step", 5, observe_every=4), threads=2)
        words.append(program.compiler_words())
    # Of loops with equal code gcc keeps one, and says nothing of those that are gone, where all are in one text.
    assert words[0].keys() == words[1].keys() != set()
    assert not [said for said in words[1].values() if "not" in said]
