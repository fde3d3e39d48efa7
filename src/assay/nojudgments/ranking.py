"""The runs ranked by every method and by their combination, with a word of caution: what `assay predict` shows.

Where the flow stands: lists → predictions → combination (→ accuracy, where there are judgments) → **one result**.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.data import Run
from assay.engine import Progress, silent
from assay.errors import DataError
from assay.ids import Ints
from assay.lists import Bools, Floats, Lists
from assay.nojudgments.accuracy import Accuracy, accuracy, accuracy_table, correlations, matched
from assay.nojudgments.basis import comparable
from assay.nojudgments.combine import combined, combined_means
from assay.nojudgments.methods import METHODS, predictions
from assay.nojudgments.pseudo import bias
from assay.scores import ScoreMatrix
from assay.tables import Table

LEFT_OUT = ("wu-crestani-v4",)
"""Methods that the combination leaves out unless they are all there is: too weak everywhere (Roitero 2020, §7.5.2)."""


@dataclass(frozen=True, eq=False)
class RunRanking:
    """Predicted scores of the runs by several methods and their combination; more is better everywhere."""

    runs: tuple[str, ...]
    manual: tuple[bool, ...]
    outlying: tuple[bool, ...]
    predictions: tuple[ScoreMatrix, ...]
    combined: Floats
    fusion: str
    truth: ScoreMatrix | None
    accuracies: tuple[Accuracy, ...]
    notes: tuple[str, ...]

    def kinds(self) -> list[str]:
        """`manual`, `outlying` or nothing, for each run."""
        return ["manual" if m else "outlying" if o else "" for m, o in zip(self.manual, self.outlying, strict=True)]

    def table(self) -> Table:
        """One row per run, the best by the combination first: its score, its rank by each method, and the truth."""
        columns = {"rank": "d", "run": "", "kind": "", "combined": ".4f"}
        columns |= {short_name(p.measure): "d" for p in self.predictions}
        by_method = np.column_stack([places(p.means()) for p in self.predictions])
        true = None
        if self.truth is not None:
            columns |= {"true rank": "d", f"mean {self.truth.measure}": ".4f"}
            true = self.truth.means()
        rank, kinds = places(self.combined), self.kinds()
        rows = [
            (rank[i], self.runs[i], kinds[i], self.combined[i], *by_method[i])
            + (() if true is None else (places(true)[i], true[i]))
            for i in np.argsort(-self.combined, kind="stable")
        ]
        return Table.of(columns, rows, caption="Runs ranked without judgments", notes=self.notes)

    def by_topic(self) -> ScoreMatrix:
        """The mean of the scaled predictions, runs × topics, of the methods that the combination takes."""
        return combined(_kept(self.predictions), "average")

    def accuracy_table(self) -> Table:
        """How well each method and the combination agree with the true scores."""
        if self.truth is None:
            raise DataError("there are no true scores to compare with; give qrels")
        return accuracy_table(self.accuracies, truth=f"mean {self.truth.measure}")


def ranked(
    lists: Lists | Sequence[Run],
    methods: Sequence[str] | None = None,
    *,
    combine: str = "average",
    truth: ScoreMatrix | None = None,
    scale: str = "none",
    seed: int = 0,
    jobs: int = 1,
    progress: Progress = silent,
) -> RunRanking:
    """Runs ranked by the methods (all by default) and their combination; with true scores also the accuracy of each.

    >>> runs = [Run.from_lists(n, {"1": list(docs)}) for n, docs in [("a", "xyz"), ("b", "xyw"), ("c", "qrs")]]
    >>> ranked(runs, ["wu-crestani", "aslam-savell"]).combined.tolist()
    [1.0, 1.0, 0.0]
    """
    coded = lists if isinstance(lists, Lists) else comparable(lists)
    found = predictions(coded, methods, scale=scale, seed=seed, jobs=jobs, progress=progress)
    fused = _kept(found)
    scores = combined_means(fused, combine)
    manual, outlying = tuple(bool(i.manual) for i in coded.infos), tuple(bool(o) for o in outliers(coded))
    real = None if truth is None else _true_scores(found[0], truth)
    marks = () if real is None else _marks(found, fused, real, combine)
    notes = [_recipe(coded, found, fused, combine, seed), *cautions(coded, manual, outlying)]
    return RunRanking(coded.runs, manual, outlying, tuple(found), scores, combine, real, marks, tuple(notes))


def _true_scores(predicted: ScoreMatrix, truth: ScoreMatrix) -> ScoreMatrix:
    """The true scores of the predicted runs, on the topics that both have."""
    real = matched(predicted, truth)[1]
    lacking = [r for r in predicted.runs if r not in set(real.runs)]
    if lacking:
        raise DataError(f"{truth.measure}: no true scores of run {lacking[0]!r}; score all runs")
    return real


def _marks(
    found: Sequence[ScoreMatrix], fused: Sequence[ScoreMatrix], real: ScoreMatrix, combine: str
) -> tuple[Accuracy, ...]:
    """The accuracy of each method and of the combination, on the topics with true scores."""
    scores = combined_means([p.select(topics=real.topics) for p in fused], combine)
    together = Accuracy(f"combined ({combine})", "runs", len(scores), correlations(real.means(), scores), None)
    return (*(accuracy(p, real) for p in found), together)


def places(scores: Floats) -> Ints:
    """The rank of each score, 1 the highest; equal scores share the best rank.

    >>> places(np.array([0.5, 0.9, 0.5])).tolist()
    [2, 1, 2]
    """
    settled = np.round(scores / max(float(np.abs(scores).max(initial=0.0)), 1e-300), 12)
    return np.asarray(1 + (settled[None, :] > settled[:, None]).sum(axis=1))


def short_name(method: str) -> str:
    """The id of a method in Roitero 2020, Table 5.1, with its parameters if any.

    >>> short_name("soboroff(duplicates=true)")
    'SNC(duplicates=true)'
    """
    name = method.partition("(")[0].strip()
    return method.strip().replace(name, METHODS[name].facts["short"], 1)


def outliers(lists: Lists) -> Bools:
    """Runs far from the others: bias above the median by more than three robust sds, for five runs or more.

    Bias is 1 − cos between the docs of a run and those of all runs (see `pseudo.bias`); the robust sd is 1.4826 times
    the median absolute deviation.
    """
    far = bias(lists, depth=100)
    if len(far) < 5:
        return np.zeros(len(far), dtype=bool)
    middle = float(np.median(far))
    return np.asarray(far > middle + 3 * max(1.4826 * float(np.median(np.abs(far - middle))), 1e-9))


def cautions(lists: Lists, manual: Sequence[bool], outlying: Sequence[bool]) -> list[str]:
    """What a reader must know before he believes the ranking."""
    said = []
    odd = [
        f"{sum(flags)} {word} ({_some([r for r, f in zip(lists.runs, flags, strict=True) if f])})"
        for flags, word in ((manual, "manual"), (outlying, "outlying"))
        if any(flags)
    ]
    if odd:
        said.append(
            "Tyranny of the masses: these methods reward runs that resemble the others. "
            f"Of the runs {' and '.join(odd)} may be far better, or worse, than their rank."
        )
    if lists.items and int(lists.holders().max()) < 2:
        said.append("No doc was retrieved by two runs: nothing is known of any run, and the ranking means nothing.")
    if lists.dropped:
        said.append(f"Left out, because one run alone answers it: topic {_some(lists.dropped)}.")
    return said


def _kept(found: Sequence[ScoreMatrix]) -> list[ScoreMatrix]:
    """The predictions that the combination takes."""
    return [p for p in found if METHODS.parse(p.measure)[0].name not in LEFT_OUT] or list(found)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _recipe(lists: Lists, found: Sequence[ScoreMatrix], fused: Sequence[ScoreMatrix], combine: str, seed: int) -> str:
    left = [short_name(p.measure) for p in found if p not in fused]
    without = f" (without {', '.join(left)})" if left else ""
    return (
        f"{len(lists.runs)} runs, {len(lists.topics)} topics, no judgments used; combined: {combine} of the means of "
        f"{len(fused)} methods{without}; columns: rank by each method; seed {seed}"
    )
