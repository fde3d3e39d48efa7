"""Laws over every measure of the registry, on random lists; each measure declares in `breaks` which it does not keep.

A declaration needs a witness, too: a law that a measure says it breaks must be seen broken.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.data import Run
from assay.data.grades import UNJUDGED, Grades
from assay.data.intents import IntentGrades, IntentQrels, align_intents
from assay.measures import MEASURES, Measure, parse
from assay.measures.intent_aware import evaluate_intents

LAWS = ("bounds", "moving up", "perfect is best", "no relevant", "unjudged at the end")
FACTS = {
    "breaks", "range", "needs", "paper", "linear", "bounded", "lower_is_better", "aggregate", "uses_top", "unsure",
    "caution",
}  # fmt: skip
RANGES = ("unit", "count", "any", "nonneg")
TOLERANCE = 1e-9

PLAIN = [e.name for e in MEASURES if e.facts.get("needs") != "intents"]
DIVERSE = [e.name for e in MEASURES if e.facts.get("needs") == "intents"]


@dataclass(frozen=True)
class Doc:
    """A doc as a measure sees it: grade (None: not judged), length, probability of having been sampled."""

    grade: int | None
    length: float = 100.0
    pi: float = 1.0


@dataclass(frozen=True)
class Topic:
    """A ranked list, and judged docs that were not retrieved."""

    ranked: tuple[Doc, ...]
    missed: tuple[Doc, ...]

    def judged(self) -> list[Doc]:
        known = [d for d in (*self.ranked, *self.missed) if d.grade is not None]
        return sorted(known, key=lambda d: -(d.grade or 0))


def grades_of(topics: list[Topic], top: int = 3) -> Grades:
    """Grades with everything that some measure needs."""
    return Grades(
        tuple(str(t) for t in range(len(topics))),
        _matrix([[_grade(d) for d in t.ranked] for t in topics], UNJUDGED).astype(np.int32),
        np.array([len(t.ranked) for t in topics], dtype=np.int64),
        _matrix([[_grade(d) for d in t.judged()] for t in topics], UNJUDGED).astype(np.int32),
        top=top,
        lengths=_matrix([[d.length for d in t.ranked] for t in topics], 0.0),
        inclusion=_matrix([[d.pi for d in t.ranked] for t in topics], 1.0),
        judged_inclusion=_matrix([[d.pi for d in t.judged()] for t in topics], 1.0),
    )


def _grade(doc: Doc) -> int:
    return UNJUDGED if doc.grade is None else doc.grade


def _matrix(rows: Sequence[Sequence[float]], fill: float) -> Floats:
    out = np.full((len(rows), max((len(r) for r in rows), default=0)), float(fill))
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


docs = st.builds(
    Doc,
    st.sampled_from([None, -1, 0, 0, 1, 1, 2, 3]),
    st.sampled_from([0.0, 80.0, 400.0, 3000.0]),
    st.sampled_from([1.0, 0.5, 0.25]),
)
topics = st.builds(
    Topic,
    st.lists(docs, max_size=7).map(tuple),
    st.lists(docs.filter(lambda d: d.grade is not None), max_size=3).map(tuple),
)
cases = st.lists(topics, min_size=1, max_size=4)


def random_topics(n: int, seed: int) -> list[Topic]:
    """Many topics at once, where a rare witness is looked for."""
    rng = np.random.default_rng(seed)
    grades = [None, -1, 0, 0, 1, 1, 2, 3]

    def doc(judged: bool) -> Doc:
        grade = grades[rng.integers(1 if judged else 0, 8)]
        return Doc(grade, float(rng.choice([0, 80, 400, 3000])), float(rng.choice([1, 0.5, 0.25])))

    return [
        Topic(tuple(doc(False) for _ in range(rng.integers(0, 9))), tuple(doc(True) for _ in range(rng.integers(0, 4))))
        for _ in range(n)
    ]


def variants(name: str) -> Iterator[Measure]:
    """A measure as it stands and cut at rank 3."""
    needs_k = MEASURES[name].parameters.get("k", 0) is inspect.Parameter.empty
    if not needs_k:
        yield parse(name)
    if "k" in MEASURES[name].parameters:
        yield parse(f"{name}@3")


def keeping(law: str, names: list[str] = PLAIN) -> list[Measure]:
    """The measures that say they keep a law."""
    kept = [n for n in names if law not in MEASURES[n].facts.get("breaks", ()) and (law == "bounds" or not _counts(n))]
    return [m for n in kept for m in variants(n)]


def _counts(name: str) -> bool:
    """Counts say how much there is, not how good it is: only their bounds are a law."""
    return MEASURES[name].facts.get("range") == "count"


def score(m: Measure, topics: list[Topic]) -> Floats:
    return m(seen_by(m, grades_of(topics)))


def seen_by(m: Measure, g: Grades) -> Grades:
    """Without lengths for a measure that does not need them: to C/W/L measures they are costs, under which a doc that
    moves up takes its cost with it, and no law about its grade holds."""
    return g if m.entry.facts.get("needs") == "lengths" else replace(g, lengths=None)


def sign(m: Measure) -> float:
    """1 where more is better, −1 where less is."""
    return -1.0 if m.entry.facts.get("lower_is_better") else 1.0


def out_of_bounds(m: Measure, topics: list[Topic]) -> bool:
    values = score(m, topics)
    lowest, highest = {"unit": (0, 1), "any": (-np.inf, np.inf)}.get(m.entry.facts.get("range", "unit"), (0, np.inf))
    return bool((values < lowest - TOLERANCE).any() or (values > highest + TOLERANCE).any())


def hurt_by_moving_up(m: Measure, topics: list[Topic]) -> bool:
    swapped = [(before, after) for t in topics for before, after in _lifts(t)]
    before, after = [b for b, _ in swapped], [a for _, a in swapped]
    return bool((sign(m) * (score(m, after) - score(m, before)) < -TOLERANCE).any())


def _lifts(topic: Topic) -> Iterator[tuple[Topic, Topic]]:
    """Each way to exchange two neighbours of which the lower one has the higher grade."""
    for r in range(len(topic.ranked) - 1):
        above, below = topic.ranked[r : r + 2]
        if max(above.grade or 0, 0) < max(below.grade or 0, 0):
            ranked = (*topic.ranked[:r], below, above, *topic.ranked[r + 2 :])
            yield topic, replace(topic, ranked=ranked)


def better_than_perfect(m: Measure, topics: list[Topic]) -> bool:
    """Whether some order of all judged docs beats the order by grade."""
    everything = [[*t.judged(), *(d for d in t.ranked if d.grade is None)] for t in topics]
    perfect = [Topic(tuple(e), ()) for e in everything]
    rng = np.random.default_rng(len(topics))
    other = [Topic(tuple(e[i] for i in rng.permutation(len(e))), ()) for e in everything]
    return bool((sign(m) * (score(m, other) - score(m, perfect)) > TOLERANCE).any())


def scored_without_relevant(m: Measure, topics: list[Topic]) -> bool:
    poor = [Topic(_poor(t.ranked), _poor(t.missed)) for t in topics]
    return bool((np.abs(score(m, poor)) > TOLERANCE).any())


def _poor(docs: tuple[Doc, ...]) -> tuple[Doc, ...]:
    return tuple(replace(d, grade=None if d.grade is None else min(d.grade, 0)) for d in docs)


def helped_by_unjudged(m: Measure, topics: list[Topic]) -> bool:
    longer = [replace(t, ranked=(*t.ranked, Doc(None), Doc(None, 400.0))) for t in topics]
    return bool((sign(m) * (score(m, longer) - score(m, topics)) > TOLERANCE).any())


BROKEN: dict[str, Callable[[Measure, list[Topic]], bool]] = {
    "bounds": out_of_bounds,
    "moving up": hurt_by_moving_up,
    "perfect is best": better_than_perfect,
    "no relevant": scored_without_relevant,
    "unjudged at the end": helped_by_unjudged,
}


@pytest.mark.parametrize("law", LAWS)
@given(case=cases)
@settings(max_examples=40, deadline=None)
def test_law(law: str, case: list[Topic]) -> None:
    assert [str(m) for m in keeping(law) if BROKEN[law](m, case)] == []


@pytest.mark.parametrize("law", LAWS)
def test_law_on_many_lists(law: str) -> None:
    many = random_topics(400, seed=1)
    assert [str(m) for m in keeping(law) if BROKEN[law](m, many)] == []


def test_every_declared_break_has_a_witness() -> None:
    many = random_topics(1500, seed=2)
    idle = [
        (name, law)
        for name in PLAIN
        for law in MEASURES[name].facts.get("breaks", ())
        if law in BROKEN and not any(BROKEN[law](m, many) for m in variants(name))
    ]
    assert idle == []


@pytest.mark.parametrize("name", MEASURES.names())
def test_facts_are_classified(name: str) -> None:
    facts = MEASURES[name].facts
    assert set(facts.get("breaks", ())) <= set(LAWS)
    assert facts.get("range", "unit") in RANGES
    assert facts.get("needs", "lengths") in ("lengths", "inclusion", "intents")
    assert set(facts) <= FACTS
    assert MEASURES[name].summary


@given(case=cases, seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_order_of_topics_does_not_matter(case: list[Topic], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(case))
    for name in PLAIN:
        for m in variants(name):
            np.testing.assert_allclose(score(m, [case[i] for i in order]), score(m, case)[order], err_msg=str(m))


@given(case=cases)
@settings(max_examples=25, deadline=None)
def test_condensed_form_is_the_measure_where_all_is_judged(case: list[Topic]) -> None:
    judged = [
        replace(t, ranked=tuple(d for d in t.ranked if (d.grade or 0) >= 0 and d.grade is not None)) for t in case
    ]
    g = grades_of(judged)
    for name in PLAIN:
        for m in variants(name):
            np.testing.assert_array_equal(replace(m, condensed=True)(g), m(g), err_msg=str(m))


@given(case=cases)
@settings(max_examples=25, deadline=None)
def test_linear_measures_are_means_over_tied_orders(case: list[Topic]) -> None:
    """Under ties="average" a linear measure of the mean gains is the mean over both orders of a tied pair."""
    pairs = [t for t in case if len(t.ranked) >= 2]
    if not pairs:
        return
    swapped = [replace(t, ranked=(t.ranked[1], t.ranked[0], *t.ranked[2:])) for t in pairs]
    g = grades_of(pairs)
    tied = np.zeros(g.ranked.shape, dtype=bool)
    tied[:, 1] = True
    for name in PLAIN:
        if MEASURES[name].facts.get("linear"):
            for m in variants(name):
                mean = (score(m, pairs) + score(m, swapped)) / 2
                np.testing.assert_allclose(m(replace(g, tied=tied, mixed=True)), mean, atol=1e-12, err_msg=str(m))


@given(case=cases, seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_bounded_measures_stay_within_their_range(case: list[Topic], seed: int) -> None:
    """Whatever the unjudged docs turn out to be, the score lies between "none relevant" and "all of the top grade"."""
    g, rng = grades_of(case), np.random.default_rng(seed)
    unknown = g.inside() & ~g.judged()
    some = rng.integers(0, 4, g.ranked.shape)
    ideal = -np.sort(-np.concatenate([g.ideal, np.where(unknown, some, UNJUDGED)], axis=1), axis=1)
    judged = replace(g, ranked=np.where(unknown, some, g.ranked), ideal=ideal)
    for name in PLAIN:
        if MEASURES[name].facts.get("bounded"):
            for m in variants(name):
                low, score, high = m(g.supposing(0)), m(judged), m(g.supposing(3))
                assert ((low <= score + TOLERANCE) & (score <= high + TOLERANCE)).all(), str(m)


EDGES = {
    "no topics": [],
    "empty list": [Topic((), (Doc(1), Doc(0)))],
    "nothing judged": [Topic((Doc(None), Doc(None)), ())],
    "nothing at all": [Topic((), ())],
    "one relevant doc": [Topic((Doc(1),), ())],
    "one nonrelevant doc": [Topic((Doc(0),), ())],
    "only pooled docs": [Topic((Doc(-1), Doc(-1)), (Doc(-1),))],
    "only relevant docs": [Topic((Doc(3), Doc(3)), ())],
}


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("name", PLAIN)
def test_edges_give_numbers(name: str, edge: str) -> None:
    g = grades_of(EDGES[edge])
    for m in variants(name):
        for seen in (m, replace(m, condensed=True)):
            values = seen(g)
            assert values.shape == (len(g.topics),)
            assert values.dtype == np.float64
            assert np.isfinite(values).all()


@pytest.mark.parametrize("name", MEASURES.names())
def test_text_of_a_measure_is_read_back(name: str) -> None:
    for m in variants(name):
        changed = tuple((key, _other(value)) for key, value in MEASURES[name].parameters.items() if key != "k")
        kept = tuple((key, value) for key, value in changed if value is not None)
        k = dict(m.parameters).get("k")
        order = {key: i for i, key in enumerate(MEASURES[name].parameters)}
        given_all = sorted((*kept, *(() if k is None else (("k", k),))), key=lambda pair: order[pair[0]])
        for one in (
            m,
            replace(m, condensed=True),
            replace(m, aggregate="median"),
            replace(m, parameters=tuple(given_all)),
        ):
            assert parse(str(one)) == one
    for form in ("D", "D#", "DIN", "DIN#", "IA"):
        assert parse(str(replace(m, form=form))) == replace(m, form=form)


def _other(value: object) -> object:
    """A value of the same kind that is not the default; None where the kind is not known."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return 0.9 * value if value else -0.25
    if isinstance(value, int):
        return value + 1
    return "1:1/2:5" if isinstance(value, str) else None


