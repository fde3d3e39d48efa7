"""Which method is best over several collections? Accuracy of every method on each, box plots, paired tests, an oracle.

Where the flow stands: judged collections → accuracy of the methods on each → **one comparison** (Roitero 2020, §7.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.nojudgments.against_truth import accuracy, correlations, matched
from assay.nojudgments.combine import FUSIONS, combined, combined_means
from assay.nojudgments.learn import Collection
from assay.nojudgments.ranking import taken
from assay.stats.multiple import corrected, family_in_words
from assay.stats.paired import outcome_of

COLUMNS = {"pearson": "ρ", "tau": "τ", "spearman": "r_S", "tau-ap": "τ_AP", "rbo": "RBO", "error": "δ"}
"""Measures of accuracy, and how the tables of accuracy call them. Of the error less is better."""
STATISTICS = tuple(COLUMNS)
BOXES = ("method", "collection")
"""What a box plot may be of: a method over collections, or a collection over methods."""
ORACLE = "oracle"
"""The method that would be best on each collection, if somebody knew."""


@dataclass(frozen=True, eq=False)
class MethodsCompared(Result):
    """Accuracy of methods on collections, and paired tests between methods with collections as the units."""

    methods: tuple[str, ...]
    collections: tuple[str, ...]
    values: Floats
    """Methods × collections, the oracle in the last row; NaN where a correlation is undefined."""
    statistic: str
    level: str
    pairs: tuple[tuple[int, int, float, float, float], ...]
    """(method, method, mean difference, p, corrected p); a p is NaN where there is nothing to test."""
    notes: tuple[str, ...]

    def order(self) -> list[int]:
        """The methods from the best median to the worst."""
        medians = np.nanmedian(self.values, axis=1)
        falling = medians if self.statistic == "error" else -medians
        return [int(i) for i in np.argsort(falling, kind="stable")]

    def table(self) -> Table:
        """One row per method, the best median first: accuracy on each collection, median, range and rank."""
        name = COLUMNS[self.statistic]
        columns = {"method": "", **dict.fromkeys(self.collections, ".3f"), "median": ".3f", "mean": ".3f"}
        columns |= {"lowest": ".3f", "highest": ".3f"}
        rows = []
        for i in self.order():
            values = self.values[i]
            summary = (np.nanmedian(values), np.nanmean(values), np.nanmin(values), np.nanmax(values))
            cells = [None if np.isnan(value) else value for value in values]
            rows.append((self.methods[i], *cells, *summary))
        caption = f"Accuracy of methods on {len(self.collections)} collections: {name} of {self.level}"
        keys = {collection: collection for collection in self.collections}
        return Table.of(columns, rows, caption=caption, notes=self.notes, keys=keys)

    def tests(self) -> Table:
        """One row per pair of methods, the smallest p first."""
        rows = []
        for first, second, difference, p, corrected_p in sorted(self.pairs, key=_by_p):
            known = not np.isnan(p)
            rows.append(
                (
                    self.methods[first],
                    self.methods[second],
                    difference,
                    p if known else None,
                    corrected_p if known else None,
                )
            )
        return Table.of(
            {"method": "", "other": "", "difference": "+.3f", "p": "p", "corrected p": "p"},
            rows,
            caption=f"Differences of {COLUMNS[self.statistic]} between methods, collections as the units",
            notes=self.notes,
            keys={"difference": "delta", "corrected p": "p_corrected"},
        )

    def tables(self) -> list[Table]:
        """Accuracy, and the tests where there are collections enough for one."""
        return [self.table(), self.tests()] if self.pairs else [self.table()]


def _by_p(pair: tuple[int, int, float, float, float]) -> tuple[bool, float]:
    p = pair[3]
    return bool(np.isnan(p)), p


def methods_compared(
    collections: Sequence[Collection],
    *,
    statistic: str = "tau",
    level: str = "runs",
    fusions: Sequence[str] = ("average",),
    test: str = "wilcoxon(exact=true)",
    correction: str = "bonferroni",
) -> MethodsCompared:
    """Accuracy of every method, of fusions of all of them, and of an oracle, on several judged collections.

    statistic: one of STATISTICS. level: `runs`, `topics` or `cells`. The oracle is the best single method of each
    collection. Each two methods, and each method and the oracle, are tested with the collections as paired units, by
    one of the paired tests, and corrected over all pairs. One collection has no tests.

    >>> truth = ScoreMatrix.of([[0.1, 0.5], [0.3, 0.6], [0.2, 0.1]], measure="AP")
    >>> good = ScoreMatrix.of([[1, 5], [3, 6], [2, 1]], measure="emap")
    >>> bad = ScoreMatrix.of([[3, 1], [1, 1], [2, 5]], measure="sakai-lin")
    >>> both = [Collection(name, 2001, (good, bad), truth) for name in ("old", "new")]
    >>> methods_compared(both).table().column("method")[-1]
    'sakai-lin'
    """
    _check(collections, statistic)
    singles = collections[0].methods()
    rows = [[_of(collection, i, statistic, level) for collection in collections] for i in range(len(singles))]
    values = np.array(rows, dtype=np.float64)
    best = np.nanmin(values, axis=0) if statistic == "error" else np.nanmax(values, axis=0)
    names = list(singles)
    for fusion in fusions:
        names.append(f"combined ({fusion})")
        fused = [_fused(collection, fusion, statistic, level) for collection in collections]
        values = np.vstack([values, fused])
    names.append(ORACLE)
    values = np.vstack([values, best])
    pairs = _tested(values, test, correction) if len(collections) > 1 else ()
    notes = _notes(collections, len(singles), len(pairs), test, correction)
    return MethodsCompared(
        methods=tuple(names),
        collections=tuple(collection.name for collection in collections),
        values=values,
        statistic=statistic,
        level=level,
        pairs=pairs,
        notes=notes,
    )


def _check(collections: Sequence[Collection], statistic: str) -> None:
    if statistic not in STATISTICS:
        raise UsageError(f"no measure of accuracy {statistic!r}; known: {', '.join(STATISTICS)}")
    if not collections:
        raise UsageError("no collections; give at least one that is judged")
    names = [collection.name for collection in collections]
    for collection in collections:
        if names.count(collection.name) > 1:
            raise UsageError(f"collection {collection.name!r} is there twice; names must differ")
        if collection.methods() != collections[0].methods():
            raise UsageError(f"{collection.name!r} has other methods than {names[0]!r}; they must be the same")
        if not collection.predictions:
            raise DataError(f"{collection.name}: no predictions; give those of at least one method")


def _truth(collection: Collection) -> ScoreMatrix:
    if collection.truth is None:
        raise DataError(f"{collection.name}: no true scores to compare with")
    return collection.truth


def _of(collection: Collection, method: int, statistic: str, level: str) -> float:
    """The accuracy of one method on one collection."""
    return _value(collection.predictions[method], _truth(collection), statistic, level)


def _fused(collection: Collection, fusion: str, statistic: str, level: str) -> float:
    """The accuracy of the predictions fused: at the level of runs by their means, else topic by topic."""
    FUSIONS.parse(fusion)
    names = taken(collection.methods())
    kept = [prediction for prediction in collection.predictions if prediction.measure in names]
    truth = _truth(collection)
    if level != "runs" or statistic == "error":
        return _value(combined(kept, fusion), truth, statistic, level)
    on_truth = [matched(prediction, truth)[0] for prediction in kept]
    real = matched(kept[0], truth)[1]
    value = correlations(real.means(), combined_means(on_truth, fusion))[COLUMNS[statistic]]
    return np.nan if value is None else value


def _value(predicted: ScoreMatrix, truth: ScoreMatrix, statistic: str, level: str) -> float:
    found = accuracy(predicted, truth, level=level)
    value = found.delta if statistic == "error" else found.values[COLUMNS[statistic]]
    return np.nan if value is None else value


def _tested(values: Floats, test: str, correction: str) -> tuple[tuple[int, int, float, float, float], ...]:
    """Paired tests of each two rows; a pair whose differences are all 0 has p 1."""
    both = list(combinations(range(len(values)), 2))
    differences = np.array([values[first] - values[second] for first, second in both])
    usable = np.isfinite(differences).all(axis=1)
    p = np.full(len(both), np.nan)
    if usable.any():
        p[usable] = outcome_of(differences[usable], test).p
    after = np.full(len(both), np.nan)
    known = np.isfinite(p)
    after[known] = corrected(p[known], correction)
    means = differences.mean(axis=1)
    tested = zip(both, means.tolist(), p.tolist(), after.tolist(), strict=True)
    return tuple((first, second, mean, raw, family) for (first, second), mean, raw, family in tested)


def _notes(collections: Sequence[Collection], methods: int, pairs: int, test: str, correction: str) -> tuple[str, ...]:
    sizes = []
    for collection in collections:
        runs, topics = collection.predictions[0].shape
        sizes.append(f"{collection.name}: {runs} runs, {topics} topics, {_truth(collection).measure}")
    notes = ["; ".join(sizes), f"oracle: on each collection the best of the {methods} methods"]
    if pairs:
        notes.append(f"paired {test} over {len(collections)} collections; {family_in_words(correction, pairs, 0.05)}")
    if 1 < len(collections) < 6:
        notes.append("with so few collections hardly any difference can be significant, however large it is")
    return tuple(notes)
