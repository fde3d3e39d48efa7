"""What a person brings: runs, judgments, labels and scores as dicts, data frames, files, folders or our own types.

Every public function that takes data takes it through these, so that all of them understand the same things and refuse
the others with one sentence that says what would do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.core.dataframes import AnyFrame, library_of
from assay.core.errors import DataError, MissingFile, UsageError
from assay.core.files_read import note_read
from assay.data import IntentQrels, Labels, Qrels, Run, ScoreMatrix, Scores
from assay.io import irds
from assay.io.addresses import address_of, shown
from assay.io.column_names import Named, has_usual, refuse_unused, shared_columns

RUNS = (
    "give runs as paths, {run: {topic: {doc: score}}}, data frames with the columns topic, doc and score, Run objects, "
    "or a list of these"
)
QRELS = (
    "give judgments as a path, {topic: {doc: grade}}, a data frame with the columns topic, doc and grade, "
    "or a Qrels object"
)
LABELS = (
    "give labels as a path, {topic: {doc: {worker: label}}}, a data frame with the columns topic, doc, worker and "
    "label, rows of these four, or a Labels object"
)
SCORES = (
    "give scores as a path, {run: {topic: score}}, a data frame with the columns run, topic and score, "
    "or what assay.evaluate returns"
)
Source = Run | str | Path


def runs_of(thing: Any, *, columns: Named = None, name: str = "run", ranks: bool = False) -> list[Source]:
    """Runs from whatever holds them; files of one run that need no other name are left to be read, each as a path.

    A path is a file with a run or several, a folder all files in it, `irds:ID` the scored docs of a dataset of
    ir_datasets. A dict is {run: what holds it}, or one run as {topic: {doc: score}} or {topic: [doc, …]}, best first.
    A frame holds several runs if it has a column run; without scores the docs are in the order of their ranks. Tables
    have columns of the usual names, or of those in `columns` (ours → theirs). name: that of a run without one. ranks:
    also read the ranks of files.

    >>> runs_of({"bm25": {"q1": {"d1": 2.5, "d2": 1.5}}, "dense": {"q1": ["d2", "d1"]}})
    [Run('bm25', 1 topic, 2 docs), Run('dense', 1 topic, 2 docs)]
    >>> runs_of({"q1": {"d1": 2.5}})
    [Run('run', 1 topic, 1 doc)]
    """
    if isinstance(thing, Run):
        return [thing]
    if isinstance(thing, str | Path):
        return _runs_of_files(files_given(thing, RUNS), columns, ranks)
    if _is_ranx(thing, "Run"):
        return list(_runs_of_dict(thing.to_dict(), columns, str(thing.name or name), ranks))
    thing = _held(thing)
    table = _table_of(thing, name)
    if table is not None:
        from assay.io.frame_tables import runs_in

        return list(runs_in(table, columns=columns, name=name))
    if isinstance(thing, Mapping):
        return list(_runs_of_dict(thing, columns, name, ranks))
    parts = _parts(thing, "runs", RUNS)
    if parts and all(isinstance(part, str | Path) for part in parts):
        return _runs_of_files([file for part in parts for file in files_given(part, RUNS)], columns, ranks)
    found: list[Source] = []
    for i, part in enumerate(parts, start=1):
        if not _may_hold_runs(part):
            raise _unfit(part, "runs", RUNS)
        found += runs_of(part, columns=columns, name=f"{name}{i}" if len(parts) > 1 else name, ranks=ranks)
    return found


def _runs_of_files(files: Sequence[str | Path], columns: Named, ranks: bool) -> list[Source]:
    """The files, and the runs of those that hold several or whose columns are named."""
    from assay.io.readers import holds_several, read_runs

    sources: list[Source] = []
    for file in files:
        if not columns and not holds_several(file):
            sources.append(file)
            continue
        runs = read_runs(file, ranks=ranks, columns=columns)
        sources += [replace(run, file=str(file)) for run in runs]
    return sources


def run_list(thing: Any, *, columns: Named = None, ranks: bool = False) -> list[Run]:
    """As `runs_of`, with the files read; runs of one name are called as their files.

    >>> run_list([{"q1": {"d1": 2.5}}, {"q1": {"d2": 1}}])
    [Run('run1', 1 topic, 1 doc), Run('run2', 1 topic, 1 doc)]
    """
    from assay.io.run_files import named_apart

    sources = runs_of(thing, columns=columns, ranks=ranks)
    runs = [_read(source, ranks) for source in sources]
    return named_apart(runs, sources)


def run_of(thing: Any, *, columns: Named = None, name: str = "run") -> Run:
    """The one run that a thing holds; several are an error."""
    runs = runs_of(thing, columns=columns, name=name)
    if len(runs) != 1:
        raise UsageError(f"this needs one run, and there are {len(runs)}; choose one")
    return _read(runs[0], ranks=False)


def _read(source: Source, ranks: bool) -> Run:
    from assay.io.readers import read_run

    return source if isinstance(source, Run) else read_run(source, ranks=ranks)


def _runs_of_dict(thing: Mapping[Any, Any], columns: Named, name: str, ranks: bool) -> list[Run]:
    if not thing:
        raise UsageError(f"an empty dict where runs are expected; {RUNS}")
    if all(_is_ranking(value) for value in thing.values()):
        return [_one_run(thing, name)]
    return [_named_run(key, value, columns, ranks) for key, value in thing.items()]


def _named_run(key: Any, value: Any, columns: Named, ranks: bool) -> Run:
    """What stands under a name in {run: …}, as a run of that name."""
    if isinstance(value, Mapping) and _table_of(value, "") is None:
        return _one_run(value, key)
    if isinstance(value, str | Path) and os.path.isdir(value):
        raise UsageError(f"run {key!r}: {str(value)!r} is a folder; give one run file for each name")
    if not _may_hold_runs(value):
        raise _unfit(value, f"run {key!r}", RUNS)
    found = runs_of(value, columns=columns, name=key, ranks=ranks)
    if len(found) != 1:
        raise UsageError(f"run {key!r}: {len(found)} runs stand under one name; give each its own")
    return replace(_read(found[0], ranks), name=str(key))


def _one_run(thing: Mapping[Any, Any], name: Any) -> Run:
    """A run from {topic: {doc: score}} or {topic: [doc, …]}."""
    for topic, value in thing.items():
        if not _is_ranking(value):
            what = f"topic {topic!r} holds {_described(value)}"
            raise DataError(f"run {name!r}: {what}; a run is {{topic: {{doc: score}}}} or {{topic: [doc, …]}}")
    if all(isinstance(value, Mapping) for value in thing.values()):
        return Run.from_dict(name, thing)
    if any(isinstance(value, Mapping) for value in thing.values()):
        raise DataError(f"run {name!r}: some topics have scores and others have not; give scores to all or to none")
    return Run.from_lists(name, thing)


def _is_ranking(value: Any) -> bool:
    """Whether this can be the docs of one topic: {doc: number} or a list of ids."""
    if isinstance(value, Mapping):
        inner = next(iter(value.values()), 0)
        return not isinstance(inner, Mapping | list | tuple | Run | Path) and library_of(inner) is None
    if isinstance(value, list | tuple):
        return all(isinstance(doc, str | int) for doc in value)
    return False


def _may_hold_runs(part: Any) -> bool:
    """Whether a part of a list can be runs: nothing that is a number, a score or a measure."""
    if isinstance(part, Run | str | Path | Mapping):
        return True
    if isinstance(part, Qrels | IntentQrels | Labels | ScoreMatrix | Scores | tuple):
        return False
    return _is_ranx(part, "Run") or _table_of(part, "") is not None or isinstance(part, Iterable)


def qrels_of(thing: Any, *, columns: Named = None, name: str = "qrels") -> Qrels | IntentQrels:
    """Judgments from a path or `irds:ID` (a dataset of ir_datasets), {topic: {doc: grade}}, a frame, or as they are.

    A table has the columns topic, doc and grade under their usual names, or under those in `columns` (ours → theirs);
    with a column intent the judgments are by intent.

    >>> qrels_of({1: {"d1": 2, "d2": 0}})
    Qrels('qrels', 1 topic, 2 docs, grades 0–2)
    """
    if isinstance(thing, Qrels | IntentQrels):
        return thing
    if isinstance(thing, str | Path):
        from assay.io.readers import read_qrels, refuse_columns

        if irds.is_irds(thing):
            refuse_columns(str(thing), columns)
            return irds.judgments(thing)
        return read_qrels(qrels_file(thing), columns=columns)
    thing = thing.to_dict() if _is_ranx(thing, "Qrels") else _held(thing)
    table = _table_of(thing, name)
    if table is not None:
        from assay.io.frame_tables import qrels_in

        return qrels_in(table, columns=columns, name=name)
    if not isinstance(thing, Mapping):
        raise _unfit(thing, "judgments", QRELS)
    if not thing:
        raise UsageError(f"an empty dict where judgments are expected; {QRELS}")
    for topic, docs in thing.items():
        if not isinstance(docs, Mapping) or isinstance(next(iter(docs.values()), 0), Mapping | list | tuple):
            raise DataError(f"topic {topic!r} of the judgments holds {_described(docs)}; {QRELS}")
    return Qrels.from_dict(thing, name=name)


def qrels_file(path: str | Path) -> str | Path:
    """The path of judgments, which must lead to a file."""
    [file] = files_given(path, QRELS, folders=False)
    return file


def plain_qrels_of(thing: Any, *, columns: Named = None, name: str = "qrels") -> Qrels:
    """As `qrels_of`, where judgments by intent are of no use."""
    found = qrels_of(thing, columns=columns, name=name)
    if not isinstance(found, Qrels):
        raise UsageError("judgments by intent where plain judgments are expected; give one grade for each doc")
    return found


def labels_of(thing: Any, *, columns: Named = None, name: str = "labels") -> Labels:
    """Labels from a path, {topic: {doc: {worker: label}}}, a frame, rows (topic, doc, worker, label), or as they are.

    >>> labels_of({"q1": {"d1": {"anna": 2, "ben": 1}}})
    Labels('labels', 2 labels of 2 workers, 1 topic, 1 doc)
    """
    if isinstance(thing, Labels):
        return thing
    if isinstance(thing, str | Path):
        from assay.io.labels import read_labels

        [path] = files_given(thing, LABELS, folders=False)
        return read_labels(path, columns=columns)
    thing = _held(thing)
    table = _table_of(thing, name)
    if table is not None:
        from assay.io.frame_tables import labels_in

        return labels_in(table, columns=columns, name=name)
    rows = list(_label_rows(thing)) if isinstance(thing, Mapping) else _parts(thing, "labels", LABELS)
    for row in rows:
        if not isinstance(row, list | tuple) or len(row) != 4:
            raise _unfit(row, "a row of labels", LABELS)
    return Labels.from_rows(rows, name=name)


def _label_rows(thing: Mapping[Any, Any]) -> Iterable[tuple[Any, Any, Any, Any]]:
    for topic, docs in thing.items():
        if not isinstance(docs, Mapping) or not all(isinstance(workers, Mapping) for workers in docs.values()):
            raise DataError(f"topic {topic!r} of the labels holds {_described(docs)}; {LABELS}")
        for doc, workers in docs.items():
            for worker, label in workers.items():
                yield topic, doc, worker, label


def scores_of(thing: Any, *, columns: Named = None) -> list[ScoreMatrix]:
    """Scores, a matrix per measure: from a path, {run: {topic: score}}, {measure: {run: {topic: score}}}, a frame, or
    as they are.

    A frame has the columns run, topic and score (and measure), or it is a matrix: a row for each run, which is its
    index in pandas and its first column elsewhere, and a column for each topic.

    >>> scores_of({"AP": {"bm25": {"q1": 0.2, "q2": 0.3}, "dense": {"q1": 0.4, "q2": 0.3}}})
    [ScoreMatrix('AP', 2 runs × 2 topics)]
    """
    if isinstance(thing, ScoreMatrix):
        return [thing]
    if isinstance(thing, str | Path):
        from assay.io.scores import read_scores
        from assay.io.topic_scores import is_topic_scores, read_topic_scores

        if is_topic_scores(thing):
            return read_topic_scores(thing)
        [path] = files_given(thing, SCORES, folders=False)
        return read_scores(path, columns=columns)
    from assay.io.frame_tables import matrix_of, scores_in

    table = AnyFrame.of(thing)
    if table is not None:
        is_tidy = bool(columns) or "score" in {theirs.strip().lower() for theirs in table.names}
        return scores_in(table, columns=columns) if is_tidy else [ScoreMatrix.of(thing)]
    if not isinstance(thing, Mapping):
        parts = _parts(thing, "scores", SCORES)
        if not parts or not all(isinstance(part, ScoreMatrix) for part in parts):
            raise _unfit(thing, "scores", SCORES)
        return parts
    if not thing or not all(isinstance(inner, Mapping) for inner in thing.values()):
        raise _unfit(thing, "scores", SCORES)
    if all(isinstance(next(iter(inner.values()), None), Mapping) for inner in thing.values()):
        return [matrix_of(inner, str(measure)) for measure, inner in thing.items()]
    return [matrix_of(thing)]


def score_matrix_of(thing: Any, *, columns: Named = None) -> ScoreMatrix:
    """The scores of one measure; those of several are an error that says how to choose, and so are names of no column.

    >>> score_matrix_of({"bm25": {"q1": 0.2, "q2": 0.3}, "dense": {"q1": 0.4, "q2": 0.3}})
    ScoreMatrix('score', 2 runs × 2 topics)
    """
    if isinstance(thing, ScoreMatrix) and columns is None:
        return thing
    if columns and not isinstance(thing, str | Path) and library_of(thing) is None:
        refuse_unused(shared_columns(columns), columns)
    matrices = scores_of(thing, columns=columns)
    if len(matrices) != 1:
        names = ", ".join(matrix.measure for matrix in matrices)
        choice = f"scores[{matrices[0].measure!r}]"
        raise UsageError(f"this needs one measure, and there are {len(matrices)} ({names}); choose one, e.g. {choice}")
    return matrices[0]


def files_given(path: str | Path, expected: str, *, folders: bool = True) -> list[str | Path]:
    """The path itself, or the files of a folder in the order of their names."""
    if str(path) == "-" or irds.is_irds(path):
        return [path]
    from assay.io.run_files import files_of

    inside = files_of(path)
    if inside is not None:
        if not folders:
            raise DataError(f"{shown(path)!r} is a folder, and one file is expected; {expected}")
        for file in inside:
            note_read(file)
        return list(inside)
    note_read(path)
    if address_of(path) is None and not os.path.exists(path):
        # Who gives a Path means one; a text may be anything else that was given by mistake.
        what_to_do = "check the path" if isinstance(path, Path) else expected
        raise MissingFile(f"{path}: No such file or folder; {what_to_do}")
    return [path]


def _table_of(thing: Any, name: str) -> AnyFrame | None:
    """A thing that has columns: a frame, {column: values}, or records such as those of ir_measures; else None."""
    frame = AnyFrame.of(thing)
    if frame is not None:
        return frame
    if isinstance(thing, Mapping):
        keys = {str(key).strip().lower() for key in thing}
        if not has_usual(keys, "topic") or not has_usual(keys, "doc"):
            return None
        if not all(isinstance(values, list | tuple) for values in thing.values()):
            return None
        return AnyFrame.of_columns(thing, name)
    if isinstance(thing, list | tuple) and thing and all(map(_is_record, thing)):
        fields = [field for field in ("query_id", "doc_id", "score", "relevance") if hasattr(thing[0], field)]
        return AnyFrame.of_columns({field: [getattr(row, field) for row in thing] for field in fields}, name)
    return None


def holds_docs(thing: Any) -> bool:
    """Whether a frame has a column of docs: then it holds a run or judgments, and not scores."""
    frame = AnyFrame.of(thing)
    return frame is not None and has_usual(frame.names, "doc")


def _is_record(row: Any) -> bool:
    return hasattr(row, "query_id") and hasattr(row, "doc_id")


def _held(thing: Any) -> Any:
    """What can be gone through only once, as a list; anything else as it is."""
    return list(thing) if isinstance(thing, Iterator) else thing


def _is_ranx(thing: Any, name: str) -> bool:
    """Whether this is the Run or the Qrels of ranx, which are dicts of dicts under another name."""
    kind = type(thing)
    return kind.__module__.partition(".")[0] == "ranx" and kind.__name__ == name


def _parts(thing: Any, what: str, expected: str) -> list[Any]:
    """The parts of a sequence or of anything else that can be gone through; our own types are no sequences here."""
    is_other = isinstance(thing, Run | Qrels | IntentQrels | Labels | bytes | str)
    if is_other or not isinstance(thing, Iterable):
        raise _unfit(thing, what, expected)
    return list(thing)


def _unfit(thing: Any, what: str, expected: str) -> UsageError:
    verb = "is" if what.startswith(("run ", "a ")) else "are"
    return UsageError(f"{_described(thing)} where {what} {verb} expected; {expected}")


def _described(thing: Any) -> str:
    """A thing in a few words: its kind, and the thing itself where that is short."""
    if thing is None:
        return "None"
    text = repr(thing)
    kind = type(thing).__name__
    return f"{kind} {text}" if len(text) <= 40 and "\n" not in text and " at 0x" not in text else kind
