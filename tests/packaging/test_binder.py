"""The environment of a session in the cloud says the same as pyproject.toml; nothing is downloaded here."""

import os
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[2]
BINDER = ROOT / "binder"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NEEDED = [*map(Requirement, PROJECT["dependencies"]), *map(Requirement, PROJECT["optional-dependencies"]["lab"])]


def lines(name):
    return [line for line in (BINDER / name).read_text().splitlines() if line and not line.startswith("#")]


def pins():
    """Name -> version; every line is one exact pin of a third party."""
    found = dict(re.fullmatch(r"([a-z0-9_-]+)==([0-9][0-9.]*)", line).groups() for line in lines("requirements.txt"))
    assert len(found) == len(lines("requirements.txt"))
    return found


@pytest.mark.parametrize("needed", NEEDED, ids=lambda needed: needed.name)
def test_everything_needed_is_pinned_to_a_version_that_fits(needed):
    assert needed.specifier.contains(pins()[needed.name])


def test_nothing_else_is_pinned_but_what_runs_the_cells():
    assert set(pins()) == {needed.name for needed in NEEDED} | {"ipykernel"}


def test_python_is_one_that_the_package_allows():
    (runtime,) = lines("runtime.txt")
    assert SpecifierSet(PROJECT["requires-python"]).contains(runtime.removeprefix("python-") + ".0")


def test_there_is_a_compiler():
    assert lines("apt.txt") == ["g++"]


def test_last_step_installs_this_checkout_and_leaves_no_packages_behind():
    script = BINDER / "postBuild"
    assert os.access(script, os.X_OK)
    text = script.read_text()
    assert text.startswith("#!/bin/bash\n")
    assert "set -eu" in text
    assert re.search(r"pip install .*--no-deps \.$", text, flags=re.MULTILINE)
    assert "rm -rf labextension/node_modules" in text


def test_notebooks_that_are_opened_are_there():
    readme = (ROOT / "README.md").read_text()
    named = re.findall(r"urlpath=lab/tree/(\S+?\.ipynb)", readme)
    assert named
    assert all((ROOT / name).is_file() for name in named)
