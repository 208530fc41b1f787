"""Settings of tests of the tuner."""

import pytest

SAMPLES, TURNS = 2, 5


def quicken(patch):
    """Studies that begin while `patch` lasts measure a candidate two to four times, and finalists five times.

    What is measured is of no interest then, and takes most of a study: half a second a candidate and more.
    """
    patch.setattr("workbench.tuning.tune._SAMPLES", SAMPLES)
    patch.setattr("workbench.tuning.experiment.ROUNDS", TURNS)


@pytest.fixture(autouse=True)
def quick_studies(monkeypatch):
    """Studies that a test begins are quick; those of fixtures of a module are not unless they say so.

    `test_study.finished` measures as users' studies do, and its tests look at that.
    """
    quicken(monkeypatch)
