"""Proofs that take hours go on where they were stopped: which passed is kept, and holds while no source has changed."""

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = {".py", ".h", ".jinja", ".cpp", ".cu", ".txt", ".toml"}


def digest_of_sources(root=ROOT):
    """One word for every text that a proof may depend on: the package, the tests and the project's settings."""
    found = hashlib.sha256()
    files = [root / "pyproject.toml", *sorted((root / "workbench").rglob("*")), *sorted((root / "tests").rglob("*"))]
    for file in files:
        if file.is_file() and file.suffix in SUFFIXES:
            found.update(f"{file.relative_to(root)}\n".encode() + file.read_bytes())
    return found.hexdigest()[:16]


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
