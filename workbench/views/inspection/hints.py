"""Hints: what a plan stores and where it waits otherwise than its cell asks, as lines that are pasted into the cell."""

from __future__ import annotations

import ast
import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, is_dataclass

from workbench.graph import value_name
from workbench.pipeline import plan_again
from workbench.planning.choices import Choices, PlanChoices
from workbench.planning.kernel_plan import Storage
from workbench.planning.plan import Plan
from workbench.python_text import parse
from workbench.views.inspection.flipping import choose_storage, storage_changes, sync_marks
from workbench.views.inspection.selection import ValueRef, node_of

_WORDS = {Storage.MANIFEST: "manifest", Storage.DELAYED: "delayed"}
_SAID = ("values", "barriers")  # sections of choices that hints say
_COMPONENT = re.compile(r"(?P<tensor>.*?[^0-9])(?P<indices>[0-9]+)")


def hint_text(plan: Plan, cell: Sequence[str], backend: str) -> str:
    """The choices of a plan as lines to paste at the end of its cell, which then has this plan for `backend`.

    cell: the lines of the cell. What the cell cannot name there, and what belongs to no cell, is said in comments.
    """
    names = _Names(cell)
    lines: list[str] = []
    comments: list[str] = []
    for value, words in _wanted(plan, backend):
        node = node_of(plan, value)
        expression = names.expression(plan, value)
        if node.hint.allocation and any(word in words for word in _WORDS.values()):
            comments.append(
                f"# line {node.hint.line} asks for {node.hint.allocation}: write {_calls(words, '...')} there"
            )
        elif expression:
            lines.append(_calls(words, expression))
        else:
            name = value_name(plan.kernel(value.kernel).kernel, value.node)
            line = f" (line {node.spans[-1].line})" if node.spans and "(line" not in name else ""
            comments.append(f"# {name}{line}: write {_calls(words, '...')} around it")
    comments += [f"# no hint of a cell: {chosen}" for chosen in _other_choices(plan.choices.plan)]
    if not lines and not comments:
        return f"# {plan.graph.name} is planned as its cell says; no hints are needed"
    head = [f"# the choices of {plan.graph.name} as hints, for the end of its cell"] if lines else []
    return "\n".join([*head, *lines, *comments])


def _wanted(plan: Plan, backend: str) -> list[tuple[ValueRef, tuple[str, ...]]]:
    """What must be asked for, value by value, so that the cell alone gives the plan."""
    base = plan_again(plan, Choices(plan.choices.meaning), backend)
    storage = {value: after for value, _, after in storage_changes(base, plan)}
    while True:
        made = plan_again(plan, choose_storage(base, storage), backend)
        # By cost, what is asked for may change what is best for other values: those are asked for as well.
        moved = {value: after for value, _, after in storage_changes(made, plan) if value not in storage}
        if not moved:
            break
        storage.update(moved)
    wanted = {value: (_WORDS[after],) for value, after in storage.items() if after in _WORDS}
    for kernel in plan.kernels:
        name = kernel.kernel.name
        for index, (asked, given) in enumerate(zip(sync_marks(plan, name), sync_marks(base, name), strict=True)):
            word = {(True, True): "sync", (True, False): "before", (False, True): "after"}.get(asked)
            if word and asked != given:
                wanted[ValueRef(name, index)] = (*wanted.get(ValueRef(name, index), ()), word)
    return sorted(wanted.items())


def _other_choices(choices: PlanChoices) -> list[str]:
    """What is chosen of a plan beside values and barriers: `threads=2`."""
    chosen: list[str] = []
    for section in fields(PlanChoices):
        now, usual = getattr(choices, section.name), getattr(PlanChoices(), section.name)
        if section.name in _SAID or now == usual:
            continue
        if not is_dataclass(now):  # of single loops
            chosen.append(f"{section.name}={now!r}")
            continue
        names = [member.name for member in fields(now)]
        chosen += [f"{name}={getattr(now, name)!r}" for name in names if getattr(now, name) != getattr(usual, name)]
    return chosen


def _calls(words: tuple[str, ...], expression: str) -> str:
    for word in words:
        expression = f'sync({expression}, "{word}")' if word in ("before", "after") else f"{word}({expression})"
    return expression


class _Names:
    """What the names of a cell stand for at its end."""

    def __init__(self, cell: Sequence[str]) -> None:
        try:
            tree = parse(textwrap.dedent("\n".join(cell)))
        except SyntaxError:  # no text of a cell, as that of a function with its decorator
            tree = parse("")
        self._assigned = Counter(_assigned(tree.body))

    def expression(self, plan: Plan, value: ValueRef) -> str:
        """What the value is called at the end of the cell, "" if no name there is sure to mean it."""
        if value.kernel != plan.main.kernel.name:
            return ""
        nodes = plan.main.kernel.nodes
        for name in nodes[value.node].names:
            if sum(name in node.names for node in nodes) > 1:
                continue
            if self._assigned[name] == 1:
                return name
            component = _COMPONENT.fullmatch(name)
            if component is not None and self._assigned[component["tensor"]] == 1:
                return f"{component['tensor']}[{', '.join(component['indices'])}]"
        return ""


def _assigned(body: Sequence[ast.stmt]) -> list[str]:
    """The names that statements assign, functions and classes left out, each as often as it is assigned."""
    names: list[str] = []
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        waiting.extend(ast.iter_child_nodes(node))
    return names
