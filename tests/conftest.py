"""Settings of all tests; in continuous integration an unexpected skip is a failure."""

import os

import pytest

from tests.skips import EXPECTED_SKIPS, is_expected


def refuse_unexpected_skip(report):
    """Turn the skip that `report` tells of into a failure unless its reason is an expected one."""
    if os.environ.get("WORKBENCH_CI") != "1" or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not is_expected(reason):
        report.outcome = "failed"
        report.longrepr = f"unexpected skip: {reason!r}; expected are {EXPECTED_SKIPS} (tests/skips.py)"


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
