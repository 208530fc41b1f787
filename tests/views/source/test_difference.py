"""Rows side by side hold both texts, in order and completely."""

import random

from workbench.views.source.difference import FoldedLines, LinePair, compare_lines, count_changes, folds_of


def test_rows_of_a_small_change():
    assert compare_lines(["a", "b", "c"], ["a", "x", "y", "c"]) == (
        LinePair("same", 1, 1),
        LinePair("changed", 2, 2),
        LinePair("added", 0, 3),
        LinePair("same", 3, 4),
    )
    assert compare_lines(["a", "b"], ["b"]) == (LinePair("removed", 1, 0), LinePair("same", 2, 1))


def test_names_made_of_a_hash_are_the_same():
    rows = compare_lines(["namespace plan_0123456789abcdef {"], ["namespace plan_fedcba9876543210 {"])
    assert rows == (LinePair("same", 1, 1),)


def test_rows_hold_both_texts_in_order():
    rng = random.Random(1)
    for _ in range(200):
        before = [rng.choice("abcd") for _ in range(rng.randrange(12))]
        after = [rng.choice("abcd") for _ in range(rng.randrange(12))]
        rows = compare_lines(before, after)
        assert [row.before for row in rows if row.before] == list(range(1, len(before) + 1))
        assert [row.after for row in rows if row.after] == list(range(1, len(after) + 1))
        for row in rows:
            if row.kind == "same":
                assert before[row.before - 1] == after[row.after - 1]
            else:
                assert not (row.before and row.after) or row.kind == "changed"


def test_what_is_far_from_changes_folds():
    rows = compare_lines([*"abcdefghij", "x", *"klm"], [*"abcdefghij", "y", *"klm"])
    assert folds_of(rows) == (FoldedLines(0, 6),)
    assert folds_of(rows, context=1) == (FoldedLines(0, 8), FoldedLines(12, 13))


def test_folds_never_hide_a_change_nor_its_neighbours():
    rng = random.Random(2)
    for _ in range(200):
        kinds = [rng.choice(["same"] * 9 + ["changed"]) for _ in range(rng.randrange(40))]
        rows = [LinePair(kind, i + 1, i + 1) for i, kind in enumerate(kinds)]
        hidden = {i for fold in folds_of(rows) for i in range(fold.first, fold.last + 1)}
        changes = [i for i, kind in enumerate(kinds) if kind != "same"]
        far = {i for i in range(len(rows)) if all(abs(i - c) > 3 for c in changes)}
        assert hidden <= far
        assert all(i - 1 not in far and i + 1 not in far for i in far - hidden)


def test_equal_texts_fold_away():
    rows = compare_lines(list("abc"), list("abc"))
    assert folds_of(rows) == (FoldedLines(0, 2),)
    assert count_changes(rows) == (0, 0)
    assert count_changes(compare_lines(["a", "b"], ["x"])) == (2, 1)
