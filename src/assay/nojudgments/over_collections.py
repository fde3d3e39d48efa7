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
from assay.core.keys import key_of
from assay.core.registry import one_of
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
SUMMARY = ("median", "mean", "lowest", "highest")
"""The columns beside those of the collections."""


@dataclass(frozen=True)
class ComparedPair:
    """Two methods (by their places in `MethodsCompared.methods`) and the paired test between them."""

    first: int
    second: int
    difference: float
    """Mean over collections; NaN, as the p-values, where a correlation is undefined on some collection."""
    p: float
    corrected_p: float


@dataclass(frozen=True, eq=False)
class MethodsCompared(Result):
    """Accuracy of methods on collections, and paired tests between methods with collections as the units."""

    unit = "collection"

    methods: tuple[str, ...]
    collections: tuple[str, ...]
    values: Floats
    """Methods × collections, the oracle in the last row; NaN where a correlation is undefined."""
    statistic: str
    level: str
    pairs: tuple[ComparedPair, ...]
    notes: tuple[str, ...]

    def order(self) -> list[int]:
        """The methods from the best median to the worst; those that are defined nowhere last."""
        medians = np.array([_summary(values)[0] for values in self.values])
        falling = medians if self.statistic == "error" else -medians
        return [int(i) for i in np.argsort(falling, kind="stable")]

    def table(self) -> Table:
        """One row per method, the best median first: accuracy on each collection, and median, mean and range."""
        columns = {"method": "", **dict.fromkeys((*self.collections, *SUMMARY), ".3f")}
        rows = []
        for i in self.order():
            cells = [*self.values[i], *_summary(self.values[i])]
            rows.append((self.methods[i], *_known(cells)))
        name = COLUMNS[self.statistic]
        return Table.of(
            columns,
            rows,
            caption=f"Accuracy of methods on {len(self.collections)} collections: {name} of {self.level}",
            notes=self.notes,
            keys=column_keys(self.collections),
        )

    def tests(self) -> Table:
        """One row per pair of methods, the smallest p first."""
        rows = []
        for pair in sorted(self.pairs, key=_by_p):
            numbers = _known([pair.difference, pair.p, pair.corrected_p])
            rows.append((self.methods[pair.first], self.methods[pair.second], *numbers))
        return Table.of(
            {"method": "", "other": "", "difference": "+.3f", "p": "p", "p corrected": "p"},
            rows,
            caption=f"Differences of {COLUMNS[self.statistic]} between methods, collections as the units",
            notes=self.notes,
            keys={"difference": "delta"},
        )

    def tables(self) -> list[Table]:
        """Accuracy, and the tests where there are collections enough for one."""
        return [self.table(), self.tests()] if self.pairs else [self.table()]


def _summary(values: Floats) -> list[float]:
    """Median, mean, lowest and highest of the values that are defined; NaN where none is."""
    defined = values[np.isfinite(values)]
    if not len(defined):
        return [np.nan] * len(SUMMARY)
    return [float(np.median(defined)), float(defined.mean()), float(defined.min()), float(defined.max())]


def _known(values: Sequence[float]) -> list[float | None]:
    """The values, None in place of NaN: a table shows a dash."""
    return [None if np.isnan(value) else float(value) for value in values]


