"""History of a tuning: the paper's own counts give the paper's figures, and a history made by hand its tables."""

import math
import random
from dataclasses import replace

import pytest

from workbench.errors import TuningError
from workbench.tuning import history_tables as tables
from workbench.tuning.chi_squared import critical_value, pearson, survival, together
from workbench.tuning.history import Member, history_of, read_history
from workbench.tuning.history_components import WAYS, component_table, log_shares, shares_of
from workbench.tuning.history_tests import correlations, family_lines

GA1_DISTANCES = {"mutation": (1627, 9495), "crossover": (1875, 4333), "triangulation": (3011, 6850)}
"""Table 12: individuals with d = 0, and all, of experiment GA-1."""


def two_groups(yes, of, yes_too, of_them):
    return pearson([[yes, of - yes], [yes_too, of_them - yes_too]])


@pytest.mark.parametrize(
    ("birth", "statistic", "positive"),
    [("mutation", 1678.37, False), ("crossover", 352.27, True), ("triangulation", 736.92, True)],
)
def test_rows_1_to_3_of_table_26_from_table_12(birth, statistic, positive):
    total, of_all = map(sum, zip(*GA1_DISTANCES.values(), strict=True))
    yes, of = GA1_DISTANCES[birth]
    test = two_groups(yes, of, total - yes, of_all - of)
    assert test.statistic == pytest.approx(statistic, abs=0.005)
    assert (test.positive, test.degrees, test.significant) == (positive, 1, True)


@pytest.mark.parametrize(
    ("crossover", "triangulation", "statistic"),
    [
        ((1875, 4333), (3011, 6850), 0.50),  # GA-1
        ((915, 8650), (1411, 9763), 62.38),  # GA-S1
        ((430, 9065), (592, 11711), 1.06),  # GA-DE
        ((1099, 15405), (1680, 19278), 29.02),  # GA-D
        ((730, 11013), (940, 12027), 12.05),  # GA-4
        ((329, 4842), (499, 6120), 7.15),  # GA-F
        ((314, 4146), (767, 6767), 40.75),  # GA-F2
    ],
)
def test_row_8_of_table_26_from_tables_12_to_18(crossover, triangulation, statistic):
    test = two_groups(*crossover, *triangulation)
    assert test.statistic == pytest.approx(statistic, abs=0.005)
    assert not test.positive


def test_row_10_of_table_26_from_table_19():
    """Within the elite of GA-1: crossovers that are ≫, of those that are ≫ or ≃, beside triangulations."""
    test = two_groups(1347, 1347 + 824, 1293, 1293 + 2420)
    assert test.statistic == pytest.approx(410.39, abs=0.005)
    assert test.positive


@pytest.mark.parametrize(
    ("degrees", "critical"),
    [(1, 10.828), (2, 13.816), (3, 16.266), (4, 18.467), (12, 32.909), (15, 37.697), (16, 39.252)],
)
def test_critical_values_are_those_of_printed_tables(degrees, critical):
    """Abramowitz & Stegun, Table 26.8, at 1e-3; the paper's 37.70 belongs to 15 degrees of freedom, not to 16."""
    assert critical_value(degrees) == pytest.approx(critical, abs=5e-4)
    assert survival(critical_value(degrees), degrees) == pytest.approx(1e-3, rel=1e-9)


def test_what_cannot_be_tested_has_no_degrees_of_freedom():
    assert pearson([[3, 4], [0, 0]]).degrees == 0
    assert not pearson([[3, 4], [0, 0]]).significant
    assert together([pearson([[1, 2], [2, 1]]), pearson([[0, 0], [0, 0]])]).degrees == 1


GA_S1 = [1.137, 1.122, 5.400, 5.300, 3.073, 2.946, 15.829, 15.354]
GA_S1_LINEAR = [0, -0.001, 0.300, 0.293, 0.136, 0.127, 1.033, 1]
GA_S1_LOGARITHMIC = [0, -0.005, 0.599, 0.591, 0.382, 0.366, 1.012, 1]
GA_4 = [19.808, 19.817, 32.821, 32.694, 19.773, 19.859, 32.994, 35.160]
GA_4_LINEAR = [0, 0.001, 0.848, 0.839, -0.002, 0.003, 0.859, 1]
GA_4_LOGARITHMIC = [0, 0.001, 0.880, 0.873, -0.003, 0.005, 0.889, 1]


