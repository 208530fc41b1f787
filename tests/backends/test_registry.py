"""The registry: rows that load, and the choice that "auto" makes."""

import sys
import threading
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import workbench as wb
from tests.kit.at_the_same_time import at_the_same_time
from tests.kit.capabilities import CAPABILITIES
from workbench.backends import registry
from workbench.backends.base import Availability
from workbench.backends.openmp import OpenmpBackend
from workbench.errors import BackendError
from workbench.pipeline import plan_for

ROOT = Path(__file__).resolve().parents[2]


class Fake:
    def __init__(self, name, reason=""):
        self.name, self.state = name, Availability(not reason, reason, "Install it.")

    def availability(self):
        return self.state


@pytest.fixture
def fakes(monkeypatch):
    def use(**backends):
        rows = tuple(registry.BackendRow(n, "", "", "", order) for n, (_, order) in backends.items())
        monkeypatch.setattr(registry, "BACKENDS", rows)
        monkeypatch.setattr(registry, "_load", lambda row: backends[row.name][0])

    return use


@pytest.mark.parametrize("row", registry.BACKENDS, ids=lambda row: row.name)
def test_every_row_loads_and_knows_its_name(row):
    backend = registry.get_backend(row.name)
    assert backend.name == row.name
    state = backend.availability()
    assert state.available or (state.reason and state.advice)


def test_tests_know_what_each_backend_can_be_asked_for():
    missing = [name for name in registry.backend_names() if name not in CAPABILITIES]
    assert not missing, f"add a row to CAPABILITIES in tests/kit/capabilities.py for {', '.join(missing)}"


def test_the_contract_of_imports_names_each_backend():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (contract,) = (each for each in settings["contracts"] if each["id"] == "backends")
    missing = [row.module for row in registry.BACKENDS if f"({row.module})" not in contract["layers"][0].split(" | ")]
    assert not missing, f"add to the contract 'backends' of pyproject.toml: {', '.join(missing)}"


def test_the_compiler_is_looked_for_while_a_function_is_traced(monkeypatch):
    seen = []

    def availability(backend):
        seen.append(("looked", threading.current_thread() is threading.main_thread()))
        return Availability(True)

    monkeypatch.setattr(OpenmpBackend, "availability", availability)

    @wb.collective(backend="openmp")
    def doubled(xs):
        seen.append(("traced", threading.current_thread() is threading.main_thread()))
        return xs + xs

    assert doubled(np.arange(3.0)).tolist() == [0.0, 2.0, 4.0]
    assert {("looked", False), ("traced", True)} <= set(seen[:2])
    looks = seen.count(("looked", False))
    doubled(np.ones((2, 2)))  # traced again; the compiler is known
    assert seen.count(("looked", False)) == looks == 1


@pytest.mark.parametrize("name", ["reference", "cuda", "cuda-sim", "nothing"])
def test_no_compiler_is_looked_for_where_there_are_no_threads(name, monkeypatch):
    monkeypatch.setattr(registry, "get_backend", lambda name: pytest.fail(f"looked for {name}"))
    registry.begin_looking(name).join()


def test_a_backend_is_one_object_whoever_asks_first():
    class Slow:
        def __init__(self):
            time.sleep(0.05)
            made.append(self)

    made, row = [], registry.BackendRow("slow", "slow", "Slow", "", None)
    sys.modules["slow"] = SimpleNamespace(Slow=Slow)
    try:
        at_the_same_time(registry._load, [row] * 4)
    finally:
        del sys.modules["slow"]
    assert len(made) == 1


def test_reference_is_always_available():
    assert registry.select_backend("reference").reason == "asked for"
    assert registry.select_backend().name in registry.backend_names()


def test_auto_takes_the_first_that_is_there_and_says_what_is_not(fakes):
    fakes(slow=(Fake("slow"), 3), fast=(Fake("fast", "no device"), 1), good=(Fake("good"), 2), never=(Fake("n"), None))
    chosen = registry.select_backend("auto")
    assert chosen.name == "good"
    assert chosen.reason == "no fast: no device"


