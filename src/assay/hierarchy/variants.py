"""What do variants of a query do to scores? Systems × topics × variants within topics: where the spread comes from.

The model: score = system + topic + variant (within its topic) + system × topic + the rest, which is the interaction of
system and variant. Every system is scored on every variant; topics may have different numbers of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.scores import ScoreMatrix
from assay.data.tested_means import needs_means
from assay.hierarchy.groups_of_ids import TopicGroups, topic_groups
from assay.io.brought import score_matrix_of
from assay.rankings import settled
from assay.stats.anova import estimates_alone, without_noise
from assay.stats.effect import checked_rows, ratio
from assay.stats.t_power import TTest, positive, topics_needed, whole

SYSTEM, TOPIC, VARIANT, BOTH, REST = "system", "topic", "variant (topic)", "system × topic", "system × variant (topic)"
KEYS = {SYSTEM: "system", TOPIC: "topic", VARIANT: "variant", BOTH: "system_topic", REST: "system_variant"}
AGAINST = {SYSTEM: BOTH, VARIANT: REST, BOTH: REST}
"""What each effect is tested against, as topics and variants are samples; topics themselves are not tested."""
VARIANTS = (1, 2, 3, 5, 10)
"""Variants per topic for which topics are planned."""


@dataclass(frozen=True)
class VariantSource:
    """One line of the analysis: sum of squares, test, and the component of variance that it estimates."""

    name: str
    squares: float
    df: int
    component: float
    """σ² by the method of moments; a negative estimate is 0."""
    estimate: float
    """The same before it was cut at 0."""
    f: float | None = None
    p: float | None = None

    @property
    def mean_square(self) -> float:
        """Sum of squares over degrees of freedom."""
        return self.squares / self.df


@dataclass(frozen=True, eq=False)
class QueryVariants(Result):
    """Where the spread of scores over query variants comes from, who suffers from it, how many variants it takes."""

    unit = "topic"

    matrix: ScoreMatrix
    groups: TopicGroups
    sources: tuple[VariantSource, ...]
    difference: float
    power: float
    test: TTest
    per_topic: tuple[int, ...] = VARIANTS

    def __getitem__(self, name: str) -> VariantSource:
        for source in self.sources:
            if name in (source.name, KEYS[source.name]):
                return source
        raise UsageError(f"no source of variance {name!r}; there are: {', '.join(KEYS.values())}")

    @property
    def verdict(self) -> str:
        """How much of the spread is due to variants, beside systems, in one sentence."""
        total = sum(source.component for source in self.sources)
        shares = {source.name: float(ratio(source.component, total)) for source in self.sources}
        of_variants = shares[VARIANT] + shares[REST]
        return (
            f"variants make {of_variants:.0%} of the variance of {self.matrix.measure} "
            f"({shares[VARIANT]:.0%} for all systems alike, {shares[REST]:.0%} differently for each, noise included), "
            f"topics {shares[TOPIC]:.0%}, systems {shares[SYSTEM]:.0%}"
        )

    def table(self) -> Table:
        """The analysis of variance with the components of variance."""
        columns = {"source": "", "SS": ".5f", "df": "d", "MS": ".6f", "F": ".4f", "p": "p", "σ²": ".6f", "%": ".1f"}
        total = sum(source.component for source in self.sources)
        rows = []
        for source in self.sources:
            test = [source.f, source.p, source.component, 100 * float(ratio(source.component, total))]
            rows.append([source.name, source.squares, source.df, source.mean_square, *test])
        tested = "; ".join(f"{name} against {against}" for name, against in AGAINST.items())
        notes = [
            f"{len(self.matrix.runs)} systems × {self.groups.in_words('topic', 'variant')}",
            f"F: {tested}; σ² by the method of moments, topics and variants taken as samples",
        ]
        freedom = {f"{s.df + 1} systems" if s.name == SYSTEM else f"{s.df + 1} topics": s.df for s in self.sources[:2]}
        notes.append(estimates_alone(freedom))
        notes += [f"the estimate of σ² {s.name} was negative and is set to 0" for s in self.sources if s.estimate < 0]
        sizes = self.groups.sizes
        if sizes.min() != sizes.max():
            notes.append("topics have different numbers of variants: F is approximate")
        keys = {"SS": "ss", "MS": "ms", "F": "f", "σ²": "sigma2", "%": "percent"}
        return Table.of(columns, rows, caption=self.verdict, notes=notes, keys=keys)

    def systems_table(self) -> Table:
        """One row per system, best mean first: mean, worst and best variant of each topic, and both ranks."""
        columns = {"system": "", "mean": ".4f", "worst": ".4f", "best": ".4f", "range": ".4f"}
        columns |= {"rank": "d", "rank by worst": "d"}
        means, worst, best = self.summary()
        ranks = [_ranks(means), _ranks(worst)]
        rows = []
        for at in np.argsort(-means, kind="stable"):
            row = [self.matrix.runs[at], means[at], worst[at], best[at], best[at] - worst[at]]
            rows.append([*row, ranks[0][at], ranks[1][at]])
        notes = ["means over topics of the mean, worst and best variant of each topic; each topic counts alike"]
        caption = f"{self.matrix.measure}: {len(self.matrix.runs)} systems and the variants of topics"
        return Table.of(columns, rows, caption=caption, notes=notes)

    def summary(self) -> tuple[Floats, Floats, Floats]:
        """Mean over topics of each system: of mean, worst and best variant."""
        from assay.hierarchy.groups_of_ids import by_group

        parts = [by_group(self.matrix, per=per, separator=self.groups.separator) for per in ("mean", "worst", "best")]
        mean, worst, best = (np.asarray(part.values.mean(axis=1)) for part in parts)
        return mean, worst, best

    def sigma(self, variants: int) -> float:
        """sd over topics of the difference of two systems, each the mean of that many variants: √2(σ²_st + σ²_sv/k)."""
        return float(np.sqrt(2 * (self[BOTH].component + self[REST].component / variants)))

    def plan_table(self) -> Table:
        """Topics that it takes to find the difference, for several numbers of variants per topic."""
        columns = {"variants": "d", "σ": ".4f", "topics": "d", "queries": "d", "reliability": ".4f"}
        rows: list[list[Any]] = []
        for count in self.per_topic:
            sigma = self.sigma(count)
            topics = None
            if sigma > 0:
                topics = whole(topics_needed(self.difference / sigma, power=self.power, test=self.test))
            queries = None if topics is None else topics * count
            rows.append([count, sigma, topics, queries, self.reliability(count)])
        notes = [
            f"topics: to find a difference of {self.difference:g} with power {self.power:g}; {self.test.words()}",
            f"reliability: σ²(system) / (σ²(system) + σ²(system × topic)/n + σ²(system × variant)/nk) with the "
            f"{len(self.groups.names)} topics at hand",
        ]
        caption = f"{self.matrix.measure}: how many variants and topics"
        return Table.of(columns, rows, caption=caption, notes=notes, keys={"σ": "sigma"})

    def reliability(self, variants: int) -> float:
        """Eρ²: the share of the variance of mean scores that is due to systems, with the topics at hand."""
        topics = len(self.groups.names)
        noise = (self[BOTH].component + self[REST].component / variants) / topics
        return float(ratio(self[SYSTEM].component, self[SYSTEM].component + noise))

    def tables(self) -> list[Table]:
        """The analysis, the systems, the plan."""
        return [self.table(), self.systems_table(), self.plan_table()]

    def record(self) -> dict[str, Any]:
        """The verdict, each component by its key, and the tables."""
        components = {f"sigma2_{KEYS[source.name]}": source.component for source in self.sources}
        sizes = self.groups.sizes
        facts = {
            "verdict": self.verdict,
            "measure": self.matrix.measure,
            "topics": len(self.groups.names),
            "variants": int(sizes.sum()),
            "separator": self.groups.separator,
        }
        return {**super().record(), **facts, **components}


def _ranks(values: Floats) -> list[int]:
    """1 is best; equal values share the better rank."""
    known = settled(values)
    return [int(1 + (known > value).sum()) for value in known]


def query_variants(
    scores: Any,
    *,
    separator: str | None = None,
    difference: float = 0.05,
    power: float = 0.8,
    per_topic: Sequence[int] = VARIANTS,
    test: TTest | None = None,
) -> QueryVariants:
    """Analysis of scores of systems on variants of queries, whose topic ids are `topic/variant`.

    separator: between topic and variant. difference, power: of the plan; per_topic: its numbers of variants.
    Components by the method of moments (Searle, Casella & McCulloch 1992, ch. 4): with a systems, K variants in all,
    k₀ = (K − Σk²/K)/(topics − 1): σ²(rest) = MS_rest, σ²(system × topic) = (MS_st − MS_rest)/k₀, σ²(variant) =
    (MS_v − MS_rest)/a, σ²(topic) = (MS_t − MS_v − MS_st + MS_rest)/(a·k₀), σ²(system) =
    (MS_s − MS_rest − σ²_st·Σk²/K)/K.

    >>> rng = np.random.default_rng(0)
    >>> ids = [f"{topic}/{variant}" for topic in range(20) for variant in range(4)]
    >>> topic, variant = np.repeat(rng.normal(0.4, 0.15, 20), 4), rng.normal(0, 0.1, 80)
    >>> quality = np.array([[0.1], [0.0], [-0.1]])
    >>> found = query_variants(ScoreMatrix.of(quality + topic + variant + rng.normal(0, 0.05, (3, 80)), topics=ids))
    >>> round(found["variant"].component, 3), found["system"].p < 0.001
    (0.01, True)
    """
    matrix = needs_means(score_matrix_of(scores), "an analysis of variance")
    positive("difference", difference)
    if not per_topic or min(per_topic) < 1:
        raise UsageError("variants per topic are whole numbers from 1 on, e.g. 1,2,5")
    groups = topic_groups(matrix.topics, separator)
    _check(matrix, groups)
    sources = _sources(matrix, groups)
    return QueryVariants(matrix, groups, sources, difference, power, test or TTest(), tuple(per_topic))


def _check(matrix: ScoreMatrix, groups: TopicGroups) -> None:
    checked_rows(matrix.values)
    if len(matrix.runs) < 2:
        raise DataError(f"{matrix.measure}: {len(matrix.runs)} system; variants are compared over two or more")
    if len(groups.names) < 2:
        raise DataError(f"{matrix.measure}: 1 topic with variants; two or more are needed")
    if groups.sizes.max() < 2:
        raise DataError(f"{matrix.measure}: no topic has two variants; `assay standardize variance` has no need of any")


def _sources(matrix: ScoreMatrix, groups: TopicGroups) -> tuple[VariantSource, ...]:
    """Sums of squares, components and tests."""
    squares = _squares(matrix.values, groups)
    systems, topics, queries = len(matrix.runs), len(groups.names), len(matrix.topics)
    df = {
        SYSTEM: systems - 1,
        TOPIC: topics - 1,
        VARIANT: queries - topics,
        BOTH: (systems - 1) * (topics - 1),
        REST: (systems - 1) * (queries - topics),
    }
    mean = {name: squares[name] / df[name] for name in squares}
    estimates = _components(mean, systems, groups)
    lines = []
    for name in squares:
        estimate = estimates[name]
        lines.append(VariantSource(name, squares[name], df[name], max(0.0, estimate), estimate))
    return tuple(_tested(line, mean, df) for line in lines)


def _squares(values: Floats, groups: TopicGroups) -> dict[str, float]:
    """Sums of squares of each source over all scores."""
    centred = values - values.mean()
    sizes = groups.sizes
    system = centred.mean(axis=1, keepdims=True)
    query = centred.mean(axis=0)
    topic = groups.means(query[None, :])[0]
    cells = groups.means(centred)
    both = cells - system - topic
    within = query - topic[groups.places]
    rest = centred - cells[:, groups.places] - within
    squares = [
        float(values.shape[1] * (system**2).sum()),
        float(len(values) * (sizes * topic**2).sum()),
        float(len(values) * (within**2).sum()),
        float((sizes * both**2).sum()),
        float((rest**2).sum()),
    ]
    return dict(zip(KEYS, without_noise(squares, values), strict=True))


def _components(mean: dict[str, float], systems: int, groups: TopicGroups) -> dict[str, float]:
    """The estimates that make the mean squares what they are expected to be."""
    sizes = groups.sizes.astype(float)
    queries = sizes.sum()
    weighted = float((sizes**2).sum() / queries)
    usual = float((queries - weighted) / (len(sizes) - 1))
    both = (mean[BOTH] - mean[REST]) / usual
    return {
        SYSTEM: (mean[SYSTEM] - mean[REST] - weighted * both) / queries,
        TOPIC: (mean[TOPIC] - mean[VARIANT] - mean[BOTH] + mean[REST]) / (systems * usual),
        VARIANT: (mean[VARIANT] - mean[REST]) / systems,
        BOTH: both,
        REST: mean[REST],
    }


def _tested(line: VariantSource, mean: dict[str, float], df: dict[str, int]) -> VariantSource:
    """The line with its F test, where it has one."""
    from scipy.special import fdtrc

    against = AGAINST.get(line.name)
    if against is None:
        return line
    f = float(ratio(line.mean_square, mean[against]))
    p = float(fdtrc(line.df, df[against], f)) if np.isfinite(f) else 0.0
    return replace(line, f=f, p=p)
