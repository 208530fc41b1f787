"""Importance: how much of the scores' variance each variable explains by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.tuning.independence import Valuation


def importance(
    names: Sequence[str], tests: Sequence[tuple[Valuation, float]], *, logarithm: bool = False
) -> Mapping[str, float]:
    """Shares of variance, 0 to 1, by variable, of an additive model fitted by least squares to all passed tests.

    The model has one term for each value of each variable; a variable's share is the variance of its terms over the
    tests, divided by the variance of the scores. Tests of a tree search are not a random sample, so shares are those of
    what was tested. What is missing to 1 is interaction or noise. Where there are more terms than half the tests, one
    fit of all means nothing, and each variable is fitted alone: its share is its correlation ratio, and what two
    variables explain alike counts for both. `logarithm` fits the logarithms of positive scores.
    """
    if len(tests) < 2:
        return dict.fromkeys(names, 0.0)
    scores = np.array([score for _, score in tests])
    if logarithm:
        scores = np.log(scores)
    total = float(np.var(scores))
    columns: list[np.ndarray] = []
    owners: list[str] = []
    for at, name in enumerate(names):
        values = [valuation[at] for valuation, _ in tests]
        for value in sorted(set(values))[1:]:  # the first value is the base
            columns.append(np.array([one == value for one in values], dtype=np.float64))
            owners.append(name)
    if total == 0.0 or not columns:
        return dict.fromkeys(names, 0.0)
    matrix = np.stack(columns, axis=1)
    centred, scores = matrix - matrix.mean(axis=0), scores - scores.mean()
    together = 2 * len(columns) <= len(tests)
    weights = np.linalg.lstsq(centred, scores, rcond=None)[0] if together else np.zeros(len(columns))
    shares = {}
    for name in names:
        own = [at for at, owner in enumerate(owners) if owner == name]
        if not together:
            weights[own] = np.linalg.lstsq(centred[:, own], scores, rcond=None)[0]
        shares[name] = min(1.0, float(np.var(matrix[:, own] @ weights[own])) / total) if own else 0.0
    return shares
