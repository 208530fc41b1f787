"""Keys are stable: recorded ones, those of wider records, and those of another process are the same."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

import workbench as wb
from tests.graph.gathered import gather
from tests.kit.wider import widened, wider
from tests.programs import all_programs, dimension
from workbench.graph import (
    Axis,
    Extend,
    Hint,
    Outflow,
    Periodic,
    Reduce,
    Reflect,
    Shift,
    Space,
    Span,
    StorageType,
    keys,
    keys_1,
)
from workbench.graph.instructions import TRAITS
from workbench.graph.keys_1 import NotInVersion1Error, node_keys_1, program_key_1
from workbench.graph.parse import parse

HEAT = """\
graph heat
axis x grid n0
axis y grid n1
static u field : f64 local
static a param : f64 global default 0.25
region @0 (l : f64, r : f64) identity -0.0
  %0 = load l : f64 global
  %1 = load r : f64 global
  %2 = add %0 %1 : f64 global
kernel step
  %0 = load u : f64 local
  %1 = extend (periodic, periodic) (outflow, reflect(-1)) %0 : f64 local
  %2 = shift (1, 0) %1 : f64 local  # left at 4:2-9
  %3 = add %2 %1 : f64 local  # hint manifest line 4
  %4 = store u %3
"""
WITH_A_SUM = HEAT.replace(
    "  %4 = store u %3\n",
    "  %4 = reduce @0 over (0, 1) %3 : f64 global\n  %5 = broadcast to local %4 : f64 local\n"
    "  %6 = multiply %3 %5 : f64 local\n  %7 = store u %6\n",
)


def test_keys_of_the_programs_are_the_recorded_ones(golden):
    lines = ["program, program key, state key, program key of version 1"]
    for program in all_programs():
        graph = wb.trace(program.text, dim=dimension(program), name=program.name).graph
        lines.append(f"{program.name} {graph.fingerprint()} {graph.state_fingerprint()} {program_key_1(graph)}")
    golden("keys.txt", "\n".join(lines) + "\n")


def test_version_1_hashes_as_it_did():
    graph = gather()  # both were written down before version 2
    assert program_key_1(graph) == "bd115bb79d746371"
    assert node_keys_1(graph.kernels[0])[-1] == "bfdc6505c5831952"


def test_keys_of_nodes_are_the_recorded_ones():
    keys = (
        "7791266d6d1cacd3",
        "55f052adc50d35bc",
        "f1182303a9acef49",
        "43a4a7dee39548ea",
        "df0eab7d697bc113",
        "bd520701f12c0b8b",
        "eccf416edbbb56a7",
        "99002c6eda6e1966",
    )
    assert parse(WITH_A_SUM).kernels[0].keys() == keys


def test_names_lines_and_hints_are_no_part_of_a_key():
    graph = parse(WITH_A_SUM)
    kernel = graph.kernels[0]
    bare = tuple(replace(n, names=(), spans=(Span(99),), hint=Hint()) for n in kernel.nodes)
    assert replace(kernel, nodes=bare).keys() == kernel.keys()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("load u", "load a"),
        ("(1, 0)", "(0, 1)"),
        ("reflect(-1)", "reflect(1)"),
        ("add %2 %1", "add %1 %2"),
        ("add %2 %1", "subtract %2 %1"),
        ("add %0 %1", "multiply %0 %1"),
        ("identity -0.0", "identity 0.0"),
        ("shift (1, 0) %1 : f64", "shift (1, 0) %1 : f32"),
        ("over (0, 1) %3 : f64 global", "over (0, 1) %3 : f64 local"),
    ],
)
def test_what_a_node_computes_is_part_of_its_key(old, new):
    assert old in WITH_A_SUM
    before, after = parse(WITH_A_SUM), parse(WITH_A_SUM.replace(old, new))
    assert before.kernels[0].keys()[-1] != after.kernels[0].keys()[-1]
    assert before.fingerprint() != after.fingerprint()
    assert before.state_fingerprint() == after.state_fingerprint()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("static u", "static v"),
        ("static a param", "static a scalar"),
        ("a param : f64", "a param : f32"),
        ("axis x grid n0", "axis x array n0"),
        ("axis y grid n1", "axis y grid 7"),
    ],
)
def test_statics_are_part_of_program_and_state(old, new):
    before, after = parse(HEAT), parse(HEAT.replace(old, new))
    assert before.fingerprint() != after.fingerprint()
    assert before.state_fingerprint() != after.state_fingerprint()


def test_order_units_and_defaults_of_statics_are_no_part_of_a_state():
    lines = HEAT.replace("default 0.25", 'default 0.5 unit "m"').splitlines()
    lines[3], lines[4] = lines[4], lines[3]
    assert parse("\n".join(lines)).state_fingerprint() == parse(HEAT).state_fingerprint()


WIDENED = (Space, Axis, Shift, Extend, Reduce, Periodic, Outflow, Reflect, StorageType)


@pytest.mark.parametrize("kind", WIDENED, ids=lambda k: k.__name__)
def test_a_further_field_with_a_default_changes_no_key(kind, monkeypatch):
    graph = parse(WITH_A_SUM)
    new = wider(kind)
    if kind in TRAITS:
        monkeypatch.setitem(TRAITS, new, TRAITS[kind])
    found = widened(graph, {kind: new})
    assert "further=False" in repr((found.space, found.kernels))
    assert found.fingerprint() == graph.fingerprint()
    assert found.state_fingerprint() == graph.state_fingerprint()
    assert [k.keys() for k in found.kernels] == [k.keys() for k in graph.kernels]
    monkeypatch.setitem(keys_1._RECORDS, new, keys_1._RECORDS[kind])
    assert program_key_1(found) == program_key_1(graph)


def test_what_version_1_did_not_know_has_no_key_of_it(monkeypatch):
    kind = wider(Shift)
    kernel = widened(parse(HEAT), {Shift: kind}).kernels[0]
    with pytest.raises(NotInVersion1Error, match="Shift"):
        node_keys_1(kernel)
    monkeypatch.setitem(keys_1._RECORDS, kind, keys_1._RECORDS[Shift])
    used = tuple(
        replace(n, instruction=replace(n.instruction, further=True)) if isinstance(n.instruction, Shift) else n
        for n in kernel.nodes
    )
    with pytest.raises(NotInVersion1Error, match="Shift"):
        node_keys_1(replace(kernel, nodes=used))


def test_keys_are_equal_in_two_processes():
    code = (
        "import sys; from workbench.graph.parse import parse; g = parse(sys.stdin.read());"
        "print(g.fingerprint(), g.state_fingerprint(), *g.kernels[0].keys())"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            input=WITH_A_SUM,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    graph = parse(WITH_A_SUM)
    here = " ".join([graph.fingerprint(), graph.state_fingerprint(), *graph.kernels[0].keys()]) + "\n"
    assert found == [here, here]


def test_text_read_back_has_the_same_keys():
    graph = gather()
    assert parse(str(graph)).fingerprint() == graph.fingerprint()


def test_keys_are_hashed_once_for_a_kernel():
    kernel = parse(HEAT).kernels[0]
    assert kernel.keys() is kernel.keys()


def test_another_version_of_keys_voids_programs_but_no_state(monkeypatch):
    graph = parse(HEAT)
    program, state = graph.fingerprint(), graph.state_fingerprint()
    monkeypatch.setattr(keys, "GRAPH_VERSION", keys.GRAPH_VERSION + 1)
    assert graph.fingerprint() != program
    assert graph.state_fingerprint() == state
