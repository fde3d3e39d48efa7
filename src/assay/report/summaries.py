"""What is the finding, in sentences that can be quoted? Every number with its interval, test and n."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from assay.core.errors import AssayError
from assay.data.averages import average_title
from assay.data.topic_rows import counted
from assay.report.figures.agreement import in_words

if TYPE_CHECKING:
    from assay.report.material import Material
    from assay.stats.leaderboard import Leaderboard


SMALLEST = 0.00005
"""What is shown as .0000 is not worth a sentence."""


def summary(m: Material) -> list[str]:
    """All sentences that this material allows."""
    parts: list[tuple[str, Callable[[Material], Iterator[str]]]] = [
        ("scores", _collection), ("scores", _best), ("scores", _closest), ("scores", _power),
        ("collections", _over_collections), ("runs", _pool),
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


def compared(board: Leaderboard, first: str, second: str) -> str:
    """The sentence that compares two runs, one of which is the baseline of the board.

    For example: AP: a and b are not shown to differ: +.012 [−.004, .028], p = .14 (paired t test, 50 topics); 50 topics
    find .023 with power .8; differences above .028 are ruled out. The difference is that of the run named first, which
    is the better one where one is.
    """
    other = second if first == board.baseline else first
    found = board.evidence(other)
    is_worse = found.significant and found.direction < 0
    turned = is_worse if found.significant else other == second
    return f"{board.matrix.measure}: {(found.turned() if turned else found).verdict()}."


def digits_for(topics: int) -> int:
    """Digits after the point that a difference of means deserves: the more topics, the smaller those that are found.

    >>> [digits_for(topics) for topics in (50, 100_000, 10_000_000)]
    [3, 4, 5]
    """
    return 3 if topics <= 10_000 else 4 if topics <= 1_000_000 else 5


def decimal(value: float, digits: int = 3) -> str:
    """A number as papers print it: no zero before the point, a true minus sign.

    >>> decimal(0.0123), decimal(-0.004), decimal(1.5), decimal(0.0)
    ('.012', '−.004', '1.500', '.000')
    """
    text = f"{abs(value):.{digits}f}".removeprefix("0")
    shows_a_digit = text.strip("0.") != ""
    if value < 0 and shows_a_digit:
        return f"−{text}"
    return text


def _collection(m: Material) -> Iterator[str]:
    runs, topics = m.main.shape
    judged = ""
    if m.qrels is not None:
        relevant = int((m.qrels.grades >= 1).sum())  # as measures count by default, fractions too
        are = "is" if relevant == 1 else "are"
        judged = f", {int(m.qrels.judged().sum()):,} judged docs of which {relevant:,} {are} relevant"
    measures = ", ".join(matrix.measure for matrix in m.matrices)
    yield f"{counted(runs, 'run')} on {counted(topics, 'topic')}{judged}; scored by {measures}."
    if m.summarised:
        yield "The topics are summarised: tests and distributions are of all of them, and few are named."


def _best(m: Material) -> Iterator[str]:
    for board in m.boards:
        matrix = board.matrix
        best = matrix.runs[0]
        topics = matrix.shape[1]
        digits = digits_for(topics)
        mean = decimal(matrix.averages()[0], digits)
        low = decimal(board.interval.low[0], digits)
        high = decimal(board.interval.high[0], digits)
        level = round(100 * (1 - board.alpha))
        yield (
            f"The highest {average_title(matrix.measure, matrix.aggregate)} is that of {best}: {mean} [{low}, {high}] "
            f"({level} % interval, {topics:,} topics). {board.verdict}."
        )


def _closest(m: Material) -> Iterator[str]:
    first, second = m.pair
    board = m.boards[0]
    if len(board.versus) > 1:  # of a single pair the sentence on the best says it all
        yield compared(board, first, second)


def _over_collections(m: Material) -> Iterator[str]:
    made = m.over_collections
    yield f"{made.verdict}."
    count = len(made.data.systems)
    pairs = count * (count - 1) // 2
    if made.decided:
        agreed = int(made.agreed().sum())
        yield f"{agreed:,} of {pairs:,} pairs of systems are significantly different by every aggregate with a test."
    yield from (f"{note}." for note in made.data.notes())


def _power(m: Material) -> Iterator[str]:
    audit = m.audit
    if m.detectable is None:
        yield f"No difference in {audit.measure} varies from topic to topic: these scores say nothing of power."
        return
    detectable = audit.detectable()
    digits = digits_for(audit.n)
    said = (
        f"With {audit.n:,} topics a true difference of {decimal(detectable, digits)} in {audit.measure} is found with "
        f"power .8 at the median σ of {decimal(audit.all.sigma())}"
    )
    if len(audit.all.mean) > 1:  # of one pair alone there is no share
        share = 100 * audit.all.share_above(detectable)
        said += f"; {share:.0f} % of the pairs of runs differ by as much"
    yield f"{said}."


def _pool(m: Material) -> Iterator[str]:
    judged_at_10 = m.judged[1]
    share = judged_at_10.averages()
    least = int(share.argmin())
    if f"{share.min():.3f}" == f"{share.max():.3f}":
        where = " in every run"
    else:
        where = f" on average over the runs, least for {judged_at_10.runs[least]} ({100 * share[least]:.1f} %)"
    yield f"Of the first 10 docs {100 * share.mean():.1f} % are judged{where}."
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
    if move < SMALLEST:
        return
    tied = {row[0] for row in m.ties.rows}
    yield (
        f"{len(tied)} of {len(m.runs)} runs have docs of equal score; their order could move the mean {measure} of "
        f"{run} by {decimal(move, 4)}, and no mean by more."
    )


def _alike(m: Material) -> Iterator[str]:
    s = m.similarity
    if len(s.runs) < 2:
        return
    # A run with itself, and two without a common topic, are not compared.
    left_out = np.eye(len(s.runs), dtype=bool) | (s.topics == 0)
    mean = np.where(left_out, -np.inf, np.nan_to_num(s.mean))
    i, j = np.unravel_index(int(mean.argmax()), mean.shape)
    rbo = f"RBO {decimal(mean[i, j])}"
    if len(s.runs) == 2:
        yield f"{s.runs[0]} and {s.runs[1]} are alike by {rbo} at p = .9."
    else:
        yield f"The two runs most alike are {s.runs[i]} and {s.runs[j]} ({rbo} at p = .9)."


def _crowd(m: Material) -> Iterator[str]:
    labels = m.labels
    if labels is None:
        return
    docs = len(labels.items()[1])
    yield f"{len(labels):,} labels of {docs:,} docs by {len(labels.workers):,} workers on {len(labels.topics)} topics."
    whole = m.agreement.rows[0]
    if whole.value is not None:
        between = ""
        if whole.low is not None and whole.high is not None:
            between = f" [{decimal(whole.low)}, {decimal(whole.high)}]"
        yield f"Agreement of the workers: {in_words(whole.measure)} = {decimal(whole.value)}{between}."
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
