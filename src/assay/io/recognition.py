"""What is in a file (a run, judgments, labels, scores, topics, docs, nuggets …), and in which format? Its content says.

A file that can be several things is what is expected of it; a file that surely is something else is an error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from assay.core.errors import DataError
from assay.io.column_names import GIVES_WAY, USUAL, Named
from assay.io.content import Content
from assay.io.rows import number
from assay.io.samples import TEXTS, Sample, is_run_line, most, sample_of

KINDS = {
    "run": "a run",
    "qrels": "judgments",
    "intents": "judgments by intent",
    "labels": "labels",
    "scores": "scores",
    "topics": "topics",
    "docs": "docs",
    "nuggets": "nuggets of topics",
    "assignments": "nuggets assigned to answers",
    "support": "support of citations",
}
"""The kinds of thing that files hold, and how a message calls them."""
FORMS = {
    "run": "topic Q0 doc rank score tag, or a table",
    "qrels": "topic 0 doc grade, or a table",
    "intents": "topic intent doc grade",
    "labels": "a table with topic, doc, worker and label",
    "scores": "a table with run, topic and score, or a matrix; runs go with --qrels",
    "topics": "<top> … or id<tab>text",
    "docs": "id<tab>text, or JSONL with _id and text",
    "nuggets": "nuggetizer's or AutoJudge's JSONL, or a table with topic, nugget and importance",
    "assignments": "nuggetizer's JSONL, or a table with topic, run, nugget, importance and assignment",
    "support": "a table with topic, run, sentence, citation and support",
}
"""How each kind is written most often."""
LEVEL = re.compile(r"L\d+")
IDS_OF_TEXTS = frozenset({"_id", "id", "number"})
LISTS = ("docs", "hits", "results", "ranking")
"""Names under which an object of JSONL holds the docs of a topic."""
BEIR_QRELS = {"query-id", "corpus-id", "score"}
OF_ANSWERS = {
    "assignments": {"nugget", "assignment"},
    "support": {"sentence", "citation", "support"},
    "nuggets": {"nugget", "importance"},
}
"""Columns by which tables about answers are recognised, beside that of the topic."""


class Recognised(NamedTuple):
    """What a file holds, and its format."""

    kind: str
    format: str


class WrongKind(DataError):
    """A file of one kind where another is expected; `option` is what it was given with, `hint` what may help."""

    def __init__(self, where: str, kind: str, expected: str, option: str = "", hint: str = "") -> None:
        super().__init__(where, kind, expected, option, hint)
        self.where = where
        self.kind = kind
        self.expected = expected
        self.option = option
        self.hint = hint

    def __str__(self) -> str:
        wanted = KINDS[self.expected]
        what_to_do = f"give {wanted} with {self.option}" if self.option else f"give {wanted} here"
        why = self.hint or FORMS[self.expected]
        return f"{self.where} is {KINDS[self.kind]}; {what_to_do} ({why})"

    def with_help(self, others: Iterable[Any], option: str = "") -> WrongKind:
        """The same, with the other file that was perhaps meant, and the option that takes it."""
        meant = next((str(other) for other in others if _is_surely(other, self.expected, self.where)), None)
        hint = "" if meant is None else f"{meant} is {KINDS[self.expected]}: did you swap them?"
        return WrongKind(self.where, self.kind, self.expected, option or self.option, hint or self.hint)


def _is_surely(path: Any, kind: str, but: str) -> bool:
    """Whether a path leads to another file that is first of all of that kind."""
    if not isinstance(path, str | Path) or str(path) == but or not Path(path).is_file():
        return False
    try:
        found = recognise(path)
    except (DataError, OSError):
        return False
    return bool(found) and found[0].kind == kind


@dataclass(frozen=True)
class Looked:
    """A file that was looked at: its sample, and all that it can be, the likeliest first."""

    sample: Sample
    possible: tuple[Recognised, ...]

    def as_kind(self, content: Content, expected: str) -> str:
        """Its format as the kind that is expected; an error if it surely is something else."""
        for kind, format in self.possible:
            if kind == expected:
                return format
        if self.possible:
            raise WrongKind(content.where, self.possible[0].kind, expected)
        return self.sample.syntax


def looked_at(content: Content, columns: Named = None) -> Looked:
    """What a file can be; nothing where its content does not say."""
    sample = sample_of(content, (columns or {}).values())
    return Looked(sample, tuple(_possible(sample, columns)))


def recognise(path: str | Path) -> list[Recognised]:
    """What a file holds and in which format, the likeliest first; nothing if its content does not say.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "whatever.csv"
    >>> _ = path.write_text("1 Q0 a 1 2.5 bm25\\n1 Q0 b 2 1.5 bm25\\n")
    >>> recognise(path)
    [Recognised(kind='run', format='trec')]
    """
    return list(looked_at(Content.of(path)).possible)


def _possible(sample: Sample, columns: Named) -> Iterable[Recognised]:
    if sample.syntax == "sgml":
        return [Recognised("topics", "trec")]
    if sample.syntax == "lines":
        return _by_lines(sample)
    if sample.syntax == "table":
        kinds = kinds_of_table(sample.header, sample.rows, columns)
        names = {name.strip().lower() for name in sample.header}
        if _is_doccano(names, []):
            return [Recognised("labels", "doccano"), *(Recognised(kind, "csv") for kind in kinds)]
        return [Recognised(kind, "csv") for kind in kinds]
    if sample.syntax == "jsonl":
        return _by_objects(sample, columns)
    if sample.syntax == "json":
        return _by_value(sample, columns)
    return []


def _by_lines(sample: Sample) -> list[Recognised]:
    """What lines of words can be, by how many there are and which are numbers; a few bad lines do not count."""
    if sample.are_of_run or most(sample.rows, is_run_line):
        return [Recognised("run", "ntcir" if sample.described else "trec")]
    sizes = Counter(map(len, sample.rows))
    size, count = sizes.most_common(1)[0]
    lines = [line for line in sample.rows if len(line) == size] if 2 * count > len(sample.rows) else []
    possible: list[Recognised] = []
    if lines and size in (4, 5):
        possible = _by_four(lines)
    elif lines and size == 3:
        possible = _by_three(lines)
    elif lines and size == 2 and most(lines, lambda line: _is_level(line[1])):
        possible = [Recognised("qrels", "ntcir")]
    # Texts may end in numbers; lines of scores do all.
    if sample.are_texts and (possible or not all(_is_number(line[-1]) for line in sample.rows)):
        possible += [Recognised("topics", "lines"), Recognised("docs", "lines")]
    return possible


def _by_four(lines: Sequence[Sequence[str]]) -> list[Recognised]:
    """Judgments, by intent or not, or the scores of a leaderboard."""
    if most(lines, lambda line: _is_level(line[3])):
        return [Recognised("intents", "ntcir")]
    if not most(lines, lambda line: all(map(_is_number, line[3:]))):
        return []
    if any("Q0" in (line[0].upper(), line[1].upper()) for line in lines):
        # The lines of a run that end with the rank have it too.
        numbered = [(line[0], line[2], line[3]) for line in lines if _is_number(line[3])]
        are_judgments = (
            len(lines[0]) == 4 and all(line[1].upper() == "Q0" for line in lines) and not _count_up(numbered)
        )
        return [Recognised("qrels", "trec")] if are_judgments else []
    if any("all" in line[1:3] for line in lines) and len(lines[0]) == 4:
        return [Recognised("scores", "tot" if any(line[2] == "all" for line in lines) else "ir_measures")]
    if len(lines[0]) == 5:
        return [Recognised("qrels", "trec")]
    scores = [Recognised("scores", "tot"), Recognised("scores", "ir_measures")]
    are_numbered = all(_is_whole(line[1]) and re.fullmatch(r"[+-]?\d+", line[3]) for line in lines)
    judged = {(line[0], line[2]) for line in lines}
    by_intent = {(line[0], line[1], line[2]) for line in lines}
    if len(judged) < len(by_intent) == len(lines):  # a doc has several grades, each for another intent
        return [Recognised("intents", "trec")] if are_numbered else scores
    if all(line[1] == "0" for line in lines) and any(_is_above_0(line[3]) for line in lines):
        return [Recognised("qrels", "trec")]
    return [Recognised("qrels", "trec"), Recognised("intents", "trec"), *scores]


def _by_three(lines: Sequence[Sequence[str]]) -> list[Recognised]:
    """Judgments of NTCIR, a run of MS MARCO, or what trec_eval prints."""
    if most(lines, lambda line: _is_level(line[2])):
        return [Recognised("qrels", "ntcir")]
    if not most(lines, lambda line: _is_number(line[2])):
        return []
    if any(line[1] == "all" for line in lines):
        return [Recognised("scores", "trec_eval")]
    run = Recognised("run", "msmarco")
    qrels = Recognised("qrels", "ntcir")
    if not most(lines, lambda line: _is_whole(line[2])):
        return [Recognised("scores", "trec_eval")]
    if _count_up([line for line in lines if _is_whole(line[2])]):
        return [run]
    return [qrels, run, Recognised("scores", "trec_eval")]


def _count_up(lines: Sequence[Sequence[str]]) -> bool:
    """Whether the third words are ranks: 1, 2, 3 … in some topic, and never another order."""
    last: dict[str, float] = {}
    for topic, _, rank in lines:
        if float(rank) != last.get(topic, 0) + 1:
            return False
        last[topic] = float(rank)
    return max(last.values()) > 2


def kinds_of_table(header: Sequence[str], rows: Sequence[Sequence[str]], columns: Named = None) -> list[str]:
    """What a table with these columns can be, the likeliest first.

    >>> kinds_of_table(["qid", "docno", "score", "rank"], []), kinds_of_table(["topic", "doc", "grade"], [])
    (['run'], ['qrels'])
    """
    names = [name.strip().lower() for name in header]
    given = {ours for ours, theirs in (columns or {}).items() if theirs.strip().lower() in names}
    ours = {key for key, usual in USUAL.items() if not set(usual).isdisjoint(names)} | given
    of_answers = [kind for kind, needed in OF_ANSWERS.items() if needed <= {*names}]
    if of_answers and "topic" in ours:
        return of_answers[:1]
    if {"doc", "worker", "label"} <= ours:
        return ["labels"]
    if {"topic", "doc"} <= ours:
        return _kinds_with_docs(names, rows, ours, given)
    if {"run", "topic", "value"} <= ours:
        return ["scores"]
    ids = (set(USUAL["topic"]) - GIVES_WAY["topic"]) | IDS_OF_TEXTS
    is_query = "query" in names and not ids.isdisjoint(names)
    has_text = not TEXTS.isdisjoint(names) or is_query
    if has_text and ("topic" in ours or "doc" in ours):
        return ["topics" if "topic" in ours else "docs"]
    if has_text and not IDS_OF_TEXTS.isdisjoint(names):
        return ["docs", "topics"] if "title" in names and "text" in names else ["topics", "docs"]
    if rows and len(names) > 1 and all(_is_number(cell) for row in rows[:5] for cell in row[1:]):
        return ["scores"]
    return []


def refuse_other_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], expected: str, where: str, columns: Named = None
) -> None:
    """An error for a table whose columns are those of another kind; for files whose columns are seen when parsed."""
    possible = kinds_of_table(header, rows, columns)
    if possible and expected not in possible:
        raise WrongKind(where, possible[0], expected)


def _kinds_with_docs(names: list[str], rows: Sequence[Sequence[str]], ours: set[str], given: set[str]) -> list[str]:
    """A run, judgments, or either: a table with topics and docs."""
    strong = set(USUAL["grade"]) - GIVES_WAY["grade"] | {"label", "judgment", "judgement"}
    has_grade = not strong.isdisjoint(names) or "grade" in given
    has_order = "rank" in ours or "score" in given
    if "intent" in ours and has_grade:
        return ["intents"]
    if has_grade:
        if has_order or "score" in names:
            return ["run", "qrels", "labels"]
        return ["qrels", "labels"] if "label" in names else ["qrels"]
    names_of_runs = set(USUAL["run"]) - GIVES_WAY["run"]
    has_runs = not names_of_runs.isdisjoint(names) or "run" in given
    if has_order or "sim" in names or ("score" in names and has_runs):
        return ["run"]
    if "score" not in names:
        return []
    place = names.index("score")
    cells = [row[place] for row in rows if len(row) > place]
    if not all(re.fullmatch(r"\s*[+-]?\d+\s*", cell) for cell in cells):
        return ["run"]
    return ["qrels"] if set(names) == BEIR_QRELS and cells else ["qrels", "run"]


def _by_objects(sample: Sample, columns: Named) -> list[Recognised]:
    """What the objects of JSONL can be."""
    if not sample.objects:
        return []
    first = sample.objects[0]
    names = {name.strip().lower() for name in sample.header}
    of_answers = _nuggets_in(first)
    if of_answers is not None:
        return [of_answers]
    if "annotations" in names and "data" in names:
        return [Recognised("labels", "label-studio")]
    if _is_doccano(names, sample.objects):
        return [Recognised("labels", "doccano")]
    if len(first) == 1 and isinstance(next(iter(first.values())), dict | list):
        return [Recognised("run", "jsonl"), Recognised("qrels", "jsonl")]
    if not set(USUAL["topic"]).isdisjoint(names) and any(name in names for name in LISTS):
        return [Recognised("run", "jsonl"), Recognised("qrels", "jsonl")]
    rows = [[str(record.get(name, "")) for name in sample.header] for record in sample.objects]
    format = "beir" if "_id" in names else "jsonl"
    return [Recognised(kind, format) for kind in kinds_of_table(sample.header, rows, columns)]


def _nuggets_in(record: dict[str, Any]) -> Recognised | None:
    """Whether an object holds the nuggets of a topic, as nuggetizer or AutoJudge write them, assigned or not."""
    if "nugget_bank" in record or "claim_bank" in record:
        return Recognised("nuggets", "autojudge")
    nuggets = record.get("nuggets")
    if not isinstance(nuggets, list) or set(USUAL["topic"]).isdisjoint(record):
        return None
    are_assigned = "run_id" in record or any("assignment" in one for one in nuggets if isinstance(one, dict))
    return Recognised("assignments" if are_assigned else "nuggets", "nuggetizer")


def _is_doccano(names: set[str], objects: Sequence[dict[str, Any]]) -> bool:
    """Whether texts have labels, in lists or without somebody who gave them."""
    if names.isdisjoint({"label", "labels"}) or names.isdisjoint({"text", "data"}):
        return False
    in_lists = any(isinstance(record.get(name), list) for record in objects for name in ("label", "labels"))
    return in_lists or names.isdisjoint(USUAL["worker"])


def _by_value(sample: Sample, columns: Named) -> list[Recognised]:
    """What a JSON file can be, by how deep its objects are."""
    if isinstance(sample.value, list):
        found = _by_objects(sample, columns)
        return [Recognised(kind, "json" if format in ("jsonl", "beir") else format) for kind, format in found]
    of_answers = _nuggets_in(sample.value) if isinstance(sample.value, dict) else None
    if of_answers is not None:
        return [of_answers]
    depth = _depth(sample.value)
    if depth == 2:
        return [Recognised(kind, "json") for kind in ("run", "qrels", "scores")]
    if depth == 3:
        return [Recognised(kind, "json") for kind in ("run", "scores", "labels")]
    is_ranking = isinstance(sample.value, dict) and bool(sample.value)
    if is_ranking and all(isinstance(docs, list) for docs in sample.value.values()):
        return [Recognised("run", "json")]
    return []


def _depth(value: Any) -> int:
    """How many objects deep the numbers of a JSON value are; 0 where it is something else."""
    depth = 0
    while isinstance(value, dict) and value:
        value = next(iter(value.values()))
        depth += 1
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return depth if is_number else 0


def _is_level(text: str) -> bool:
    return LEVEL.fullmatch(text) is not None


def _is_whole(text: str) -> bool:
    value = number(text)
    return value is not None and value.is_integer()


def _is_number(text: str) -> bool:
    return number(text.strip()) is not None


def _is_above_0(text: str) -> bool:
    value = number(text)
    return value is not None and value > 0
