"""Intervals of agreement take topics as units: labels come by topic, and topics are easy or hard together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import t

from assay.agreement import agreement, assignment_agreement, phi, reference_agreement
from assay.agreement.beta_phi import phis
from assay.agreement.ratings import Ratings
from assay.agreement.result import AGREEMENTS
from assay.agreement.scales import S2
from assay.agreement.unit_intervals import Units, interval_over
from assay.data import Assignments, Labels, Qrels
from tests.oracles import agreement as plain


def by_topic(rng: np.random.Generator, topics: int, docs: int = 10) -> Labels:
    """Three assessors; half of the topics are easy (right with .98), half hard (.72); a third of docs is relevant."""
    rows = []
    for topic in range(topics):
        share = rng.beta(1, 2)
        right = 0.98 if rng.random() < 0.5 else 0.72
        for doc in range(docs):
            relevant = rng.random() < share
            said = np.where(rng.random(3) < right, relevant, not relevant).astype(float)
            rows += [(str(topic), f"{topic}.{doc}", f"w{w}", float(label)) for w, label in enumerate(said)]
    return Labels.from_rows(rows)


def one_topic(docs: int, share: float = 0.5, seed: int = 0) -> Labels:
    rng = np.random.default_rng(seed)
    relevant = rng.random(docs) < share
    said = np.where(rng.random((docs, 3)) < 0.85, relevant[:, None], ~relevant[:, None])
    return Labels.from_rows([("1", f"d{d}", f"w{w}", float(said[d, w])) for d in range(docs) for w in range(3)])


@pytest.mark.parametrize("measure", ["alpha", "kappa", "fleiss"])
@pytest.mark.parametrize("topics", [5, 25])
def test_intervals_cover_where_topics_differ(measure: str, topics: int) -> None:
    """Docs as units left out the truth in .29 to .41 of such sets; 60 here, of which 5 % should."""
    share, rights = 1 / 3, np.array([0.98, 0.72])
    seen = (2 * rights * (1 - rights)).mean()
    called = (share * rights + (1 - share) * (1 - rights)).mean()
    truth = 1 - seen / (2 * called * (1 - called))
    missed = made = 0
    for trial in range(60):
        row = agreement(by_topic(np.random.default_rng(trial), topics), measures=measure, per_topic=False).rows[0]
        if row.low is not None and row.high is not None:
            made += 1
            missed += not row.low <= truth <= row.high
    assert made >= 55
    assert missed <= 8  # P(more) = .002 at 5 %


def test_an_interval_is_the_plain_jackknife_over_topics() -> None:
    labels = by_topic(np.random.default_rng(1), 8)
    row = agreement(labels, measures="alpha(level=nominal)", per_topic=False).rows[0]
    topic = np.array([labels.topics[i] for i in labels.topic])
    item, _ = labels.items()
    kept = [np.flatnonzero(topic != name) for name in labels.topics]
    every = [plain.alpha(item[rows].tolist(), labels.label[rows].tolist(), "nominal") for rows in kept]
    logits = [np.log((1 + value) / (1 - value)) for value in every]
    squares = [(x - sum(logits) / 8) ** 2 for x in logits]
    error = (7 / 8 * sum(squares)) ** 0.5
    kurtosis = 8 * sum(s * s for s in squares) / sum(squares) ** 2
    df = min(7.0, 16 / (kurtosis - 1))
    value = plain.alpha(item.tolist(), labels.label.tolist(), "nominal")
    middle = np.log((1 + value) / (1 - value))
    ends = [np.tanh((middle + sign * t.ppf(0.975, df) * error) / 2) for sign in (-1, 1)]
    assert row.value == pytest.approx(value)
    assert (row.low, row.high) == pytest.approx(tuple(ends))


@pytest.mark.parametrize("measure", ["alpha(level=ordinal)", "fleiss", "kappa", "overlap", "phi"])
def test_without_a_topic_is_the_measure_on_the_other_topics(measure: str) -> None:
    labels = by_topic(np.random.default_rng(2), 6)
    ratings = Ratings.of_labels(labels, scale=S2)
    left_out = Units.of(ratings).left_out(partial(AGREEMENTS.call, measure, ratings))
    for topic, value in zip(labels.topics, left_out, strict=True):
        others = labels.select(np.array([labels.topics[i] != topic for i in labels.topic]))
        again = agreement(others, measures=measure, scale=S2, per_topic=False).rows[0].value
        assert value == pytest.approx(again, abs=1e-5)


def test_pairs_without_a_topic_are_those_of_the_others() -> None:
    """The interval over topics is a t interval of the shares without each."""
    rng = np.random.default_rng(3)
    rows, grades = [], {}
    for topic in map(str, range(6)):
        grade = rng.integers(0, 2, 10)
        grades[topic] = {f"d{d}": int(g) for d, g in enumerate(grade)}
        rows += [(topic, f"d{d}", "w", float(np.clip(50 + 20 * g + rng.normal(0, 20), 0, 100))) for d, g in
                 enumerate(grade)]  # fmt: skip
    labels, qrels = Labels.from_rows(rows), Qrels.from_dict(grades)
    found = reference_agreement(labels, qrels)
    shares = []
    for topic in grades:
        kept = {name: docs for name, docs in grades.items() if name != topic}
        share = reference_agreement(labels, Qrels.from_dict(kept), per_topic=False).value("pairs")
        assert share is not None
        shares.append(share)
    value = found.value("pairs")
    assert value is not None
    ends = interval_over("topic", 6, value, lambda: np.array(shares), 0.95, (0.0, 1.0))
    assert (found.rows[0].low, found.rows[0].high) == pytest.approx((ends.low, ends.high))
    assert (found.unit, found.rows[0].unit, found.rows[2].unit) == ("topic", "topic", "doc")
    assert found.rows[2].why == "fewer than 50 docs of one topic"


def test_a_result_says_what_was_sampled() -> None:
    many = agreement(by_topic(np.random.default_rng(4), 8), measures="alpha")
    assert (many.unit, many.record()["unit"]) == ("topic", "topic")
    assert many.table().notes[0] == "95 % t intervals, delete-one-topic jackknife over 8 topics"
    assert many.topic_table().notes[0] == "no interval: fewer than 50 docs of one topic"
    one = agreement(one_topic(60), measures="alpha", level=0.9, per_topic=False)
    assert (one.unit, one.table().notes[0]) == ("doc", "90 % t intervals, delete-one-doc jackknife over 60 docs")


def test_topics_where_nobody_shares_a_doc_are_not_units() -> None:
    rows = [("2", "x", "w0", 1.0), *((t, d, w, v) for t, d, w, v in _rows(one_topic(60)))]
    assert agreement(Labels.from_rows(rows), measures="alpha", per_topic=False).unit == "doc"


def _rows(labels: Labels) -> list[tuple[str, str, str, float]]:
    columns = zip(labels.topic, labels.doc, labels.worker, labels.label, strict=True)
    return [(labels.topics[t], labels.docs[d], labels.workers[w], float(v)) for t, d, w, v in columns]


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (lambda: by_topic(np.random.default_rng(0), 4), "fewer than 5 topics"),
        (lambda: one_topic(49), "fewer than 50 docs of one topic"),
        # Without the one doc on which they disagree α is 1; of 60 docs five do not say the same as all others.
        (lambda: _alike(60, 6, 1), "undefined or at the limit of the coefficient without one of the docs"),
        (lambda: _alike(60, 5, 2), "too few docs change the value"),
    ],
)
def test_no_interval_where_nothing_can_be_said(labels: Callable[[], Labels], why: str) -> None:
    found = agreement(labels(), measures="alpha", per_topic=False)
    row = found.rows[0]
    assert (row.low, row.high, row.why) == (None, None, why)
    assert row.value is not None
    assert found.table().notes[0] == f"no interval: {why}"


def _alike(docs: int, relevant: int = 1, missed: int = 0) -> Labels:
    """Two assessors who call the last docs relevant, of which one assessor misses some."""
    rows: list[tuple[str, str, str, float]] = []
    for d in range(docs):
        first = d >= docs - relevant
        rows += [("1", f"d{d}", "v", float(first)), ("1", f"d{d}", "w", float(first and d >= docs - relevant + missed))]
    return Labels.from_rows(rows)


# --- Φ


def beta_labels(rng: np.random.Generator, docs: int) -> tuple[Any, Any]:
    places = rng.uniform(0.2, 0.8, docs)[:, None]
    return np.repeat(np.arange(docs), 20), 100 * rng.beta(4 * places, 4 * (1 - places), (docs, 20)).ravel()


def test_phi_lies_in_its_interval_over_docs() -> None:
    """With 20 labels a doc Φ is .662 (over 60,000 docs) where the model's is .5: the interval is for as many labels."""
    missed = 0
    for trial in range(40):
        found = phi(*beta_labels(np.random.default_rng(trial), 50), scale=(0, 100))
        assert found.low is not None
        assert found.high is not None
        missed += not found.low <= 0.662 <= found.high
    assert missed <= 6
    assert found.unit == "doc"
    assert "biased upwards" in found.table().notes[-1]


