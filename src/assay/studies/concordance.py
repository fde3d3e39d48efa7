"""Which of two measures is the more intuitive? The concordance test (Sakai 2012, 2013).

Where two measures disagree on a pair of result lists, a simple gold measure says how often each is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.arrays import Floats
from assay.core.errors import UsageError
from assay.core.results import Result
from assay.core.tables import Table, shown
from assay.data.scores import ScoreMatrix
from assay.rankings import settled
from assay.rankings.batch import pair_signs
from assay.studies.measure_sets import same_cells


@dataclass(frozen=True)
class Concordance(Result):
    """How often each of two measures agrees with the gold measures where the two disagree."""

    unit = "topic"

    measures: tuple[str, str]
    gold: tuple[str, ...]
    disagreements: int
    concordant: tuple[int, int]
    only: tuple[int, int]
    """Cases in which only the first, or only the second, is concordant."""
    p: float

    @property
    def shares(self) -> tuple[float, float]:
        """The concordant share of each measure; the two may add to more than 1, for ties in gold count for both.

        NaN where the two never disagree.
        """
        n = self.disagreements or float("nan")
        return self.concordant[0] / n, self.concordant[1] / n

    def table(self) -> Table:
        """One row per measure."""
        rows = []
        for i, measure in enumerate(self.measures):
            rows.append((measure, self.disagreements, self.concordant[i], 100 * self.shares[i], self.only[i]))
        formats = {"measure": "", "disagreements": "d", "concordant": "d", "%": ".1f", "alone": "d"}
        notes = [
            f"gold: {' and '.join(self.gold)}; a tie in gold is concordant with both",
            f"two-sided sign test on the cases where only one is concordant: p = {shown(self.p, 'p')}",
        ]
        if not self.disagreements:
            notes.append("–: the two measures never disagree")
        keys = {"%": "concordant_percent"}
        return Table.of(formats, rows, caption="Concordance", notes=notes, keys=keys)

    def record(self) -> dict[str, Any]:
        """The p of the sign test, and the table."""
        return {**super().record(), "p": self.p}


def concordance(first: ScoreMatrix, second: ScoreMatrix, gold: Sequence[ScoreMatrix]) -> Concordance:
    """Disagreements of two measures over all pairs of runs and topics, judged by one or more gold measures.

    A case counts for a measure where its difference and that of every gold measure are not of opposite signs.

    >>> a = ScoreMatrix.of([[0.3], [0.2]], measure="a")
    >>> b, gold = (ScoreMatrix.of([[0.1], [0.4]], measure=name) for name in ("b", "gold"))
    >>> concordance(a, b, [gold]).shares
    (0.0, 1.0)
    """
    if not gold:
        raise UsageError("the concordance test needs a gold measure, e.g. I-rec or P")
    one, two, *standards = same_cells([first, second, *gold])
    a, b = _signs(one), _signs(two)
    differ = a * b < 0
    first_right, second_right = differ, differ
    for standard in standards:
        sign = _signs(standard)
        first_right = first_right & (a * sign >= 0)
        second_right = second_right & (b * sign >= 0)
    only = int((first_right & ~second_right).sum()), int((second_right & ~first_right).sum())
    return Concordance(
        measures=(first.measure, second.measure),
        gold=tuple(standard.measure for standard in gold),
        disagreements=int(differ.sum()),
        concordant=(int(first_right.sum()), int(second_right.sum())),
        only=only,
        p=_sign_test(*only),
    )


def concordance_of(matrices: Sequence[ScoreMatrix], pair: Sequence[str], gold: Sequence[str]) -> Concordance:
    """As `concordance`, the measures chosen by name from the matrices.

    >>> scores = [ScoreMatrix.of([[0.3, 0.1], [0.2, 0.2]], measure=m) for m in ("AP", "RR", "P@10")]
    >>> concordance_of(scores, ["AP", "RR"], ["P@10"]).disagreements
    0
    """
    if len(pair) != 2:
        raise UsageError(f"{','.join(pair)!r}: name two measures to compare, e.g. AP,RR")
    known = {matrix.measure: matrix for matrix in matrices}
    names = [*pair, *gold]
    for name in names:
        if name not in known:
            raise UsageError(f"no measure {name!r} in these scores; they have: {', '.join(known)}")
        if names.count(name) > 1:
            raise UsageError(f"{name!r} is named twice; the two measures of the pair and each of gold must differ")
    first, second, *standards = (known[name] for name in names)
    return concordance(first, second, standards)


def _signs(matrix: ScoreMatrix) -> Floats:
    """The sign of the difference of every pair of runs on every topic."""
    return pair_signs(settled(matrix.values.T))


def _sign_test(wins: int, losses: int) -> float:
    if wins + losses == 0:
        return 1.0
    from scipy.special import bdtr

    return float(min(1.0, 2 * bdtr(min(wins, losses), wins + losses, 0.5)))
