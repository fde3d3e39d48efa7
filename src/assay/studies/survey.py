"""Do published improvements add up? What papers report on one collection, year by year, beside the original runs.

For each paper, collection, query type and measure the strongest baseline and the best improved score count, and nothing
is joined across collections or measures (Armstrong, Moffat, Webber & Zobel 2009; Webber 2010, §8.2.2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.registry import did_you_mean
from assay.core.results import Result
from assay.core.tables import Table
from assay.data import ScoreMatrix
from assay.data.published import PublishedScore
from assay.data.quantities import canonical
from assay.data.topic_rows import counted
from assay.measures.translation import spellings
from assay.rankings import kendall_tau_b

LINES = (("best run", 1.0), ("third quartile", 0.75), ("median", 0.5))
"""The runs of the original track that published scores are held against, as quantiles of the runs' means."""
SHOWN = ("summary", "pairs", "usage")
"""The tables of a survey."""
Group = tuple[str, str]
"""A collection and a measure: what scores have in common that may be held against each other."""
FEW = 5
"""A collection that is used in fewer papers than this is counted with the rare ones."""


@dataclass(frozen=True)
class Experiment:
    """The strongest baseline and the best improved score of one paper on one collection with one type of query."""

    paper: str
    venue: str
    year: float
    collection: str
    query_type: str
    measure: str
    baseline: float | None
    improved: float | None
    significant: bool | None

    @property
    def gain(self) -> float | None:
        """Improved minus baseline, where both are reported."""
        if self.baseline is None or self.improved is None:
            return None
        return self.improved - self.baseline


