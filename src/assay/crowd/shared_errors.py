"""Do workers err together? How far their errors against a reference correlate, and how many independent ones they are.

Every aggregation assumes that workers err independently. Machine judges often do not: they read alike, and a panel of
copies is one judge. With a reference the errors can be seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.agreement.across_scales import reference_of
from assay.agreement.ratings import single
from assay.core.arrays import Floats
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Labels, Qrels

TOGETHER = 0.3
"""Errors whose mean correlation is above this go together."""
COPIES = 0.95
"""Two workers whose errors correlate more than this are taken for copies of one another."""
MOST_WORKERS = 200
COMPLETE = 0.9
"""Workers who label at least this share of all docs work like machine judges, who tire of nothing."""


@dataclass(frozen=True, eq=False)
class SharedErrors(Result):
    """Correlations of the errors of every two workers, and the number of independent workers they amount to."""

    workers: tuple[str, ...]
    correlation: Floats
    """workers × workers, NaN where two of them share no docs or one of them never errs differently."""
    effective: float
    """Averaging the workers reduces the variance of errors as much as this many independent ones would."""
    docs: int
    """Docs that all workers labelled and the reference judged."""

    @property
    def mean(self) -> float:
        """The mean correlation over all pairs of workers."""
        above = self.correlation[np.triu_indices(len(self.workers), 1)]
        defined = above[~np.isnan(above)]
        return float(defined.mean()) if len(defined) else float("nan")

    def go_together(self) -> bool:
        """Whether errors are shared so far that votes count for less than they seem."""
        return bool(self.mean > TOGETHER)

    def copies(self) -> list[tuple[str, str, float]]:
        """Pairs of workers whose errors are almost the same, with their correlation."""
        first, second = np.triu_indices(len(self.workers), 1)
        values = self.correlation[first, second]
        found = []
        for i in np.flatnonzero(values > COPIES).tolist():
            found.append((self.workers[first[i]], self.workers[second[i]], float(values[i])))
        return found

    def warning(self) -> str | None:
        """A sentence where errors go together, None where they do not."""
        if not self.go_together():
            return None
        return (
            f"the errors of the {len(self.workers)} judges go together (mean correlation {self.mean:.2f}): they are "
            f"worth about {self.effective:.1f} independent ones, and no vote or model of workers can see that"
        )

    def table(self) -> Table:
        """One row for each pair of workers, the most alike first."""
        first, second = np.triu_indices(len(self.workers), 1)
        values = self.correlation[first, second]
        order = np.argsort(-np.nan_to_num(values, nan=-2.0), kind="stable")
        rows = [(self.workers[first[i]], self.workers[second[i]], values[i]) for i in order.tolist()]
        notes = [f"{self.docs} docs; {len(self.workers)} judges err as {self.effective:.2f} independent ones would"]
        columns = {"judge": "", "other": "", "correlation of errors": ".3f"}
        return Table.of(columns, rows, caption="Errors that go together", notes=notes)


def shared_errors(errors: Floats, workers: tuple[str, ...]) -> SharedErrors:
    """From errors, workers × docs, NaN where a worker or the reference says nothing.

    The effective number is the mean variance of the errors over the variance of their mean, on docs that all labelled.

    >>> errors = np.array([[1.0, -1, 1, -1], [1.0, -1, 1, -1], [1.0, 1, -1, -1]])
    >>> shared_errors(errors, ("a", "copy", "b")).correlation.round(2).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    known = ~np.isnan(errors)
    correlation = _correlations(np.where(known, errors, 0.0), known.astype(np.float64))
    everybody = known.all(axis=0)
    together = errors[:, everybody]
    effective = float(len(workers))
    if together.shape[1] > 1:
        of_mean = float(together.mean(axis=0).var())
        of_each = float(together.var(axis=1).mean())
        if of_mean > 0:
            effective = of_each / of_mean
    return SharedErrors(workers, correlation, effective, int(everybody.sum()))


def _correlations(values: Floats, known: Floats) -> Floats:
    """Pearson's correlation of every two rows on what both know; NaN where it is undefined."""
    n = known @ known.T
    shared = np.maximum(n, 1.0)
    first = values @ known.T / shared
    squares = (values**2) @ known.T / shared
    variance = squares - first**2
    covariance = values @ values.T / shared - first * first.T
    spread = np.sqrt(np.maximum(variance, 0.0) * np.maximum(variance.T, 0.0))
    defined = (n > 1) & (spread > 1e-12)
    return np.asarray(np.where(defined, covariance / np.where(defined, spread, 1.0), np.nan))


def errors_of_workers(labels: Labels, reference: Qrels) -> SharedErrors | None:
    """The shared errors of workers who labelled nearly all docs, as machine judges do; None where they did not.

    Workers on parts of the docs share too few of them; a crowd of more than MOST_WORKERS is left alone.
    """
    once = single(labels)
    item, pairs = once.items()
    workers = len(once.workers)
    if not 2 <= workers <= MOST_WORKERS or not looks_like_judges(once):
        return None
    grade = reference_of(once, reference)
    errors = np.full((workers, len(pairs)), np.nan)
    errors[once.worker, item] = once.label - grade
    if np.isnan(errors).all():
        return None
    return shared_errors(errors, once.workers)


def looks_like_judges(labels: Labels) -> bool:
    """Whether every worker labelled nearly all docs, as people in a crowd never do."""
    if len(labels.workers) < 2 or not len(labels):
        return False
    _, pairs = labels.items()
    each = np.bincount(labels.worker, minlength=len(labels.workers))
    return bool((each >= COMPLETE * len(pairs)).all()) and len(pairs) >= 100


def shared_errors_remark(labels: Labels, reference: Qrels | None) -> str | None:
    """A sentence for those who aggregate labels of machine judges; None for those of a crowd.

    With a reference it says whether the judges err together; without one, that nobody can see it.
    """
    if not looks_like_judges(labels):
        return None
    if reference is not None:
        found = errors_of_workers(labels, reference)
        return None if found is None else found.warning()
    return (
        f"all {len(labels.workers)} workers labelled nearly every doc, as machine judges do: if they err together, no "
        "aggregation sees it; --reference shows it, and `assay judge audit`"
    )