def test_auto_without_any_backend(fakes):
    fakes(fast=(Fake("fast", "no device"), 1))
    with pytest.raises(BackendError, match="no backend can run here: no fast: no device"):
        registry.select_backend()


def test_absent_backend_says_what_to_install(fakes):
    fakes(fast=(Fake("fast", "no device"), 1))
    with pytest.raises(BackendError, match=r"cannot run here: no device\nInstall it\."):
        registry.select_backend("fast")
    assert registry.availability_table() == (("fast", Availability(False, "no device", "Install it.")),)


def test_unknown_backend_is_guessed():
    with pytest.raises(BackendError, match="did you mean 'reference'"):
        registry.get_backend("referense")


def test_a_backend_is_a_file_and_a_row(monkeypatch):
    row = registry.BackendRow(
        "one-thread", "tests.backends.one_thread", "OneThreadBackend", "a trial", renderer=registry._CPU_TEXT
    )
    monkeypatch.setattr(registry, "BACKENDS", (*registry.BACKENDS, row))
    machine = wb.trace(
        'u = field("u", boundary="reflect")\ntotal = scalar("total")\n'
        "u.next = u + 0.1 * (u[+1, 0] + u[-1, 0] + u[0, +1] + u[0, -1] - 4 * u)\ntotal.next = reduce_sum(u)"
    )
    start = np.random.default_rng(1).random((9, 13))
    found = {}
    for backend in ("reference", "openmp", "one-thread"):
        simulation = machine.simulate(u=start, backend=backend).run(5)
        found[backend] = simulation.u.tobytes(), simulation.total
        assert simulation.backend == backend
    assert len(set(found.values())) == 1
    assert machine.source("one-thread").text == machine.source("openmp").text
    assert "one-thread" in registry.names_with_text()


ROLLS = """
u = field("u", boundary="periodic")
a = manifest(u[-1, 0] + u[+1, 0])
u.next = a[0, -1] + a[0, +1]
"""


def test_a_plan_has_chains_where_its_backend_follows_them_and_keeps_its_choices(monkeypatch):
    machine = wb.trace(ROLLS, name="rolls")
    rows = (
        *registry.BACKENDS,
        *(registry.BackendRow(n, "", "", "", follows_chains=n == "other") for n in ("other", "apart")),
    )
    monkeypatch.setattr(registry, "BACKENDS", rows)
    chains = {row.name: len(plan_for(machine.graph, machine.choices, row.name).main.plain.chains) for row in rows}
    expected = {"reference": 0, "openmp": 1, "cuda": 0, "cuda-sim": 0, "other": 1, "apart": 0}
    assert {name: chains[name] for name in expected} == expected
    assert plan_for(machine.graph, machine.choices, "cuda").choices == machine.choices
    apart = replace(machine.choices, plan=machine.choices.plan.changed(loops="apart"))
    assert not plan_for(machine.graph, apart, "openmp").main.plain.chains


def test_the_traits_of_a_row_say_what_its_choices_are():
    expected = {"reference": "nothing", "openmp": "threads", "cuda": "blocks", "cuda-sim": "blocks"}
    assert {name: registry.row_of(name).runs_on for name in expected} == expected
    assert [row.name for row in registry.BACKENDS if row.device != "cpu"] == ["cuda"]
    assert [row.name for row in registry.BACKENDS if row.is_simulator] == ["cuda-sim"]
    texts = {"reference": "openmp", "openmp": "openmp", "cuda": "cuda", "cuda-sim": "cuda-sim"}
    assert {name: registry.with_text(name) for name in texts} == texts
    with pytest.raises(BackendError, match="no backend 'opnmp'; did you mean 'openmp'"):
        registry.row_of("opnmp")