@dataclass(frozen=True, eq=False)
class Survey(Result):
    """Experiments, the means of the original runs by collection and measure, and what was left out."""

    unit = "year"

    experiments: tuple[Experiment, ...]
    tracks: Mapping[Group, Floats]
    excluded: Mapping[str, int] = field(default_factory=dict)
    """How many papers were left out, by reason."""
    split: float | None = None
    """Means are also given before this year and from it on."""
    unused: Mapping[Group, int] = field(default_factory=dict)
    """Scores of original runs in a measure that no paper reports there."""

    @property
    def collections(self) -> tuple[str, ...]:
        """Collections, the most used first."""
        uses = Counter(experiment.collection for experiment in self.experiments)
        return tuple(sorted(uses, key=lambda name: (-uses[name], name)))

    @property
    def groups(self) -> tuple[Group, ...]:
        """Each collection with each measure that papers report on it, the most used first."""
        return tuple((name, measure) for name in self.collections for measure in self.measures(name))

    def measures(self, collection: str) -> tuple[str, ...]:
        """The measures that papers report on a collection, the most used first."""
        uses = Counter(experiment.measure for experiment in self.on(collection))
        return tuple(sorted(uses, key=lambda measure: (-uses[measure], measure)))

    def on(self, collection: str, measure: str | None = None) -> list[Experiment]:
        """The experiments on one collection, in all measures or in one, in the order of their years."""
        if collection not in self.collections:
            raise UsageError(f"no collection {collection!r}{did_you_mean(collection, self.collections)}")
        chosen = [e for e in self.experiments if e.collection == collection and measure in (None, e.measure)]
        if not chosen:
            known = did_you_mean(str(measure), self.measures(collection))
            raise UsageError(f"{collection}: no paper reports {measure!r}{known}")
        return sorted(chosen, key=lambda experiment: (experiment.year, experiment.paper, experiment.query_type))

    def lines(self, collection: str, measure: str) -> dict[str, float]:
        """Best, third quartile and median of the original runs in a measure; empty where they are not known."""
        means = self.tracks.get((collection, measure))
        if means is None:
            return {}
        return {name: float(np.quantile(means, share)) for name, share in LINES}

    def only(self, collections: Sequence[str]) -> Survey:
        """The part of the survey that is on these collections."""
        kept = tuple(experiment for name in collections for experiment in self.on(name))
        tracks = {group: means for group, means in self.tracks.items() if group[0] in collections}
        unused = {group: count for group, count in self.unused.items() if group[0] in collections}
        return replace(self, experiments=kept, tracks=tracks, unused=unused)

    def tables(self) -> list[Table]:
        """Summary by collection and measure, every experiment, and the use of collections by year."""
        return [self.shown(name) for name in SHOWN]

    def shown(self, name: str) -> Table:
        """One of the tables by its name."""
        tables = {"summary": self.summary, "pairs": self.pairs, "usage": self.usage}
        if name not in SHOWN:
            raise UsageError(f"no table {name!r}{did_you_mean(name, SHOWN)}")
        return tables[name]()

    def summary(self) -> Table:
        """One row per collection and measure: papers, scores, their means, how they compare with the original runs."""
        columns = {
            "collection": "", "measure": "", "papers": "d", "baselines": "d", "improved": "d", "mean baseline": ".4f",
            "mean improved": ".4f", "baselines ≥ third quartile": "d", "weak baselines": "d",
            "improved > best run": "d", "% claim significance": ".0f", "trend τ": ".3f", "p of trend": "p",
        }  # fmt: skip
        if self.split is not None:
            for kind in ("baseline", "improved"):
                columns[f"{kind} before {self.split:g}"] = ".4f"
                columns[f"{kind} from {self.split:g}"] = ".4f"
        rows = [self._summary_row(*group) for group in self.groups]
        caption = "Published scores by collection and measure"
        return Table.of(columns, rows, caption=caption, notes=self._notes())

    def _summary_row(self, collection: str, measure: str) -> tuple[Any, ...]:
        experiments = self.on(collection, measure)
        baselines = _reported(experiments, "baseline")
        improved = _reported(experiments, "improved")
        papers = {experiment.paper for experiment in experiments}
        claims = {e.paper for e in experiments if e.significant}
        line = self.lines(collection, measure)
        tau, p = trend(experiments)
        row = [
            collection or "(not named)", measure,
            len(papers), len(baselines), len(improved), _mean(baselines), _mean(improved),
            int((baselines >= line["third quartile"]).sum()) if line else None,
            int((baselines < line["median"]).sum()) if line else None,
            int((improved > line["best run"]).sum()) if line else None,
            100 * len(claims) / len(papers), tau, p,
        ]  # fmt: skip
        if self.split is not None:
            early = [e for e in experiments if e.year < self.split]
            late = [e for e in experiments if e.year >= self.split]
            for kind in ("baseline", "improved"):
                row += [_mean(_reported(early, kind)), _mean(_reported(late, kind))]
        return tuple(row)

    def _notes(self) -> list[str]:
        notes = ["Per paper, collection, query type and measure: the strongest baseline and the best improved score."]
        for collection, measure in self.groups:
            line = self.lines(collection, measure)
            if line:
                shown = ", ".join(f"{name} {value:.4f}" for name, value in line.items())
                runs = len(self.tracks[collection, measure])
                notes.append(f"{collection or 'original runs'}, {measure}: {runs} original runs, {shown}")
        for (collection, measure), count in self.unused.items():
            where = f" on {collection}" if collection else ""
            notes.append(f"{counted(count, 'original run')} in {measure} not used: no paper reports it{where}")
        if self.tracks:
            notes.append("weak baseline: below the median of the original runs")
        notes.append("trend: Kendall's τ-b between the year and the improved score, with its two-sided p")
        for reason, papers in self.excluded.items():
            notes.append(f"{papers} {'paper' if papers == 1 else 'papers'} excluded: {reason}")
        return notes

    def pairs(self) -> Table:
        """One row per experiment, with the gain, and whether the baseline is weak and the best run is beaten."""
        columns = {
            "collection": "", "year": "d", "paper": "", "venue": "", "query type": "", "measure": "",
            "baseline": ".4f", "improved": ".4f", "gain": "+.4f", "weak baseline": "", "beats the best run": "",
            "claims significance": "",
        }  # fmt: skip
        rows = [self._pair_row(e) for collection in self.collections for e in self.on(collection)]
        return Table.of(columns, rows, caption="Experiments")

    def _pair_row(self, e: Experiment) -> tuple[Any, ...]:
        line = self.lines(e.collection, e.measure)
        weak = None if e.baseline is None or not line else e.baseline < line["median"]
        beats = None if e.improved is None or not line else e.improved > line["best run"]
        words = [_word(weak), _word(beats), _word(e.significant)]
        where = (e.collection, int(e.year), e.paper, e.venue, e.query_type, e.measure)
        return (*where, e.baseline, e.improved, e.gain, *words)

    def usage(self) -> Table:
        """Papers that use each collection, by year."""
        years = sorted({int(e.year) for e in self.experiments})
        used = {(e.paper, e.collection, int(e.year)) for e in self.experiments}
        counts = Counter((collection, year) for _, collection, year in used)
        papers = {name: len({e.paper for e in self.on(name)}) for name in self.collections}
        order = sorted(papers, key=lambda name: (-papers[name], name))
        rows = [(name, papers[name], *(counts[name, year] for year in years)) for name in order]
        uses = sum(papers.values())
        rare = [count for count in papers.values() if count < FEW]
        note = f"{len(papers)} collections, {uses} uses; {sum(rare)} uses ({100 * sum(rare) / uses:.0f} %) are of "
        note += f"{len(rare)} collections that fewer than {FEW} papers use"
        columns = {"collection": "", "papers": "d", **{str(year): "d" for year in years}}
        return Table.of(columns, rows, caption="Papers that use each collection", notes=[note])


