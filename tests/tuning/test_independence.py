"""Search by independence: the report's counts, brute force on random trees, failed tests."""

import random
from itertools import product

import pytest

from workbench.tuning.demonstration import VALUES, demonstrate, synthetic_score
from workbench.tuning.independence import Optimum, evaluations, exhaust, optimise
from workbench.tuning.trees import VariableTree, parse_tree

THREE = ("1", "2", "3")
FIVE = ("1", "2", "3", "4", "5")


@pytest.mark.parametrize(
    ("text", "values", "tests", "combinations"),
    [
        ("{OPT, {K1}, {K2A, K2B}}", ("1", "2"), 10, 16),  # Fig. 3.6
        ("{A, B, {C, D}, {E, F}}", VALUES, 63, 144),  # Fig. 4.1
        ("{A, B, {I, {C, D}, {E, F}}, {G, H}}", VALUES, 216, 1728),
        ("{A, B, {C, D}, {E, F}}", THREE, 153, 729),  # section 2.3
        ("{{B0, P0}, {B1, P1}, {B2, P2}, {B3}, {B4}}", FIVE, 81, 390_625),  # OP2 on a GPU
        ("{T, {P0}, {P1}, {P2}}", FIVE, 65, 625),  # OP2 on a CPU
    ],
)
def test_number_of_tests_is_the_report_s(text, values, tests, combinations):
    tree = parse_tree(text)
    values = values if isinstance(values, dict) else dict.fromkeys(tree.flatten(), values)
    score = synthetic_score(tree)
    found, count = evaluations(optimise(tree, values), score)
    assert count == tests
    assert found.score == score(found.valuation)
    if combinations <= 1728:
        assert evaluations(exhaust(tree, values), score) == (found, combinations)


def test_figure_3_5_has_its_optimum():
    """The scores of Figure 3.5, in the order of its rows."""
    scores = [14, 15, 12, 17, 16, 17, 14, 19, 13, 14, 11, 16, 11, 12, 9, 14]
    values = {"OPT": ("-O2", "-O3"), "K1": ("128", "256"), "K2A": ("128", "256"), "K2B": ("4", "6")}
    table = dict(zip(product(*values.values()), scores, strict=True))
    tree = parse_tree("{OPT, {K1}, {K2A, K2B}}")
    assert evaluations(optimise(tree, values), table.__getitem__) == (Optimum(("-O3", "256", "256", "4"), 9), 10)


def random_tree(draw, names):
    """A tree of all these variables; a node may have none of its own if it has children."""
    count = draw.randint(0 if len(names) > 1 else 1, len(names))
    own, rest = names[:count], names[count:]
    children = []
    while rest:
        size = draw.randint(1, len(rest))
        children.append(random_tree(draw, rest[:size]))
        rest = rest[size:]
    return VariableTree(tuple(own), tuple(children))


def test_optimum_of_1000_random_trees_is_that_of_brute_force():
    draw = random.Random(18)
    fewer = 0
    for _ in range(1000):
        tree = random_tree(draw, list("ABCDE")[: draw.randint(1, 5)])
        values = {name: tuple(map(str, range(draw.randint(2, 3)))) for name in tree.flatten()}
        score = synthetic_score(tree)
        goal = draw.choice(("min", "max"))
        found, tests = evaluations(optimise(tree, values, goal), score)
        brute, all_tests = evaluations(exhaust(tree, values, goal), score)
        assert (found.score, score(found.valuation)) == (brute.score, brute.score)
        assert tests <= all_tests
        fewer += tests < all_tests
    assert fewer > 150


def test_nothing_is_asked_twice():
    tree = parse_tree("{A, B, {I, {C, D}, {E, F}}, {G, H}}")
    asked = []

    def evaluate(valuation):
        asked.append(valuation)
        return 1.0

    assert evaluations(optimise(tree, VALUES), evaluate)[0].score == 1.0
    assert len(asked) == len(set(asked))


def test_failed_test_excludes_its_valuation_only():
    tree = parse_tree("{A, {B}, {C}}")
    values = {"A": ("1", "2"), "B": ("1", "2", "3"), "C": ("1", "2", "3")}
    found, _ = evaluations(optimise(tree, values), lambda v: None if v[1] == "3" else sum(map(int, v)))
    assert found == Optimum(("1", "1", "1"), 3)
    found, _ = evaluations(optimise(tree, values, "max"), lambda v: None if v[1] == "3" else sum(map(int, v)))
    assert found == Optimum(("2", "2", "3"), 7)


def test_bad_arbitrary_value_of_a_sibling_does_not_end_the_search():
    """With C = 1, the arbitrary first value, every value of B fails: B is tried again with C at its best."""
    tree = parse_tree("{A, {B}, {C}}")
    values = {"A": ("1",), "B": ("1", "2"), "C": ("1", "2", "3")}
    found, _ = evaluations(optimise(tree, values, "max"), lambda v: None if v[2] == "1" else sum(map(int, v)))
    assert found == Optimum(("1", "2", "3"), 6)


def test_value_of_the_parent_with_which_all_fails_is_skipped():
    tree = parse_tree("{A, {B}, {C}}")
    values = {"A": ("1", "2"), "B": ("1", "2"), "C": ("1", "2")}
    found, tests = evaluations(optimise(tree, values), lambda v: None if v[0] == "1" else sum(map(int, v)))
    assert found == Optimum(("2", "1", "1"), 4)
    assert tests == 3 + 3
    assert evaluations(optimise(tree, values), lambda v: None)[0] is None


def test_demonstration_agrees_and_says_the_counts():
    lines = []
    assert demonstrate(lines.append)
    text = "\n".join(lines)
    assert [text.count(f"in {count} tests") for count in (63, 144, 216, 1728)] == [2, 2, 2, 2]
    assert "NOT EQUAL" not in text
