"""What does the certainty of a judgment rest on? On its labels, on other docs, or on nothing at all.

A doc with one label says nothing of how far workers are right; a model of workers who share no doc, or one that has
collapsed to a single level, is sure of itself all the same. Such docs are found here, given an uncertainty that the
labels do support, marked in the column `basis`, and counted in a warning.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.agreement.ratings import Ratings
from assay.core.arrays import Bools, Floats, Ints
from assay.crowd.uncertain import AT_EDGE, NOTHING, OWN_LABELS, POOLED, VOTES, Uncertain

SURE = 1 - 1e-6
"""A probability from here on is printed as 1."""
COLLAPSED_SHARE = 1 / 3
"""A model that leaves the other levels fewer than this share of the docs that the votes give them has collapsed."""
FEWEST_VOTED = 10
"""With fewer docs than this on the other levels by the votes, nothing can be said to have collapsed."""


def judged_levels(
    method: str,
    ratings: Ratings,
    posterior: Floats,
    *,
    best: Ints | None = None,
    workers: Mapping[str, Mapping[str, float]] | None = None,
    notes: tuple[str, ...] = (),
    at_edge: Bools | None = None,
) -> Uncertain:
    """Judgments from a model's posterior over the levels, no surer than the labels allow.

    The only label of a doc is never overruled: a model that holds a worker for worse than chance turns that worker's
    labels round, and where nobody else labelled the doc it has nothing but its opinion of the worker. Docs whose
    workers share no doc with anybody take the agreement of all other workers or, where there is none, all levels alike.
    A collapsed model keeps its grades, with the posterior of equally good workers. at_edge: docs whose posterior
    was drawn in because workers' parameters lie at 0 or 1.
    """
    chosen = _most_probable(ratings, posterior) if best is None else best.copy()
    basis = np.full(len(posterior), OWN_LABELS, dtype=object)
    warnings: list[str] = []
    if at_edge is not None:
        basis[at_edge] = AT_EDGE

    overruled, only = _overruled(ratings, chosen)
    chosen[ratings.item[overruled]] = ratings.answer[overruled]
    if overruled.any():
        warnings.append(
            f"{method} would overrule the only label of {int(overruled.sum())} of {int(only.sum())} docs with one "
            "label; the label is kept: a model needs docs with several labels."
        )

    collapse = collapse_of(ratings, chosen)
    if collapse:
        posterior = votes_posterior(ratings)
        basis[:] = VOTES
        warnings.append(f"{method} {collapse}; the grades are the model's, the probabilities those of the votes.")

    unidentified = unidentified_docs(ratings)
    if unidentified.any():
        posterior = np.where(unidentified[:, None], votes_posterior(ratings), posterior)
        basis[unidentified] = basis_of_one_label(ratings)
        warnings.append(unidentified_warning(ratings, unidentified))
    if ratings.levels[0] >= 1:
        lowest, second = ratings.levels[:2]
        warnings.append(
            f"The lowest grade of the scale is {lowest:g}: measures of relevant docs need rel={second:g}, or every doc "
            "counts."
        )
    return Uncertain.of_posterior(
        method,
        ratings.items,
        posterior,
        levels=ratings.levels,
        labels=ratings.sizes,
        best=chosen,
        workers=workers,
        notes=notes,
        warnings=tuple(warnings),
        basis=tuple(basis.tolist()),
    )


def _most_probable(ratings: Ratings, posterior: Floats) -> Ints:
    """The most probable level of each doc; of equal ones that of the only label, else the lowest."""
    own = ratings.votes() * (ratings.sizes == 1)[:, None]
    return np.argmax(posterior + 1e-12 * own, axis=1)


def _overruled(ratings: Ratings, chosen: Ints) -> tuple[Bools, Bools]:
    """Which labels are the only one of their doc and not its grade; and which are the only one."""
    only = ratings.sizes[ratings.item] == 1
    differs = chosen[ratings.item] != ratings.answer
    return only & differs, only


def unidentified_docs(ratings: Ratings) -> Bools:
    """Docs with one label by a worker who labelled no doc that anybody else labelled.

    >>> ratings = Ratings.of(["a", "b", "b", "c"], [1, 1, 0, 1], worker=["u", "v", "w", "v"])
    >>> unidentified_docs(ratings).tolist()
    [True, False, False]
    """
    shared = ratings.sizes[ratings.item] > 1
    shares_a_doc = np.bincount(ratings.worker, shared, len(ratings.workers)) > 0
    heard = np.bincount(ratings.item, shares_a_doc[ratings.worker], len(ratings.doc))
    return (ratings.sizes == 1) & (heard == 0)


def has_several_labels(ratings: Ratings) -> bool:
    """Whether any doc has two labels or more: without one nothing says how far workers agree."""
    return bool((ratings.sizes > 1).any())


def basis_of_one_label(ratings: Ratings) -> str:
    """What the uncertainty of a doc with one label rests on."""
    return POOLED if has_several_labels(ratings) else NOTHING


def unidentified_warning(ratings: Ratings, docs: Bools) -> str:
    """How many docs have one label, of how many it does not tell the uncertainty, and where that comes from."""
    with_one = int((ratings.sizes == 1).sum())
    count = f"{with_one} of {len(docs)} docs have one label"
    if not has_several_labels(ratings):
        return f"{count}, and no doc has two: nothing says how sure they are, so all the scale is possible."
    concerned = int(docs.sum())
    if concerned == with_one:
        return f"{count}: their uncertainty is that of the docs with several labels."
    return (
        f"{count}; for {concerned} of them the worker shares no doc with anybody, so these take the uncertainty of the "
        "docs with several labels."
    )


def collapse_of(ratings: Ratings, chosen: Ints) -> str:
    """In words, how a model has given (nearly) all docs one level although the votes do not; else nothing.

    Docs with one label keep it, so they say nothing of the model.
    """
    several = ratings.sizes > 1
    votes = ratings.votes()[several]
    docs = len(votes)
    voted = np.argmax(votes, axis=1)
    by_model = np.bincount(chosen[several], minlength=votes.shape[1])
    level = int(np.argmax(by_model))
    others_by_model = docs - int(by_model[level])
    others_by_votes = int((voted != level).sum())
    if others_by_votes < FEWEST_VOTED or others_by_model >= COLLAPSED_SHARE * others_by_votes:
        return ""
    grade = f"{ratings.levels[level]:g}"
    return (
        f"has collapsed: grade {grade} for {docs - others_by_model} of {docs} docs, where the votes say so of "
        f"{docs - others_by_votes}"
    )


def votes_posterior(ratings: Ratings) -> Floats:
    """Docs × levels: P(level c) ∝ (s(K−1)/(1−s))^votes(c), all workers taken as equally good."""
    votes = ratings.votes()
    accuracy = common_accuracy(votes)
    other_levels = votes.shape[1] - 1
    odds = np.log(accuracy * other_levels / (1 - accuracy))
    return softmax(odds * votes)


def common_accuracy(votes: Floats) -> float:
    """The accuracy s that all workers would share, given how often two labels of a doc agree.

    Chance, 1/K, where no doc has two labels: nothing then speaks for the workers.

    >>> round(common_accuracy(np.array([[9.0, 1.0], [1.0, 9.0]])), 4)
    0.8873
    """
    n = votes.sum(axis=1)
    k = votes.shape[1]
    pairs = (n * (n - 1)).sum()
    if pairs:
        agree = (votes * (votes - 1)).sum() / pairs
    else:
        agree = 1 / k
    root = np.sqrt(max(0.0, (k - 1) * (k * agree - 1)))
    accuracy = (1 + root) / k
    return float(np.clip(accuracy, 1 / k, 0.999))


def softmax(logs: Floats) -> Floats:
    """Rows that sum to one, from logs of any size."""
    raised = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=1, keepdims=True)
    return shares