def survey(
    scores: Sequence[PublishedScore],
    *,
    tracks: Mapping[str, Sequence[float] | Sequence[ScoreMatrix]] | None = None,
    split: float | None = None,
) -> Survey:
    """Published scores brought together: one experiment per paper, collection, query type and measure.

    tracks: the original runs of a collection by its name, as score matrices of measures that papers report there, or as
    their means where papers report one measure; scores of the kind `run` are added to them. The name may be empty where
    there is one collection. A measure may be written as in other tools: MAP is AP.
    split: also give means before this year and from it on.

    >>> reported = [
    ...     PublishedScore("baseline", 0.10, paper="a", year=2004, collection="TREC-8"),
    ...     PublishedScore("baseline", 0.26, paper="a", year=2004, collection="TREC-8"),
    ...     PublishedScore("improved", 0.30, paper="a", year=2004, collection="TREC-8"),
    ... ]
    >>> round(survey(reported).experiments[0].gain, 2)
    0.04
    """
    scores = [replace(score, measure=_in_our_words(score.measure)) for score in scores]
    reported = [score for score in scores if not score.excluded and score.kind != "run"]
    if not reported:
        raise DataError("there is no published score; baselines or improved scores are needed")
    groups: dict[tuple[str, ...], list[PublishedScore]] = {}
    for number, score in enumerate(reported):
        # A score without a paper stands alone.
        alone = () if score.paper else (str(number),)
        groups.setdefault((*score.experiment, *alone), []).append(score)
    experiments = tuple(_experiment(group) for group in groups.values())
    reasons = {(score.paper, score.excluded) for score in scores if score.excluded}
    excluded = Counter(reason for _, reason in sorted(reasons))
    used, unused = _original_runs(scores, tracks or {}, experiments)
    return Survey(experiments, used, dict(excluded), split, unused)


def _in_our_words(measure: str) -> str:
    """A measure as it is written here, so that MAP and AP are one; its own name where nobody knows it."""
    *_, ours = spellings(measure)
    return canonical(ours)


def _experiment(group: Sequence[PublishedScore]) -> Experiment:
    """The strongest baseline and the best improved score among scores of one experiment."""
    first = group[0]
    baselines = [score.score for score in group if score.kind == "baseline"]
    improved = [score.score for score in group if score.kind == "improved"]
    claims = [score.significant for score in group if score.significant is not None]
    years = [score.year for score in group if score.year is not None]
    return Experiment(
        first.paper, first.venue, min(years), first.collection, first.query_type, first.measure,
        baseline=max(baselines, default=None), improved=max(improved, default=None),
        significant=any(claims) if claims else None,
    )  # fmt: skip


def _original_runs(
    scores: Sequence[PublishedScore],
    tracks: Mapping[str, Sequence[float] | Sequence[ScoreMatrix]],
    experiments: Sequence[Experiment],
) -> tuple[dict[Group, Floats], dict[Group, int]]:
    """The means of the original runs by collection and measure, from both places that may have them; and the unused."""
    measures: dict[str, set[str]] = {}
    for experiment in experiments:
        measures.setdefault(experiment.collection, set()).add(experiment.measure)
    means: dict[Group, list[float]] = {}
    for name, values in tracks.items():
        collection = _known(name, measures)
        for value in values:
            measure, of_runs = _means(value, collection, measures[collection])
            means.setdefault((collection, measure), []).extend(of_runs)
    unused: Counter[Group] = Counter()
    for score in scores:
        if score.kind == "run" and not score.excluded:
            collection = _known(score.collection, measures)
            if score.measure in measures[collection]:
                means.setdefault((collection, score.measure), []).append(score.score)
            else:
                unused[collection, score.measure] += 1
    return {group: np.array(values) for group, values in means.items()}, dict(unused)


def _known(name: str, measures: Mapping[str, set[str]]) -> str:
    """The collection of that name; where there is one alone, it or the runs may be without a name."""
    if name in measures:
        return name
    only = next(iter(measures))
    if len(measures) == 1 and "" in (name, only):
        return only
    names = ", ".join(repr(collection) for collection in measures)
    raise UsageError(f"original runs of {name!r}, on which no paper reports a score; collections: {names}")


def _means(value: float | ScoreMatrix, collection: str, reported: set[str]) -> tuple[str, list[float]]:
    """A measure that papers report, and one mean in it or those of a matrix."""
    names = " and ".join(sorted(reported))
    if not isinstance(value, ScoreMatrix):
        if len(reported) > 1:
            raise UsageError(f"{collection}: means of original runs without a measure, and papers report {names}; "
                             "give score matrices, which name theirs")  # fmt: skip
        return next(iter(reported)), [float(value)]
    measure = _in_our_words(value.measure)
    if measure not in reported:
        raise UsageError(f"{collection}: the original runs have {value.measure}, the papers report {names}")
    return measure, [float(mean) for mean in value.averages()]


def trend(experiments: Sequence[Experiment]) -> tuple[float | None, float | None]:
    """Kendall's τ-b between the year and the improved score with its p; None where either does not vary."""
    from scipy.stats import kendalltau

    reported = [(e.year, e.improved) for e in experiments if e.improved is not None]
    years = [year for year, _ in reported]
    improved = [score for _, score in reported]
    if len(set(years)) < 2 or len(set(improved)) < 2:
        return None, None
    return kendall_tau_b(years, improved), float(kendalltau(years, improved).pvalue)


def _reported(experiments: Sequence[Experiment], kind: str) -> Floats:
    """The baselines or the improved scores that are reported."""
    scores = [getattr(experiment, kind) for experiment in experiments]
    return np.array([score for score in scores if score is not None], dtype=np.float64)


def _mean(scores: Floats) -> float | None:
    return float(scores.mean()) if len(scores) else None


def _word(answer: bool | None) -> str | None:
    if answer is None:
        return None
    return "yes" if answer else "no"
