"""How alike are two runs, topic by topic, and where do they differ most? Also as p changes.

Where the flow stands: two runs → **result**. A similarity says that two runs return the same docs, not that they are
equally good; the topics where they differ most are the ones worth judging.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.arrays import Floats, Ints
from assay.core.errors import DataError
from assay.core.groups import natural_order
from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Run
from assay.data.lists import check_names
from assay.rankings.rank_biased import RBO, TIE_FORMS, Items, Ranking, rbo
from assay.similarity.overlap import LIST_SIMILARITIES

RBO_KEYS = {"RBO EXT": "rbo", "EXT": "rbo", "MIN": "rbo_min", "MAX": "rbo_max"}
TIED = ("order", *TIE_FORMS)
"""How docs of equal score are taken: in the order of the run, or by one of RBO's tie forms."""
MOST_DIFFERENT = 5
"""Topics that the note of a comparison names."""


@dataclass(frozen=True)
class RunSimilarity(Result):
    """RBO of two runs on each topic that both have, and other similarities by name."""

    runs: tuple[str, str]
    topics: tuple[str, ...]
    rbo: tuple[RBO, ...]
    others: dict[str, tuple[float, ...]]
    """NaN where a similarity has no value on a topic."""
    missing: tuple[str, ...]
    """Topics that only one of the runs has; they are not compared."""
    recipe: str

    def mean(self) -> RBO:
        """The mean over topics of EXT, MIN and MAX."""
        ext = np.mean([rbo.ext for rbo in self.rbo])
        low = np.mean([rbo.min for rbo in self.rbo])
        high = np.mean([rbo.max for rbo in self.rbo])
        p = self.rbo[0].p
        no_lengths = (0, 0)
        return RBO(float(ext), float(low), float(high), p, no_lengths)

    def most_different(self, n: int = 10) -> list[str]:
        """The topics with the lowest EXT, lowest first."""
        return [self.topics[i] for i in self._by_difference()[:n]]

    def table(self) -> Table:
        """One row: means and spread over topics."""
        mean = self.mean()
        ext = self._ext()
        sd = float(ext.std(ddof=1)) if len(ext) > 1 else None
        row = [
            " – ".join(self.runs),
            mean.ext,
            mean.min,
            mean.max,
            sd,
            float(np.median(ext)),
            len(ext),
        ]
        columns = {
            "runs": "",
            "RBO EXT": ".4f",
            "MIN": ".4f",
            "MAX": ".4f",
            "sd": ".4f",
            "median": ".4f",
            "topics": "d",
        }
        for name, values in self.others.items():
            row.append(_mean_defined(values))
            columns[name] = ".4f"
        notes = [f"RBO {mean} as EXT [MIN – MAX]", *self.notes(), self._where()]
        return Table.of(columns, [row], caption="Similarity of two runs", notes=notes, keys=RBO_KEYS)

    def topic_table(self, n: int | None = None) -> Table:
        """One row per topic, the most different first; at most n of them."""
        rows = []
        for i in self._by_difference()[:n]:
            value = self.rbo[i]
            others = [values[i] for values in self.others.values()]
            row = (self.topics[i], value.ext, value.min, value.max, *others)
            rows.append(row)
        columns = {"topic": "", "EXT": ".4f", "MIN": ".4f", "MAX": ".4f"}
        for name in self.others:
            columns[name] = ".4f"
        caption = f"{self.runs[0]} and {self.runs[1]}, the most different topics first"
        return Table.of(columns, rows, caption=caption, notes=self.notes(), keys=RBO_KEYS)

    def tables(self) -> list[Table]:
        """Means over topics, then every topic."""
        return [self.table(), self.topic_table()]

    def record(self) -> dict[str, Any]:
        """The mean RBO with its bounds, and the tables."""
        record = super().record()
        record.update(self.mean().scalars())
        return record

    def notes(self) -> list[str]:
        """The recipe, and what was left out."""
        notes = [self.recipe]
        for name, values in self.others.items():
            undefined = int(np.isnan(values).sum())
            if undefined:
                notes.append(f"{name}: undefined on {undefined} topics, which its mean leaves out")
        if self.missing:
            notes.append(f"not compared, in one run only: {', '.join(self.missing)}")
        return notes

    def _where(self) -> str:
        """The most different topics in words."""
        named = []
        for i in self._by_difference()[:MOST_DIFFERENT]:
            named.append(f"{self.topics[i]} ({self.rbo[i].ext:.4f})")
        return "most different: " + ", ".join(named)

    def _ext(self) -> Floats:
        return np.array([value.ext for value in self.rbo])

    def _by_difference(self) -> Ints:
        return np.argsort(self._ext(), kind="stable")


