"""Rules about the whole repository that no linter knows: sizes, cost of the import, words, versions."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.kit.tracked import tracked_texts
from workbench.backends.registry import BACKENDS

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted((ROOT / "workbench").rglob("*.py"))
LONGEST = 400  # lines; above it a file has more than one idea

# "workbench/x.py": (lines, "why it is one idea all the same"); a number may only shrink
ALLOWED: dict[str, tuple[int, str]] = {}

HEAVY = ("IPython", "bokeh", "ipywidgets", "cupy", "sqlite3", "jinja2", "pandas", "xarray", "matplotlib")


def modules_by_name():
    return {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p for p in MODULES}


def imports_at_load(tree):
    """Import statements that run when a module is loaded, and those for types; not those inside functions."""
    waiting = list(tree.body)
    while waiting:
        match waiting.pop():
            case ast.If() | ast.Try() as block:
                waiting += block.body + block.orelse
            case ast.Import() | ast.ImportFrom() as statement:
                yield statement


def statements_inside(tree, for_types=True):
    """All statements at any depth, without their expressions; not those for types alone unless `for_types`."""
    waiting = [tree]
    while waiting:
        block = waiting.pop()
        alone = not for_types and isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for part in ("orelse",) if alone else ("body", "orelse", "finalbody", "handlers", "cases"):
            for statement in getattr(block, part, ()):
                yield statement
                waiting.append(statement)


IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Source:
    """What a file's tree tells; trees of all files at once would be a gigabyte."""

    docstring: str | None
    imports_at_load: list
    imports_that_run: list  # when it is loaded or one of its functions called
    imports: list
    classes: list


@cache
def source(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    statements = list(statements_inside(tree))
    return Source(
        ast.get_docstring(tree),
        list(imports_at_load(tree)),
        [each for each in statements_inside(tree, for_types=False) if isinstance(each, IMPORTS)],
        [each for each in statements if isinstance(each, IMPORTS)],
        [each.name for each in statements if isinstance(each, ast.ClassDef)],
    )


def modules_imported(statements, known):
    """The modules of ours that import statements name."""
    found = set()
    for statement in statements:
        match statement:
            case ast.ImportFrom(module=str(module), names=names):
                inside = {f"{module}.{each.name}" for each in names} & known
                found |= inside or {module} & known
            case ast.Import(names=names):
                found |= {each.name for each in names} & known
    return found


@pytest.mark.parametrize("statements", ["imports_at_load", "imports_that_run"])
def test_no_circle_of_imports_not_even_for_types_or_inside_functions(statements):
    """An import inside a function may delay a heavy library; two modules that need each other are one, or need a third.

    Imports for types alone and those inside functions are looked at apart: a record may name in a type what calls it.
    """
    modules = modules_by_name()
    left = {
        name: modules_imported(getattr(source(path), statements), set(modules)) - {name}
        for name, path in modules.items()
        if name != "workbench"
    }
    print(f"{len(left)} modules, {sum(map(len, left.values()))} imports")
    assert sum(map(len, left.values())) > 1000
    try:
        TopologicalSorter(left).prepare()
    except CycleError as error:
        pytest.fail(f"these import each other: {' <- '.join(error.args[1])}")


def test_a_class_name_is_defined_once():
    """A name means one thing in the whole package; a private one, which begins with _, in its module."""
    found = defaultdict(list)
    for path in MODULES:
        for name in source(path).classes:
            if not name.startswith("_"):
                found[name].append(path.relative_to(ROOT).as_posix())
    print(f"{len(found)} names of classes")
    assert len(found) > 700
    assert not {name: places for name, places in found.items() if len(places) > 1}


# (file, or room): (names of backends that it may write, "why")
NAMES_OF_BACKENDS = {
    "workbench/codegen/": ({"cuda"}, "the language that the backend is named after; codegen is below the backends"),
    "workbench/views/source/": ({"cuda"}, "the language of a text"),
    "workbench/tuning/t1.py": ({"cuda"}, "what a table of others calls its device"),
    "workbench/commands/compile.py": ({"cuda"}, "the language of a text"),
    "workbench/commands/cuda_check.py": ({"cuda"}, "compiles CUDA texts, which is what it is for"),
    "workbench/commands/doctor.py": ({"openmp"}, "OpenMP, which the compiler lacks"),
    "workbench/commands/bench/contenders.py": ({"openmp", "cuda", "reference"}, "a contender is a backend by its name"),
    "workbench/commands/bench/accelerate/first_calls.py": ({"openmp"}, "a clock around what that backend has compiled"),
    "workbench/commands/bench/accelerate/measure.py": ({"openmp"}, "the others are libraries for CPUs"),
}


def test_only_backends_name_backends():
    """All else asks the registry's rows and the protocol of workbench.backends.base; a new backend edits none of it."""
    names, modules = {row.name for row in BACKENDS}, {row.module: row.name for row in BACKENDS}
    rooms = [path for path in MODULES if path.relative_to(ROOT / "workbench").parts[0] != "backends"]
    print(f"{len(rooms)} files looked at")
    assert len(rooms) > 500
    found, used = [], defaultdict(set)
    for path in rooms:
        text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
        if not any(each in text for each in (*names, *modules)):
            continue
        tree = ast.parse(text)
        owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        told = {
            id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, owners) and ast.get_docstring(node)
        }
        allowed = next((key for key in NAMES_OF_BACKENDS if name.startswith(key)), "")
        for node in ast.walk(tree):
            match node:
                case ast.Constant(value=str(word)) if word in names and id(node) not in told:
                    asked = [word]
                case ast.ImportFrom(module=str(module)) if module in modules:
                    asked = [modules[module]]
                case ast.Import(names=imported):
                    asked = [modules[each.name] for each in imported if each.name in modules]
                case _:
                    continue
            for word in asked:
                if allowed and word in NAMES_OF_BACKENDS[allowed][0]:
                    used[allowed].add(word)
                else:
                    found.append(f"{name}:{node.lineno}: {word}")
    assert not found, f"ask the row of the backend: {found}"
    assert used == {key: words for key, (words, _) in NAMES_OF_BACKENDS.items()}  # no allowance that nobody needs


