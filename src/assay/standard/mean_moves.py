"""How far do the mean scores of runs move from one set of topics to another? RMSE, and κ in sds of the means."""

from __future__ import annotations

import numpy as np

from assay.core.arrays import Floats


def rmse(x: Floats, y: Floats) -> float:
    """Root mean squared difference of the row means (Webber 2010, eq. 4.9).

    >>> round(rmse(np.array([[0.2], [0.4]]), np.array([[0.3], [0.3]])), 6)
    0.1
    """
    differences = x.mean(axis=1) - y.mean(axis=1)
    return float(np.sqrt(np.mean(differences**2)))


def kappas(first: Floats, second: Floats) -> Floats:
    """κ of every column of means, runs × pairs of topic sets (Webber 2010, eq. 4.10); 0 where no means vary.

    >>> kappas(np.array([[0.2], [0.3], [0.4]]), np.array([[0.25], [0.3], [0.45]])).round(6).tolist()
    [0.40008]
    """
    error = np.sqrt(np.mean((first - second) ** 2, axis=0))
    spread = first.std(axis=0, ddof=1) + second.std(axis=0, ddof=1)
    divisor = np.where(spread > 0, spread, np.inf)
    return np.asarray(2 * error / divisor)
