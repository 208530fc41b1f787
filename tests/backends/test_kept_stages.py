"""Stages of long programs that other processes find: the same records, made again where anything has changed."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from workbench.backends import kept_stages
from workbench.backends.build_cache import BuildCache
from workbench.backends.kept_stages import KeptStages
from workbench.codegen.cpp.render import render_openmp
from workbench.commands.bench.accelerate.rows import ROWS
from workbench.graph import Span
from workbench.planning import Choices, Meaning, PlanChoices, plan_graph
from workbench.planning.simplify import simplify
from workbench.solvers import heat, hydro, maxwell


@pytest.fixture
def stages(tmp_path, monkeypatch):
    """Those of a folder of our own for one process after another, which keep small programs too."""
    monkeypatch.setattr(kept_stages, "_LEAST", 1)
    return lambda: KeptStages(BuildCache(tmp_path))


def never(*given):
    raise AssertionError(f"made again: {given}")


def traced_by(row):
    """The graphs of a row of `bench accelerate`, as they were traced."""
    case = row.case("small")
    return [program.machine(*given).traced.graph for program, given in case.called]


GRAPHS = [*(lambda row=row: traced_by(row) for row in ROWS), lambda: [hydro.machine(2).traced.graph]]


def kept_in(stages, monkeypatch, graph, choices):
    """What all stages make of a graph, and what another process finds, in which nothing may be made."""
    one, other = stages(), stages()
    simplified = one.simplified(graph)
    plan = one.planned(simplified, choices, True, lambda: plan_graph(simplified, choices))
    text = one.rendered(plan, "openmp", render_openmp)
    with monkeypatch.context() as patched:
        patched.setattr(kept_stages, "simplify", never)
        patched.setattr(kept_stages, "SIMPLIFIED", kept_stages.SIMPLIFIED.__class__(1))
        found = other.simplified(graph)
        again = other.planned(found, choices, True, never)
        return (simplified, plan, text), (found, again, other.rendered(again, "openmp", never))


@pytest.mark.parametrize("graphs", GRAPHS, ids=[*(row.name for row in ROWS), "hydro"])
def test_another_process_finds_what_was_made(stages, monkeypatch, graphs):
    for graph in graphs():
        made, found = kept_in(stages, monkeypatch, graph, Choices())
        assert found == made
        assert found[0] is not made[0]
        assert found[1].graph is found[0]
        assert str(found[1]) == str(made[1])
        assert render_openmp(found[1]) == made[2]
        diagnostics = [kernel.has_diagnostics for kernel in found[1].kernels]
        assert diagnostics == [kernel.has_diagnostics for kernel in made[1].kernels]


def test_a_plan_of_other_types_has_a_graph_of_its_own(stages, monkeypatch):
    graph, choices = maxwell.machine().traced.graph, Choices(Meaning(precision=(("*", "f32"),)))
    made, found = kept_in(stages, monkeypatch, graph, choices)
    assert found == made
    assert found[1].graph != found[0]


def moved(graph):
    """The same program, with one value in another line."""
    (first, *others) = graph.kernels
    nodes = [replace(first.nodes[0], spans=(Span(77),)), *first.nodes[1:]]
    return replace(graph, kernels=(replace(first, nodes=tuple(nodes)), *others))


def named(graph):
    """The same program, with a name for one value."""
    (first, *others) = graph.kernels
    nodes = [replace(first.nodes[0], names=("other",)), *first.nodes[1:]]
    return replace(graph, kernels=(replace(first, nodes=tuple(nodes)), *others))


GRAPH = hydro.machine(1).traced.graph


@pytest.mark.parametrize("changed", [moved, named, lambda graph: hydro.machine(1, dtype="f32").traced.graph])
def test_another_graph_is_simplified_and_planned(stages, changed):
    stages().simplified(GRAPH)
    graph, made = changed(GRAPH), []
    found = stages().simplified(graph)
    assert found == simplify(graph)
    one = stages()
    one.planned(simplify(GRAPH), Choices(), True, lambda: plan_graph(GRAPH))
    plan = one.planned(found, Choices(), True, lambda: made.append(found) or plan_graph(found))
    assert made == [found]
    assert plan == plan_graph(found)


@pytest.mark.parametrize(
    ("choices", "follows_chains"),
    [(Choices(plan=PlanChoices().changed(preset="as_manifest")), True), (Choices(), False)],
)
def test_other_choices_are_planned(stages, choices, follows_chains):
    graph = simplify(GRAPH)
    stages().planned(graph, Choices(), True, lambda: plan_graph(graph))
    made = plan_graph(graph, choices, follows_chains=follows_chains)
    assert stages().planned(graph, choices, follows_chains, lambda: made) is made


def test_a_plan_that_was_changed_is_rendered(stages):
    graph = simplify(GRAPH)
    plan = plan_graph(graph)
    one, other = stages(), replace(plan, choices=Choices(plan=PlanChoices().changed(tile=3)))
    text = one.rendered(plan, "openmp", render_openmp)
    assert stages().rendered(plan_graph(graph), "openmp", never) == text
    made = []
    one.rendered(other, "openmp", lambda given: made.append(given) or text)
    one.rendered(plan, "another", lambda given: made.append(given) or text)
    assert made == [other, plan]


@pytest.mark.parametrize(("what", "other"), [("code_digest", lambda *rooms: "other"), ("_libraries", lambda: "other")])
def test_other_code_makes_all_anew(stages, monkeypatch, what, other):
    graph, made = simplify(GRAPH), []
    stages().planned(graph, Choices(), True, lambda: plan_graph(graph))
    monkeypatch.setattr(kept_stages, what, other)
    stages().planned(graph, Choices(), True, lambda: made.append(1) or plan_graph(graph))
    assert made == [1]


def test_what_is_damaged_is_made_again(stages, tmp_path):
    graph, made = simplify(GRAPH), []
    plan = stages().planned(graph, Choices(), True, lambda: plan_graph(graph))
    (path,) = (tmp_path / "kept").iterdir()
    for damage in (lambda found: found[:-1], lambda found: b"", lambda found: found[:-1] + b"?"):
        path.write_bytes(damage(path.read_bytes()))
        assert stages().planned(graph, Choices(), True, lambda: made.append(1) or plan_graph(graph)) == plan
    assert made == [1] * 3


def test_short_programs_and_seeded_faults_keep_nothing(tmp_path):
    one, graph = KeptStages(BuildCache(tmp_path)), simplify(heat.machine(1).traced.graph)
    one.planned(graph, Choices(), True, lambda: plan_graph(graph))
    assert not (tmp_path / "kept").exists()
    one.is_on = False
    large = replace(graph, kernels=graph.kernels * kept_stages._LEAST)
    assert one.planned(large, Choices(), True, lambda: "made") == "made"
    assert not (tmp_path / "kept").exists()


CALL = """
import numpy as np
import workbench as wb
from workbench import pipeline
from workbench.backends import kept_stages, openmp

LINES = "\\n".join(f"    t = np.sqrt(t * {k} + x) - t" for k in range(2, 202))
exec(compile(f"def f(x):\\n    t = x\\n{LINES}\\n    return t", "<f>", "exec"))
if ASKED:
    def never(*given, **named):
        raise AssertionError("made again")
    kept_stages.simplify = pipeline.plan_graph = openmp.render_openmp = never
print(wb.collective(f)(np.arange(5.0), backend="openmp", threads=1).tolist())
"""


def test_a_second_process_makes_no_stage(tmp_path):
    """Whatever the seeds of its hashes."""
    said = []
    for seed, asked in (("1", False), ("2", True)):
        environ = {**os.environ, "WORKBENCH_CACHE": str(tmp_path), "PYTHONHASHSEED": seed, "WORKBENCH_CHECK": "0"}
        call = f"ASKED = {asked}\n{CALL}"
        done = subprocess.run([sys.executable, "-c", call], env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said[0] == said[1]
    assert len(list((tmp_path / "kept").iterdir())) == 3
