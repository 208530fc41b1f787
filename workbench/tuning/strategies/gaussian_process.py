"""Gaussian process: what scores are likely at places where nothing was measured (Rasmussen and Williams 2006).

Matérn covariance 5/2, with a length for each direction (section 5.1): along a parameter that changes little the length
grows, and places that differ in it alone count as one. The lengths are those of the largest likelihood, times a prior.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NOISE = 0.01  # variance of a value, as a share of the covariance
_USUAL = 0.8  # length before anything is known, times the root of how many there are (Hvarfner et al. 2024)
_SPREAD = 1.0  # of the logarithms of lengths then, as a standard deviation
_STEPS = 4  # along the gradient of the likelihood, each time that a model is made
_FIRST_STEP, _LONGEST_STEP = 0.5, 1.0  # of a logarithm
_LONGER, _SHORTER = 1.5, 0.3  # what a step is multiplied by after one that was good, or not
_ROWS = 256  # places at a time: their covariances with 200 known ones are 400 kB
Matrix = NDArray[np.floating[Any]]
Groups = NDArray[np.integer[Any]]
"""Number of the length of each column of places."""


@dataclass(frozen=True, slots=True)
class GaussianProcess:
    """A model of values at known places.

    `lengths`: their logarithms, one a group of columns. `places`: the known ones, over the lengths. `likelihood`: its
    logarithm with that of the prior, but for a constant.
    """

    lengths: Matrix
    groups: Groups
    places: Matrix
    inverse: Matrix
    weights: Matrix
    variance: float
    likelihood: float

    def at(self, places: Matrix) -> tuple[Matrix, Matrix]:
        """Expected values at other places, and their standard deviations."""
        found = [self._some(places[first : first + _ROWS]) for first in range(0, len(places), _ROWS)]
        return np.concatenate([mean for mean, _ in found]), np.concatenate([deviation for _, deviation in found])

    def _some(self, places: Matrix) -> tuple[Matrix, Matrix]:
        """The same of so few places that all that is computed of them stays in a cache."""
        covariance = _matern(_distances(places / np.exp(self.lengths)[self.groups], self.places))
        unsure = 1.0 - np.einsum("ij,ij->i", covariance @ self.inverse, covariance)
        return covariance @ self.weights, np.sqrt(np.maximum(self.variance * unsure, 1e-12))

    def slope(self) -> Matrix:
        """The gradient of the likelihood by `lengths`."""
        scaled = math.sqrt(5.0) * _distances(self.places, self.places)
        inner = (np.outer(self.weights, self.weights) / self.variance - self.inverse) * (1.0 + scaled)
        inner *= np.exp(-scaled) * (5.0 / 6.0)
        apart = inner.sum(axis=1) @ self.places**2 - ((inner @ self.places) * self.places).sum(axis=0)
        found: Matrix = 2.0 * np.bincount(self.groups, apart, len(self.lengths))
        return found - (self.lengths - _usual(self.lengths)) / _SPREAD**2


def usual_lengths(groups: Groups) -> Matrix:
    """The logarithms of the lengths before anything is known."""
    lengths = np.zeros(int(groups.max(initial=-1)) + 1)
    return lengths + _usual(lengths)


def fitted(places: Matrix, groups: Groups, values: Matrix, lengths: Matrix) -> GaussianProcess:
    """The model with these logarithms of lengths, or with likelier ones near them.

    places: a row a value. values: of mean 0 and deviation 1, about.
    """
    found = _model(places, groups, values, lengths)
    slope = found.slope()
    step = _FIRST_STEP / max(float(np.abs(slope).max(initial=0.0)), 1e-9)
    for steps_left in reversed(range(_STEPS)):
        moved = found.lengths + np.clip(step * slope, -_LONGEST_STEP, _LONGEST_STEP)
        other = _model(places, groups, values, moved)
        if other.likelihood > found.likelihood:
            found, step = other, _LONGER * step
            slope = found.slope() if steps_left else slope
        else:
            step *= _SHORTER
    return found


def _model(places: Matrix, groups: Groups, values: Matrix, lengths: Matrix) -> GaussianProcess:
    """Algorithm 2.1, with the variance of the largest likelihood."""
    scaled = places / np.exp(lengths)[groups]
    covariance = _matern(_distances(scaled, scaled)) + _NOISE * np.eye(len(values))
    inverse = np.linalg.inv(covariance)
    weights = inverse @ values
    variance = max(float(values @ weights) / len(values), 1e-12)
    likelihood = -0.5 * (len(values) * math.log(variance) + float(np.linalg.slogdet(covariance)[1]))
    likelihood -= float(((lengths - _usual(lengths)) ** 2).sum()) / (2.0 * _SPREAD**2)
    return GaussianProcess(lengths, groups, scaled, inverse, weights, variance, likelihood)


def _usual(lengths: Matrix) -> float:
    """The logarithm of a length before anything is known: the more there are, the longer, so that all is not far."""
    return math.log(_USUAL * math.sqrt(len(lengths)))


def _distances(one: Matrix, other: Matrix) -> Matrix:
    """Of each of one to each of the other; made in place, as memory is what it takes."""
    distances: Matrix = one @ (-2.0 * other.T)
    distances += (one**2).sum(axis=1)[:, None]
    distances += (other**2).sum(axis=1)
    np.maximum(distances, 0.0, out=distances)
    return np.sqrt(distances, out=distances)


def _matern(distances: Matrix) -> Matrix:
    """(1 + s + s² / 3) exp(-s) of s = √5 times the distances; made in place."""
    scaled: Matrix = distances * math.sqrt(5.0)
    covariance: Matrix = scaled / 3.0
    covariance += 1.0
    covariance *= scaled
    covariance += 1.0
    covariance *= np.exp(np.negative(scaled, out=scaled), out=scaled)
    return covariance
