"""Trees of variables: text, picture, and what is refused."""

import pytest

from workbench.errors import TuningError
from workbench.tuning.trees import VariableTree, parse_tree


@pytest.mark.parametrize(
    "text",
    ["{A, B, {C, D}, {E, F}}", "{A}", "{{A}, {B}}", "{{{A, b_1}, {2}}, {C}}", "{A, B, {I, {C, D}, {E, F}}, {G, H}}"],
)
def test_text_of_a_tree_is_read_back(text):
    assert str(parse_tree(text)) == text
    assert parse_tree(text.replace(" ", "")) == parse_tree(text)


def test_structure():
    tree = parse_tree("{A, {C, D}, B, {E}}")
    assert tree.variables == ("A", "B")
    assert tree.children == (VariableTree(("C", "D")), VariableTree(("E",)))
    assert tree.flatten() == ("A", "B", "C", "D", "E")


def test_flat_list_needs_no_braces():
    assert parse_tree(" A, B ,C") == VariableTree(("A", "B", "C")) == parse_tree("{A, B, C}")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "the end"),
        ("{}", "'}'"),
        ("{A, {}}", "'}'"),
        ("{A, B", "the end"),
        ("{A} B", "'B'"),
        ("A, {B}", "'{'"),
        ("{A,, B}", "','"),
        ("{A-B}", "'-'"),
        ("{A B}", "'B'"),
        ("{A, {B, A}}", "A appears twice"),
    ],
)
def test_what_is_no_tree_is_refused(text, cause):
    with pytest.raises(TuningError) as caught:
        parse_tree(text)
    assert cause in caught.value.what
    assert caught.value.advice


def test_picture_stands_above_its_children():
    assert parse_tree("{A, B, {C, D}, {E, F}}").picture().splitlines() == [
        "    {A, B}",
        "       |",
        "   +---+---+",
        "   |       |",
        "{C, D}  {E, F}",
    ]


@pytest.mark.parametrize("text", ["{A, {B}}", "{LONG_NAME_OF_A_VARIABLE, {B}, {C}}", "{{A}, {B}, {C, {D}, {E, {F}}}}"])
def test_picture_has_every_variable_once(text):
    tree = parse_tree(text)
    picture = tree.picture()
    assert sorted(picture.replace("{", " ").replace("}", " ").replace(",", " ").replace("|", " ").split()) == sorted(
        [*tree.flatten(), *(word for word in picture.split() if set(word) <= set("+-"))]
    )


def test_names_in_quotes_may_have_any_characters():
    tree = parse_tree('{threads, {"storage of step.u1"}, {"a,{b}"}}')
    assert tree.flatten() == ("threads", "storage of step.u1", "a,{b}")
    assert parse_tree(str(tree)) == tree
    assert '"storage of step.u1"' in tree.picture()
    with pytest.raises(TuningError, match="should stand where"):
        parse_tree('{""}')
