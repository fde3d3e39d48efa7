"""Measures of diversity: how well the intents of a topic are served. They need IntentGrades instead of Grades.

The measures of ndeval, I-rec, P+Q; and the forms that make a diversity measure of any other: `M-IA` (mean over the
intents), `D-M` (global gains), `D#-M` (with I-rec), `DIN-M` and `DIN#-M` (navigational intents count once), which
`evaluate_intents` evaluates. Intents without a relevant judged doc are left out everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from assay.core.arrays import Bools, Floats
from assay.core.errors import UsageError
from assay.core.lazy import np
from assay.core.registry import Within
from assay.measures.base import Measure, Scores, in_order, measure, ratio
from assay.measures.gain import p_plus, q_measure
from assay.measures.long_tails import sums_past
from assay.measures.ranks import average_precisions

if TYPE_CHECKING:
    import numpy.typing as npt

    from assay.data.intents import IntentGrades

WEIGHTS = ("equal", "probability")
"""What intents count for in alpha-nDCG: all the same, or as probable as they are."""
CELLS = 1000
"""Ranks that are summed one by one down to a cutoff, however short a list."""
SMALLEST = 5e-324
"""Any global gain above 0 makes a doc relevant."""


def evaluate_intents(m: Measure, g: IntentGrades, *, gamma: float = 0.5) -> Scores:
    """One score per topic of a measure in any form.

    IA: Σ_i P(i)·M_i over the intents that have relevant docs, each with its own ideal list; the probabilities are not
    renormalised. D: M on global gains, "relevant" meaning a gain above 0. D#: γ·I-rec + (1 − γ)·D-M. DIN, DIN#: the
    same, a navigational intent counting only at the first doc relevant to it, over the ideal of D-M. A measure without
    form sees each doc's best grade over the intents.

    >>> from assay.data import Run
    >>> from assay.data.intents import IntentQrels, align_intents
    >>> from assay.measures.base import parse
    >>> q = IntentQrels.from_rows([("1", "1", "a", 1), ("1", "1", "b", 1), ("1", "2", "b", 1), ("1", "2", "c", 1)],
    ...                           navigational=[("1", "1")])
    >>> g = align_intents(Run.from_lists("r", {"1": ["a", "b", "c"]}), q)
    >>> [evaluate_intents(parse(m), g).round(6).tolist() for m in ("D-nDCG@3", "DIN-nDCG@3", "D#-nDCG@3")]
    [[0.882121], [0.680606], [0.941061]]
    """
    seen = g.condensed() if m.condensed else g
    given = dict(m.parameters)
    if m.entry.facts.get("needs") == "intents":
        if m.form:
            raise UsageError(f"{m.name} is a measure of intents already; write {m.name}, not {m}")
        return m.entry.function(seen, **given)
    if m.form == "":
        return m.entry.function(seen.any_intent(), **given)
    if m.form == "IA":
        return _over_intents(m, seen, given)
    score = _on_global_gains(m, seen, given)
    if m.form.endswith("#"):
        return gamma * intent_recall(seen, k=m.k) + (1 - gamma) * score
    return score


def _over_intents(m: Measure, g: IntentGrades, given: dict[str, Any]) -> Scores:
    """Σ_i P(i)·M_i; a loop over the few intents."""
    weights = g.probabilities * g.answerable()
    total = np.zeros(len(g.topics))
    for i in range(weights.shape[1]):
        total += weights[:, i] * m.entry.function(g.intent(i), **given)
    return total


def _on_global_gains(m: Measure, g: IntentGrades, given: dict[str, Any]) -> Scores:
    gain = given.pop("gain", "grade")
    if "rel" in m.entry.parameters and m.entry.parameters["rel"] is not None:
        given.setdefault("rel", SMALLEST)
    return m.entry.function(g.global_gains(gain, once=m.form.startswith("DIN")), **given)


@measure("I-rec", needs="intents", paper="Zhai, Cohen & Lafferty 2003; Sakai & Song 2011")
def intent_recall(
    g: IntentGrades, *, k: Annotated[int, Within(1)] | None = None, rel: Annotated[float, Within(0)] = 1
) -> Scores:
    """Share of the intents that have a relevant doc in the first k, of those that have one at all; ndeval's strec.

    >>> intent_recall(_example(), k=1).round(6).tolist(), intent_recall(_example()).tolist()
    ([0.333333], [1.0])
    """
    covered = g.hits(rel, k).any(axis=1) & g.answerable(rel)
    return ratio(covered.sum(axis=1), g.answerable(rel).sum(axis=1))


@measure("alpha-DCG", needs="intents", paper="Clarke et al. 2008; ndeval", breaks=("perfect is best",))
def alpha_dcg(
    g: IntentGrades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    alpha: Annotated[float, Within(0, 1)] = 0.5,
    rel: Annotated[float, Within(0)] = 1,
    weights: str = "equal",
) -> Scores:
    """DCG of novelty gains over that of a list whose every doc serves all intents.

    The gain at rank r is Σ_i w_i·J_i(r)·(1 − α)^(relevant docs of i above); the bound is
    S·Σ_{r≤k} (1 − α)^(r−1)/log2(r + 1), S = Σ w_i over the intents with relevant docs; without k, k is the docs
    retrieved. weights=equal: w_i = 1, as in ndeval, which forgets to divide by the bound at k = 1;
    weights=probability: w_i = P(i), so that a popular intent counts more.

    >>> alpha_dcg(_example(), k=5).round(6).tolist()
    [0.478698]
    """
    worth = _worth_of_intents(g, weights)
    gains = _novelty(g, k, alpha, rel, worth)
    return ratio(_discounted(gains, _by_log), _bound(g, k, alpha, rel, _by_log, worth))


@measure("alpha-nDCG", needs="intents", paper="Clarke et al. 2008; ndeval")
def alpha_ndcg(
    g: IntentGrades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    alpha: Annotated[float, Within(0, 1)] = 0.5,
    rel: Annotated[float, Within(0)] = 1,
    weights: str = "equal",
) -> Scores:
    """DCG of novelty gains over that of the best list, built greedily; ties there go to the larger doc id.

    The gain at rank r is Σ_i w_i·J_i(r)·(1 − α)^(relevant docs of i above). weights=equal: w_i = 1 for every intent, as
    in ndeval; weights=probability: w_i = P(i), the probability of the intent.

    >>> alpha_ndcg(_example(), k=5).round(6).tolist(), alpha_ndcg(_example(), k=1).tolist()
    ([0.756935], [0.5])
    """
    worth = _worth_of_intents(g, weights)
    gains = _novelty(g, k, alpha, rel, worth)
    ideal = greedy_gains(g, k=k, alpha=alpha, rel=rel, worth=worth)
    return ratio(_discounted(gains, _by_log), _discounted(ideal, _by_log))


@measure("ndeval-ERR-IA", needs="intents", paper="Clarke et al. 2011; ndeval", breaks=("perfect is best",))
def ndeval_err_ia(
    g: IntentGrades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    alpha: Annotated[float, Within(0, 1)] = 0.5,
    rel: Annotated[float, Within(0)] = 1,
) -> Scores:
    """ndeval's ERR-IA: novelty gains discounted by rank, over those of a list whose docs serve all intents.

    Grades count as relevant or not, and the intents equally: it is neither Σ P(i)·ERR_i (write ERR-IA for that) nor
    graded. ndeval forgets to divide at k = 1.

    >>> ndeval_err_ia(_example(), k=5).round(6).tolist(), ndeval_err_ia(_example(), k=1).round(6).tolist()
    ([0.423601], [0.333333])
    """
    gains = _novelty(g, k, alpha, rel)
    return ratio(_discounted(gains, _by_rank), _bound(g, k, alpha, rel, _by_rank))


@measure("ndeval-nERR-IA", needs="intents", paper="Clarke et al. 2011; ndeval", breaks=("perfect is best",))
def ndeval_nerr_ia(
    g: IntentGrades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    alpha: Annotated[float, Within(0, 1)] = 0.5,
    rel: Annotated[float, Within(0)] = 1,
) -> Scores:
    """ndeval's nERR-IA: novelty gains discounted by rank, over those of the greedy list of alpha-nDCG.

    >>> ndeval_nerr_ia(_example(), k=5).tolist()
    [0.65625]
    """
    gains = _novelty(g, k, alpha, rel)
    ideal = greedy_gains(g, k=k, alpha=alpha, rel=rel)
    return ratio(_discounted(gains, _by_rank), _discounted(ideal, _by_rank))


@measure("NRBP", needs="intents", paper="Clarke, Kolla & Vechtomova 2009; ndeval", breaks=("perfect is best",))
def nrbp(
    g: IntentGrades,
    *,
    alpha: Annotated[float, Within(0, 1)] = 0.5,
    beta: Annotated[float, Within(0, 1)] = 0.5,
    rel: Annotated[float, Within(0)] = 1,
) -> Scores:
    """Novelty- and rank-biased precision: (1 − (1 − α)β)/S · Σ_r β^(r−1)·Σ_i J_i(r)·(1 − α)^(relevant docs of i above).

    >>> nrbp(_example()).tolist()
    [0.375]
    """
    gains = _novelty(g, None, alpha, rel)
    total = _rank_biased(gains, beta)
    highest = 1 / (1 - (1 - alpha) * beta)
    intents = g.answerable(rel).sum(axis=1)
    return ratio(total / highest, intents)


@measure("nNRBP", needs="intents", paper="Clarke, Kolla & Vechtomova 2009; ndeval", breaks=("perfect is best",))
def normalised_nrbp(
    g: IntentGrades,
    *,
    alpha: Annotated[float, Within(0, 1)] = 0.5,
    beta: Annotated[float, Within(0, 1)] = 0.5,
    rel: Annotated[float, Within(0)] = 1,
) -> Scores:
    """NRBP over that of the greedy list of alpha-nDCG.

    >>> normalised_nrbp(_example()).round(6).tolist()
    [0.571429]
    """
    gains = _novelty(g, None, alpha, rel)
    ideal = greedy_gains(g, alpha=alpha, rel=rel)
    return ratio(_rank_biased(gains, beta), _rank_biased(ideal, beta))


@measure("ndeval-MAP-IA", needs="intents", paper="Agrawal et al. 2009; ndeval")
def ndeval_map_ia(g: IntentGrades, *, rel: Annotated[float, Within(0)] = 1) -> Scores:
    """ndeval's MAP-IA: the mean of AP over the intents that have relevant docs.

    >>> ndeval_map_ia(_example()).round(6).tolist()
    [0.472222]
    """
    hit = g.hits(rel)
    relevant = g.judged_hits(rel).sum(axis=1)
    total = np.zeros(len(g.topics))
    for i in range(hit.shape[2]):
        total += average_precisions(hit[:, :, i], relevant[:, i])
    return ratio(total, g.answerable(rel).sum(axis=1))


@measure("ndeval-P-IA", needs="intents", paper="Agrawal et al. 2009; ndeval")
def ndeval_precision_ia(
    g: IntentGrades, *, k: Annotated[int, Within(1)] | None = None, rel: Annotated[float, Within(0)] = 1
) -> Scores:
    """ndeval's P-IA: the mean of P@k over the intents that have relevant docs; without k, of all retrieved docs.

    >>> ndeval_precision_ia(_example(), k=5).round(6).tolist()
    [0.266667]
    """
    size = g.places.retrieved if k is None else k
    intents = g.answerable(rel).sum(axis=1)
    found = g.hits(rel, k).sum(axis=(1, 2))
    return ratio(found, size * intents)


@measure("P+Q", needs="intents", paper="Sakai 2012", breaks=("perfect is best",))
def p_plus_q(
    g: IntentGrades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    gain: str = "grade",
    beta: Annotated[float, Within(0)] = 1.0,
) -> Scores:
    """Σ P(i)·Q_i@k over the informational intents + Σ P(j)·P+_j@k over the navigational ones.

    Each intent has its own ideal list; intents without relevant docs add 0 and the probabilities are not renormalised.

    >>> p_plus_q(_example(), k=4).round(6).tolist()
    [0.6]
    """
    total = np.zeros(len(g.topics))
    for i in range(g.table.shape[1]):
        one = g.intent(i)
        informational = q_measure(one, k=k, gain=gain, beta=beta)
        navigational = p_plus(one, k=k, gain=gain, beta=beta)
        score = np.where(g.navigational[:, i], navigational, informational)
        total += g.probabilities[:, i] * score
    return total


@measure("P+Q#", needs="intents", paper="Sakai 2012", breaks=("perfect is best",))
def p_plus_q_sharp(
    g: IntentGrades,
    *,
    k: Annotated[int, Within(1)] | None = None,
    gain: str = "grade",
    beta: Annotated[float, Within(0)] = 1.0,
    gamma: Annotated[float, Within(0, 1)] = 0.5,
) -> Scores:
    """γ·I-rec@k + (1 − γ)·P+Q@k.

    >>> p_plus_q_sharp(_example(), k=4).round(6).tolist()
    [0.8]
    """
    return gamma * intent_recall(g, k=k) + (1 - gamma) * p_plus_q(g, k=k, gain=gain, beta=beta)


def greedy_gains(
    g: IntentGrades, *, k: int | None = None, alpha: float = 0.5, rel: float = 1, worth: Floats | None = None
) -> Floats:
    """Novelty gains of the list that takes the best judged doc at each rank: topics × ranks.

    worth: what the first relevant doc of each intent gains, topics × intents; 1 where it is not given. Ties go to the
    larger doc id. What comes next depends on what was taken, hence the loop over ranks.

    >>> greedy_gains(_example()).tolist()
    [[2.0, 1.0, 0.5]]
    """
    docs = g.judged_hits(rel)
    useful = docs.any(axis=2)
    steps = int(useful.sum(axis=1).max(initial=0))
    steps = steps if k is None else min(k, steps)
    topic = np.arange(len(docs))
    left = np.array(useful)
    worth_of_intent = np.ones((len(docs), docs.shape[2])) if worth is None else worth
    gains = np.zeros((len(docs), steps))
    for r in range(steps):
        worth_of_doc = (docs * worth_of_intent[:, None, :]).sum(axis=2)
        value = np.where(left, worth_of_doc, -1.0)
        taken = value.argmax(axis=1)
        gains[:, r] = np.maximum(value[topic, taken], 0.0)
        left[topic, taken] = False
        served = docs[topic, taken]
        worth_of_intent = np.where(served, worth_of_intent * (1 - alpha), worth_of_intent)
    return gains


def _worth_of_intents(g: IntentGrades, weights: str) -> Floats:
    """What the first relevant doc of each intent gains, topics × intents: 1, or the probability of the intent."""
    if weights not in WEIGHTS:
        raise UsageError(f"no weights {weights!r} of intents; known: {', '.join(WEIGHTS)}")
    return g.probabilities if weights == "probability" else np.ones(g.probabilities.shape)


def _novelty(g: IntentGrades, k: int | None, alpha: float, rel: float, worth: Floats | None = None) -> Floats:
    """Σ_i w_i·J_i(r)·(1 − α)^(relevant docs of i above), topics × ranks; w_i = 1 where no worth is given."""
    hit: Bools = g.hits(rel, k)
    relevant_above: npt.NDArray[np.int64] = np.cumsum(hit, axis=1) - hit
    gains = hit * (1 - alpha) ** relevant_above
    if worth is not None:
        gains = gains * worth[:, None, :]
    return gains.sum(axis=2)


def _by_log(rank: Floats) -> Floats:
    return 1 / np.log2(rank + 1)


def _by_rank(rank: Floats) -> Floats:
    return 1 / rank


def _discounted(gains: Floats, discount: Callable[[Floats], Floats]) -> Scores:
    return in_order(gains * discount(_ranks(gains)))


def _bound(
    g: IntentGrades,
    k: int | None,
    alpha: float,
    rel: float,
    discount: Callable[[Floats], Floats],
    worth: Floats | None = None,
) -> Scores:
    """What a list of k docs, or of those retrieved, would have if every doc were relevant to all S intents."""

    def worth_of(ranks: Floats) -> Floats:
        return np.asarray((1 - alpha) ** (ranks - 1) * discount(ranks))

    # Ranks deeper than the lists are, down to a cutoff, are summed without a cell for each.
    depth = g.places.depth if k is None else min(k, max(CELLS, g.places.depth))
    reached = np.zeros(depth + 1)
    reached[1:] = np.cumsum(worth_of(np.arange(1.0, depth + 1)))
    at_end = g.places.retrieved if k is None else np.minimum(k, np.maximum(CELLS, g.places.retrieved))
    in_all = reached[at_end]
    if k is not None:
        in_all += sums_past(worth_of, at_end, k)
    answerable = g.answerable(rel)
    intents = answerable.sum(axis=1) if worth is None else (answerable * worth).sum(axis=1)
    return intents * in_all


def _rank_biased(gains: Floats, beta: float) -> Scores:
    """Σ_r β^(r−1)·gain(r)."""
    return in_order(gains * beta ** (_ranks(gains) - 1))


def _ranks(gains: Floats) -> Floats:
    return np.arange(1, gains.shape[1] + 1, dtype=np.float64)


def _example() -> IntentGrades:
    """The example of the docstrings: intents 1 {a, b}, 2 {a}, 3 {c}, d relevant to none; the run is b, x, a, c."""
    from assay.data import Run
    from assay.data.intents import IntentQrels, align_intents

    rows = [("1", "1", "a", 1), ("1", "1", "b", 1), ("1", "2", "a", 1), ("1", "3", "c", 1), ("1", "3", "d", 0)]
    return align_intents(Run.from_lists("run", {"1": ["b", "x", "a", "c"]}), IntentQrels.from_rows(rows))
