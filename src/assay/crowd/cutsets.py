"""Which cuts cannot be distinguished from the best one? A set of cuts, not a single winner.

Two cuts far apart may differ in α by less than another crowd or other docs would move them. How far the difference to
the best cut moves between random halves of the workers, of the docs and of the single labels gives its error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.agreement.scales import Scale
from assay.core.arrays import Bools, Floats, Ints
from assay.core.engine import Progress, chunks, generator, silent
from assay.core.errors import DataError, UsageError
from assay.core.results import Result
from assay.core.tables import Table
from assay.crowd.cuts import CutSearch, shown_points
from assay.crowd.cutscores import CutChoice
from assay.crowd.cutsearch import BestCut
from assay.data import Labels, Qrels

PARTS = ("cuts", "named", "ranking")
"""The tables of sets of cuts, by name: the sets, the cuts that were asked about, and the runs under cuts of them."""
CLOSE = 1e-12
CELLS = 4_000_000
"""Draws × cuts that are worked on at a time."""


@dataclass(frozen=True)
class NamedCut:
    """A cut that somebody asked about: its α, how far it is behind the best, and the error of that difference."""

    topic: str
    points: tuple[float, ...]
    alpha: float
    behind: float
    error: float
    is_member: bool


@dataclass(frozen=True, eq=False)
class CutSet:
    """Of one topic, or of all: the best cut, and the cuts whose α cannot be distinguished from its α, best first."""

    topic: str
    cuts: Floats
    """members × cut points; the first row is the best cut."""
    alpha: Floats
    tried: int
    looked_at: int
    width: float
    """How many errors a difference may be large before it counts."""
    named: tuple[NamedCut, ...] = ()

    @property
    def is_cut_short(self) -> bool:
        """Whether all cuts that were looked at are in the set, so that it may be larger."""
        return len(self.cuts) == self.looked_at < self.tried


@dataclass(frozen=True, eq=False)
class HonestCuts(Result):
    """One set of cuts per topic, or one for all."""

    unit = "worker"

    search: CutSearch
    sets: tuple[CutSet, ...]
    notes: tuple[str, ...]

    def table(self) -> Table:
        """One row per topic: the best cut, how many cuts cannot be distinguished from it, and over which range."""
        formats = {
            "topic": "", "best cut": "", "α": ".4f", "cuts": "d", "not distinguishable": "d", "share": ".4f",
            "from": "", "to": "", "lowest α": ".4f",
        }  # fmt: skip
        rows: list[tuple[object, ...]] = []
        for found in self.sets:
            if not len(found.cuts):
                rows.append((found.topic, "–", None, found.tried, 0, None, "–", "–", None))
                continue
            members = len(found.cuts)
            low = shown_points(found.cuts.min(axis=0))
            high = shown_points(found.cuts.max(axis=0))
            best = shown_points(found.cuts[0])
            share = members / found.tried
            lowest = float(found.alpha.min())
            rows.append((found.topic, best, float(found.alpha[0]), found.tried, members, share, low, high, lowest))
        scales = f"{self.search.source.name} → {self.search.levels} levels by {self.search.way}"
        caption = f"Cuts that cannot be distinguished from the best: {scales}"
        return Table.of(formats, rows, caption=caption, notes=self.notes)

    def named_table(self) -> Table:
        """One row per topic and cut that was asked about."""
        formats = {
            "topic": "", "cut": "", "α": ".5f", "behind the best": ".5f", "error": ".5f", "distinguishable": "",
        }  # fmt: skip
        rows = []
        for found in self.sets:
            for cut in found.named:
                answer = "no" if cut.is_member else "yes"
                points = shown_points(cut.points)
                rows.append((cut.topic, points, cut.alpha, cut.behind, cut.error, answer))
        return Table.of(formats, rows, caption="Cuts that were asked about")

    def parts(self, *, ranking: Result | None = None) -> dict[str, Table]:
        """The tables by the names of PARTS; ranking: the runs under cuts of the sets."""
        parts = {"cuts": self.table()}
        if any(found.named for found in self.sets):
            parts["named"] = self.named_table()
        if ranking is not None:
            parts["ranking"] = ranking.table()
        return parts

    def drawn(self, rng: np.random.Generator) -> CutSearch:
        """A search that ended at a cut drawn from each set."""
        cuts = []
        for found, best in zip(self.sets, self.search.cuts, strict=True):
            if len(found.cuts):
                member = int(rng.integers(len(found.cuts)))
                points = tuple(found.cuts[member].tolist())
                best = replace(best, points=points, alpha=float(found.alpha[member]))
            cuts.append(best)
        return replace(self.search, cuts=tuple(cuts))


def honest_cuts(
    labels: Labels,
    way: str = "H_t+a",
    *,
    levels: int = 2,
    source: Scale | str | None = None,
    target: Qrels | None = None,
    scope: str = "topics",
    unjudged: str = "zero",
    undefined: str = "skip",
    ties: str = "low",
    aggregate: str = "median",
    named: Sequence[Sequence[float]] = (),
    halves: int = 40,
    candidates: int = 1000,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    progress: Progress = silent,
) -> HonestCuts:
    """The cuts whose α cannot be distinguished from that of the best, with confidence `level` for all of them together.

    d is α of the best cut minus α of another. Its variance is that over `halves` random halves of the workers plus that
    over halves of the docs minus that over halves of the labels, which both hold (Cameron, Gelbach & Miller 2011), and
    no less than the larger of the first two. A cut is in the set if d ≤ q·√Var d; q: the `level` quantile of the
    largest d/√Var d over all candidates when the deviations of the halves are multiplied by normal numbers
    (`resamples` times). Halves without replacement, since a worker who is drawn twice agrees with himself.
    candidates: how many of the best cuts are looked at. named: cuts that are looked at whatever their α, each as its
    points. The other parameters are those of `best_cuts`.

    >>> rows = [("1", f"d{d}", f"w{w}", 10 * d + w % 3) for d in range(10) for w in range(8)]
    >>> found = honest_cuts(Labels.from_rows(rows), "Tw_alpha", source="S100", halves=10, named=[(50,)])
    >>> bool(len(found.sets[0].cuts) > 1), found.sets[0].named[0].points
    (True, (50.0,))
    """
    _checked_numbers(halves, candidates, resamples, level)
    choice = CutChoice.of(
        labels, way, levels=levels, source=source, target=target, scope=scope, unjudged=unjudged, undefined=undefined,
        ties=ties, aggregate=aggregate,
    )  # fmt: skip
    asked = [_places_of(cut, choice) for cut in named]
    parts = choice.parts(labels)
    sets = []
    for done, (topic, part) in enumerate(parts, 1):
        sets.append(_set_of(topic, part, choice, asked, halves, candidates, level, resamples, seed))
        progress(done, len(parts))
    best = tuple(_best_of(found) for found in sets)
    search = CutSearch(way, scope, choice.scale, levels, best, None, ())
    return HonestCuts(search, tuple(sets), _notes(sets, halves, level, candidates, seed))


def _checked_numbers(halves: int, candidates: int, resamples: int, level: float) -> None:
    if halves < 4 or candidates < 1 or resamples < 100:
        given = f"halves={halves}, candidates={candidates}, resamples={resamples}"
        raise UsageError(f"{given}: four halves, one candidate and 100 resamples are the least")
    if not 0 < level < 1:
        raise UsageError(f"level={level:g}: a confidence lies between 0 and 1, e.g. .95")


def _places_of(cut: Sequence[float], choice: CutChoice) -> Ints:
    """The places of a cut that was asked about; an error where the scale cannot be cut so."""
    points = np.array(cut, dtype=np.float64)
    levels = np.array(choice.scale.levels)
    shown = shown_points(points)
    if len(points) != choice.levels - 1:
        raise UsageError(f"cut {shown!r}: {len(points)} points; {choice.levels} levels have {choice.levels - 1}")
    places = np.searchsorted(levels, points)
    is_level = np.isin(points, levels[:-1])
    if not is_level.all() or (np.diff(places) <= 0).any():
        low, high = levels[0], levels[-2]
        raise UsageError(f"cut {shown!r}: points are ascending levels of {choice.scale.name} from {low:g} to {high:g}")
    return places.astype(np.int64)


def _set_of(
    topic: str,
    labels: Labels,
    choice: CutChoice,
    asked: Sequence[Ints],
    halves: int,
    candidates: int,
    level: float,
    resamples: int,
    seed: int,
) -> CutSet:
    cuts, alpha = choice.all_cuts(labels)
    if not len(cuts):
        nothing = np.zeros((0, choice.levels - 1))
        return CutSet(topic, nothing, np.zeros(0), choice.count, 0, 0.0)
    is_asked = np.zeros(len(cuts), dtype=bool)
    for places in asked:
        is_asked |= (cuts == places).all(axis=1)
    looked_at = np.flatnonzero(is_asked | (np.arange(len(cuts)) < candidates))
    cuts = cuts[looked_at]
    alpha = alpha[looked_at]

    rng = generator(seed)
    by_workers = _deviations(labels, labels.worker, cuts, choice, halves, rng)
    by_docs = _deviations(labels, labels.items()[0], cuts, choice, halves, rng)
    by_labels = _deviations(labels, np.arange(len(labels)), cuts, choice, halves, rng)
    error = _error(by_workers, by_docs, by_labels)
    deviations = np.concatenate([by_workers, by_docs])
    member, width = indistinguishable(alpha, error, deviations, level, resamples, rng)
    points = choice.points(cuts)
    named = []
    for i in np.flatnonzero(is_asked[looked_at]).tolist():
        behind = float(alpha[0] - alpha[i])
        cut = NamedCut(topic, tuple(points[i].tolist()), float(alpha[i]), behind, float(error[i]), bool(member[i]))
        named.append(cut)
    return CutSet(topic, points[member], alpha[member], choice.count, len(alpha), width, tuple(named))


def _deviations(
    labels: Labels, unit: Ints, cuts: Ints, choice: CutChoice, halves: int, rng: np.random.Generator
) -> Floats:
    """Halves × cuts: how far d, the best α minus α, lies from its mean on a random half of the units, over √halves.

    The variance over halves drawn without replacement is that of d on all units.
    """
    units, place = np.unique(unit, return_inverse=True)
    if len(units) < 4:
        raise DataError(f"{len(units)} workers or docs are too few to tell cuts apart; four are the least")
    of_halves = []
    for _ in range(halves):
        in_half = np.zeros(len(units), dtype=bool)
        in_half[rng.permutation(len(units))[: len(units) // 2]] = True
        alpha = choice.scorer(labels.select(in_half[place])).alpha(cuts)
        # A half on which α is undefined says nothing about that cut.
        defined = np.where(np.isfinite(alpha), alpha, np.nan)
        of_halves.append(defined[0] - defined)
    differences = np.array(of_halves)
    known = np.isfinite(differences)
    counts = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, differences, 0.0).sum(axis=0) / counts
    moved = np.where(known, differences - mean, 0.0)
    return moved / np.sqrt(counts)


def _error(by_workers: Floats, by_docs: Floats, by_labels: Floats) -> Floats:
    """The error of d for each cut: what halves of the workers and of the docs both hold is counted once."""
    of_workers = (by_workers**2).sum(axis=0)
    of_docs = (by_docs**2).sum(axis=0)
    of_labels = (by_labels**2).sum(axis=0)
    least = np.maximum(of_workers, of_docs)
    return np.sqrt(np.maximum(least, of_workers + of_docs - of_labels))


def indistinguishable(
    alpha: Floats, error: Floats, deviations: Floats, level: float, resamples: int, rng: np.random.Generator
) -> tuple[Bools, float]:
    """Which cuts, the best first, cannot be distinguished from it; and how many errors a difference may be large.

    deviations: how far the differences moved together, from which the largest of them all is drawn.

    >>> rng = np.random.default_rng(0)
    >>> moved = 0.01 * np.array([[0.0, 1.0, 1.0], [0.0, -1.0, -1.0]])
    >>> indistinguishable(np.array([0.5, 0.49, 0.3]), np.array([0, 0.014, 0.014]), moved, 0.95, 1000, rng)[0].tolist()
    [True, True, False]
    """
    difference = alpha[0] - alpha
    moved = np.sqrt((deviations**2).sum(axis=0))
    varies = moved > CLOSE
    if not varies.any():
        return difference <= CLOSE, 0.0
    standardized = deviations[:, varies] / moved[varies]
    largest = np.empty(resamples)
    for rows in chunks(resamples, CELLS // standardized.shape[1]):
        weights = rng.standard_normal((rows.stop - rows.start, len(standardized)))
        largest[rows] = (weights @ standardized).max(axis=1)
    width = float(np.quantile(largest, level))
    return difference <= width * error + CLOSE, width


def _best_of(found: CutSet) -> BestCut:
    """The best cut of a set, as the search for one cut gives it."""
    if not len(found.cuts):
        return BestCut(found.topic, (), np.nan, 0, (), (), "nothing varies: no cut has an α")
    low = tuple(found.cuts.min(axis=0).tolist())
    high = tuple(found.cuts.max(axis=0).tolist())
    return BestCut(found.topic, tuple(found.cuts[0].tolist()), float(found.alpha[0]), len(found.cuts), low, high)


def _notes(sets: Sequence[CutSet], halves: int, level: float, candidates: int, seed: int) -> tuple[str, ...]:
    sure = f"{100 * level:g} % for all cuts together"
    notes = [f"{halves} random halves each of the workers, the docs and the labels, seed {seed}; {sure}."]
    short = [found.topic for found in sets if found.is_cut_short]
    if short:
        which = ", ".join(short)
        notes.append(
            f"None of the {candidates} best cuts can be distinguished from the best ({which}): there may be more."
        )
    return tuple(notes)
