"""Which column of a table holds what? The names under which each is usual, or the name that a person says.

There is one table of names for files and for data frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assay.core.errors import DataError, UsageError
from assay.core.registry import MOST_NAMES, did_you_mean

USUAL = {
    "topic": ("topic", "topic_id", "qid", "q_id", "query_id", "query-id", "queryid", "query"),
    "doc": (
        "doc", "docno", "doc_id", "doc-id", "corpus-id", "corpus_id", "pid", "did", "document_id", "docid", "document",
        "item",
    ),
    "score": ("score", "sim"),
    "rank": ("rank",),
    "grade": ("grade", "relevance", "rel", "label", "judgment", "judgement", "score"),
    "probability": ("probability", "inclusion"),
    "intent": ("intent", "subtopic"),
    "run": ("run", "run_id", "system", "tag", "name"),
    "worker": ("worker", "worker_id", "annotator", "assessor", "expert", "completed_by"),
    "label": ("label", "grade", "relevance", "rel", "judgment", "judgement", "value", "score"),
    "task": ("task", "hit", "unit"),
    "position": ("position",),
    "seconds": ("seconds", "time", "lead_time"),
    "attempt": ("attempt",),
    "gold": ("gold",),
    "back": ("back",),
    "tested": ("tested",),
    "measure": ("measure",),
    "value": ("score", "value"),
    "signature": ("signature",),
    "collection": ("collection", "dataset"),
}  # fmt: skip
"""Our columns, and the names under which each is looked for, whatever their case."""
GIVES_WAY = {
    "topic": frozenset({"query"}),
    "doc": frozenset({"docid", "document", "item"}),
    "grade": frozenset({"label", "judgment", "judgement", "score"}),
    "worker": frozenset({"annotator", "assessor", "expert", "completed_by"}),
    "label": frozenset(USUAL["label"]) - {"label"},
    "seconds": frozenset({"lead_time"}),
    "run": frozenset({"name"}),
    "value": frozenset({"value"}),
}
"""Names that count only where no other is there, the first of them in the order above: in frames of PyTerrier `query`
is the text of the topic beside its `qid`, `docid` a number of the index beside the `docno`, `name` the run; in
judgments of BEIR `score` is the grade."""

OF_RUNS = ("run", "topic", "doc", "score", "rank")
OF_QRELS = ("topic", "intent", "doc", "grade", "probability")
OF_LABELS = ("topic", "doc", "worker", "label", "task", "position", "seconds", "attempt", "gold", "back", "tested")
OF_SCORES = ("run", "topic", "measure", "score", "signature")
OF_COLLECTIONS = ("collection", *OF_SCORES)
COLUMNS = tuple(dict.fromkeys((*OF_RUNS, *OF_QRELS, *OF_LABELS, *OF_COLLECTIONS)))
"""Every column that a person can name."""

Named = Mapping[str, str] | None
"""Our column → that of the person."""


class SharedColumns(dict[str, str]):
    """Names of columns for several tables: each takes those that it has, and one that no table has is an error.

    >>> shared = SharedColumns({"topic": "question"})
    >>> column_places(["question", "doc"], OF_RUNS, shared, "runs", "x.csv")
    {'topic': 0, 'doc': 1}
    >>> shared.refuse_unused()
    """

    def __init__(self, columns: Mapping[str, str], option: str = "columns") -> None:
        for ours in columns:
            if ours not in COLUMNS:
                raise UsageError(f"{option}: there is no column {ours!r}{did_you_mean(ours, COLUMNS)}")
        super().__init__(columns)
        self.option = option
        self.used: set[str] = set()
        self.seen: dict[str, None] = {}

    def taken_by(self, names: Sequence[str], wanted: Sequence[str]) -> dict[str, str]:
        """Those that a table with these names has and needs; they count as used."""
        self.seen.update(dict.fromkeys(names))
        lowered = {name.strip().lower() for name in names}
        own = {}
        for ours, theirs in self.items():
            if ours in wanted and theirs.strip().lower() in lowered:
                own[ours] = theirs
        self.used.update(own)
        return own

    def refuse_unused(self) -> None:
        """An error if no table had one of these columns."""
        for ours, theirs in self.items():
            if ours not in self.used:
                have = f"the tables have {listed(list(self.seen))}" if self.seen else "none of the files is a table"
                raise UsageError(f"{self.option} {ours}={theirs} has no effect: {have}")


def shared_columns(columns: Named) -> SharedColumns | None:
    """Names for all that one function reads; who made them says at the end whether all were used.

    >>> shared_columns(None) is None
    True
    """
    if columns is None or isinstance(columns, SharedColumns):
        return columns
    return SharedColumns(columns)


def refuse_unused(shared: SharedColumns | None, columns: Named) -> None:
    """An error for names that nothing had, where they were given here as plain names."""
    if shared is not None and shared is not columns:
        shared.refuse_unused()


def column_places(names: Sequence[str], wanted: Sequence[str], columns: Named, what: str, where: str) -> dict[str, int]:
    """Where each of the wanted columns stands among the names of a table; those that are not there are left out.

    columns: the names that a person gives, which must be there unless they are shared by several tables.

    >>> column_places(["qid", "query", "docno"], ("topic", "doc", "score"), None, "runs", "x.csv")
    {'topic': 0, 'doc': 2}
    """
    is_shared = isinstance(columns, SharedColumns)
    given = columns.taken_by(names, wanted) if isinstance(columns, SharedColumns) else columns or {}
    for ours in () if is_shared else given:
        if ours not in wanted:
            raise UsageError(f"columns: {what} have no {ours!r}{did_you_mean(ours, wanted)}")
    places = {ours: _named(names, ours, given[ours], where) for ours in given}
    taken = set(places.values())
    for ours in wanted:
        place = None if ours in given else _usual(names, ours, taken, where)
        if place is not None:
            places[ours] = place
    return places


def names_runs(
    header: Sequence[str], place: int, columns: Named, named: Sequence[str], pairs: Iterable[object]
) -> bool:
    """Whether the column at that place tells runs apart: `name` may also be a name of each doc or topic.

    Several runs have some doc of a topic in common; names of docs leave every (topic, doc) of `pairs` alone.

    >>> names_runs(["qid", "docno", "name"], 2, None, ["Anna", "Ben"], [("q1", "d1"), ("q1", "d2")])
    False
    >>> names_runs(["qid", "docno", "name"], 2, None, ["bm25", "dense"], [("q1", "d1"), ("q1", "d1")])
    True
    """
    if not may_name_docs(header, place, columns) or len(set(named)) < 2:
        return True
    seen = list(pairs)
    return len(set(seen)) < len(seen)


def may_name_docs(header: Sequence[str], place: int, columns: Named) -> bool:
    """Whether the column of runs at that place is called `name`, and nobody said that it holds runs."""
    is_said = "run" in (columns or {})
    return not is_said and header[place].strip().lower() in GIVES_WAY["run"]


def listed(names: Sequence[str]) -> str:
    """The names of columns, as many as an error can show."""
    more = " …" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def has_usual(names: Iterable[str], ours: str) -> bool:
    """Whether one of these names is usual for that column.

    >>> has_usual(["qid", "text"], "topic"), has_usual(["qid", "text"], "doc")
    (True, False)
    """
    return any(name.strip().lower() in USUAL[ours] for name in names)


def _named(names: Sequence[str], ours: str, theirs: str, where: str) -> int:
    same = [i for i, name in enumerate(names) if name == theirs]
    if not same:
        wanted = theirs.strip().lower()
        same = [i for i, name in enumerate(names) if name.strip().lower() == wanted]
    if len(same) != 1:
        many = "several columns" if same else "no column"
        raise UsageError(f"{where}: {many} {theirs!r} for the {ours}; it has {listed(names)}")
    return same[0]


def _usual(names: Sequence[str], ours: str, taken: set[int], where: str) -> int | None:
    """The column that has a usual name; an error if several have."""
    lowered = [name.strip().lower() for name in names]
    usual = USUAL[ours]
    possible = [i for i, name in enumerate(lowered) if i not in taken and name in usual]
    weak = GIVES_WAY.get(ours, frozenset())
    strong = [i for i in possible if lowered[i] not in weak]
    if len(strong) > 1 and len({lowered[i] for i in strong}) == 1:
        raise DataError(f"{where}: more than one column is called {names[strong[0]]!r}; rename all but one")
    if len(strong) > 1:
        both = " and ".join(repr(names[i]) for i in strong)
        how = f"columns={{{ours!r}: ...}}, or --column {ours}=..."
        raise DataError(f"{where}: {both} could both be the {ours}; say which with {how}")
    if strong or not possible:
        return strong[0] if strong else None
    first = min(possible, key=lambda i: usual.index(lowered[i]))
    if lowered.count(lowered[first]) > 1:
        raise DataError(f"{where}: more than one column is called {names[first]!r}; rename all but one")
    return first
