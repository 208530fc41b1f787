"""Demonstration: the self-test of the independence search on synthetic scores (Spencer 2011, section 4.1, Fig. 4.1)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import get_args

from workbench.tuning.independence import Goal, Optimum, Valuation, evaluations, exhaust, optimise
from workbench.tuning.trees import VariableTree, parse_tree

VALUES: Mapping[str, tuple[str, ...]] = {
    "A": ("3", "2", "1"),
    "B": ("3", "5", "7"),
    "C": ("2", "3"),
    "D": ("10", "5"),
    "E": ("4", "2"),
    "F": ("1", "2"),
    "G": ("9", "4"),
    "H": ("11", "2"),
    "I": ("6", "4", "2"),
}
"""Figure 4.1: the same values in all examples."""

EXAMPLES = ("{A, B, {C, D}, {E, F}}", "{A, B, {I, {C, D}, {E, F}}, {G, H}}")
_LARGEST = 10_000


def synthetic_score(tree: VariableTree) -> Callable[[Valuation], float]:
    """A score with just the dependences of a tree: a sum of hashes, one of all values on each path to a leaf."""
    names = tree.flatten()
    paths = [tuple(map(names.index, path)) for path in _paths(tree, ())]

    def score(valuation: Valuation) -> float:
        return float(sum(_hash((number, *(valuation[at] for at in path))) for number, path in enumerate(paths)))

    return score


def demonstrate(say: Callable[[str], None]) -> bool:
    """Search each example by its tree and by brute force, for least and greatest; returns whether all agree."""
    agree = True
    say("values of the variables, the same in all examples:")
    for name, values in VALUES.items():
        say(f"  {name} = {', '.join(values)}")
    for text in EXAMPLES:
        tree = parse_tree(text)
        score = synthetic_score(tree)
        say(f"\n{text}\n\n{tree.picture()}\n")
        for goal in get_args(Goal):
            brute, all_tests = evaluations(exhaust(tree, VALUES, goal), score)
            found, tests = evaluations(optimise(tree, VALUES, goal), score)
            agree &= found == brute
            same = "equal" if found == brute else f"NOT EQUAL: {_words(tree, found)}"
            say(f"{goal}: {_words(tree, brute)}")
            say(f"  by brute force in {all_tests} tests, by independence in {tests} tests: {same}")
    return agree


def _paths(tree: VariableTree, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    path = (*above, *tree.variables)
    if not tree.children:
        yield path
    for child in tree.children:
        yield from _paths(child, path)


def _hash(values: tuple[object, ...]) -> int:
    return int.from_bytes(hashlib.sha256(repr(values).encode()).digest()[:4], "big") % _LARGEST


def _words(tree: VariableTree, optimum: Optimum | None) -> str:
    if optimum is None:
        return "nothing"
    pairs = zip(tree.flatten(), optimum.valuation, strict=True)
    return f"{optimum.score:g} at " + ", ".join(f"{name} = {value}" for name, value in pairs)
