"""The space of a program: what may be chosen, what is left out, and what is believed to be independent."""

import pytest

import workbench as wb
from workbench.errors import TuningError
from workbench.tuning.machine_space import machine_space
from workbench.tuning.strategies.independence import Independence

BLUR = """
u = field("u", boundary="periodic")
left = u[-1] + u
right = u[+1] + u
mean = left * right
u.next = mean + 0.1 * mean[+1]
"""


def space_of(machine, backend="openmp", **options):
    return machine_space(machine.graph, machine.choices, backend, **options)


@pytest.fixture(scope="module")
def blur():
    return wb.trace(BLUR, name="blur")


def children(tree):
    return {child.flatten() for child in tree.children}


def test_derived_tree_puts_launch_numbers_of_a_loop_together(blur):
    space = space_of(blur.annotate("mean", "manifest"), "cuda-sim", tree="derived").space
    loops = [group for group in children(space.tree) if group[0].startswith(("grid of", "block of"))]
    assert len(loops) == 2
    assert all(len(group) == 2 for group in loops)
    assert ("grid", "block") in children(space.tree)
    assert ("storage of step.mean",) in children(space.tree)
    assert sorted(space.tree.flatten()) == sorted(parameter.name for parameter in space.parameters)


def test_derived_tree_on_threads(blur):
    space = space_of(blur, only=["cpu", "build", "storage"], tree="derived").space
    assert ("threads", "tile", "loops") in children(space.tree)
    assert ("flags", "vector_width") in children(space.tree)
    assert ("storage of step.left",) in children(space.tree)


def test_declared_tree_knows_sections_and_names(blur):
    only = ["cpu", "build", "storage"]
    tree = space_of(blur, only=only, tree='{tile, {cpu}, {"storage of step.left", storage}}').space.tree
    assert tree.variables == ("tile",)
    cpu, storage, *rest = tree.children
    assert cpu.variables == ("threads", "loops")
    assert storage.variables[0] == "storage of step.left"
    assert {"storage of step.right", "storage of step.mean"} < set(storage.variables)
    assert {child.variables for child in rest} == {("flags",), ("vector_width",)}
    assert str(space_of(blur, only=["tile"], tree="{tile, {device}}").space.tree) == "{tile}"


@pytest.mark.parametrize("tree", ["{warp}", "{tile, {threads}}", "{tile, {tile}}", "{tile"])
def test_a_tree_of_what_is_not_tuned_is_refused(blur, tree):
    with pytest.raises(TuningError):
        space_of(blur, only=["tile"], tree=tree)


def test_the_search_begins_with_the_tree_of_the_space(blur):
    """Each group is swept until it improves no more, so that a declared pair is enumerated and singles are not."""
    space = space_of(blur, only=["threads", "tile", "loops"], tree="{{threads, tile}, {loops}}", most_threads=2).space
    asked, strategy = [], Independence(space, (tuple(0 for _ in space.parameters),))
    for _ in range(40):
        if (point := strategy.ask()) is None:
            break
        asked.append(point)
        strategy.tell(point, 1.0)
    axes = [parameter.name for parameter in space.parameters]
    pair = {(point[axes.index("threads")], point[axes.index("tile")]) for point in asked}
    assert len(pair) == 3 * 10
