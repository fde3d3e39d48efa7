"""What did the gate say? The result: pass, fail or undecided, for each measure and for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table, p_value
from assay.data.topic_rows import counted
from assay.gate.alarms import Alarm, JudgedShares
from assay.stats.resampling import percent
from assay.stats.verdicts import decimals_for, name_of_test, printed, signed

EXIT_CODES = {"pass": 0, "fail": 1, "undecided": 3}
"""Exit code of each outcome; 2 is that of usage errors."""
UNDECIDED = ("pass", "fail")
"""What a caller may count an undecided gate as."""
COLUMNS = {
    "measure": "", "outcome": "", "mean": ".4f", "baseline": ".4f", "Δ": "+.4f", "Δ low": "+.4f", "Δ high": "+.4f",
    "max drop": ".4f", "p pass": "p", "p fail": "p", "sd": ".4f", "power": ".3f", "topics at 0": "d",
    "topics at Δ": "d",
}  # fmt: skip


@dataclass(frozen=True)
class MeasureGate:
    """One measure: means, difference with its bounds, the margin, both p-values, and the topics that would decide."""

    measure: str
    outcome: str
    mean: float
    baseline_mean: float
    difference: float
    low: float
    high: float
    max_drop: float
    margin: str
    """The margin as it was given: .01 or 2%."""
    p_pass: float
    p_fail: float
    sd: float
    power: float
    """The chance that this measure passes on these topics if the runs are equally good."""
    topics_at_zero: int | None
    topics_at_seen: int | None

    def row(self) -> tuple[Any, ...]:
        """The measure as a row of the table."""
        return (
            self.measure, self.outcome, self.mean, self.baseline_mean, self.difference, self.low, self.high,
            self.max_drop, self.p_pass, self.p_fail, self.sd, self.power, self.topics_at_zero, self.topics_at_seen,
        )  # fmt: skip

    def numbers(self, alpha: float) -> str:
        """Difference, bound and p of what was shown; both bounds where nothing was."""
        decimals = decimals_for([self.difference, self.max_drop])
        delta = signed(self.difference, decimals)
        low = signed(self.low, decimals)
        high = signed(self.high, decimals)
        level = percent(1 - alpha)
        if self.outcome == "pass":
            return f"{delta}, at least {low} ({level}), {p_value(self.p_pass)}"
        if self.outcome == "fail":
            return f"{delta}, at most {high} ({level}), {p_value(self.p_fail)}"
        return f"{delta} [{low}, {high}]"


@dataclass(frozen=True)
class Gate(Result):
    """May the new run replace the baseline? `outcome` is pass, fail or undecided; `verdict` says it in one sentence.

    pass: every measure is shown to drop by less than its margin. fail: some measure is shown to drop by more, or ids do
    not match the judgments. undecided: neither is shown, or an alarm says that the scores cannot be trusted.

    >>> from assay import gate
    >>> old = {"q1": 0.5, "q2": 0.3, "q3": 0.6, "q4": 0.4}
    >>> new = {"q1": 0.5, "q2": 0.2, "q3": 0.7, "q4": 0.4}
    >>> result = gate({"new": new}, {"old": old}, max_drop=0.05)
    >>> result.outcome, result.exit_code(), result.exit_code(undecided="fail"), result.topics_to_pass
    ('undecided', 3, 1, 18)
    """

    names: tuple[str, str]
    n: int
    measures: tuple[MeasureGate, ...]
    alarms: tuple[Alarm, ...]
    alpha: float
    correction: str
    wanted_power: float
    power: float
    """What the chance to pass on these topics is at least, if the two runs are equally good."""
    topics_to_pass: int | None
    """The topics with which equally good runs pass with the wanted power; None where no number is enough."""
    test: str
    recipe: str
    judged: JudgedShares | None = None
    signatures: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """pass, fail or undecided."""
        from_alarms = {alarm.outcome for alarm in self.alarms}
        for outcome in ("fail", "undecided"):
            if outcome in from_alarms:
                return outcome
        return self.tested_outcome

    @property
    def tested_outcome(self) -> str:
        """What the tests alone say, whatever the alarms."""
        found = {one.outcome for one in self.measures}
        if "fail" in found:
            return "fail"
        return "undecided" if "undecided" in found else "pass"

    @property
    def passed(self) -> bool:
        """Whether the outcome is pass."""
        return self.outcome == "pass"

    def counted_as(self, undecided: str | None = None) -> str:
        """The outcome, where undecided counts as `undecided` (pass or fail) if that is given.

        An alarm never counts as a pass: a run of docs that nobody judged would else pass whatever its score.
        """
        if undecided is not None:
            one_of("outcome that undecided counts as", undecided, UNDECIDED)
        if self.outcome != "undecided" or undecided is None:
            return self.outcome
        is_alarmed = any(alarm.outcome == "undecided" for alarm in self.alarms)
        if undecided == "pass" and is_alarmed:
            return "undecided"
        return undecided

    def exit_code(self, undecided: str | None = None) -> int:
        """0 pass, 1 fail, 3 undecided, or what undecided counts as."""
        return EXIT_CODES[self.counted_as(undecided)]

    @property
    def verdict(self) -> str:
        """The finding in one sentence."""
        alarm = next((alarm for alarm in self.alarms if alarm.outcome == self.outcome), None)
        if alarm is not None:
            return f"{self.outcome}: {alarm.what}"
        chosen = [one for one in self.measures if one.outcome == self.outcome]
        said = {"pass": self._passed, "fail": self._failed, "undecided": self._not_decided}[self.outcome]
        return f"{self.outcome}: {said(chosen)}"

    def _passed(self, chosen: Sequence[MeasureGate]) -> str:
        return f"{self._subject(chosen)} shown to be {self._relation(chosen, 'less')}{self._evidence(chosen)}"

    def _failed(self, chosen: Sequence[MeasureGate]) -> str:
        return f"{self._subject(chosen)} shown to be {self._relation(chosen, 'more')}{self._evidence(chosen)}"

    def _not_decided(self, chosen: Sequence[MeasureGate]) -> str:
        said = f"{self.n} topics do not show whether {self._subject(chosen)} {self._relation(chosen, 'more')}"
        return f"{said}{self._evidence(chosen)}; {self.advice()}"

    def _subject(self, chosen: Sequence[MeasureGate]) -> str:
        verb = "is" if len(chosen) == 1 else "are"
        return f"{_listed([one.measure for one in chosen])} of {self.names[0]} {verb}"

    def _relation(self, chosen: Sequence[MeasureGate], less_or_more: str) -> str:
        """less (or more) than .01 below the baseline; of a margin of 0: better (or worse) than it."""
        margins = {one.margin for one in chosen}
        if all(one.max_drop == 0 for one in chosen):
            word = "better" if less_or_more == "less" else "worse"
            return f"{word} than {self.names[1]}"
        margin = margins.pop() if len(margins) == 1 else "their max-drop"
        return f"{less_or_more} than {margin} below {self.names[1]}"

    def _evidence(self, chosen: Sequence[MeasureGate]) -> str:
        """The numbers of each measure and the test."""
        numbers = [one.numbers(self.alpha) for one in chosen]
        if len(chosen) > 1:
            numbers = [f"{one.measure} {text}" for one, text in zip(chosen, numbers, strict=True)]
        return f": {'; '.join(numbers)}; {name_of_test(self.recipe)}, one-sided, {counted(self.n, 'topic')}"

    def advice(self) -> str:
        """What would decide an undecided gate: the number of topics, and for which true difference it holds."""
        wanted = printed(self.wanted_power, 2)
        at_seen = [one.topics_at_seen for one in self.measures if one.outcome == "undecided"]
        known = [topics for topics in at_seen if topics is not None]
        seen = "no number decides if the difference is as seen"
        if known and len(known) == len(at_seen):
            seen = f"{counted(max(known), 'topic')} if the difference is as seen"
        if self.topics_to_pass is None:
            return f"with probability {wanted} it takes {seen}; runs that are equally good are never shown to be better"
        zero = f"{counted(self.topics_to_pass, 'topic')} if the runs are equally good (these: {printed(self.power, 2)})"
        return f"to decide with probability {wanted} it takes {zero}, {seen}"

    def table(self) -> Table:
        """One row per measure; the caption is the verdict, the notes say how it was made."""
        rows = [one.row() for one in self.measures]
        keys = {"baseline": "baseline_mean", "topics at 0": "topics_at_zero", "topics at Δ": "topics_at_seen"}
        keys |= {"Δ": "delta", "Δ low": "delta_low", "Δ high": "delta_high"}
        return Table.of(COLUMNS, rows, caption=self.verdict, notes=self.notes(), keys=keys)

    def notes(self) -> list[str]:
        """Alarms and remarks, a line each, and the recipe."""
        notes = [alarm.line() for alarm in self.alarms]
        if self.outcome != self.tested_outcome:
            notes.append(f"the tests alone say: {self.tested_outcome}")
        notes += [
            f"{self.recipe}; n = {counted(self.n, 'topic')}; {self._family()}",
            f"Δ low, Δ high: one-sided bounds of level {percent(1 - self.alpha)} each; "
            "pass: Δ low is above −max drop, fail: Δ high is below it",
            *self._margin_notes(),
            "power: chance to pass on these topics if the runs are equally good (noncentral t, sd as seen); "
            f"topics: for power {self.wanted_power:g} if the true difference is 0, or is Δ",
        ]
        if self.judged is not None:
            new, baseline, k = self.judged.new, self.judged.baseline, self.judged.k
            notes.append(f"judged docs in the top {k}: {100 * new:.1f} % of {self.names[0]}, "
                         f"{100 * baseline:.1f} % of {self.names[1]}")  # fmt: skip
        return [*notes, *self.signatures]

    def _family(self) -> str:
        count = len(self.measures)
        if count == 1:
            return "a single measure, p needs no correction"
        if self.correction == "none":
            return (
                f"p not corrected for {count} measures: a pass, which takes all of them, is wrong with probability α "
                "at most, a fail more often"
            )
        return f"p and bounds corrected by {self.correction} over {count} measures"

    def _margin_notes(self) -> list[str]:
        notes = []
        relative = [one for one in self.measures if one.margin.endswith("%")]
        for one in relative:
            share = float(one.margin.removesuffix("%")) / 100
            notes.append(
                f"max drop of {one.measure}: {one.margin} of the baseline's mean, tested as "
                f"new − {1 - share:.6g}·baseline on every topic, so that the baseline's uncertainty counts"
            )
        if any(one.max_drop == 0 for one in self.measures):
            notes.append("max drop 0: only a run that is shown to be better passes")
        if any(one.sd == 0 for one in self.measures):
            notes.append("sd 0: every topic has the same difference, and p is a limit")
        if self.correction == "holm" and any(-one.max_drop in (one.low, one.high) for one in self.measures):
            notes.append("holm: a bound that is −max drop itself claims no more than what was decided")
        return notes

    def record(self) -> dict[str, Any]:
        """The verdict, the outcome, alarms, what was tested and how, and the rows."""
        settings = {
            "verdict": self.verdict,
            "outcome": self.outcome,
            "new": self.names[0],
            "baseline": self.names[1],
            "n": self.n,
            "alarms": [asdict(alarm) for alarm in self.alarms],
            "judged": None if self.judged is None else asdict(self.judged),
            "test": self.test,
            "correction": self.correction,
            "alpha": self.alpha,
            "power": self.power,
            "wanted_power": self.wanted_power,
            "topics_to_pass": self.topics_to_pass,
            "margins": {one.measure: one.margin for one in self.measures},
        }
        return settings | super().record()


def _listed(names: Sequence[str]) -> str:
    """Names in a sentence: a, b and c."""
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"
