"""What does an organiser choose for a crowd experiment? How workers answer, how tasks are dealt, checked and paid."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from math import isfinite
from typing import Any

from assay.agreement.scales import Scale
from assay.core.errors import UsageError
from assay.core.registry import did_you_mean
from assay.crowd.protocol import Protocol
from assay.crowd.task_costs import Prices
from assay.crowd.task_forms import Form, TestQuestion, form_of, refuse_topics_without
from assay.crowd.task_pages import CONSENT, GUIDELINES, USUAL_ATTEMPTS, TaskTexts
from assay.crowd.tasks import Tasks, make_pair_tasks, make_tasks

AWAY_SECONDS = 1800.0
"""How long a task is kept for a worker who was given it, before it may go to another."""
MOST = 2**31
"""The largest of the numbers that are counted, and of seeds."""
MOST_TEXT = 20_000
"""Characters of a consent or of guidelines."""


@dataclass(frozen=True)
class ExperimentPlan:
    """All that an organiser chooses, beside the docs; an experiment keeps it as it is.

    form: how workers answer, with the scale of a slider or of radio buttons. docs: docs (or pairs) of a task, gold_docs
    of them gold. workers: labels that each doc gets. pairs_per_doc: for the form `pairs`. seconds, on_docs: at least
    this many seconds on this many docs of a task, by default on all. moved: docs on which a slider must be moved, by
    default half of them. attempts: at most. tasks_per_worker: at most, over all topics. away: seconds after which a
    task that a worker left may go to another. seed: of the order of docs; by default a random one, so that nobody can
    work out where gold docs stand. The rest is what pages say, and what tasks cost.

    >>> ExperimentPlan(seconds=20, on_docs=6).rules.moved, ExperimentPlan(form="radio", scale="S2").rules.start
    (4, None)
    """

    form: str = "slider"
    scale: str | None = None
    docs: int = 8
    gold_docs: int = 2
    workers: int = 10
    pairs_per_doc: int = 4
    seconds: float | None = None
    on_docs: int | None = None
    moved: int | None = None
    attempts: int = USUAL_ATTEMPTS
    tasks_per_worker: int | None = None
    away: float = AWAY_SECONDS
    title: str = "How relevant are these documents?"
    consent: str = CONSENT
    guidelines: str = GUIDELINES
    questions: Mapping[str, TestQuestion] = field(default_factory=dict)
    pay: float = Prices.pay
    fee: float = Prices.fee
    pay_failed: bool = False
    seconds_per_doc: float = Prices.seconds
    failing: float = Prices.failing
    seed: int | None = None

    def __post_init__(self) -> None:
        self._check_counts()
        self._check_numbers()
        for name in ("title", "consent", "guidelines"):
            if len(getattr(self, name)) > MOST_TEXT:
                raise UsageError(f"the {name} has {len(getattr(self, name))} characters; {MOST_TEXT} are the most")
        form = self.task_form  # an error where the form or its scale is unknown
        if self.moved is not None and form.kind != "slider":
            raise UsageError(f"moved is {self.moved}, and the form {self.form} has no slider; leave it out")
        if self.on_docs is not None and self.seconds is None:
            raise UsageError(f"on_docs is {self.on_docs} without seconds; give the least seconds too")
        _ = self.prices

    def _check_counts(self) -> None:
        least = {"docs": 1, "gold_docs": 0, "workers": 1, "pairs_per_doc": 2, "attempts": 1, "seed": 0}
        least |= {"on_docs": 1, "moved": 0, "tasks_per_worker": 1}
        for name, low in least.items():
            value = getattr(self, name)
            if value is None and name in ("on_docs", "moved", "tasks_per_worker", "seed"):
                continue
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= MOST:
                raise UsageError(f"{name} is {value!r}; give a whole number from {low} to {MOST}")

    def _check_numbers(self) -> None:
        for name in ("seconds", "away", "pay", "fee", "seconds_per_doc", "failing"):
            value = getattr(self, name)
            if value is None and name == "seconds":
                continue
            is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
            if not is_number or value < 0:
                raise UsageError(f"{name} is {value!r}; give a number of at least 0")

    @cached_property
    def task_form(self) -> Form:
        """How workers answer."""
        return form_of(self.form, self.scale)

    @property
    def compares(self) -> bool:
        """Whether workers compare two docs side by side."""
        return self.task_form.kind == "pairs"

    @property
    def scale_of_labels(self) -> Scale:
        """The scale of the labels."""
        return self.task_form.scale

    @property
    def rules(self) -> Protocol:
        """What a task must fulfil."""
        return Protocol(
            seconds=self.seconds,
            on_docs=self.on_docs,
            start=self.task_form.start,
            moved=(self.docs + 1) // 2 if self.moved is None else self.moved,
            attempts=self.attempts,
            test_question=bool(self.questions),
            once_per_topic=True,
        )

    @property
    def prices(self) -> Prices:
        """What tasks cost."""
        return Prices(self.pay, self.fee, self.seconds_per_doc, self.failing, self.pay_failed)

    def with_seed(self) -> ExperimentPlan:
        """The same plan with a seed, a random one where none was chosen."""
        return self if self.seed is not None else replace(self, seed=secrets.randbelow(MOST))

    def tasks(self, pool: Mapping[str, Sequence[str]], gold: Mapping[str, Mapping[str, float]] | None = None) -> Tasks:
        """The docs of a pool dealt into tasks, gold docs among them."""
        how: dict[str, Any] = {"docs": self.docs, "gold_docs": self.gold_docs, "workers": self.workers}
        how["seed"] = self.seed or 0
        if self.compares:
            return make_pair_tasks(pool, gold=gold, pairs_per_doc=self.pairs_per_doc, **how)
        return make_tasks(pool, gold=gold, **how)

    def texts(self, topics: Mapping[str, Mapping[str, str]], docs: Mapping[str, Mapping[str, str]]) -> TaskTexts:
        """What pages say."""
        return TaskTexts(topics, docs, self.questions, self.title, self.consent, self.guidelines)

    def refuse_topics_without_question(self, topics: Sequence[str]) -> None:
        """An error where some topics have a test question and others none."""
        if self.questions:
            refuse_topics_without("question", self.questions, list(topics), "test questions")

    def record(self) -> dict[str, Any]:
        """The plan as plain data."""
        record = asdict(self)
        record["questions"] = {topic: asdict(question) for topic, question in self.questions.items()}
        return record

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> ExperimentPlan:
        """A plan from plain data; a choice that does not exist is an error."""
        known = [one.name for one in fields(cls)]
        for name in record:
            if name not in known:
                raise UsageError(f"no choice {name!r} of an experiment{did_you_mean(name, known)}")
        given = dict(record)
        asked = {topic: _question(question) for topic, question in given.get("questions", {}).items()}
        return cls(**{**given, "questions": asked})


def _question(given: TestQuestion | Mapping[str, Any]) -> TestQuestion:
    if isinstance(given, TestQuestion):
        return given
    return TestQuestion(given["text"], tuple(given["options"]), given["right"])
