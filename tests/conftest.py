"""Settings of all tests; in continuous integration an unexpected skip is a failure."""

import gc
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

from tests.kit.proofs import Proofs, Sample, digest_of_sources, long_cases, mark_long_cases, seeds_of_proof
from tests.kit.skips import EXPECTED_SKIPS, is_expected
from tests.kit.times import Times

# Every graph and plan that a test makes is verified, in its child processes too; WORKBENCH_CHECK=0 switches it off.
os.environ.setdefault("WORKBENCH_CHECK", "1")
# Processes of tests share the cores: threads of linear algebra beside them would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# What studies of tests find is no wisdom of whoever runs them.
WISDOM = Path(tempfile.mkdtemp(prefix="stencil-workbench-wisdom-"))
os.environ["WORKBENCH_WISDOM"] = str(WISDOM / "wisdom.jsonl")
# A shell starts what runs in the background with Ctrl-C ignored; tests that send it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def refuse_unexpected_skip(report):
    """Turn the skip that `report` tells of into a failure unless its reason is an expected one."""
    if os.environ.get("WORKBENCH_CI") != "1" or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not is_expected(reason):
        report.outcome = "failed"
        report.longrepr = f"unexpected skip: {reason!r}; expected are {EXPECTED_SKIPS} (tests/kit/skips.py)"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    refuse_unexpected_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    refuse_unexpected_skip(report)
    return report


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="rewrite the texts in tests/golden instead")
    parser.addoption("--resume", type=Path, metavar="FILE", help="leave out what passed with these sources before")
    parser.addoption("--proof-seed", type=int, help="run a small sample of the proofs, drawn by this seed")
    parser.addoption("--processor-times", type=Path, metavar="FOLDER", help="write each test's processor seconds there")
    parser.addoption("--on-device", action="store_true", help="the cuda backend in the place of its simulator")
    parser.addoption("--fuzz-seed", type=int, help="the first random pair of tests/test_fuzz.py")
    parser.addoption("--fuzz-count", type=int, help="how many random pairs")
    parser.addoption("--fuzz-optimisation", help="-O level of their C++ text; less is quicker to compile")


def pytest_configure(config):
    file = config.getoption("--resume")
    if file is not None:  # workers of xdist select in the same way; only their controller writes
        config.pluginmanager.register(Proofs(file, digest_of_sources(), not hasattr(config, "workerinput")))
    folder = config.getoption("--processor-times")
    if folder is not None:
        config.pluginmanager.register(Times(folder))
    if config.getoption("--on-device"):
        from tests.kit.on_device import replace_the_simulator

        replace_the_simulator()
    seed = config.getoption("--proof-seed")
    if seed is not None:
        config.pluginmanager.register(Sample(seed))


def pytest_unconfigure():
    shutil.rmtree(WISDOM, ignore_errors=True)


@pytest.hookimpl(optionalhook=True)  # of xdist
def pytest_xdist_make_scheduler(config, log):
    if config.getoption("dist") != "loadfile":
        return None
    from tests.kit.sharing import Files

    return Files(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays until the end: nothing of it is garbage, and no later collection goes through it.

    Ten thousand tests with their modules are half a second of each collection of the oldest generation.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Freeze what a file's tests left in caches: collecting through it took half a second each time."""
    result = yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
    return result


@pytest.hookimpl(tryfirst=True)  # before pytest itself looks at the marks
def pytest_collection_modifyitems(config, items):
    mark_long_cases(items, long_cases())
    if config.getoption("--on-device"):
        items[:] = [item for item in items if item.get_closest_marker("simulator") is None]


def pytest_generate_tests(metafunc):
    if "proof_seeds" in metafunc.fixturenames:
        (mark,) = metafunc.definition.iter_markers("proof")
        name = f"{metafunc.module.__name__}.{metafunc.function.__name__}"
        ranges = seeds_of_proof(name, metafunc.config.getoption("--proof-seed"), **mark.kwargs)
        metafunc.parametrize("proof_seeds", ranges, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")


@pytest.fixture
def golden(request):
    """golden(name, text): fail unless tests/golden/<name> holds exactly this text; --update-golden writes it."""

    def compare(name, text):
        path = Path(__file__).parent / "golden" / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing; run pytest --update-golden and look at it"
        assert text == path.read_text(encoding="utf-8"), f"{name} changed; run --update-golden and explain the diff"

    return compare
