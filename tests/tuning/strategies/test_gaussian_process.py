"""The model of scores: its slope is that of its likelihood, and it finds which parameters matter."""

import math

import numpy as np
import pytest

from workbench.tuning.strategies.gaussian_process import _ROWS, _model, fitted, usual_lengths

GROUPS = np.array([0, 1, 1, 1, 2])


@pytest.fixture
def measured():
    """Forty places in three parameters, the second of three columns; values follow the first alone."""
    draw = np.random.default_rng(4)
    columns = draw.uniform(0, 4, (40, 1)), np.eye(3)[draw.integers(0, 3, 40)], draw.uniform(0, 4, (40, 1))
    places = np.concatenate(columns, axis=1)
    values = np.sin(2 * places[:, 0])
    return places, (values - values.mean()) / values.std()


def test_slope_is_that_of_the_likelihood(measured):
    places, values = measured
    lengths = np.array([0.3, 1.1, -0.2])
    slope = _model(places, GROUPS, values, lengths).slope()
    for axis in range(3):
        step = 1e-5 * np.eye(3)[axis]
        above, below = (_model(places, GROUPS, values, lengths + sign * step).likelihood for sign in (1, -1))
        assert slope[axis] == pytest.approx((above - below) / 2e-5, rel=1e-5)


def test_lengths_tell_which_parameter_matters(measured):
    places, values = measured
    lengths = usual_lengths(GROUPS)
    for _ in range(5):
        lengths = fitted(places, GROUPS, values, lengths).lengths
    matters, *others = np.exp(lengths)
    assert matters < min(others) / 2


def test_places_are_told_as_each_by_itself(measured):
    """They are computed some at a time."""
    places, values = measured
    model = fitted(places, GROUPS, values, usual_lengths(GROUPS))
    many = np.random.default_rng(5).uniform(0, 4, (2 * _ROWS + 3, 5))
    expected, deviation = model.at(many)
    assert expected.shape == deviation.shape == (len(many),)
    for at in (0, _ROWS - 1, _ROWS, 2 * _ROWS, len(many) - 1):
        alone = np.concatenate(model.at(many[at : at + 1]))
        assert alone == pytest.approx([expected[at], deviation[at]], rel=1e-9)  # sums in another order


def test_model_goes_through_what_is_known(measured):
    places, values = measured
    model = fitted(places, GROUPS, values, usual_lengths(GROUPS))
    expected, deviation = model.at(places)
    assert np.abs(expected - values).max() < 0.2
    far, unsure = model.at(places + 100.0)
    assert np.abs(far).max() < 0.1
    assert unsure.min() > 2 * deviation.max()
    assert unsure.max() == pytest.approx(math.sqrt(model.variance), rel=1e-3)