def test_phi_of_few_docs_has_no_interval() -> None:
    found = phi(*beta_labels(np.random.default_rng(0), 10), scale=(0, 100))
    assert (found.low, found.high) == (None, None)
    assert "no interval: fewer than 50 docs of one topic" in found.table().notes


def test_phi_without_a_doc_is_phi_of_the_others() -> None:
    item, value = beta_labels(np.random.default_rng(1), 12)
    ratings = Ratings.of(item, value)
    for doc, without in enumerate(phis(ratings, 1 - np.eye(12), scale=(0, 100))):
        kept = item != doc
        assert without == pytest.approx(phi(item[kept], value[kept], scale=(0, 100)).phi, abs=1e-5)


# --- answers


def test_assignments_come_by_topic() -> None:
    rng = np.random.default_rng(5)
    rows = []
    for topic in map(str, range(6)):
        for run in ("a", "b"):
            for nugget in range(8):
                rows += [(topic, run, f"n{nugget}", "vital", str(word), who) for who, word in
                         zip(("anna", "gpt"), rng.choice(["support", "not_support"], 2), strict=True)]  # fmt: skip
    found = assignment_agreement(Assignments.from_rows(rows), coefficients=["kappa"], per_topic=True, per_run=True)
    assert found.by_run is not None
    units = [{row.unit for row in rows} for rows in (found.by_topic.rows[:1], found.by_run.rows)]
    assert units == [{"topic"}, {"topic"}]
    of_run = next(row for row in found.by_run.rows if row.topic == "a")
    assert of_run.low is not None
    assert {row.why for row in found.by_topic.rows[1:]} == {"the items of one topic are not independent"}