def _by_p(pair: ComparedPair) -> tuple[bool, float, float]:
    """Undefined ones last; of equal p the largest difference first."""
    return bool(np.isnan(pair.p)), pair.p, -abs(pair.difference)


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
    collection. Each two rows, the oracle among them, are tested with the collections as paired units by one of the
    paired tests, and corrected over all pairs. One collection has no tests.

    >>> from assay.data import ScoreMatrix
    >>> truth = ScoreMatrix.of([[0.1, 0.5], [0.3, 0.6], [0.2, 0.1]], measure="AP")
    >>> good = ScoreMatrix.of([[1, 5], [3, 6], [2, 1]], measure="emap")
    >>> bad = ScoreMatrix.of([[3, 1], [1, 1], [2, 5]], measure="sakai-lin")
    >>> both = [Collection(name, 2001, (good, bad), truth) for name in ("old", "new")]
    >>> methods_compared(both).table().column("method")[-1]
    'sakai-lin'
    """
    check_collections(collections, statistic, level)
    singles = collections[0].methods()
    rows = []
    for i in range(len(singles)):
        rows.append([matrix_value(each.predictions[i], each, statistic, level) for each in collections])
    best = _best(np.array(rows), statistic)
    names = list(singles)
    for fusion in fusions:
        names.append(f"combined ({fusion})")
        rows.append([fused_value(collection, fusion, statistic, level) for collection in collections])
    names.append(ORACLE)
    rows.append(best)
    values = np.array(rows, dtype=np.float64)
    pairs = _tested(values, test, correction) if len(collections) > 1 else ()
    return MethodsCompared(
        methods=tuple(names),
        collections=tuple(collection.name for collection in collections),
        values=values,
        statistic=statistic,
        level=level,
        pairs=pairs,
        notes=_notes(collections, len(singles), len(pairs), test, correction),
    )


def _best(values: Floats, statistic: str) -> list[float]:
    """The best value of each column: of the error the lowest, else the highest; NaN where none is defined."""
    place = 2 if statistic == "error" else 3
    return [_summary(of_collection)[place] for of_collection in values.T]


def check_collections(collections: Sequence[Collection], statistic: str, level: str) -> None:
    """Refuse no collections, names that are not distinct, other methods, and an unknown measure of accuracy."""
    one_of("measure of accuracy", statistic, STATISTICS)
    if statistic == "error" and level != "cells":
        raise UsageError(f"the error δ is that of cells, not of {level}; give the level cells")
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
    column_keys(names)


def column_keys(names: Sequence[str]) -> dict[str, str]:
    """{collection: key of its column}; an error where a key would be that of another column.

    >>> column_keys(["DL 2019", "TREC-8"])
    {'DL 2019': 'dl_2019', 'TREC-8': 'trec_8'}
    """
    keys: dict[str, str] = {}
    used = {"method", "trained_on", *SUMMARY}
    for name in names:
        key = key_of(name.lower())
        if key in used:
            raise UsageError(
                f"collection {name!r}: its column would be called {key!r}, as another is; name it otherwise"
            )
        used.add(key)
        keys[name] = key
    return keys


def fused_value(collection: Collection, fusion: str, statistic: str, level: str) -> float:
    """The accuracy of the predictions fused: at the level of runs by their means, else topic by topic."""
    FUSIONS.entry(fusion)
    names = taken(collection.methods())
    kept = [prediction for prediction in collection.predictions if prediction.measure in names]
    if level != "runs":
        return matrix_value(combined(kept, fusion), collection, statistic, level)
    truth = collection.true_scores()
    on_truth = [matched(prediction, truth)[0] for prediction in kept]
    real = matched(kept[0], truth)[1]
    value = correlations(real.averages(), combined_means(on_truth, fusion))[COLUMNS[statistic]]
    return np.nan if value is None else value


def matrix_value(predicted: ScoreMatrix, collection: Collection, statistic: str, level: str) -> float:
    """The accuracy of predicted scores on a collection; NaN where it is undefined."""
    result = accuracy(predicted, collection.true_scores(), level=level)
    value = result.delta if statistic == "error" else result.values[COLUMNS[statistic]]
    return np.nan if value is None else value


def _tested(values: Floats, test: str, correction: str) -> tuple[ComparedPair, ...]:
    """Paired tests of each two rows; a pair whose differences are all 0 has p 1."""
    both = list(combinations(range(len(values)), 2))
    differences = np.array([values[first] - values[second] for first, second in both])
    p = np.full(len(both), np.nan)
    defined = np.isfinite(differences).all(axis=1)
    if defined.any():
        p[defined] = outcome_of(differences[defined], test).p
    corrected_p = np.full(len(both), np.nan)
    tested = np.isfinite(p)
    corrected_p[tested] = corrected(p[tested], correction)
    means = differences.mean(axis=1)
    pairs = []
    for i, (first, second) in enumerate(both):
        pairs.append(ComparedPair(first, second, float(means[i]), float(p[i]), float(corrected_p[i])))
    return tuple(pairs)


def _notes(collections: Sequence[Collection], methods: int, pairs: int, test: str, correction: str) -> tuple[str, ...]:
    sizes = []
    for collection in collections:
        runs, topics = collection.predictions[0].shape
        sizes.append(f"{collection.name}: {runs} runs, {topics} topics, {collection.true_scores().measure}")
    notes = ["; ".join(sizes), f"oracle: on each collection the best of the {methods} methods"]
    if pairs:
        notes.append(f"paired {test} over {len(collections)} collections; {family_in_words(correction, pairs, 0.05)}")
    if 1 < len(collections) < 6:
        notes.append("with so few collections hardly any difference can be significant, however large it is")
    return tuple(notes)
