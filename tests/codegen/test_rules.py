"""Boundary rules on their way into generated code."""

from pathlib import Path

from workbench.codegen import rules
from workbench.graph import Fixed, Outflow, Periodic
from workbench.graph.instructions import RULES

PRELUDE = Path(rules.__file__).parent / "runtime" / "stencil_prelude.h"


def test_every_rule_has_a_kind_in_the_generated_code():
    text = PRELUDE.read_text(encoding="utf-8")
    kinds = text.partition("enum RuleKind { ")[2].partition(" };")[0].split(", ")
    assert sorted(kinds) == sorted(name.upper() for name in RULES)


def test_rows_hold_sign_and_operand():
    assert rules.rule_row(Periodic(-1)) == ("PERIODIC", -1, 0)
    assert rules.rule_row(Fixed(3)) == ("FIXED", 1, 3)
    assert rules.rule_row(Outflow()) == ("OUTFLOW", 1, 0)
