"""What did the gate say? The result: pass, fail or undecided, for each measure and for all of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from assay.core.registry import one_of
from assay.core.results import Result
from assay.core.tables import Table, p_value
from assay.data.topic_rows import counted
from assay.gate.alarms import Alarm, JudgedShares
from assay.stats.bounded import share_that_may_differ
from assay.stats.resampling import percent
from assay.stats.sentences import decimals_for, printed, signed

EXIT_CODES = {"pass": 0, "fail": 1, "undecided": 3}
"""Exit code of each outcome; 2 is that of usage errors."""
UNDECIDED = ("pass", "fail")
"""What a caller may count an undecided gate as."""
COLUMNS = {
    "measure": "", "outcome": "", "mean": ".4f", "baseline": ".4f", "Δ": "+.4f", "Δ low": "+.4f", "Δ high": "+.4f",
    "max drop": ".4f", "p pass": "p", "p fail": "p", "sd": ".4f", "changed": "d", "method": "", "least drop": ".4f",
    "power": ".3f", "topics to pass": "d",
}  # fmt: skip


@dataclass(frozen=True)
class MeasureGate:
    """One measure: means, difference with its bounds, the margin, both p-values, and what these topics can show."""

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
    method: str
    """How the bounds were made: bootstrap-t, t or dirichlet."""
    changed: int
    """Topics whose difference is not the commonest one."""
    known_range: bool
    """Whether the range of the scores is known, without which few changed topics have no bound."""
    least_drop: float | None
    """The smallest max-drop that these topics can pass: with the wanted power, or at all if few topics change."""
    power: float | None
    """The chance that this measure passes on these topics if the runs are equally good; None by the Dirichlet bound."""
    topics_to_pass: int | None
    """The topics with which it does so with the wanted power; by the Dirichlet bound the fewest that can pass."""

    def row(self) -> tuple[Any, ...]:
        """The measure as a row of the table."""
        return (
            self.measure, self.outcome, self.mean, self.baseline_mean, self.difference, self.low, self.high,
            self.max_drop, self.p_pass, self.p_fail, self.sd, self.changed, self.method, self.least_drop, self.power,
            self.topics_to_pass,
        )  # fmt: skip

    def finding(self, names: tuple[str, str], alpha: float) -> str:
        """What came out for this measure, with its bound and p."""
        decimals = decimals_for([self.difference, self.max_drop])
        size = printed(abs(self.difference), decimals)
        way = "higher than" if self.difference > 0 else "lower than"
        compared = f"{size} {way}" if size.strip(".0") else "on average as high as"
        subject = f"{self.measure} of {names[0]} is {compared} that of {names[1]}"
        low, high, level = signed(self.low, decimals), signed(self.high, decimals), percent(1 - alpha)
        if self.outcome == "pass":
            ruled_out = "this is more than chance" if self.max_drop == 0 else f"a drop of {self.margin} is ruled out"
            return f"{subject}; {ruled_out} (lower bound {low}, {level}), {p_value(self.p_pass)}"
        if self.outcome == "fail":
            more = "" if self.max_drop == 0 else f", more than the {self.margin} allowed"
            return f"{subject}{more} (upper bound {high}, {level}), {p_value(self.p_fail)}"
        open_to = "an improvement is not shown" if self.max_drop == 0 else f"a drop of {self.margin} is not ruled out"
        return f"{subject}; {open_to} (bounds {low} and {high})"

    def blind_spot(self, topics: int, alpha: float) -> str:
        """What these topics cannot show of this measure; nothing to say of a bound on what varies enough."""
        if self.method != "dirichlet":
            return ""
        if self.changed:
            seen = f"{self.measure} changes on {self.changed} of {counted(topics, 'topic')}"
        else:
            seen = f"{self.measure} differs by the same on all {counted(topics, 'topic')}"
            if self.difference == 0:
                seen = f"{self.measure} is identical on these {counted(topics, 'topic')}"
        if not self.known_range:
            return f"{seen}, too few for a bound on scores whose range is not known"
        share = 100 * share_that_may_differ(topics, alpha)
        return f"{seen}; up to {share:.2g} % of topics may change without one among {topics:,}"


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
    ('undecided', 3, 1, 59)
    """

    unit = "topic"

    names: tuple[str, str]
    n: int
    measures: tuple[MeasureGate, ...]
    alarms: tuple[Alarm, ...]
    alpha: float
    correction: str
    wanted_power: float
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
    def topics_to_pass(self) -> int | None:
        """The topics that equally good runs need to pass, of the measure that needs most; None if no number is enough.

        With the wanted power; if few topics change, the fewest with which a pass is possible.
        """
        needed = [one.topics_to_pass for one in self.measures]
        known = [topics for topics in needed if topics is not None]
        return max(known) if len(known) == len(needed) else None

    @property
    def power(self) -> float | None:
        """What the chance to pass on these topics is at least, if the runs are equally good; None if not known."""
        chances = [one.power for one in self.measures]
        known = [chance for chance in chances if chance is not None]
        return max(0.0, 1 - sum(1 - chance for chance in known)) if len(known) == len(chances) else None

    @property
    def verdict(self) -> str:
        """The finding in one sentence."""
        alarm = next((alarm for alarm in self.alarms if alarm.outcome == self.outcome), None)
        if alarm is not None:
            return f"{self.outcome}: {alarm.what}"
        chosen = [one for one in self.measures if one.outcome == self.outcome]
        findings = "; ".join(one.finding(self.names, self.alpha) for one in chosen)
        said = f"{self.outcome}: {findings}; {self.recipe.partition(';')[0]}, {counted(self.n, 'topic')}"
        return f"{said}; {self.advice()}" if self.outcome == "undecided" else said

    def advice(self) -> str:
        """What an undecided gate would take: what these topics cannot show, and how many equally good runs need."""
        open_ones = [one for one in self.measures if one.outcome == "undecided"]
        blind = [spot for one in open_ones if (spot := one.blind_spot(self.n, self.alpha))]
        needed = [one.topics_to_pass for one in open_ones]
        known = [topics for topics in needed if topics is not None]
        if len(known) < len(needed):
            return "; ".join([*blind, "runs that are equally good do not pass, however many topics there are"])
        most = counted(max(known), "topic")
        if blind:
            return "; ".join([*blind, f"a pass takes at least {most}"])
        wanted = printed(self.wanted_power, 2)
        chance = "" if self.power is None else f"{printed(self.power, 2)} on these, "
        return f"equally good runs pass with probability {chance}{wanted} on {most}"

    def table(self) -> Table:
        """One row per measure; the caption is the verdict, the notes say how it was made."""
        rows = [one.row() for one in self.measures]
        keys = {"baseline": "baseline_mean", "Δ": "delta", "Δ low": "delta_low", "Δ high": "delta_high"}
        return Table.of(COLUMNS, rows, caption=self.verdict, notes=self.notes(), keys=keys)

    def notes(self) -> list[str]:
        """Alarms and remarks, a line each, what these topics cannot show, and the recipe."""
        notes = [alarm.line() for alarm in self.alarms]
        if self.outcome != self.tested_outcome:
            notes.append(f"the tests alone say: {self.tested_outcome}")
        spots = [spot for one in self.measures if (spot := one.blind_spot(self.n, self.alpha))]
        notes += [f"what this gate cannot see: {spot}" for spot in spots if self.outcome != "undecided"]
        notes += [
            f"{self.recipe}; n = {counted(self.n, 'topic')}; {self._family()}",
            f"Δ low, Δ high: one-sided bounds of level {percent(1 - self.alpha)} each; "
            "pass: Δ low is above −max drop, fail: Δ high is below it",
            *self._margin_notes(),
            *self._method_notes(),
        ]
        if self.judged is not None:
            new, baseline, k = self.judged.new, self.judged.baseline, self.judged.k
            of_new, of_baseline = f"{100 * new:.1f} % of {self.names[0]}", f"{100 * baseline:.1f} % of {self.names[1]}"
            notes.append(f"judged docs in the top {k}: {of_new}, {of_baseline}")
        return [*notes, *self.signatures]

    def _method_notes(self) -> list[str]:
        """What least drop, power and topics to pass mean by the methods that were used."""
        methods = {one.method for one in self.measures}
        notes = []
        if methods != {"dirichlet"}:
            notes.append(
                "power: chance to pass on these topics if the runs are equally good (noncentral t, sd as seen); "
                f"least drop, topics to pass: for power {self.wanted_power:g}"
            )
        if "dirichlet" in methods:
            notes.append(
                "dirichlet: fewer than 20 topics or than half of them change, so unseen topics may lose all that the "
                "measure allows (Gaffke 2005; conservative in every simulation, not proved); least drop, topics to "
                "pass: what can pass at all if no topic changes"
            )
        return notes

    def _family(self) -> str:
        count = len(self.measures)
        if count == 1:
            return "a single measure, p needs no correction"
        a_pass = f"a pass takes all {count} measures, so p pass needs no correction"
        if self.correction == "none":
            return f"{a_pass}; p fail is not corrected, and a fail takes one"
        return f"{a_pass}; p fail and Δ high are corrected by {self.correction}"

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
        if self.correction == "holm" and any(one.high == -one.max_drop for one in self.measures):
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