@pytest.mark.parametrize(
    ("scores", "linear", "logarithmic", "sum_of_logs"),
    [
        (
            GA_S1,
            [0, -0.001, 0.300, 0.293, 0.136, 0.127, 1.033, 1],
            [0, -0.005, 0.599, 0.591, 0.382, 0.366, 1.012, 1],
            0.98,
        ),
        (
            GA_4,
            [0, 0.001, 0.848, 0.839, -0.002, 0.003, 0.859, 1],
            [0, 0.001, 0.880, 0.873, -0.003, 0.005, 0.889, 1],
            0.88,
        ),
    ],
    ids=["GA-S1", "GA-4"],
)
def test_table_10_from_its_scores(scores, linear, logarithmic, sum_of_logs):
    members = [Member(n, "start", (), 1e6 * score, 1e4) for n, score in enumerate(scores, start=1)]
    found = shares_of(members)
    assert [row.taken for row in found] == list(WAYS)
    assert [row.linear for row in found] == pytest.approx(linear, abs=2e-3)
    assert [row.logarithmic for row in found] == pytest.approx(logarithmic, abs=2e-3)
    assert sum(log_shares(found).values()) == pytest.approx(sum_of_logs, abs=5e-3)
    assert f"add up to {100 * sum_of_logs:.0f} %" in component_table(found).note


def test_a_hybrid_that_failed_has_a_share_and_no_logarithm():
    members = [Member(n, "start", (), mean, 0.0) for n, mean in enumerate([1.0, 0.0, *[1.5] * 5, 2.0])]
    failed = shares_of(members)[1]
    assert failed.linear == -1.0
    assert math.isnan(failed.logarithmic)
    assert component_table(shares_of(members)).rows[1][-1] == "failed"
    with pytest.raises(TuningError, match="nothing to share out"):
        shares_of([Member(1, "start", (), 1.0, 0.0)] * 8)


def history(*rows):
    """From (birth, parents, mean, sigma) in order."""
    return history_of([Member(number, *row) for number, row in enumerate(rows, start=1)], "hand")


FAMILY = history(
    ("start", (), 10.0, 1.0),
    ("random", (), 5.0, 1.0),
    ("mutation", (1,), 12.0, 1.0),  # 2 more, sigma 1.41
    ("mutation", (1,), 11.0, 1.0),  # within it
    ("crossover", (3, 2), 8.0, 1.0),  # between both
    ("crossover", (3, 4), 20.0, 1.0),  # faster than both
    ("triangulation", (6, 3, 1), 20.5, 1.0),  # as the best parent; the best itself
    ("mutation", (5,), 0.0, 0.0),  # failed
    ("rule", (2,), 5.1, 1.0),  # of one that leads nowhere; a mutation of another name
)


def test_distances_of_a_family_made_by_hand():
    """6 and 7 are within one sigma of the best; 1, 3 and 4 are ancestors; 9 descends from nobody of theirs."""
    assert [one.distance for one in FAMILY.members] == [0, None, 0, 0, 1, 0, 0, 2, None]
    assert [one.number for one in FAMILY.family] == [1, 3, 4, 6, 7]
    assert FAMILY.high_scores() == [(1, 10.0), (3, 12.0), (6, 20.0), (7, 20.5)]


def test_gains_are_counted_from_the_start_wherever_it_came():
    """With two workers another individual may be added before it; one that failed is nothing to count from."""
    second = history(("random", (), 5.0, 1.0), ("start", (), 10.0, 1.0), ("mutation", (2,), 30.0, 1.0))
    assert second.first.number == 2
    assert "3.00 times the start" in " ".join(str(second).split())
    failed = history(("start", (), 0.0, 0.0), ("random", (), 0.0, 0.0), ("random", (), 5.0, 1.0))
    assert (failed.first.number, "1.00 times the first" in " ".join(str(failed).split())) == (3, True)
    assert "times" not in str(history(("start", (), 0.0, 0.0)))


def test_ranks_of_a_family_made_by_hand():
    assert [one.rank for one in FAMILY.members] == [None, None, "≫", "≃", "≤", "≫", "≃", "≪", "≃"]