def compare_runs(
    a: Run,
    b: Run,
    *,
    p: float = 0.9,
    ties: str = "order",
    measures: Sequence[str] = (),
    depth: int | None = None,
) -> RunSimilarity:
    """RBO of two runs on every topic that both have, and any other list similarities by name.

    ties: `order` reads tied docs in the order of the run; `w`, `a`, `b` are RBO's tie forms on equal scores (the other
    similarities always take the order of the run). No topic in common is an error; a similarity without a value on a
    topic (γ of lists that order no pair) is NaN there.

    >>> a, b = (Run.from_lists(n, {"1": docs}) for n, docs in [("a", "abd"), ("b", "cbe")])
    >>> print(compare_runs(a, b).mean())
    0.3150 [0.1558 – 0.7828]
    """
    first = a if depth is None else a.cut(depth)
    second = b if depth is None else b.cut(depth)
    topics = common_topics([first, second])
    if ties == "order":
        form = "a"  # without ties all forms are the same
        how = "ties in the order of the run"
    else:
        form = ties
        how = f"ties in the form {ties}"
    rbo_values = []
    for x, y in _two_rankings(first, second, topics, ties):
        rbo_values.append(rbo(x, y, p, ties=form))
    others = {}
    if measures:
        strict = _two_rankings(first, second, topics, "order")
        others = {name: _on_each_topic(name, strict) for name in measures}
    only_in_one = set(a.topics) ^ set(b.topics)
    return RunSimilarity(
        runs=(a.name, b.name),
        topics=tuple(topics),
        rbo=tuple(rbo_values),
        others=others,
        missing=tuple(natural_order(only_in_one)),
        recipe=f"RBO at p = {p:g}, {how}; means over {len(topics)} topics",
    )


def _two_rankings(a: Run, b: Run, topics: Sequence[str], ties: str) -> list[tuple[Ranking, Ranking]]:
    """The docs of two runs on each topic."""
    return [(ranking_of(a, topic, ties), ranking_of(b, topic, ties)) for topic in topics]


def _on_each_topic(measure: str, lists: Sequence[tuple[Ranking, Ranking]]) -> tuple[float, ...]:
    similarity = LIST_SIMILARITIES.bound(measure)
    return tuple(if_defined(similarity, x, y) for x, y in lists)


@dataclass(frozen=True)
class PSweep(Result):
    """Mean RBO of two runs over their common topics, at each p."""

    runs: tuple[str, str]
    ps: tuple[float, ...]
    means: tuple[RBO, ...]
    topics: int

    def table(self) -> Table:
        """One row per p."""
        rows = []
        for mean in self.means:
            expected_depth = 1 / (1 - mean.p)
            row = (mean.p, expected_depth, mean.ext, mean.min, mean.max, mean.res)
            rows.append(row)
        columns = {
            "p": ".3f",
            "expected depth": ".1f",
            "EXT": ".4f",
            "MIN": ".4f",
            "MAX": ".4f",
            "residual": ".4f",
        }
        caption = f"RBO of {self.runs[0]} and {self.runs[1]} as p changes"
        notes = [f"means over {self.topics} topics"]
        return Table.of(columns, rows, caption=caption, notes=notes, keys=RBO_KEYS)


def p_sweep(a: Run, b: Run, ps: Sequence[float], *, ties: str = "order", depth: int | None = None) -> PSweep:
    """How deep does the similarity of two runs go? RBO at each p, mean over common topics.

    >>> a, b = (Run.from_lists(n, {"1": docs}) for n, docs in [("a", "abd"), ("b", "cbe")])
    >>> [round(mean.ext, 4) for mean in p_sweep(a, b, [0.5, 0.9]).means]
    [0.2083, 0.315]
    """
    if not ps:
        raise DataError("no p is given; name at least one, between 0 and 1")
    compared = [compare_runs(a, b, p=p, ties=ties, depth=depth) for p in ps]
    return PSweep(
        runs=(a.name, b.name),
        ps=tuple(ps),
        means=tuple(similarity.mean() for similarity in compared),
        topics=len(compared[0].topics),
    )


def if_defined(similarity: Callable[..., float], a: Items | Ranking, b: Items | Ranking, **given: Any) -> float:
    """The similarity of two lists, NaN where it has no value."""
    try:
        return similarity(a, b, **given)
    except DataError:
        return float("nan")


def _mean_defined(values: Sequence[float]) -> float | None:
    known = [value for value in values if not np.isnan(value)]
    if not known:
        return None
    return float(np.mean(known))


def check_runs(runs: Sequence[Run]) -> None:
    """Refuse fewer than two runs, two of one name, and a run without docs."""
    if len(runs) < 2:
        raise DataError(f"two runs or more are needed to compare, not {len(runs)}")
    check_names(runs)
    for run in runs:
        if not len(run):
            raise DataError(f"run {run.name!r} is empty; there is nothing to compare")


def common_topics(runs: Sequence[Run]) -> list[str]:
    """The topics for which every run has docs, in natural order; an error if there are none."""
    with_docs = [_topics_with_docs(run) for run in runs]
    common = set.intersection(*with_docs)
    if not common:
        first_names = [run.name for run in runs[:3]]
        raise DataError(f"{' and '.join(first_names)} have no topic in common; nothing to compare")
    return natural_order(common)


def _topics_with_docs(run: Run) -> set[str]:
    sizes = np.diff(run.bounds)
    return {topic for topic, size in zip(run.topics, sizes, strict=True) if size}


def ranking_of(run: Run, topic: str, ties: str = "order") -> Ranking:
    """The docs of a run on a topic; unless ties="order", docs of equal score are tied."""
    one_of("tie form", ties, TIED)
    docs = run.ranking(topic)
    try:
        if ties == "order":
            return Ranking.of(docs)
        scores = run.scores[run.topic_rows(topic)]
        return Ranking.of_scores(scores, docs)
    except DataError as error:
        raise DataError(f"run {run.name!r}, topic {topic!r}: {error}") from None
