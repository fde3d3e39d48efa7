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
from assay.core.errors import DataError, UsageError
from assay.core.groups import natural_order
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import Run
from assay.data.lists import check_names
from assay.rankings.rank_biased import RBO, TIE_FORMS, Items, Ranking, rbo
from assay.similarity.overlap import LIST_SIMILARITIES

RBO_KEYS = {"RBO EXT": "rbo", "EXT": "rbo", "MIN": "rbo_min", "MAX": "rbo_max"}
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
        ext = float(np.mean([value.ext for value in self.rbo]))
        low = float(np.mean([value.min for value in self.rbo]))
        high = float(np.mean([value.max for value in self.rbo]))
        return RBO(ext, low, high, self.rbo[0].p, (0, 0))

    def most_different(self, n: int = 10) -> list[str]:
        """The topics with the lowest EXT, lowest first."""
        return [self.topics[i] for i in self._by_difference()[:n]]

    def table(self) -> Table:
        """One row: means and spread over topics."""
        mean = self.mean()
        ext = self._ext()
        sd = float(ext.std(ddof=1)) if len(ext) > 1 else None
        row = [" – ".join(self.runs), mean.ext, mean.min, mean.max, sd, float(np.median(ext)), len(ext)]
        row += [_mean_defined(values) for values in self.others.values()]
        columns = {"runs": "", "RBO EXT": ".4f", "MIN": ".4f", "MAX": ".4f", "sd": ".4f", "median": ".4f"}
        columns |= {"topics": "d", **dict.fromkeys(self.others, ".4f")}
        notes = [f"RBO {mean} as EXT [MIN – MAX]", *self.notes(), self._where()]
        return Table.of(columns, [row], caption="Similarity of two runs", notes=notes, keys=RBO_KEYS)

    def topic_table(self, n: int | None = None) -> Table:
        """One row per topic, the most different first; at most n of them."""
        rows = []
        for i in self._by_difference()[:n]:
            value = self.rbo[i]
            others = [values[i] for values in self.others.values()]
            rows.append((self.topics[i], value.ext, value.min, value.max, *others))
        columns = {"topic": "", "EXT": ".4f", "MIN": ".4f", "MAX": ".4f", **dict.fromkeys(self.others, ".4f")}
        caption = f"{self.runs[0]} and {self.runs[1]}, the most different topics first"
        return Table.of(columns, rows, caption=caption, notes=self.notes(), keys=RBO_KEYS)

    def tables(self) -> list[Table]:
        """Means over topics, then every topic."""
        return [self.table(), self.topic_table()]

    def record(self) -> dict[str, Any]:
        """The mean RBO with its bounds, and the tables."""
        return {**super().record(), **self.mean().scalars()}

    def notes(self) -> list[str]:
        """The recipe, and what was left out."""
        said = [self.recipe]
        for name, values in self.others.items():
            undefined = int(np.isnan(values).sum())
            if undefined:
                said.append(f"{name}: undefined on {undefined} topics, which its mean leaves out")
        if self.missing:
            said.append(f"not compared, in one run only: {', '.join(self.missing)}")
        return said

    def _where(self) -> str:
        """The most different topics in words."""
        first = self._by_difference()[:MOST_DIFFERENT]
        return "most different: " + ", ".join(f"{self.topics[i]} ({self.rbo[i].ext:.4f})" for i in first)

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
    form, how = ("a", "ties in the order of the run") if ties == "order" else (ties, f"ties in the form {ties}")
    values = [rbo(ranking_of(first, t, ties), ranking_of(second, t, ties), p, ties=form) for t in topics]
    strict = [(ranking_of(first, t), ranking_of(second, t)) for t in topics] if measures else []
    others = {name: _on_each_topic(name, strict) for name in measures}
    missing = natural_order(set(a.topics) ^ set(b.topics))
    recipe = f"RBO at p = {p:g}, {how}; means over {len(topics)} topics"
    return RunSimilarity((a.name, b.name), tuple(topics), tuple(values), others, tuple(missing), recipe)


def _on_each_topic(measure: str, lists: Sequence[tuple[Ranking, Ranking]]) -> tuple[float, ...]:
    entry, given = LIST_SIMILARITIES.parse(measure)
    return tuple(if_defined(entry.function, x, y, **given) for x, y in lists)


@dataclass(frozen=True)
class PSweep(Result):
    """Mean RBO of two runs over their common topics, at each p."""

    runs: tuple[str, str]
    ps: tuple[float, ...]
    means: tuple[RBO, ...]
    topics: int

    def table(self) -> Table:
        """One row per p."""
        rows = [(mean.p, 1 / (1 - mean.p), mean.ext, mean.min, mean.max, mean.res) for mean in self.means]
        columns = {"p": ".3f", "expected depth": ".1f", "EXT": ".4f", "MIN": ".4f", "MAX": ".4f", "residual": ".4f"}
        caption = f"RBO of {self.runs[0]} and {self.runs[1]} as p changes"
        notes = [f"means over {self.topics} topics"]
        return Table.of(columns, rows, caption=caption, notes=notes, keys=RBO_KEYS)


def p_sweep(a: Run, b: Run, ps: Sequence[float], *, ties: str = "order", depth: int | None = None) -> PSweep:
    """How deep does the likeness of two runs go? RBO at each p, mean over common topics.

    >>> a, b = (Run.from_lists(n, {"1": docs}) for n, docs in [("a", "abd"), ("b", "cbe")])
    >>> [round(mean.ext, 4) for mean in p_sweep(a, b, [0.5, 0.9]).means]
    [0.2083, 0.315]
    """
    if not ps:
        raise DataError("no p is given; name at least one, between 0 and 1")
    compared = [compare_runs(a, b, p=p, ties=ties, depth=depth) for p in ps]
    means = tuple(each.mean() for each in compared)
    return PSweep((a.name, b.name), tuple(ps), means, len(compared[0].topics))


def if_defined(similarity: Callable[..., float], a: Items | Ranking, b: Items | Ranking, **given: Any) -> float:
    """The similarity of two lists, NaN where it has no value."""
    try:
        return similarity(a, b, **given)
    except DataError:
        return float("nan")


def _mean_defined(values: Sequence[float]) -> float | None:
    known = [v for v in values if not np.isnan(v)]
    return float(np.mean(known)) if known else None


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
    topics = set.intersection(*(_topics_with_docs(run) for run in runs))
    if not topics:
        raise DataError(f"{' and '.join(run.name for run in runs[:3])} have no topic in common; nothing to compare")
    return natural_order(topics)


def _topics_with_docs(run: Run) -> set[str]:
    sizes = np.diff(run.bounds)
    return {topic for topic, size in zip(run.topics, sizes, strict=True) if size}


def ranking_of(run: Run, topic: str, ties: str = "order") -> Ranking:
    """The docs of a run on a topic; unless ties="order", docs of equal score are tied."""
    if ties != "order" and ties not in TIE_FORMS:
        raise UsageError(f"no tie form {ties!r}; known: order, {', '.join(TIE_FORMS)}")
    docs = run.ranking(topic)
    try:
        return Ranking.of(docs) if ties == "order" else Ranking.of_scores(run.scores[run.topic_rows(topic)], docs)
    except DataError as error:
        raise DataError(f"run {run.name!r}, topic {topic!r}: {error}") from None
