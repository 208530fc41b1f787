"""The independence strategy: a right tree, none, and wrong ones that it has to notice."""

import pytest

from workbench.errors import TuningError
from workbench.tuning.replay import replay, tree6
from workbench.tuning.search_space import SearchSpace, TuningParameter
from workbench.tuning.strategies.independence import Independence
from workbench.tuning.strategies.portfolio import Portfolio
from workbench.tuning.trees import parse_tree

SEEDS = range(20)
MANY = range(100)
WRONG = {"{{A}, {B}, {C}, {D}, {E}, {F}}": 250, "{{A, C}, {B}, {D}, {E, F}}": 250, "{{A, B}, {C, E}, {D, F}}": 350}
MISSED = 1_000_000  # evaluations, where the optimum was not found


def needed(seeds, make, budget=400):
    """Evaluations until the optimum of tree6, one landscape a seed, in order."""
    found = []
    for seed in seeds:
        form = tree6(seed)
        run = replay(make(form, seed), form.cost, budget, lambda cost: cost == 1.0)
        found.append(run.solved_after or MISSED)
    return sorted(found)


def declared(form, seed):
    return Independence(form.space, (), seed, form.tree)


def undeclared(form, seed):
    return Independence(form.space, (), seed)


def test_tree6_is_what_it_says():
    """1 at the optimum only, 3 % fail, and pairs that are not in one node do not interact."""
    form = tree6(3)
    points = [(a, b, c, 2, 5, f) for a in range(8) for b in range(8) for c in range(8) for f in range(8)]
    costs = {point: form.cost(point) for point in points}
    failed = sum(cost is None for cost in costs.values()) / len(costs)
    assert 0.02 < failed < 0.04
    assert min(cost for cost in costs.values() if cost is not None) >= 1.0
    ratios = [costs[a, 1, 2, 2, 5, 3] / costs[a, 1, 6, 2, 5, 3] for a in range(8)
              if costs[a, 1, 2, 2, 5, 3] and costs[a, 1, 6, 2, 5, 3]]  # fmt: skip
    assert len(ratios) >= 5
    assert ratios == pytest.approx([ratios[0]] * len(ratios))


def test_right_tree_is_solved_by_its_groups():
    assert needed(SEEDS, declared)[-1] <= 150


def test_without_a_tree_groups_are_found():
    assert needed(SEEDS, undeclared)[18] <= 220


@pytest.mark.parametrize(("tree", "most"), WRONG.items())
def test_wrong_tree_is_noticed_and_repaired(tree, most):
    found = needed(SEEDS, lambda form, seed: Independence(form.space, (), seed, parse_tree(tree)))
    assert found[18] <= most


def test_what_was_better_beside_other_values_is_tried_again():
    """Of two better points of one batch one became the best, and the values of the other one counted as tried."""
    singles = parse_tree("{{A}, {B}, {C}, {D}, {E}, {F}}")
    assert needed((10, 171, 233), lambda form, seed: Independence(form.space, (), seed, singles))[-1] <= 250


def test_what_two_groups_gained_together_says_nothing_of_one_of_them():
    """A wrong tree lets halves of two true groups move at once; the optimum of one had been the best before."""
    wrong = parse_tree("{{A, B}, {C, E}, {D, F}}")
    assert needed((118, 170, 286), lambda form, seed: Independence(form.space, (), seed, wrong), 900)[-1] <= 350


@pytest.mark.proof
def test_single_groups_are_repaired_in_every_seed():
    singles = parse_tree("{{A}, {B}, {C}, {D}, {E}, {F}}")
    assert needed(range(300), lambda form, seed: Independence(form.space, (), seed, singles))[-1] <= 250


@pytest.mark.proof
def test_right_tree_is_solved_in_every_seed():
    assert needed(MANY, declared)[-1] <= 150


@pytest.mark.proof
def test_without_a_tree_95_of_100_are_solved():
    assert needed(MANY, undeclared)[94] <= 220


@pytest.mark.proof
@pytest.mark.parametrize(("tree", "most"), WRONG.items())
def test_wrong_trees_are_repaired_in_95_of_100(tree, most):
    found = needed(MANY, lambda form, seed: Independence(form.space, (), seed, parse_tree(tree)))
    assert found[94] <= most


def test_groups_that_interact_are_joined_and_others_are_not():
    """x and y have their optimum in a corner that no change of one of them improves on the way to."""
    space = SearchSpace(tuple(TuningParameter(name, tuple("0123")) for name in "xyz"))

    def cost(point):
        x, y, z = point
        return (1.0 if x == y == 3 else 2.0 + abs(x - y) + 0.1 * x) * (1 + z)

    for seed in range(10):
        run = replay(Independence(space, ((0, 0, 1),), seed), cost, 40, lambda value: value == 1.0)
        assert run.solved_after is not None
        assert run.solved_after <= 25  # of 64


def test_nested_tree_is_searched_as_in_the_report():
    """At most 63 of 144 points, besides those of the sweep before it."""
    space = SearchSpace(
        tuple(
            TuningParameter(name, tuple("012"[:count]))
            for name, count in zip("ABCDEF", (3, 3, 2, 2, 2, 2), strict=True)
        )
    )

    def cost(point):
        a, b, c, d, e, f = point
        return (
            1.0 + (7 * a + 5 * b + 3 * c * (a + 1) + 2 * d * (b + c)) % 11 + (5 * a + 3 * e * (b + 2) + 4 * f * e) % 13
        )

    best = min(map(cost, space))
    for seed in range(10):
        tree = parse_tree("{A, B, {C, D}, {E, F}}")
        run = replay(Independence(space, (), seed, tree), cost, 144, lambda value, best=best: value == best)
        assert run.solved_after is not None
        assert run.solved_after <= 63 + 14


def test_tree_of_other_names_is_refused():
    with pytest.raises(TuningError, match="differ in F, G"):
        Independence(tree6(0).space, (), 0, parse_tree("{{A}, {B}, {C, D}, {E, G}}"))


@pytest.mark.proof
def test_portfolio_shares_the_finding_of_groups():
    """Of these, sweeps alone solve 13, breeding alone 7."""
    found = needed(SEEDS, lambda form, seed: Portfolio(form.space, (), seed))
    assert sum(one <= 400 for one in found) >= 16
