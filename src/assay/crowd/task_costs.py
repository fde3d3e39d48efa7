"""What will a campaign cost, and what has it cost so far? Tasks, workers, hours and money."""

from __future__ import annotations

from dataclasses import dataclass

from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.tasks import Tasks


@dataclass(frozen=True)
class Prices:
    """pay: of an accepted task. fee: share of the pay that the platform adds. seconds: for one doc. failing: share of
    the tasks that fail and are offered again; failed tasks are paid too where `pays_failed`."""

    pay: float = 0.20
    fee: float = 0.20
    seconds: float = 30.0
    failing: float = 0.10
    pays_failed: bool = False

    def __post_init__(self) -> None:
        """Refuses what no campaign can have."""
        if self.pay < 0 or self.fee < 0 or self.seconds <= 0:
            raise UsageError(
                f"pay {self.pay:g}, fee {self.fee:g}, seconds {self.seconds:g}: none is below 0, or no time"
            )
        if not 0 <= self.failing < 1:
            raise UsageError(f"{self.failing:g} of the tasks fail; the share lies between 0 and 1, 1 left out")

    @property
    def per_task(self) -> float:
        """What one paid task costs."""
        return self.pay * (1 + self.fee)


@dataclass(frozen=True, eq=False)
class CostEstimate(Result):
    """What the tasks will cost."""

    tasks: int
    labels: int
    begun: float
    """Tasks that will be begun, failing ones included."""
    workers: int
    """A worker does one task of a topic, so that the topic with most tasks says how many are needed at least."""
    hours: float
    money: float
    prices: Prices

    def table(self) -> Table:
        """One row for each quantity."""
        rows = [
            ("tasks", float(self.tasks)),
            ("labels", float(self.labels)),
            ("tasks begun, with those that fail", self.begun),
            ("different workers at least", float(self.workers)),
            ("hours of work", self.hours),
            ("cost", self.money),
            ("pay per hour", 0.0 if not self.hours else self.money / (1 + self.prices.fee) / self.hours),
        ]
        p = self.prices
        failed = "paid" if p.pays_failed else "not paid"
        note = (
            f"{p.pay:g} per task and a fee of {100 * p.fee:g} %; {p.seconds:g} s per doc; {100 * p.failing:g} % of the "
            f"tasks fail, are {failed}, and are offered again."
        )
        return Table.of({"what": "", "amount": ".2f"}, rows, caption="What the tasks will cost", notes=(note,))


def estimated_cost(tasks: Tasks, prices: Prices | None = None) -> CostEstimate:
    """Tasks, labels, workers, hours and money of a plan.

    >>> from assay.crowd.tasks import make_tasks
    >>> plan = make_tasks({"1": list("abcdefgh")}, docs=4, workers=5)
    >>> found = estimated_cost(plan, Prices(pay=0.2, fee=0.0, seconds=36, failing=0.0))
    >>> found.tasks, found.labels, found.workers, found.hours, found.money
    (10, 40, 10, 0.4, 2.0)
    """
    p = prices or Prices()
    by_task = tasks.by_task()
    by_topic: dict[str, int] = {}
    for rows in by_task.values():
        by_topic[rows[0].topic] = by_topic.get(rows[0].topic, 0) + 1
    begun = len(by_task) / (1 - p.failing)
    docs_read = len(tasks.rows) * (2 if tasks.are_pairs else 1)
    hours = docs_read / (1 - p.failing) * p.seconds / 3600
    paid = begun if p.pays_failed else float(len(by_task))
    return CostEstimate(
        tasks=len(by_task),
        labels=len(tasks.rows),
        begun=begun,
        workers=max(by_topic.values(), default=0),
        hours=hours,
        money=paid * p.per_task,
        prices=p,
    )
