"""Settings of tests of the tuner."""

import pytest

TURNS = 5


@pytest.fixture
def short_races(monkeypatch):
    """Finalists of a study that a test begins take few turns, which else take most of its time.

    `test_study.finished` is made before it and races in full; its tests look at that race.
    """
    monkeypatch.setattr("workbench.tuning.experiment.ROUNDS", TURNS)