def test_tables_of_a_family_made_by_hand():
    distances = {row[0]: row[1:] for row in tables.distance_table(FAMILY).rows}
    assert distances["0"] == ("2 (0.500)", "1 (0.500)", "1 (1.000)", "1 (0.500)", "5 (0.556)")
    assert distances["sum"] == ("4", "2", "1", "2", "9")
    ranks = [row for row in tables.rank_table(FAMILY).rows if row[0] == "mutation"]
    assert ranks == [
        ("mutation", "≪", "1 (0.250)", "0 (0.000)", "0.000"),
        ("mutation", "≃", "2 (0.500)", "1 (0.250)", "0.500"),
        ("mutation", "≫", "1 (0.250)", "1 (0.250)", "1.000"),
    ]
    row = correlations(FAMILY)[3].test  # ≫ beside d = 0: 2 of 2, and 3 of 7
    assert row.statistic == pytest.approx(pearson([[2, 0], [3, 4]]).statistic)
    assert [one.row for one in correlations(FAMILY)] == list(range(1, 18))


def test_words_of_a_family_made_by_hand():
    """Of 7: 1-3, 23, 3 (by 1: nobody bred it); of 6: 12 twice. In threes: 1-2-3 twice."""
    lines = family_lines(FAMILY)
    assert lines.pairs == 4  # 2→3 and 1→3 of 7, 1→2 twice of 6
    assert lines.triples == 2
    assert lines.zeroth.statistic == pytest.approx(pearson([[2, 1], [0, 1]]).statistic)
    assert lines.first.degrees == 0


def line_of(letters):
    """A history with one family line: births by their number of parents, all but the first of whom nobody bred."""
    rows = [("start", (), 1.0, 0.0)] * 3
    for at, letter in enumerate(letters, start=3):
        rows.append(("any", (at, 1, 2)[:letter], 1.0 + at, 0.0))
    return history(*rows)


def test_the_top_of_a_history_is_told_by_what_it_is():
    """The paper's mean; a study's best is by least samples and races, so that it may be another one."""
    assert "\nlargest mean of first measurements: number 5, 5e-06 " in str(line_of((1, 2)))


def test_degrees_of_freedom_are_4_and_12_where_all_letters_occur():
    lines = family_lines(line_of([1, 1, 2, 1, 3, 2, 2, 3, 1, 2, 3, 3, 2, 1] * 30))
    assert (lines.zeroth.degrees, lines.first.degrees) == (4, 12)
    rows = {
        row[0]: row for row in tables.family_line_table(line_of([1, 1, 2, 1, 3, 2, 2, 3, 1, 2, 3, 3, 2, 1] * 30)).rows
    }
    assert rows["0th order"][4:6] == ("18.47", "18.47")
    assert rows["1st order"][4:6] == ("32.91", "37.70")


def test_lines_drawn_at_random_are_not_significant_and_those_with_memory_are():
    """Two random sequences without and with memory of one and of two letters."""
    draw = random.Random(7)
    free = [draw.choice((1, 2, 3)) for _ in range(900)]
    sticky = [1]
    while len(sticky) < 900:
        sticky.append(sticky[-1] if draw.random() < 0.6 else draw.choice((1, 2, 3)))
    alternating = [1, 2]
    while len(alternating) < 900:
        alternating.append(alternating[-2] if draw.random() < 0.6 else draw.choice((1, 2, 3)))
    found = [family_lines(line_of(letters)) for letters in (free, sticky, alternating)]
    assert [lines.zeroth.significant for lines in found][:2] == [False, True]
    assert [lines.first.significant for lines in found] == [False, False, True]
    assert found[1].repeated["3→3"].positive
    assert not found[0].repeated["33→3"].significant


def test_a_study_without_individuals_is_refused():
    with pytest.raises(TuningError, match="no individual"):
        read_history([])


def test_table_is_lines_and_escaped_html():
    table = tables.CountTable("a < b", ("x", "y"), (("1", "<i>"),), "note")
    assert str(table) == "a < b\n\nx  y\n----\n1  <i>\n\nnote"
    assert "&lt;i&gt;" in table._repr_html_()
    assert "<i>" not in table._repr_html_()


def test_a_gain_that_drowns_in_noise_is_not_shared_out():
    noisy = [Member(k + 1, "start", (), 1e8 + 1e6 * k, 5e6) for k in range(8)]
    table = component_table(shares_of(noisy))
    assert {row[-2:] for row in table.rows} == {("none", "none")}
    assert "no faster than the start by more than both spread" in table.note
    assert "%" not in table.note
    clear = [replace(one, sigma=1e5) for one in noisy]
    assert component_table(shares_of(clear)).rows[-1][-1].startswith("1.000")