def test_private_parts_of_a_simulation_are_known_in_its_room_only():
    """Views and tuner ask `workbench.run.hooks`."""
    private = re.compile(r"\b(?:simulation|sim)\._\w+")
    texts = {p: p.read_text(encoding="utf-8") for p in MODULES if p.relative_to(ROOT / "workbench").parts[0] != "run"}
    print(f"{len(texts)} files looked at")
    assert len(texts) > 500
    assert not {p.name: private.findall(text) for p, text in texts.items() if private.search(text)}


def test_no_file_is_too_long():
    written = [f for suffix in ("*.h", "*.jinja") for f in sorted((ROOT / "workbench").rglob(suffix))]
    files = [*MODULES, *written, *sorted((ROOT / "tests").rglob("*.py"))]
    print(f"{len(files)} files looked at")
    assert files
    too_long = {}
    for file in files:
        name = str(file.relative_to(ROOT))
        lines = len(file.read_text(encoding="utf-8").splitlines())
        if lines > ALLOWED.get(name, (LONGEST, ""))[0]:
            too_long[name] = lines
    assert not too_long, f"split these or give a reason: {too_long}"


def test_allowances_are_still_needed():
    for name, (limit, reason) in ALLOWED.items():
        lines = len((ROOT / name).read_text(encoding="utf-8").splitlines())
        assert reason, f"{name} is allowed {limit} lines without a reason"
        assert LONGEST < lines <= limit, f"{name} has {lines} lines now; lower or drop its allowance of {limit}"


@pytest.mark.parametrize("module", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_module_says_what_it_is_for(module):
    docstring = source(module).docstring
    assert docstring, "no module docstring"
    assert docstring.splitlines()[0].endswith("."), f"first line is no sentence: {docstring.splitlines()[0]!r}"


def imported_modules(path):
    """Every module that a file may import, with the names taken from it as modules of their own."""
    for node in source(path).imports:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module or ''}.{alias.name}" for alias in node.names)


def test_no_module_imports_from_a_test_module():
    """A test module may be skipped, and what others take from it is then gone; helpers have modules of their own."""
    files = [*MODULES, *sorted((ROOT / "tests").rglob("*.py"))]
    tests = {file.stem for file in files if file.name.startswith("test_")}
    found = {}
    for file in files:
        text = file.read_text(encoding="utf-8")
        if tests.isdisjoint(re.findall(r"\btest_\w+", text)):
            continue  # most name no test module at all
        taken = {name for name in imported_modules(file) if tests & set(name.split("."))}
        if taken:
            found[str(file.relative_to(ROOT))] = sorted(taken)
    print(f"{len(files)} files looked at, {len(tests)} of them test modules")
    assert len(tests) > 100
    assert not found, f"move what they share into modules that are no tests: {found}"


# room of tests: other rooms that it may import from beside kit and programs, "why"
ROOMS_OF_TESTS = {
    "": ({"faults"}, "tests/test_faults.py runs the seeded faults of all rooms"),
    "bench": ({"browser"}, "times by hand of what the browser tests show on a page"),
}


def test_rooms_of_tests_share_through_the_kit():
    """What tests of two rooms use is in tests/kit, and programs in tests/programs."""
    files = sorted((ROOT / "tests").rglob("*.py"))
    rooms = {file.parent.name for file in files if file.parent.parent == ROOT / "tests"}
    found = {}
    for file in files:
        own = file.relative_to(ROOT / "tests").parts[0] if file.parent != ROOT / "tests" else ""
        allowed = {own, "kit", "programs"} | ROOMS_OF_TESTS.get(own, (set(), ""))[0]
        names = (name.split(".") for name in imported_modules(file))
        taken = {name[1] for name in names if name[0] == "tests" and name[1:] and name[1] in rooms - allowed}
        if taken:
            found[str(file.relative_to(ROOT))] = sorted(taken)
    print(f"{len(files)} files in {len(rooms)} rooms looked at")
    assert len(rooms) > 10
    assert not found, f"move what they share into tests/kit: {found}"


