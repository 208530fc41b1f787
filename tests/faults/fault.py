"""Seeded faults: one wrong edit of the package, put in place while a check runs and taken back afterwards.

An edit replaces a piece of source text that occurs once in its file. Of a Python module the functions whose code the
edit changes get the new code in place, so every module that imported them sees it; nothing is imported again. A file
of the templates and headers of codegen/ is edited where it is read.
"""

import contextlib
import importlib
import inspect
import itertools
import sys
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from unittest import mock

from workbench.backends.kept_stages import STAGES


@dataclass(frozen=True)
class Fault:
    """A wrong edit and the check that must notice it.

    place: a module of the package, or "templates" for whichever template or header of codegen/ holds the text.
    caught_by: "module of tests:test function", called with `given`; it passes without the fault.
    in_each_run: `make test` tries it, though it is not one of the first three of its room.
    """

    name: str
    room: str
    place: str
    old: str
    new: str
    caught_by: str
    given: tuple = ()
    in_each_run: bool = False

    def __repr__(self):
        return f"{self.room}: {self.name}"


@contextlib.contextmanager
def installed(fault):
    """The package with the fault; caches of the code generators are emptied before and afterwards.

    What it finds is kept for no other process, which would take it for what the code in the files has found.
    """
    _forget_texts()
    faulty = _template(fault) if fault.place == "templates" else _functions(fault)
    kept = mock.patch("workbench.pipeline._ALLOCATIONS", None), mock.patch.object(STAGES, "is_on", False)
    with faulty, kept[0], kept[1]:
        yield
    _forget_texts()


def edited(text, fault):
    """The text after the edit; an error if the place to edit is not there exactly once."""
    count = text.count(fault.old)
    assert count == 1, f"{fault}: the text to replace occurs {count} times in {fault.place}"
    return text.replace(fault.old, fault.new)


@contextlib.contextmanager
def _functions(fault):
    module = importlib.import_module(f"workbench.{fault.place}")
    path = inspect.getsourcefile(module)
    text = Path(path).read_text(encoding="utf-8")
    flags = {"dont_inherit": True, "flags": 0}
    before = compile(text, path, "exec", **flags)
    after = compile(edited(text, fault), path, "exec", **flags)
    changed = [pair for pair in _pairs(before, after) if not _same(*pair)]
    assert changed, f"{fault}: no function changes"
    originals = []
    try:
        for old, new in changed:
            function = _function(module, old.co_qualname)
            originals.append((function, function.__code__))
            function.__code__ = new
        yield
    finally:
        for function, code in originals:
            function.__code__ = code


def _pairs(before, after):
    """Outermost functions of two versions of a module, methods apart, as pairs of code."""
    for old, new in zip(_codes(before), _codes(after), strict=True):
        if old.co_name in ("<module>", "<lambda>") or _is_class(old):
            yield from _pairs(old, new)
        else:
            yield old, new


def _codes(code):
    return [c for c in code.co_consts if isinstance(c, CodeType)]


def _is_class(code):
    return "__qualname__" in code.co_names and "__module__" in code.co_names and not code.co_argcount


def _same(old, new):
    """Whether two pieces of code do the same, wherever their lines stand."""
    parts = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars")
    if any(getattr(old, part) != getattr(new, part) for part in parts) or len(old.co_consts) != len(new.co_consts):
        return False
    for a, b in zip(old.co_consts, new.co_consts, strict=True):
        if isinstance(a, CodeType) and isinstance(b, CodeType):
            if not _same(a, b):
                return False
        elif (type(a), repr(a)) != (type(b), repr(b)):
            return False
    return True


def _function(module, qualname):
    found = module
    for part in qualname.split("."):
        found = inspect.getattr_static(found, part) if inspect.isclass(found) else getattr(found, part)
    if isinstance(found, property):
        found = found.fget
    return inspect.unwrap(getattr(found, "__func__", found))


@contextlib.contextmanager
def _template(fault):
    from workbench.codegen import rendering

    read = rendering.template_text
    folder = Path(inspect.getsourcefile(rendering)).parent
    files = [path for kind in ("*.jinja", "*.h") for path in folder.rglob(kind)]
    holding = [path.name for path in files if fault.old in path.read_text(encoding="utf-8")]
    assert len(holding) == 1, f"{fault}: the text to replace is in {holding or 'no file'}"
    changed = edited(read(holding[0]), fault)

    def template_text(name):
        return changed if name == holding[0] else read(name)

    with contextlib.ExitStack() as stack:
        for name, module in list(sys.modules.items()):
            if name.startswith("workbench.") and getattr(module, "template_text", None) is read:
                stack.enter_context(mock.patch.object(module, "template_text", template_text))
        _forget_texts()
        yield


def _forget_texts():
    for name, module in list(sys.modules.items()):
        if name.startswith("workbench.codegen"):
            for value in list(vars(module).values()):
                if callable(getattr(value, "cache_clear", None)):
                    value.cache_clear()


def check(fault, provided):
    """Run the check that must notice the fault; `provided` makes the fixtures it asks for, by name."""
    module, function = fault.caught_by.split(":")
    test = getattr(importlib.import_module(f"tests.{module}"), function)
    parameters = list(inspect.signature(test).parameters)
    fixtures = [name for name in parameters if name in provided]
    asked = [name for name in parameters if name not in provided]
    assert len(asked) == len(fault.given), f"{fault}: {fault.caught_by} takes {asked}"
    given = dict(itertools.chain(zip(asked, fault.given, strict=True), ((n, provided[n]()) for n in fixtures)))
    test(**given)