@pytest.mark.parametrize("name", [e.name for e in MEASURES if e.facts.get("needs") in ("lengths", "inclusion")])
def test_what_a_measure_needs_is_asked_for(name: str) -> None:
    g = replace(grades_of([Topic((Doc(1),), ())]), lengths=None, inclusion=None, judged_inclusion=None)
    with pytest.raises(UsageError, match="needs"):
        next(variants(name))(g)


rows = st.lists(
    st.tuples(
        st.sampled_from(["1", "2"]), st.sampled_from(["1", "2", "3"]), st.sampled_from("abcdef"), st.integers(0, 3)
    ),
    min_size=1,
    unique_by=lambda r: r[:3],
)
rankings = st.fixed_dictionaries(
    {"1": st.permutations("abcdefxy"), "2": st.lists(st.sampled_from("abcxyz"), unique=True)}
)
FORMS = (
    "D-nDCG",
    "D-Q@3",
    "D#-nDCG@3",
    "DIN-nDCG",
    "DIN#-Q",
    "nDCG-IA@3",
    "ERR-IA",
    "AP-IA",
    "D-AP",
    "D-RBP",
    "nDCG@3",
)


def intent_grades(judged: list[tuple[str, str, str, int]], run: dict[str, list[str]]) -> IntentGrades:
    known = IntentQrels.from_rows(judged, navigational=[("1", "1"), ("2", "2")])
    return align_intents(Run.from_lists("run", run), known)


