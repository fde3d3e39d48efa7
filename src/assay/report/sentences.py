"""What is the finding, in sentences that can be quoted? Every number with its interval, test and n."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from assay.core.errors import AssayError
from assay.core.tables import p_value
from assay.report.figures.agreement import in_words

if TYPE_CHECKING:
    from assay.report.material import Material
    from assay.stats.leaderboard import Leaderboard


SMALLEST = 0.00005
"""What is shown as .0000 is not worth a sentence."""
NAMES = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "Benjamini and Hochberg", "none": "not corrected"}


def summary(m: Material) -> list[str]:
    """All sentences that this material allows."""
    parts: list[tuple[str, Callable[[Material], Iterator[str]]]] = [
        ("scores", _collection), ("scores", _best), ("scores", _closest), ("scores", _power), ("runs", _pool),
        ("runs", _ties), ("runs", _alike), ("labels", _crowd), ("files", _files),
    ]  # fmt: skip
    said: list[str] = []
    for need, part in parts:
        if m.has(need):
            try:
                said += part(m)
            except AssayError:  # the section of its own says why it is not there
                continue
    return said


def compared(board: Leaderboard, first: str, second: str, *, detects: float | None = None) -> str:
    """The sentence that compares two runs, one of which is the baseline of the board.

    For example: a and b are not significantly different in AP: Δ .012 [−.004, .028], p = .14, n = 50; this collection
    detects .035 with power .8. Δ is the first run that the sentence names minus the second.
    """
    other, sign = (second, -1.0) if first == board.baseline else (first, 1.0)
    v = board.versus
    at = [v.runs[i] for i in v.first].index(other)
    p, difference = float(v.corrected(board.correction)[at]), sign * float(v.difference[at])
    if p < board.alpha:
        if difference < 0:
            first, second, sign, difference = second, first, -sign, -difference
        verdict = f"{first} is significantly better than {second}"
    else:
        verdict = f"{first} and {second} are not significantly different"
    between = ""
    if v.low is not None and v.high is not None:
        low, high = sorted((sign * float(v.low[at]), sign * float(v.high[at])))
        between = f" [{decimal(low)}, {decimal(high)}]"
    tests = (
        f" ({NAMES.get(board.correction, board.correction)} over {len(v.p)} tests)"
        if not v.simultaneous and len(v.p) > 1
        else ""
    )
    power = "" if detects is None else f"; this collection detects {decimal(detects)} with power .8"
    measure = board.matrix.measure
    return f"{verdict} in {measure}: Δ {decimal(difference)}{between}, {p_value(p)}{tests}, n = {v.n}{power}."


def decimal(value: float, digits: int = 3) -> str:
    """A number as papers print it: no zero before the point, a true minus sign.

    >>> decimal(0.0123), decimal(-0.004), decimal(1.5), decimal(0.0)
    ('.012', '−.004', '1.500', '.000')
    """
    text = f"{abs(value):.{digits}f}"
    text = text.removeprefix("0")
    return ("−" if value < 0 and text.strip("0.") else "") + text


def _collection(m: Material) -> Iterator[str]:
    runs, topics = m.main.shape
    judged = ""
    if m.qrels is not None:
        relevant = int((m.qrels.grades >= 1).sum())  # as measures count by default, fractions too
        judged = f", {int(m.qrels.judged().sum()):,} judged docs of which {relevant:,} are relevant"
    measures = ", ".join(x.measure for x in m.matrices)
    yield f"{runs} run{'s' * (runs > 1)} on {topics:,} topic{'s' * (topics > 1)}{judged}; scored by {measures}."


def _best(m: Material) -> Iterator[str]:
    for board in m.boards:
        matrix = board.matrix
        ends = f"[{decimal(board.interval.low[0])}, {decimal(board.interval.high[0])}]"
        level = round(100 * (1 - board.alpha))
        best = f"The highest mean {matrix.measure} is that of {matrix.runs[0]}: {decimal(matrix.means()[0])} {ends}"
        yield f"{best} ({level} % interval, {matrix.shape[1]} topics); {against_baseline(board)}."


def against_baseline(board: Leaderboard) -> str:
    """How many runs are significantly better or worse than the baseline, and how many are neither."""
    versus = board.versus
    significant = versus.corrected(board.correction) < board.alpha
    better = int((significant & (versus.difference > 0)).sum())
    worse = int((significant & (versus.difference < 0)).sum())
    neither = len(versus.p) - better - worse
    is_best = board.baseline == board.matrix.runs[0]
    baseline = "it" if is_best else f"the baseline {board.baseline}"
    if len(versus.p) == 1:
        other = versus.runs[versus.first[0]]
        verdict = "significantly better than" if better else "significantly worse than" if worse else ""
        return f"{other} is {verdict or 'not significantly different from'} {baseline}"
    counts = {"significantly better than": better, "significantly worse than": worse}
    parts = [f"{count} {words} {baseline}" for words, count in counts.items() if count]
    parts += [f"{neither} not significantly different from {baseline}"] if neither else []
    how = NAMES.get(board.correction, board.correction)
    return f"of the {len(versus.p)} other runs {', '.join(parts)} ({how})"


def _closest(m: Material) -> Iterator[str]:
    first, second = m.pair
    board = m.boards[0]
    if board.baseline in (first, second):
        yield compared(board, first, second, detects=m.detectable)


def _power(m: Material) -> Iterator[str]:
    a = m.audit
    if m.detectable is None:
        yield f"No difference in {a.measure} varies from topic to topic: these scores say nothing of power."
        return
    # of one pair alone there is no share
    share = f"; {100 * a.all.share_above(a.detectable()):.0f} % of the pairs of runs differ by as much"
    share = share if len(a.all.mean) > 1 else ""
    need = a.topics[0]
    more = (
        "" if need is None else f"; the median difference of {decimal(a.all.median_mean())} would take {need:,} topics"
    )
    yield (
        f"With {a.n} topics a true difference of {decimal(a.detectable())} in {a.measure} is found with power .8 at "
        f"the median σ of {decimal(a.all.sigma())}{share}{more}."
    )


def _pool(m: Material) -> Iterator[str]:
    at_10 = m.judged[1].means()
    worst = int(at_10.argmin())
    least = f" on average over the runs, least for {m.judged[1].runs[worst]} ({100 * at_10[worst]:.1f} %)"
    alike = f"{at_10.min():.3f}" == f"{at_10.max():.3f}"
    yield f"Of the first 10 docs {100 * at_10.mean():.1f} % are judged{' in every run' if alike else least}."
    left = m.left_out
    if left is None:
        return
    most = int(left.loss.argmin())
    mean_loss = decimal(-float(left.loss.mean()), 4)
    largest_loss = decimal(-float(left.loss[most]), 4)
    yield (
        f"A {left.by} that did not contribute to the pool (depth {left.depth}) would score {mean_loss} {left.measure} "
        f"on average lower, and at most {largest_loss} lower ({left.runs[most]})."
    )


def _ties(m: Material) -> Iterator[str]:
    if not m.ties.rows:
        yield "No run has docs of equal score: the order of ties cannot matter."
        return
    run, measure, *_, move = m.ties.rows[0]
    tied = len({row[0] for row in m.ties.rows})
    if move < SMALLEST:
        return
    yield (
        f"{tied} of {len(m.runs)} runs have docs of equal score; their order could move the mean {measure} of {run} by "
        f"{decimal(move, 4)}, and no mean by more."
    )


def _alike(m: Material) -> Iterator[str]:
    s = m.similarity
    off = np.where(np.eye(len(s.runs), dtype=bool) | (s.topics == 0), -np.inf, np.nan_to_num(s.mean))
    i, j = np.unravel_index(int(off.argmax()), off.shape)
    if len(s.runs) == 2:
        yield f"{s.runs[0]} and {s.runs[1]} are alike by RBO {decimal(off[i, j])} at p = .9."
    elif len(s.runs) > 2:
        yield f"The two runs most alike are {s.runs[i]} and {s.runs[j]} (RBO {decimal(off[i, j])} at p = .9)."


def _crowd(m: Material) -> Iterator[str]:
    labels = m.labels
    if labels is None:
        return
    items = len(labels.items()[1])
    yield f"{len(labels):,} labels of {items:,} docs by {len(labels.workers):,} workers on {len(labels.topics)} topics."
    whole = m.agreement.rows[0]
    if whole.value is not None:
        ends = "" if whole.low is None or whole.high is None else f" [{decimal(whole.low)}, {decimal(whole.high)}]"
        yield f"Agreement of the workers: {in_words(whole.measure)} = {decimal(whole.value)}{ends}."
    suspects = m.workers.suspects()
    first = f", first of all {suspects[0]}" if suspects else ""
    yield f"{len(suspects)} of {len(m.workers.workers):,} workers deserve a second look{first}."


def _files(m: Material) -> Iterator[str]:
    found = m.findings
    if not found.found:
        yield "Nothing odd was found in the files."
        return
    files = len({f.where for f in found.found})
    yield f"{len(found.found):,} oddities were found in {files} files, {found.errors} of them errors."
