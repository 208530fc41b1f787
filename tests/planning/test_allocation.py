"""What is stored: forced, by hint, by choice, by cost."""

import pytest

from workbench.errors import PlanError
from workbench.graph import Graph, Hint, KernelBuilder, Periodic, Span, Static, grid_space
from workbench.graph.types import F64
from workbench.planning import Choices, PlanChoices, Storage, plan_graph

LINE = grid_space(1)
STATICS = (Static("u", "field", F64, LINE), Static("v", "field", F64, LINE))
PERIODIC = ((Periodic(), Periodic()),)


def program(build):
    b = KernelBuilder(LINE, STATICS)
    build(b)
    return Graph("g", LINE, STATICS, (b.finish("step"),))


def storage_of(plan, name):
    return plan.main.storage[plan.main.kernel.find(name)]


def neighbours(formula, hint=None, name="w"):
    """v = w[-1] + w[+1] where w = formula(u)."""

    def build(b):
        w = formula(b, b.extend(b.load("u"), PERIODIC))
        b.annotate(w, name=name, hint=hint, span=Span(4))
        b.store("v", b.arith("add", b.shift(w, (1,)), b.shift(w, (-1,))))

    return program(build)


def square(b, u):
    return b.arith("multiply", u, u)


def long_formula(b, u):
    for number in range(30):
        u = b.arith("divide", b.imm(1.5 + number, F64, LINE), b.arith("add", u, u))
    return u


def test_cost_recomputes_what_is_cheap_and_stores_what_is_dear():
    assert storage_of(plan_graph(neighbours(square)), "w") is Storage.DELAYED
    assert storage_of(plan_graph(neighbours(long_formula)), "w") is Storage.MANIFEST


def test_cost_stores_nothing_that_is_used_once():
    def build(b):
        w = long_formula(b, b.load("u"))
        b.annotate(w, name="w")
        b.store("v", b.arith("negative", w))

    assert storage_of(plan_graph(program(build)), "w") is Storage.DELAYED


@pytest.mark.parametrize(("preset", "storage"), [("as_delayed", Storage.DELAYED), ("as_manifest", Storage.MANIFEST)])
def test_presets(preset, storage):
    assert (
        storage_of(plan_graph(neighbours(square), Choices(plan=PlanChoices().changed(preset=preset))), "w") is storage
    )


def test_a_hint_wins_over_the_preset_and_a_choice_over_the_hint():
    graph = neighbours(square, Hint("manifest", line=4))
    plan = plan_graph(graph, Choices(plan=PlanChoices().changed(preset="as_delayed")))
    assert storage_of(plan, "w") is Storage.MANIFEST
    key = plan.main.kernel.keys()[plan.main.kernel.find("w")]
    for spelling in (key, f"step/{key}"):
        chosen = plan_graph(graph, Choices(plan=PlanChoices().changed(delayed=frozenset({spelling}))))
        assert storage_of(chosen, "w") is Storage.DELAYED


def test_a_key_in_both_sets_is_refused():
    graph = neighbours(square)
    plan = plan_graph(graph)
    key = plan.main.kernel.keys()[plan.main.kernel.find("w")]
    with pytest.raises(PlanError, match="w is chosen both"):
        plan_graph(
            graph, Choices(plan=PlanChoices().changed(manifest=frozenset({key}), delayed=frozenset({f"step/{key}"})))
        )


def test_a_hint_that_cannot_be_met_names_line_and_reason():
    def build(b):
        w = b.arith("negative", b.load("u"))
        b.annotate(w, name="w", hint=Hint("delayed", line=5))
        b.store("v", w)

    with pytest.raises(PlanError, match=r"^line 5: w cannot be Delayed: it is Manifest, because its array becomes"):
        plan_graph(program(build))


def test_a_field_may_be_called_manifest_but_not_delayed():
    plan_graph(neighbours(lambda b, u: u, Hint("manifest", line=3)))
    with pytest.raises(PlanError, match=r"^line 3: u cannot be Delayed: it is Existing"):
        plan_graph(neighbours(lambda b, u: u, Hint("delayed", line=3)))


def test_reductions_and_broadcasts_force_no_array():
    def build(b):
        u = b.load("u")
        w = b.arith("multiply", u, u)
        b.annotate(w, name="w")
        b.store("v", b.arith("add", u, b.broadcast(b.reduce("sum", w))))

    plan = plan_graph(program(build), Choices(plan=PlanChoices().changed(preset="as_delayed")))
    assert storage_of(plan, "w") is Storage.DELAYED
    assert len(plan.main.manifest) == 1


def doubling(times):
    """v = a value that is recomputed at more and more places: w = w[-k] + w[+k] with k = 1, 2, 4, ..."""

    def build(b):
        w = b.extend(b.load("u"), PERIODIC)
        for number in range(times):
            w = b.arith("multiply", b.shift(w, (3**number,)), b.shift(w, (-(3**number),)))
            b.annotate(w, name=f"w{number}", span=Span(number + 1))
        b.store("v", w)

    return program(build)


def test_a_sub_kernel_too_long_is_refused_with_the_value_to_store():
    with pytest.raises(PlanError, match=r"more than 50000 operations; w\d+ alone is recomputed at \d+ places") as error:
        plan_graph(doubling(17), Choices(plan=PlanChoices().changed(preset="as_delayed")))
    assert str(error.value).startswith("line ")
    assert "Manifest." in str(error.value).splitlines()[-1]


def test_cost_never_makes_a_sub_kernel_too_long():
    plan = plan_graph(doubling(17))
    assert all(s.emitted <= 2000 for s in plan.subkernels)
    assert len(plan.main.manifest) > 1