@given(judged=rows, run=rankings)
@settings(max_examples=60, deadline=None)
def test_diversity_measures_stay_in_bounds(judged: list[tuple[str, str, str, int]], run: dict[str, list[str]]) -> None:
    g = intent_grades(judged, run)
    measures = [m for name in DIVERSE for m in variants(name)] + [parse(f) for f in FORMS]
    for m in measures:
        for one in (m, replace(m, condensed=True)):
            values = evaluate_intents(one, g)
            assert np.isfinite(values).all()
            assert (values >= 0).all()
            assert (values <= 1 + TOLERANCE).all() or m.name == "alpha-nDCG", str(m)


@given(judged=rows, run=rankings)
@settings(max_examples=60, deadline=None)
def test_diversity_without_relevant_docs_is_0(
    judged: list[tuple[str, str, str, int]], run: dict[str, list[str]]
) -> None:
    g = intent_grades([(t, i, d, 0) for t, i, d, _ in judged], run)
    for m in [m for name in DIVERSE for m in variants(name)] + [parse(f) for f in FORMS]:
        assert (evaluate_intents(m, g) == 0).all(), str(m)


@given(judged=rows, run=rankings, r=st.integers(0, 6))
@settings(max_examples=60, deadline=None)
def test_moving_up_a_doc_for_more_intents_never_hurts(
    judged: list[tuple[str, str, str, int]], run: dict[str, list[str]], r: int
) -> None:
    relevant = {d: {(i, g) for t, i, e, g in judged if t == "1" and e == d and g > 0} for d in "abcdefxy"}
    above, below = run["1"][r], run["1"][r + 1]
    if not relevant[above] < relevant[below]:
        return
    lifted = {"1": [*run["1"][:r], below, above, *run["1"][r + 2 :]]}
    for name in DIVERSE:
        if "moving up" not in MEASURES[name].facts.get("breaks", ()):
            for m in variants(name):
                before, after = (evaluate_intents(m, intent_grades(judged, x))[0] for x in (run, lifted))
                assert after >= before - TOLERANCE, str(m)
