"""A set of kinds of instructions has a name in their table of traits; code that writes one out says why."""

import ast
from collections import Counter
from pathlib import Path
from typing import get_args

from workbench.graph import instructions
from workbench.graph.instructions import Instruction

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted(
    path for path in (ROOT / "workbench").rglob("*.py") if path.relative_to(ROOT / "workbench").parts[0] != "graph"
)
KINDS = {kind.__name__ for kind in get_args(Instruction)}
UNIONS = {name: {kind.__name__ for kind in get_args(value)} for name, value in vars(instructions).items()}
UNIONS = {name: kinds for name, kinds in UNIONS.items() if kinds and kinds <= KINDS}

# "workbench/x.py": (questions about several kinds, "why no trait answers them"); a number may only shrink
ALLOWED: dict[str, tuple[int, str]] = {
    "workbench/codegen/writer.py": (1, "an assertion, for the members that all of the union have"),
    "workbench/planning/relatives.py": (1, "part of labels that studies keep: another set would make others of them"),
    "workbench/planning/schedules/ghosts.py": (1, "what is proved to be alike a domain further on; a new kind is not"),
    "workbench/planning/search.py": (1, "what ends a region of equal uses: a new kind needs figures of the search"),
    "workbench/planning/slices.py": (1, "what `_Places` can make at other places; a new kind is none of these"),
    "workbench/planning/walking.py": (1, "whose loops take one cell after the other: measured, for weights only"),
}


def kinds_in(expression, unions):
    """The kinds that an expression names: A, A | B, (A, B), or the name of such a set."""
    match expression:
        case ast.Name(id=name):
            return {name} if name in KINDS else unions.get(name, set())
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return kinds_in(left, unions) | kinds_in(right, unions)
        case ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return set().union(*(kinds_in(part, unions) for part in parts))
        case _:
            return set()


def asked(expression, unions):
    """(the text of what is asked for its kind, the kinds) of a question; of another expression no kinds."""
    match expression:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return asked(inner, unions)
        case ast.Call(func=ast.Name(id="isinstance"), args=[subject, kinds]):
            return ast.unparse(subject), kinds_in(kinds, unions)
        case ast.Compare(left=ast.Call(func=ast.Name(id="type"), args=[subject]), comparators=[kinds]):
            return ast.unparse(subject), kinds_in(kinds, unions)
        case _:
            return "", set()


def questions(text):
    """The lines of a module that ask whether an instruction is of one of several kinds, in one question or some."""
    tree = ast.parse(text)
    unions = dict(UNIONS)
    for statement in tree.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ):
                unions[name] = kinds_in(value, unions)
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Call() | ast.Compare():
                several = len(asked(node, unions)[1]) > 1
            case ast.BoolOp(values=parts):  # a part that asks for several kinds is found by itself
                each = [asked(part, unions) for part in parts]
                singles = Counter(subject for subject, kinds in each if len(kinds) == 1)
                several = any(count > 1 for count in singles.values())
            case _:
                several = False
        if several:
            found.append(node.lineno)
    return found


def test_questions_are_seen_however_they_are_written():
    ways = (
        "isinstance(n, Imm | Load)",
        "isinstance(n, (Imm, Load))",
        "isinstance(n, Collective)",
        "type(n) in (Imm, Load)",
        "isinstance(n, Imm) or isinstance(n, Load)",
        "not isinstance(n, Imm) and not isinstance(n, Load)",
        "a or isinstance(n, Imm | Load)",
    )
    assert [len(questions(way)) for way in ways] == [1] * len(ways)
    assert len(questions("OURS = (Imm, Load)\nisinstance(n, OURS)")) == 1
    for other in ("isinstance(n, Imm)", "isinstance(n, Imm) or isinstance(m, Load)", "isinstance(n, int | str)"):
        assert not questions(other)


def test_sets_of_kinds_are_traits():
    """Outside of graph/, where the table is. What differs from kind to kind is a `match`."""
    found = {}
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        if "isinstance(" in text or "type(" in text:
            lines = questions(text)
            if lines:
                found[path.relative_to(ROOT).as_posix()] = lines
    rooms = Counter(name.split("/")[1] for name, lines in found.items() for _ in lines)
    print(f"{len(MODULES)} files looked at; questions about sets of kinds by room: {dict(sorted(rooms.items()))}")
    assert len(MODULES) > 500
    more = {name: lines for name, lines in found.items() if len(lines) > ALLOWED.get(name, (0, ""))[0]}
    assert not more, f"ask a trait of graph/traits.py in these lines: {more}"
    numbers = {name: len(lines) for name, lines in found.items()}
    assert numbers == {name: number for name, (number, _) in ALLOWED.items()}, "lower these allowances"
