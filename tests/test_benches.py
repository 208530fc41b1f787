"""Benches, which no test runs, use names of the workbench that there are: one that is renamed is noticed here."""

import ast
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

BENCHES = sorted((Path(__file__).parent / "bench").glob("*.py"))


def missing(text):
    """Names that the text imports from the workbench or takes of its modules, and that are not there."""
    tree, found, modules = ast.parse(text), [], {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or (node.module or "").split(".")[0] != "workbench":
            continue
        for each in node.names:
            value = named(node.module, each.name)
            if value is None:
                found.append(f"{node.lineno}: {node.module}.{each.name}")
            elif isinstance(value, ModuleType):
                modules[each.asname or each.name] = value
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            module = modules[node.value.id]
            if not hasattr(module, node.attr):
                found.append(f"{node.lineno}: {module.__name__}.{node.attr}")
    return found


def named(module, name):
    """What a module has by a name, a module below it among that; None if nothing."""
    value = getattr(import_module(module), name, None)
    if value is not None:
        return value
    try:
        return import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return None


@pytest.mark.parametrize("path", BENCHES, ids=lambda path: path.stem)
def test_names_of_the_workbench_are_there(path):
    assert not missing(path.read_text(encoding="utf-8"))


def test_a_name_that_is_gone_is_noticed():
    text = "from workbench.solvers import hydro\nfrom workbench.errors import PlanErrors\nhydro.State.of(1)\nhydro.hllc"
    assert missing(text) == ["2: workbench.errors.PlanErrors", "3: workbench.solvers.hydro.State"]
