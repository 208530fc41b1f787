"""Every seeded fault is noticed by the check that is named for it, and that check passes without the fault.

`make test` tries the first three of each room and those that say so, `make proof` all.
"""

import tempfile
from collections import Counter
from importlib import import_module
from inspect import getsourcefile
from pathlib import Path

import pytest

from tests.faults.by_brute_force import OF_BRUTE_FORCE
from tests.faults.fault import check, installed
from tests.faults.in_code import OF_CODE, OF_DEVICE_CODE
from tests.faults.of_calls import OF_CALLS
from tests.faults.of_loops import OF_LOOPS
from tests.faults.of_marches import OF_MARCHES
from tests.faults.of_strides import OF_STRIDES
from tests.faults.of_tiles import OF_TILES
from tests.faults.of_towers import MORE_OF_TOWERS, OF_TOWERS
from tests.faults.of_trees import OF_TREES
from tests.faults.table import OF_PASSES, OF_THE_REST
from tests.kit.optimised import COMPARED
from tests.kit.pass_faults import FAULTS as OF_PLANS
from tests.kit.tracked import ROOT
from workbench.planning import PASSES

TABLE = (
    *(*OF_PASSES, *OF_TILES, *OF_TOWERS, *OF_BRUTE_FORCE, *OF_THE_REST),
    *(*OF_CODE, *OF_DEVICE_CODE, *OF_LOOPS, *OF_MARCHES, *OF_STRIDES, *OF_CALLS, *OF_TREES),
)
ROOMS = (
    *("retype", "simplify", "allocation", "reach", "grouping", "variants", "memory", "cost", "launch order"),
    *("rolling", "genome", "tiles", "towers", "while loops", "loops of elements", "strides", "calls", "trees"),
    *(
        "spelling",
        "expressions",
        "fills",
        "reductions",
        "folds",
        "collectives",
        "rotation",
        "uniform values",
        "march",
        "sharing",
        "line map",
    ),
    *("promotion", "boundaries", "naming", "interpreter", "build cache"),
)
AT_ONCE = tuple(
    fault
    for room in dict.fromkeys(f.room for f in TABLE)
    for number, fault in enumerate(f for f in TABLE if f.room == room)
    if number < 3 or fault.in_each_run
)
_sound = {}


@pytest.fixture(autouse=True)
def unchecked(monkeypatch):
    """The check named for a fault must notice it by itself."""
    monkeypatch.setenv("WORKBENCH_CHECK", "0")


def golden_as_it_is(name, text):
    path = Path(__file__).parent / "golden" / name
    assert text == path.read_text(encoding="utf-8"), f"{name} changed"


def passes(fault, folder):
    """Whether the check is content; what it says if not."""
    count = iter(range(100))

    def fresh():
        return Path(tempfile.mkdtemp(prefix=f"{next(count)}-", dir=folder))

    try:
        check(fault, {"golden": lambda: golden_as_it_is, "tmp_path": fresh, "compiler": lambda: compiler_in(fresh())})
    except (pytest.fail.Exception, Exception) as error:
        return error
    return None


def compiler_in(folder):
    from workbench.backends.build_cache import BuildCache
    from workbench.backends.compile_pool import Compiler
    from workbench.backends.toolchain import find_toolchain

    return Compiler(find_toolchain(), BuildCache(folder))


@pytest.mark.parametrize("fault", AT_ONCE, ids=repr)
def test_a_fault_is_noticed(fault, tmp_path):
    name = fault.caught_by, fault.given
    if name not in _sound:
        _sound[name] = passes(fault, tmp_path)
    assert _sound[name] is None, f"{fault.caught_by} fails without the fault: {_sound[name]}"
    with installed(fault):
        error = passes(fault, tmp_path)
    print(f"{fault!r}: {type(error).__name__}: {str(error)[:200]}")
    assert error is not None, f"{fault.caught_by} does not notice"
    assert passes(fault, tmp_path) is None, "the fault was not taken back"


@pytest.mark.proof(sample=12)
@pytest.mark.parametrize("fault", [f for f in (*TABLE, *MORE_OF_TOWERS) if f not in AT_ONCE], ids=repr)
def test_a_further_fault_is_noticed(fault, tmp_path):
    test_a_fault_is_noticed(fault, tmp_path)


def test_every_fault_quotes_what_is_there_and_names_a_check():
    """At once, for all: a fault whose text has changed would be found at its own turn only."""
    templates = [
        path.read_text(encoding="utf-8")
        for path in (ROOT / "workbench/codegen").rglob("*")
        if path.suffix in (".jinja", ".h")
    ]
    assert len(templates) > 10
    wrong = []
    for fault in (*TABLE, *MORE_OF_TOWERS):
        module, _, check = fault.caught_by.partition(":")
        assert hasattr(import_module(f"tests.{module}"), check), fault
        places = templates if fault.place == "templates" else [source_of(fault.place)]
        if sum(text.count(fault.old) for text in places) != 1:
            wrong.append(fault)
    assert not wrong


def source_of(place):
    return Path(getsourcefile(import_module(f"workbench.{place}"))).read_text(encoding="utf-8")


def test_the_table_is_large_enough():
    counts = Counter(f.room for f in TABLE)
    known = sum(f.name.startswith("[P]") for f in (*TABLE, *OF_PLANS))
    print(f"{len(TABLE)} faults here, {len(OF_PLANS)} in tests/planning; {known} known ones; {dict(counts)}")
    assert len(TABLE) >= 40
    assert len({(f.room, f.name) for f in TABLE}) == len(TABLE)
    assert set(counts) - {"device"} == set(ROOMS)
    assert min(counts[room] for room in ROOMS) >= 3, counts
    assert {"launch order" if p.name == "schedule" else p.name for p in PASSES} <= set(ROOMS)
    assert known >= 12
    assert COMPARED
