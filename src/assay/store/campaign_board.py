"""How do the runs stand while people judge, what comes next, and is it enough? The organiser's view of a campaign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.arrays import Floats
from assay.core.results import Result
from assay.core.tables import Table
from assay.data.topic_rows import counted
from assay.pooling.journal import Judgment
from assay.pooling.judging import Judging
from assay.pooling.mtc import Confidence
from assay.scoring.evaluation import Aligned
from assay.scoring.score_bounds import bounds
from assay.stats.effect import mean_interval
from assay.store.campaign_numbers import progress_of, qrels_of
from assay.store.schema import items, sa

if TYPE_CHECKING:
    from assay.store.judging_campaign import JudgingCampaign

SURE = "mtc(measure=dcg)"
"""The order that says how sure the differences of the runs are, where a campaign judges by another one."""


@dataclass(frozen=True, eq=False)
class BoardSoFar(Result):
    """The runs by their means as judgments stand, with intervals, and what unjudged docs could change."""

    unit = "topic"

    measure: str
    runs: tuple[str, ...]
    means: Floats
    interval_low: Floats
    interval_high: Floats
    low: Floats
    high: Floats
    kind: str
    """`range` where the scores of all ways to judge the rest lie between low and high, else `scenarios`."""
    judged: int
    pooled: int
    level: float
    signature: str

    def table(self) -> Table:
        """One row per run, best first."""
        best_first = np.argsort(-self.means, kind="stable").tolist()
        rows = []
        for i in best_first:
            interval = (self.interval_low[i], self.interval_high[i])
            rows.append((self.runs[i], self.means[i], *interval, self.low[i], self.high[i]))
        columns = {"run": "", "mean": ".4f", "low": ".4f", "high": ".4f"}
        columns |= {"unjudged not relevant": ".4f", "unjudged top grade": ".4f"}
        keys = {"unjudged not relevant": "bound_low", "unjudged top grade": "bound_high"}
        notes = [
            f"{self.judged} of {self.pooled} docs are judged; low, high: {100 * self.level:g} % t interval of the mean",
            f"unjudged not relevant, unjudged top grade: these two are {_kind(self.kind)}",
            self.signature,
        ]
        return Table.of(columns, rows, caption=f"{self.measure}, as judgments stand", notes=notes, keys=keys)


def _kind(kind: str) -> str:
    return "the ends of a range" if kind == "range" else "two scenarios, not the ends of a range"


def board_so_far(campaign: JudgingCampaign, measure: str, *, level: float = 0.95) -> BoardSoFar:
    """The leaderboard of a campaign as judgments stand; topics without a judgment score 0 until they have one."""
    judgments = qrels_of(campaign, pooled=True)
    aligned = Aligned.of(campaign.read_runs(), judgments)
    ends = bounds(aligned, measure)
    matrix = ends.low[0]
    interval = mean_interval(matrix.values, "t", level=level)
    return BoardSoFar(
        measure=matrix.measure,
        runs=matrix.runs,
        means=matrix.averages(),
        interval_low=interval.low,
        interval_high=interval.high,
        low=matrix.averages(),
        high=ends.high[0].averages(),
        kind=ends.kinds[0],
        judged=int(judgments.judged().sum()),
        pooled=len(judgments),
        level=level,
        signature=matrix.signature,
    )


@dataclass(frozen=True)
class UpcomingDoc:
    """A doc that comes next, and why: how far it is, and the runs that have it with its best rank."""

    topic: str
    doc: str
    answers: int
    runs: int
    best_rank: int | None
    best_run: str | None
    other: str = ""
    """On preference scales: the doc that it is compared with."""


@dataclass(frozen=True)
class Upcoming(Result):
    """The docs that come next, in the order of judging, and how that order was made."""

    docs: tuple[UpcomingDoc, ...]
    recipe: str

    def table(self) -> Table:
        """One row per doc."""
        others = {"other doc": ""} if any(d.other for d in self.docs) else {}
        columns = {"topic": "", "doc": "", **others, "answers": "d", "runs with it": "d"}
        columns |= {"best rank": "d", "in run": ""}
        rows = []
        for d in self.docs:
            pair = (d.doc, d.other) if others else (d.doc,)
            rows.append((d.topic, *pair, d.answers, d.runs, d.best_rank, d.best_run))
        return Table.of(columns, rows, caption="Judge next", notes=[self.recipe])


def upcoming(campaign: JudgingCampaign, n: int = 10) -> Upcoming:
    """The next docs of a campaign, whoever they go to; those with too few answers come before fresh ones."""
    plan = campaign.plan
    columns = (items.c.id, items.c.topic, items.c.doc, items.c.other, items.c.answers)
    not_done = sa.select(*columns).where(
        items.c.campaign_id == campaign.id, items.c.gold.is_(None), items.c.answers < plan.labels
    )
    with campaign.database.reading() as connection:
        if campaign.order is None:
            rows = connection.execute(not_done.order_by(items.c.place).limit(n)).all()
        else:
            begun = not_done.where(items.c.answers > 0).order_by(items.c.place).limit(n)
            rows = list(connection.execute(begun).all())
            fresh = campaign.order.next_items(connection, n)
            by_id = {row.id: row for row in connection.execute(not_done.where(items.c.id.in_(fresh)))}
            rows += [by_id[item] for item in fresh if item in by_id]
    recipe = f"order {plan.order}" if plan.order else f"pool {plan.pool or 'as given'}"
    ranks = _ranks(campaign, [(row.topic, row.doc) for row in rows[:n]])
    docs = []
    for row in rows[:n]:
        of_doc = ranks[row.topic, row.doc]
        best = min(of_doc, default=(None, None))
        docs.append(UpcomingDoc(row.topic, row.doc, row.answers, len(of_doc), best[0], best[1], row.other))
    return Upcoming(tuple(docs), f"{recipe}, {counted(plan.labels, 'answer')} per {plan.one_unit}")


def _ranks(campaign: JudgingCampaign, wanted: list[tuple[str, str]]) -> dict[tuple[str, str], list[tuple[int, str]]]:
    """For each doc its rank in every run that has it."""
    ranks: dict[tuple[str, str], list[tuple[int, str]]] = {pair: [] for pair in wanted}
    topics = {topic for topic, _ in wanted}
    for run in campaign.read_runs():
        for topic in topics.intersection(run.topics):
            for rank, doc in enumerate(run.ranking(topic), 1):
                if (topic, doc) in ranks:
                    ranks[topic, doc].append((rank, run.name))
    return ranks


@dataclass(frozen=True, eq=False)
class StopAdvice(Result):
    """Whether to stop judging, and what that rests on."""

    unit = "doc"

    stop: bool
    why: str
    level: float
    confidence: Confidence
    decided: int
    """Pairs of runs whose order has at least that probability."""
    pairs: int
    expected_swaps: float
    """Pairs of runs that are expected to change their order if everything were judged."""
    left: int
    cost_left: float

    @property
    def expected_tau(self) -> float | None:
        """The expected Kendall τ of the order as it stands with the one after judging everything."""
        return 1 - 2 * self.expected_swaps / self.pairs if self.pairs else None

    def table(self) -> Table:
        """One row."""
        columns = {"stop": "", "decided": "d", "pairs": "d", "expected swaps": ".2f", "expected τ": ".3f"}
        columns |= {"answers left": "d", "cost left": ".2f"}
        row = ("yes" if self.stop else "no", self.decided, self.pairs, self.expected_swaps, self.expected_tau)
        notes = [self.why, f"decided: the order of two runs has a probability of {self.level:g} or more ({SURE})"]
        keys = {"expected τ": "expected_tau"}
        caption = "Stop now?"
        return Table.of(columns, [(*row, self.left, self.cost_left)], caption=caption, notes=notes, keys=keys)

    def record(self) -> dict[str, Any]:
        """The table, and the advice in words."""
        return {**super().record(), "why": self.why, "level": self.level}


def stop_advice(campaign: JudgingCampaign, level: float = 0.95) -> StopAdvice:
    """How sure the order of the runs is by minimal test collections, and what judging on would change and cost."""
    confidence = _sure(campaign).confidence()
    surer = np.maximum(confidence.above, confidence.above.T)
    every_pair = np.triu_indices(len(confidence.runs), 1)
    chances = surer[every_pair]
    decided = int((chances >= level).sum())
    progress = progress_of(campaign)
    if progress.left == 0 and campaign.plan.budget is not None and progress.done < progress.items:
        stop, why = True, f"the budget of {campaign.plan.budget} labels is spent"
    elif progress.left == 0:
        stop, why = True, "every doc has all its labels"
    elif len(chances) and decided == len(chances):
        stop, why = True, f"the order of every pair of runs has a probability of {level:g} or more"
    else:
        stop, why = False, f"{len(chances) - decided} of {len(chances)} pairs of runs are not decided yet"
    return StopAdvice(
        stop=stop,
        why=why,
        level=level,
        confidence=confidence,
        decided=decided,
        pairs=len(chances),
        expected_swaps=float((1 - chances).sum()),
        left=progress.left,
        cost_left=progress.cost_left,
    )


def _sure(campaign: JudgingCampaign) -> Judging:
    """A session of the order mtc that knows all judgments: the campaign's own, or one made for that."""
    plan = campaign.plan
    if campaign.order is not None and (plan.order or "").startswith("mtc"):
        with campaign.database.reading() as connection:
            return campaign.order.session(connection)
    session = Judging(campaign.read_runs(), SURE, depth=plan.depth, seed=plan.seed)
    judged = qrels_of(campaign, pooled=True)
    pooled = [set(order.lists.docs.tolist()) for order in session.orders]
    place = {topic: t for t, topic in enumerate(session.topics)}
    told = []
    for topic, docs in judged.to_dict().items():
        for doc, grade in docs.items():
            if grade >= 0 and topic in place and doc in pooled[place[topic]]:
                told.append(Judgment(topic, doc, int(grade >= plan.relevant_from)))
    session.tell(told)
    return session
