"""Proofs that take hours: taken up again where they were stopped, or a small sample of them with seeds of its own.

A proof is a test with the mark `proof`. One over random numbers takes `proof_seeds` and says which there are:
`@pytest.mark.proof(seeds=range(200, 5000), batch=100, sample=20)` makes a test of each 100 of them; in a sample it is
one test of 20 seeds that were drawn. A proof without seeds says how many of its tests a sample has; one if it does not.

`tests/long_cases.txt` lists cases of other tests that take long: they are proofs too, and a sample has 36 of them all.
"""

import hashlib
from itertools import product
from pathlib import Path
from random import Random

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {".py", ".h", ".jinja", ".cpp", ".cu", ".txt", ".toml"}
DRAWN = (10**8, 2**31)  # seeds of samples; those that are written down are smaller


def digest_of_sources(root=ROOT):
    """One word for every text that a proof may depend on: the package, the tests and the project's settings."""
    found = hashlib.sha256()
    files = [root / "pyproject.toml", *sorted((root / "workbench").rglob("*")), *sorted((root / "tests").rglob("*"))]
    for file in files:
        if file.is_file() and file.suffix in SUFFIXES:
            found.update(f"{file.relative_to(root)}\n".encode() + file.read_bytes())
    return found.hexdigest()[:16]


LONG = ROOT / "tests" / "long_cases.txt"


def long_cases(file=LONG):
    """Node ids of the cases that `make test` leaves to `make proof`, one a line; # begins a comment."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def mark_long_cases(items, names):
    """Make proofs of the items with these node ids. What is left out is left out by the expression of -m."""
    for item in items:
        if item.nodeid in names:
            item.add_marker(pytest.mark.proof(group="long cases", sample=36))


class Proofs:
    """A pytest plugin: deselects tests that passed with these sources, and adds each that passes, a line in `file`."""

    def __init__(self, file, digest, writes=True):
        self.file, self.digest, self.writes = file, digest, writes

    def passed(self):
        """Node ids of tests that passed with these sources."""
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        pairs = (line.partition(" ") for line in lines)
        return {name for digest, _, name in pairs if digest == self.digest}

    def pytest_collection_modifyitems(self, config, items):
        passed = self.passed()
        done = [item for item in items if item.nodeid in passed]
        config.hook.pytest_deselected(items=done)
        items[:] = [item for item in items if item.nodeid not in passed]

    def pytest_runtest_logreport(self, report):
        if self.writes and report.when == "call" and report.outcome == "passed":
            with self.file.open("a", encoding="utf-8") as file:
                file.write(f"{self.digest} {report.nodeid}\n")


def seeds_of_proof(name, seed, seeds, batch, sample):
    """The ranges of `proof_seeds` of the proof `name`: all `seeds` in batches, or one range that `seed` draws."""
    if seed is None:
        return [seeds[start : start + batch] for start in range(0, len(seeds), batch)]
    first = Random(f"{seed} {name}").randrange(*DRAWN)
    return [range(first, first + sample)]


def with_enough(seeds, suits, needed):
    """`seeds`, and as many after them as it takes until `needed` of all suit: a sample must not depend on luck."""
    found, count = [], 0
    seed = seeds[0]
    while seed in seeds or count < needed:
        found.append(seed)
        count += bool(suits(seed))
        seed += 1
    return found


def combinations(in_short, *columns):
    """Parameters of a test: every combination of `columns`; those for which `in_short` is false are proofs."""
    return [pytest.param(*row, marks=() if in_short(*row) else pytest.mark.proof) for row in product(*columns)]


class Sample:
    """A pytest plugin: of the proofs without seeds of their own it leaves a few tests, drawn by `seed`."""

    def __init__(self, seed):
        self.seed = seed

    def pytest_collection_modifyitems(self, config, items):
        cases = {}
        for item in items:
            mark = item.get_closest_marker("proof")
            if mark is not None and "seeds" not in mark.kwargs:
                cases.setdefault(mark.kwargs.get("group", item.nodeid.partition("[")[0]), []).append(item)
        left = set()
        for name, found in cases.items():
            wanted = found[0].get_closest_marker("proof").kwargs.get("sample", 1)
            ordered = sorted(found, key=lambda item: item.nodeid)
            left.update(item.nodeid for item in Random(f"{self.seed} {name}").sample(ordered, min(wanted, len(found))))
        gone = [item for found in cases.values() for item in found if item.nodeid not in left]
        config.hook.pytest_deselected(items=gone)
        items[:] = [item for item in items if item not in gone]
