"""The table of tunables: each reads what it wrote, knows what is legal, and says nothing of anything else."""

import random
import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

import workbench
import workbench as wb
from tests.kit.paper_graphs import hello
from tests.planning.mutation import mutated
from tests.planning.random_graphs import random_choices, random_graph
from workbench.errors import PlanError
from workbench.planning import Choices, PlanChoices, plan_graph
from workbench.planning.choices import LoopChoices
from workbench.planning.loop_keys import loop_names
from workbench.planning.tunables import TUNABLES, check_choices, set_by_name, tunables_of

WRONG = (-1, 1025.0, 1 << 20, "wide", None, True, ("-ffast-math",), ("-funroll-loops", "-O2"), (1,), [])


def programs():
    for seed in range(12):
        graph = random_graph(seed)
        yield plan_graph(graph, random_choices(graph, seed)), random.Random(seed)


def test_every_member_of_a_record_is_in_the_table():
    named = {(row.record, row.member) for row in TUNABLES}
    members = {(r.name, m.name) for r in fields(PlanChoices) if r.name != "loops" for m in fields(r.default)}
    keys = {("values", "manifest"), ("values", "delayed"), ("barriers", "before"), ("barriers", "after")}
    assert members - keys == named
    assert {name for _, name in named}.isdisjoint({name for _, name in keys})


def test_every_choice_is_read_by_what_it_changes():
    """A choice that nothing reads would only cost a search time."""
    package = Path(workbench.__file__).parent
    table = {package / "planning" / f"{name}.py" for name in ("choices", "tunables", "genome", "exchange")}
    texts = [path.read_text(encoding="utf-8") for path in package.rglob("*.py") if path not in table]
    assert not [row.name for row in TUNABLES if not any(reads(text, row) for text in texts)]


def reads(text, row):
    """As `plan.folds.lanes`, or as `choices.lanes` where the record's class is named."""
    record = type(getattr(PlanChoices(), row.record)).__name__
    return re.search(rf"\b{row.record}\.{row.member}\b", text) or (
        record in text and re.search(rf"\bchoices\.{row.member}\b", text)
    )


def test_the_table_of_a_small_program():
    plan = plan_graph(hello())
    names = [each.name for each in tunables_of(plan)]
    assert len(set(names)) == len(names)
    assert [n for n in names if n.startswith("storage")] == ["storage of step.y"]
    assert sum(n.startswith("barrier") for n in names) == 6
    assert [n for n in names if " of " in n][-2:] == ["grid of step_0_density", "block of step_0_density"]
    on_threads = {each.name for each in tunables_of(plan, "threads")}
    assert {"threads", "tile", "loops", "flags"} <= on_threads
    assert not {"grid", "block", "block of step_0_density"} & on_threads
    assert {"grid", "block"} <= {each.name for each in tunables_of(plan, "blocks")}


def test_values_of_one_name_are_told_apart_by_their_numbers():
    text = 'u = field("u", boundary="periodic")\nhalf = 0.5 * u\nhalf = half[+1] - half[-1]\nu.next = half[+1] * half'
    plan = wb.trace(text, dim=1, name="halves").plan()
    names = [row.name for row in tunables_of(plan)]
    assert len(set(names)) == len(names)
    told = [name.removeprefix("storage of step.half (value ") for name in names if name.startswith("storage")]
    numbers = [int(rest.removesuffix(")")) for rest in told]
    assert len(numbers) == 2
    assert all(plan.main.kernel.nodes[number].names == ("half",) for number in numbers)
    labels = [row.label for row in tunables_of(plan) if row.name.startswith("storage")]
    assert labels == ["storage of half (line 2)", "storage of half (line 3)"]


def test_a_further_row_of_folds_leaves_plans_with_folds_their_tunables(monkeypatch):
    """What is worth trying in such plans is listed beside the rows; a row that is not listed keeps its own values."""
    row = next(row for row in TUNABLES if row.section == "F")
    more = replace(row, name="further", sensible=(0, 3))
    monkeypatch.setattr("workbench.planning.tunables.TUNABLES", (*TUNABLES, more))
    text = 'u = field("u", boundary="periodic")\nu.next = u - reduce_sum(u, axis=1) / size(1)'
    plan = wb.trace(text, dim=2, name="means").plan("openmp")
    assert [each.sensible for each in tunables_of(plan) if each.name == "further"] == [(0, 3)]


