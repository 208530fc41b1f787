"""Boundary rules on their way into generated code."""

import re
from pathlib import Path

from workbench.codegen import rules
from workbench.graph import Fixed, Outflow, Periodic
from workbench.graph.side_rules import RULES, VALUE_RULES

TEXT = (Path(rules.__file__).parent / "runtime" / "stencil_sides.h").read_text(encoding="utf-8")
KINDS = TEXT.partition("enum RuleKind { ")[2].partition(" };")[0].split(", ")


def test_every_rule_has_a_kind_in_the_generated_code():
    assert sorted(KINDS) == sorted(name.upper() for name in RULES)


def test_generated_code_says_for_every_kind_where_a_ghost_cell_comes_from():
    """A kind without a case of its own would be taken for another rule without a word."""
    cases = TEXT.partition("switch (rule.kind) {")[2].partition("add_negation(walk);")[0]
    assert "default" not in cases
    assert set(re.findall(r"case (\w+):", cases)) == set(KINDS)


def test_rules_that_name_an_operand_come_last():
    """The walk asks `kind >= VALUE`."""
    assert set(KINDS[KINDS.index("VALUE") :]) == {name.upper() for name, rule in RULES.items() if rule in VALUE_RULES}


def test_rows_hold_sign_and_operand():
    assert rules.rule_row(Periodic(-1)) == ("PERIODIC", -1, 0)
    assert rules.rule_row(Fixed(3)) == ("FIXED", 1, 3)
    assert rules.rule_row(Outflow()) == ("OUTFLOW", 1, 0)
