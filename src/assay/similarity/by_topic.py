"""How alike are two runs, topic by topic, and where do they differ most? Also as p changes.

Where the flow stands: two runs → **result**. A similarity says that two runs return the same docs, not that they are
equally good; the topics where they differ most are the ones worth judging.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.errors import DataError, UsageError
from assay.core.groups import natural_order
from assay.core.tables import Table
from assay.data import Run
from assay.data.lists import check_names
from assay.rankings.rank_biased import RBO, TIE_FORMS, Items, Ranking, rbo
from assay.similarity.overlap import LIST_SIMILARITIES


@dataclass(frozen=True)
class RunSimilarity:
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
        ext, low, high = (float(np.mean([getattr(r, s) for r in self.rbo])) for s in ("ext", "min", "max"))
        return RBO(ext, low, high, self.rbo[0].p, (0, 0))

    def most_different(self, n: int = 10) -> list[str]:
        """The topics with the lowest EXT, lowest first."""
        order = np.argsort([r.ext for r in self.rbo], kind="stable")
        return [self.topics[i] for i in order[:n]]

    def table(self) -> Table:
        """One row: means and spread over topics."""
        ext, mean = np.array([r.ext for r in self.rbo]), self.mean()
        spread = float(ext.std(ddof=1)) if len(ext) > 1 else None
        row = (" – ".join(self.runs), mean.ext, mean.min, mean.max, spread, float(np.median(ext)), len(ext))
        of_rbo = dict.fromkeys(("RBO EXT", "MIN", "MAX", "sd", "median"), ".4f")
        formats = {"runs": "", **of_rbo, "topics": "d", **dict.fromkeys(self.others, ".4f")}
        means = [_mean_defined(values) for values in self.others.values()]
        notes = [f"RBO {mean} as EXT [MIN – MAX]", *self.notes()]
        return Table.of(formats, [(*row, *means)], caption="Similarity of two runs", notes=notes)

    def topic_table(self, n: int | None = None) -> Table:
        """One row per topic, the most different first; at most n of them."""
        order = np.argsort([r.ext for r in self.rbo], kind="stable")[:n]
        rows = [
            (self.topics[i], self.rbo[i].ext, self.rbo[i].min, self.rbo[i].max, *(v[i] for v in self.others.values()))
            for i in order
        ]
        columns = {"topic": "", "EXT": ".4f", "MIN": ".4f", "MAX": ".4f", **dict.fromkeys(self.others, ".4f")}
        return Table.of(columns, rows, caption="Topics, the most different first")

    def notes(self) -> list[str]:
        """The recipe, and what was left out."""
        undefined = [(name, int(np.isnan(values).sum())) for name, values in self.others.items()]
        lost = [f"{name}: undefined on {n} topics, which its mean leaves out" for name, n in undefined if n]
        alone = [f"not compared, in one run only: {', '.join(self.missing)}"] if self.missing else []
        return [self.recipe, *lost, *alone]


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
    first, second = (run if depth is None else run.cut(depth) for run in (a, b))
    topics = common_topics([first, second])
    lists = [(ranking_of(first, t, ties), ranking_of(second, t, ties)) for t in topics]
    strict = lists if ties == "order" else [(ranking_of(first, t), ranking_of(second, t)) for t in topics]
    form = "a" if ties == "order" else ties
    parsed = {name: LIST_SIMILARITIES.parse(name) for name in measures}
    others = {
        name: tuple(if_defined(entry.function, x, y, **given) for x, y in strict)
        for name, (entry, given) in parsed.items()
    }
    missing = natural_order(set(a.topics) ^ set(b.topics))
    said = "ties in the order of the run" if ties == "order" else f"ties in the form {ties}"
    recipe = f"RBO at p = {p:g}, {said}; means over {len(topics)} topics"
    values = tuple(rbo(x, y, p, ties=form) for x, y in lists)
    return RunSimilarity((a.name, b.name), tuple(topics), values, others, tuple(missing), recipe)


@dataclass(frozen=True)
class PSweep:
    """Mean RBO of two runs over their common topics, at each p."""

    runs: tuple[str, str]
    ps: tuple[float, ...]
    means: tuple[RBO, ...]
    topics: int

    def table(self) -> Table:
        """One row per p."""
        rows = [(r.p, 1 / (1 - r.p), r.ext, r.min, r.max, r.res) for r in self.means]
        columns = {"p": ".3f", "expected depth": ".1f", "EXT": ".4f", "MIN": ".4f", "MAX": ".4f", "residual": ".4f"}
        caption = f"RBO of {self.runs[0]} and {self.runs[1]} as p changes"
        return Table.of(columns, rows, caption=caption, notes=[f"means over {self.topics} topics"])


def p_sweep(a: Run, b: Run, ps: Sequence[float], *, ties: str = "order", depth: int | None = None) -> PSweep:
    """How deep does the likeness of two runs go? RBO at each p, mean over common topics."""
    found = [compare_runs(a, b, p=p, ties=ties, depth=depth) for p in ps]
    if not found:
        raise DataError("no p is given; name at least one, between 0 and 1")
    return PSweep((a.name, b.name), tuple(ps), tuple(f.mean() for f in found), len(found[0].topics))


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
    having = [{t for t, n in zip(run.topics, np.diff(run.bounds), strict=True) if n} for run in runs]
    topics = natural_order(set.intersection(*having))
    if not topics:
        raise DataError(f"{' and '.join(run.name for run in runs[:3])} have no topic in common; nothing to compare")
    return topics


def ranking_of(run: Run, topic: str, ties: str = "order") -> Ranking:
    """The docs of a run on a topic; unless ties="order", docs of equal score are tied."""
    if ties != "order" and ties not in TIE_FORMS:
        raise UsageError(f"no tie form {ties!r}; known: order, {', '.join(TIE_FORMS)}")
    docs = run.ranking(topic)
    try:
        return Ranking.of(docs) if ties == "order" else Ranking.of_scores(run.scores[run.topic_rows(topic)], docs)
    except DataError as error:
        raise DataError(f"run {run.name!r}, topic {topic!r}: {error}") from None