def test_rows_of_a_task_are_chosen_for_loops_that_are_shared_out():
    """Not for those that run plane by plane with others, nor for a loop that is the only one."""

    def own(**choices):
        text = 'u = field("u", boundary="periodic")\nmean = u[-1, 0] + u[0, 1]\nu.next = mean[-1, 0] + mean[0, 1]'
        machine = wb.trace(text, dim=2, name="two").annotate("mean", "manifest").with_choices(**choices)
        return [row.name for row in tunables_of(machine.plan("openmp"), "threads") if row.section == "L"]

    assert own(loops="apart") == ["tile of step_0_mean", "tile of step_1_u"]
    assert own(loops="together") == []
    assert not [row for row in tunables_of(plan_graph(hello()), "threads") if row.section == "L"]


def test_each_reads_what_it_wrote_and_leaves_the_others_alone():
    written = 0
    for plan, generator in programs():
        table = tunables_of(plan)
        for each in generator.sample(table, min(len(table), 25)):
            before = plan.choices.plan
            value = mutated(each, each.read(before), generator)
            after = each.write(before, value)
            assert each.read(after) == value
            assert {t.name for t in table if t.read(before) != t.read(after)} <= {each.name}
            assert check_choices(after) == after
            written += value != each.read(before)
    assert written > 150


def test_random_and_mutated_values_are_legal_and_repeatable():
    for plan, _ in programs():
        for each in tunables_of(plan):
            assert each.default in each.sensible or each.name.startswith("storage of ")
            assert each.legal.holds(each.default)
            values = [each.random(random.Random(seed)) for seed in range(4)]
            assert values == [each.random(random.Random(seed)) for seed in range(4)]
            for value in (*values, *each.sensible):
                assert each.check(value) == value
                changed = mutated(each, value, random.Random(1))
                assert each.legal.holds(changed)
                assert changed != value or len(each.sensible) == 1


@pytest.mark.parametrize("row", TUNABLES, ids=lambda row: row.name)
def test_what_is_not_legal_is_refused_with_advice(row):
    refused = 0
    for value in WRONG:
        if not row.legal.holds(value):
            with pytest.raises(PlanError, match=f"{row.name} is ") as error:
                row.write(PlanChoices(), value)
            assert error.value.advice.endswith((".", "other."))
            refused += 1
    assert refused >= len(WRONG) - 2


def test_names_set_choices():
    plan = plan_graph(hello())
    made = set_by_name(PlanChoices(), tunables_of(plan), {"block": 64, "storage of step.y": "manifest"})
    assert made.device.block == 64
    assert plan_graph(hello(), Choices(plan=made)).main.manifest
    with pytest.raises(PlanError, match="no choice called 'blocks'"):
        set_by_name(PlanChoices(), TUNABLES, {"blocks": 64})


def test_a_key_that_speaks_for_several_kernels_keeps_speaking_for_the_others():
    graph = hello()
    (kernel,) = graph.kernels
    twice = plan_graph(replace(graph, kernels=(kernel, replace(kernel, name="again"))))
    y = next(k for k in tunables_of(twice) if k.name == "storage of again.y")
    other = next(k for k in tunables_of(twice) if k.name == f"storage of {kernel.name}.y")
    both = PlanChoices().changed(manifest=frozenset({y.key.partition("/")[2]}))
    assert (y.read(both), other.read(both)) == ("manifest", "manifest")
    one = y.write(both, "delayed")
    assert (y.read(one), other.read(one)) == ("delayed", "manifest")
    assert check_choices(one) == one


def test_loops_have_keys_that_hold_in_every_plan_with_this_loop():
    plan = plan_graph(hello())
    other = plan_graph(hello(), Choices(plan=PlanChoices().changed(preset="as_manifest")))
    assert len(loop_names(other)) == 2
    assert set(loop_names(plan)) < set(loop_names(other))
    assert PlanChoices().with_loop("ab", LoopChoices(block=64)).with_loop("ab", LoopChoices()) == PlanChoices()