def test_tests_in_a_browser_wait_for_something():
    """For a state of the page or of the kernel, looked at often, and for no fixed time."""
    for path in sorted((ROOT / "tests" / "browser").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert "wait_for_timeout" not in text, path
        waits = re.findall(r"\bsleep\(([\d.]+)\)|setTimeout\(.*, ([\d.]+)\)", text)
        assert all(float(seconds or milliseconds) <= 0.1 for seconds, milliseconds in waits), (path, waits)


def test_import_is_cheap():
    code = (
        "import sys, time; start = time.perf_counter(); import workbench; seconds = time.perf_counter() - start;"
        "print(f'{seconds:.3f}', *sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    seconds, *loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    ).stdout.split()
    print(f"import workbench: {seconds} s, {len(loaded)} modules")
    assert "workbench" in loaded
    assert not [name for name in HEAVY if name in loaded]


def test_every_export_exists():
    import workbench

    print(f"{len(workbench.__all__)} public names")
    assert workbench.__all__
    missing = [name for name in workbench.__all__ if not hasattr(workbench, name)]
    assert not missing
    assert set(workbench.__all__) <= set(dir(workbench))


def test_type_checkers_see_the_same_exports():
    import workbench

    tree = ast.parse((ROOT / "workbench" / "__init__.py").read_text(encoding="utf-8"))
    seen = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == workbench._EXPORTS


def test_unknown_name_is_an_attribute_error():
    import workbench

    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        workbench.no_such_name  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute '_no_such_name'"):
        workbench._no_such_name  # noqa: B018


# Spelt in pieces, because this file is looked at too.
FORBIDDEN = {
    "path of one machine": r"(?<![\w.$}~])/" + r"(?:work|home|Users|root|opt/pypi)" + r"/[\w.-]+",
    "registry host": r"files\.python" + r"hosted|pypi\." + r"org|--index" + r"-url|index_url\s*=|test\." + r"pypi",
    "mark of unfinished work": r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b",
}


def test_no_forbidden_words():
    looked_at, found = 0, []
    for name, text in tracked_texts():
        looked_at += 1
        for what, pattern in FORBIDDEN.items():
            for match in re.finditer(pattern, text):
                found.append(f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {what}: {match.group()}")
    print(f"{looked_at} files looked at")
    assert looked_at > 0
    assert not found, "\n".join(found)


def test_lock_file_of_the_front_end_names_no_host():
    text = (ROOT / "labextension" / "yarn.lock").read_text(encoding="utf-8")
    print(f"{text.count('resolution: ')} packages locked")
    assert text.count("resolution: ") > 100
    assert not re.findall(r"__archive" + r"Url|https?://\S+", text)
    assert not list((ROOT / "labextension").glob("package-" + "lock.json"))


def test_front_end_has_the_version_of_the_package():
    import workbench

    package = json.loads((ROOT / "labextension" / "package.json").read_text(encoding="utf-8"))
    source = (ROOT / "labextension" / "src" / "version.ts").read_text(encoding="utf-8")
    assert package["version"] == workbench.__version__
    assert f"VERSION = '{workbench.__version__}'" in source


def test_front_end_keeps_its_layers():
    """Only channel.ts knows kernels, only the glue knows Jupyter; the rest is tested without a page."""
    source = ROOT / "labextension" / "src"
    files = sorted(source.rglob("*.ts"))
    print(f"{len(files)} files looked at")
    assert files
    glue = {"index.ts", "manager.ts", "pictures.ts", "words.ts", "kernel/channel.ts"} | {
        f.name for f in source.glob("*Widget.ts")
    }
    for file in files:
        name, text = str(file.relative_to(source)), file.read_text(encoding="utf-8")
        assert text.startswith("// "), f"{name} does not say what it is for"
        assert len(text.splitlines()) <= LONGEST, f"{name} is too long"
        assert name in glue or not re.search(r"from '@(jupyter|lumino)", text), f"{name} knows Jupyter"
        assert name == "kernel/channel.ts" or "createComm" not in text, f"{name} opens a comm"


def test_version_is_written_once():
    import workbench

    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d+\.\d+\.\d+)", changelog, flags=re.MULTILINE)
    assert "## Unreleased" in changelog
    assert re.fullmatch(r"\d+\.\d+\.\d+(?:\.dev\d+)?", workbench.__version__)
    assert not released or released[0] == workbench.__version__
    assert re.search(r'^dynamic = \["version"\]$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_import_contract_names_every_backend():
    """A module that the contract does not name could import another backend unseen."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (first, *_) = next(contract["layers"] for contract in contracts if contract["id"] == "backends")
    named = {part.strip(" ()") for part in first.split("|")}
    assert named == {row.module for row in BACKENDS}
