"""Files such as nobody should write and somebody will: every kind of file that a command reads, each odd in one way.

A kind is made from a template with one number and one id in it; `twists` spoil the bytes of any file, `NUMBERS` and
`NAMES` stand where the number and the id stood, and the formats of tables have troubles of their own.
"""

from __future__ import annotations

import gzip
import io
import itertools
import json
import lzma
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars
import zstandard

from assay.crowd.task_answers import submit_code

RUNS = [f"sys{i}" for i in range(6)]
TOPICS = [str(t) for t in range(1, 9)]
DOCS = [f"d{i}" for i in range(12)]
WORKERS = [f"w{i}" for i in range(4)]
MEASURES = ["AP", "P@10", "RR"]
FIRST = "d0"
"""The id that stands in the first row of every kind."""

NUMBERS = [
    "nan", "inf", "-inf", "1e308", "-1e308", "1.7976931348623157e308", "1e400", "5e-324", "1e-300", "-0", "+1", ".5",
    "5.", "1e18", "2e18", "9.3e18", "1e19", "1e100", "1e101", "2000", "5000", "2147483647", "2147483648", "-2147483648",
    "9223372036854775807", "9223372036854775808", "99999999999999999999999", "9" * 400, "9" * 5000, "0x10", "1_000",
    "१", "½", "1,5", "True", "None", "--1", "1e", "0.30000000000000004", "-5", "-1", "0.5", "1e-5",
]  # fmt: skip
NAMES = [
    "<script>alert(1)</script>", "--help", "-", "../../etc/passwd", "a&b;c", "=1+1", "%s%d{}", "$x_1^2$\\alpha", "é",
    "e\u0301", "\u202eabc", "\U0001f600", "'quoted'", "x" * 1000, "x" * 10**5, "null", "nan", "0", "#d0", "[d0]",
    "\x1b[31mred", "a\x85b", "a\u2028b",
]  # fmt: skip


def _tables() -> dict[str, tuple[list[str], list[list[str]]]]:
    """The kinds that are tables: the header and the rows, the last cell of the first row a number if there is any."""
    rng = random.Random(0)
    scores = [
        [run, topic, measure, f"{rng.random():.4f}"] for measure in MEASURES for run in RUNS for topic in TOPICS
    ]  # fmt: skip
    return {
        "table run": (
            ["topic", "doc", "rank", "run", "score"],
            [[t, d, str(i + 1), "sys0", f"{20 - i}.5"] for t in TOPICS for i, d in enumerate(DOCS[:8])],
        ),
        "table qrels": (["topic", "doc", "grade"], [[t, d, str(rng.randrange(3))] for t in TOPICS for d in DOCS]),
        "scores": (["run", "topic", "measure", "score"], scores),
        "matrix": (
            ["AP", *TOPICS],
            [[run, *(f"{i / 7 + rng.random() / 9:.4f}" for _ in TOPICS)] for i, run in enumerate(RUNS)],
        ),
        "turns": (
            ["AP", *(f"{topic}_{turn}" for topic in TOPICS for turn in (1, 2, 3))],
            [[run, *(f"{(7 * i + 3 * j) % 11 / 11:.4f}" for j in range(24))] for i, run in enumerate(RUNS)],
        ),
        "few scores": (
            ["AP", *TOPICS[:5]],
            [[run, *(f"{i / 7 + rng.random() / 9:.4f}" for _ in TOPICS[:5])] for i, run in enumerate(RUNS)],
        ),
        "grid": (
            ["stemmer", "model", *TOPICS],
            [[s, m, *(f"{rng.random():.4f}" for _ in TOPICS)] for s in ("none", "porter") for m in ("bm25", "lm")],
        ),
        "labels": (
            ["topic", "doc", "worker", "task", "position", "seconds", "attempt", "label"],
            [
                [t, d, w, f"{t}-{i % 3}", str(i % 4 + 1), "20.5", "1", str(rng.randrange(4))]
                for t in TOPICS[:4] for i, d in enumerate(DOCS[:6]) for w in WORKERS
            ],
        ),
        "preferences": (
            ["topic", "worker", "doc", "other", "label"],
            [
                [t, w, a, b, rng.choice(["0", "1", ".5"])]
                for t in TOPICS[:2] for w in WORKERS for a, b in itertools.pairwise(DOCS)
            ],
        ),
        "tasks": (
            ["task", "topic", "position", "doc", "gold"],
            [["1-0001", "1", str(i + 1), d, "0" if i == 0 else ""] for i, d in enumerate(DOCS[:4])],
        ),
        "questions": (
            ["topic", "question", "options", "answer"],
            [[t, f"What is {t} about?", "cats|dogs|7", "7"] for t in TOPICS],
        ),
        "factors": (["topic", "measure", "runs", "sd", "mean"], [[t, "AP", "4", "0.2", "0.5"] for t in TOPICS]),
        "groups": (["run", "group", "year"], [[run, f"g{i // 2}", "2004"] for i, run in enumerate(RUNS)]),
        "votes": (
            ["topic", "left", "right", "vote"],
            [[t, a, b, rng.choice(["left", "right"])] for t in TOPICS for a, b in itertools.pairwise(RUNS)],
        ),
        "published": (
            ["pair", "kind", "year", "score"],
            [[f"p{i // 2}", ("baseline", "improved")[i % 2], str(2000 + i), f"{0.2 + i / 50:.3f}"] for i in range(8)],
        ),
        "doubt": (
            ["topic", "doc", "low", "high", "probability", "sd", "labels", "grade", "p(0)", "p(1)", "p(2)"],
            [[t, d, "0", "2", "0.9", "0.1", "4", "1", "0.05", "0.9", "0.05"] for t in TOPICS for d in DOCS[:8]],
        ),
        "topics": (["topic", "title"], [[t, f"title of {t}"] for t in TOPICS]),
        "run scores": (["run", "topic", "measure", "score"], [row for row in scores if row[0] == RUNS[0]]),
        "beir qrels": (
            ["query-id", "corpus-id", "score"],
            [[t, d, str(rng.randrange(3))] for t in TOPICS for d in DOCS],
        ),
        "matches": (
            ["run", "topic", "nugget", "vital", "matched", "votes", "length"],
            [
                [run, t, f"n{i}", ("yes", "no")[i % 2], rng.choice(["yes", "no"]), str(3 - i), "120"]
                for run in RUNS for t in TOPICS for i in range(3)
            ],
        ),
        "assigned": (
            ["run", "topic", "nugget", "importance", "assignment"],
            [
                [run, t, f"d{i}", ("vital", "okay")[i % 2], rng.choice(["1", "0.5", "0"])]
                for run in RUNS for t in TOPICS for i in range(3)
            ],
        ),
        "assessed": (
            ["run", "topic", "nugget", "importance", "assessor", "assignment"],
            [
                [run, t, f"d{i}", ("vital", "okay")[i % 2], who, rng.choice(["1", "0.5", "0"])]
                for run in RUNS for t in TOPICS for i in range(2) for who in ("people", "gpt")
            ],
        ),
        "cited": (
            ["run", "topic", "sentence", "citation", "support"],
            [
                [run, t, f"s{s}", d, rng.choice(["1", "0.5", "0"])]
                for run in RUNS for t in TOPICS for s in range(2) for d in DOCS[:2]
            ],
        ),
        "key": (["topic", "vital", "text"], [[t, "yes", f"fact {n} of {t}"] for t in TOPICS for n in range(2)]),
        "answers": (["topic", "text"], [[t, f"It is a fact of {t}."] for t in TOPICS]),
        "doc groups": (
            ["doc", "attribute", "group", "share"],
            [[d, "side", ("left", "right")[i % 2], "1"] for i, d in enumerate(DOCS)],
        ),
        "impressions": (
            ["winner", "user", "query"],
            [[("new", "old", "tie")[i % 3 if i % 4 else 0], f"u{i % 7}", str(i)] for i in range(40)],
        ),
        "teams": (
            ["team", "user", "impression", "clicked"],
            [[t, f"u{i % 5}", f"i{i}", str(rng.randrange(2))] for i in range(20) for t in ("new", "old", "third")],
        ),
        "population": (["group", "share"], [["left", "0.25"], ["right", "0.75"]]),
    }  # fmt: skip


def _lines() -> dict[str, list[str]]:
    """The kinds that are lines of words; the last word of the first line but a run's is a number."""
    rng = random.Random(1)
    grades = random.Random(2)
    qrels = [f"{t} 0 {d} {grades.randrange(3)}" for t in TOPICS for d in DOCS]
    return {
        "run": [
            f"{t} Q0 {d} {i + 1} {30 - i - rng.random():.4f} sys0"
            for t in TOPICS for i, d in enumerate(sorted(DOCS, key=lambda d: d != FIRST and rng.random())[:9])
        ],
        "qrels": qrels,
        "sampled qrels": [
            f"{t} 0 {d} {(rng.randrange(3), -1)[i % 2]} 0.5" for t in TOPICS for i, d in enumerate(DOCS)
        ],
        "few qrels": qrels[: len(DOCS) + 6],
        "intents": [f"{t} {i} {d} {rng.randrange(2)}" for t in TOPICS for i in (1, 2) for d in DOCS],
        "intent info": [f"{t} {i} 0.5" for t in TOPICS for i in (1, 2)],
        "zscores": [f"{t} {m} 0.5 0.1" for t in TOPICS for m in ("map", "P_10")],
        "lengths": [f"{d} 120" for d in DOCS],
        "journal": [f"{t} 0 {d} {rng.randrange(2)}" for t in TOPICS[:2] for d in DOCS[:3]],
        "names": ["b", "c"],
        "msmarco run": [f"{t}\t{d}\t{i + 1}" for t in TOPICS for i, d in enumerate(DOCS[:9])],
        "ntcir qrels": [f"{t} {d} L{rng.randrange(3)}" for t in TOPICS for d in DOCS],
        "leaderboard": [f"{run}\tMAP\t{t}\t{rng.random():.4f}" for run in RUNS for t in (*TOPICS, "all")],
        "rel": [f"{t} {d} L{rng.randrange(3)}" for t in TOPICS for d in DOCS],
        "res": list(DOCS),
        "texts": [f"{d}\tabout number 7" for d in DOCS],
        "session run": [
            f"{t}-{query} Q0 {d} {i + 1} {20 - i} mine"
            for t in TOPICS for query in (1, 2) for i, d in enumerate(DOCS[:5])
        ],
        "nuggets": [f"{t} u{i} 3 10" for t in TOPICS for i in range(3)],
        "units": [line for t in TOPICS for line in (f"{t} syslen= 100", f"{t} u0 20", f"{t} u2 45")],
    }  # fmt: skip


def _documents() -> dict[str, str]:
    """The kinds that are JSON."""
    rng = random.Random(2)
    run = {t: {d: 20.5 - i for i, d in enumerate(DOCS[:9])} for t in TOPICS}
    judged = {t: {d: rng.randrange(3) for d in DOCS} for t in TOPICS}
    tasks = []
    texts = []
    for topic in TOPICS[:4]:
        for doc in DOCS[:6]:
            answer = rng.choice(["yes", "no"])
            chosen = {"from_name": "relevant", "type": "choices", "value": {"choices": [answer]}}
            annotations = [{"completed_by": w, "lead_time": 4.5, "result": [chosen]} for w in (1, 2)]
            tasks.append({"id": 1, "data": {"topic": topic, "doc": doc}, "annotations": annotations})
            texts.append({"id": 1, "text": "a text", "topic": topic, "doc": doc, "label": [answer], "Comments": []})
    given = [
        {"topic": "1", "doc": doc, "worker": "w0", "label": 10 * i, "task": "1-0001", "position": i + 1,
         "seconds": 20.5, "attempt": 1, "back": 0, "answer": "7"}
        for i, doc in enumerate(DOCS[:4])
    ]  # fmt: skip
    answers = [{**row, "code": submit_code(given)} for row in given]
    by_line = [{"qid": t, "hits": [{"docid": d, "score": s} for d, s in docs.items()]} for t, docs in run.items()]
    assigned = []
    for topic in TOPICS:
        words = [("d0", "vital", "support"), ("d1", "okay", "partial_support"), ("d2", "okay", "not_support")]
        nuggets = [{"text": text, "importance": kind, "assignment": word} for text, kind, word in words]
        assigned.append({"query": "7", "qid": topic, "run_id": "sys0", "response_length": 7, "nuggets": nuggets})
    bank = [{"query_id": t, "nugget_bank": {d: {"question": d} for d in DOCS[:3]}, "n": 7} for t in TOPICS]
    return {
        "nuggetizer": "".join(json.dumps(line) + "\n" for line in assigned),
        "nugget bank": "".join(json.dumps(line) + "\n" for line in bank),
        "nested run": json.dumps(run, indent=1),
        "nested qrels": json.dumps(judged),
        "lines run": "".join(json.dumps(line) + "\n" for line in by_line),
        "crowd answers": json.dumps(answers, indent=1),
        "label studio": json.dumps(tasks, indent=1),
        "doccano": "".join(json.dumps(text) + "\n" for text in texts),
        "corpus": "".join(json.dumps({"_id": d, "title": f"On {d}", "text": "Words."}) + "\n" for d in DOCS),
        "queries": "".join(json.dumps({"_id": t, "text": f"query {t}"}) + "\n" for t in TOPICS),
    }


JSON_LINES = {"lines run", "doccano", "corpus", "queries", "nuggetizer", "nugget bank"}
TABLES, LINES, DOCUMENTS = _tables(), _lines(), _documents()
GOOD = {
    **{kind: f"{kind}.csv" for kind in TABLES},
    **{kind: f"{kind}.txt" for kind in LINES},
    **{kind: f"{kind}.jsonl" for kind in DOCUMENTS if kind in JSON_LINES},
    **{kind: f"{kind}.json" for kind in DOCUMENTS if kind not in JSON_LINES},
    "plan": "plan.json",
}
"""The kinds, and the name of the good file of each."""


def csv_text(header: list[str], rows: list[list[str]], separator: str = ",") -> str:
    """A table as text."""
    quoted = [[f'"{c}"' if separator in c or '"' in c else c for c in row] for row in [header, *rows]]
    return "".join(separator.join(row) + "\n" for row in quoted)


def good_text(kind: str) -> str:
    """The good file of a kind."""
    if kind == "plan":
        return json.dumps({"delta": 0.1, "sigma": 0.2, "power": 0.8, "alpha": 0.05, "minimum": 3, "step": 1})
    if kind in DOCUMENTS:
        return DOCUMENTS[kind]
    return csv_text(*TABLES[kind]) if kind in TABLES else "".join(line + "\n" for line in LINES[kind])


def runs_text(name: str) -> str:
    """A good run of that name, the same each time."""
    rng = random.Random(name)
    lines = [f"{t} Q0 {d} {i + 1} {20 - i} {name}\n" for t in TOPICS for i, d in enumerate(rng.sample(DOCS, 9))]
    return "".join(lines)


def _gzipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]


TWISTS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "one byte": lambda _: b"x",
    "one zero": lambda _: b"\0",
    "one line end": lambda _: b"\n",
    "first line only": lambda d: d[: d.index(b"\n") + 1] if b"\n" in d else d,
    "cut": lambda d: d[: len(d) * 2 // 3],
    "cut early": lambda d: d[:7],
    "zero bytes": lambda d: d.replace(b"d0", b"d\x000", 3),
    "zeros at the end": lambda d: d + bytes(50),
    "byte-order mark": lambda d: b"\xef\xbb\xbf" + d,
    "two byte-order marks": lambda d: b"\xef\xbb\xbf" * 2 + d,
    "UTF-16": lambda d: d.decode().encode("utf-16"),
    "UTF-16 without mark": lambda d: d.decode().encode("utf-16-le"),
    "UTF-32": lambda d: d.decode().encode("utf-32"),
    "Latin-1": lambda d: d.replace(b"d1", b"d\xe9"),
    "surrogates": lambda d: d.replace(b"d1", b"d\xed\xa0\x80"),
    "CR": lambda d: d.replace(b"\n", b"\r"),
    "CR LF": lambda d: d.replace(b"\n", b"\r\n"),
    "mixed line ends": lambda d: d.replace(b"\n", b"\r", 2).replace(b"\n", b"\r\n", 3),
    "no last line end": lambda d: d.rstrip(b"\n"),
    "blank lines": lambda d: d.replace(b"\n", b"\n\n \n"),
    "comments": lambda d: b"# one\n" + d + b"# two\n",
    "twice": lambda d: d + d,
    "first line twice": lambda d: d[: d.index(b"\n") + 1] + d if b"\n" in d else d,
    "tabs": lambda d: d.replace(b",", b"\t").replace(b" ", b"\t"),
    "semicolons": lambda d: d.replace(b",", b";"),
    "quotes": lambda d: d.replace(b"d0", b'"d0', 1),
    "a word more": lambda d: d.replace(b"\n", b" more\n", 2),
    "a cell more": lambda d: d.replace(b"\n", b",\n", 3),
    "HTML": lambda _: b"<!doctype html><html><body>Not found</body></html>\n",
    "JSON": lambda _: b'{"a": [1, 2, {"b": null}]}\n',
    "random bytes": lambda _: random.Random(2).randbytes(3000),
    "a Parquet file": lambda _: parquet({"topic": ["1"], "doc": ["a"], "score": [1.0]}),
    "half a Parquet file": lambda _: parquet({"topic": ["1"], "doc": ["a"], "score": [1.0]})[:-40],
    "thousands of columns": lambda d: b",".join(b"c%d" % i for i in range(5000)) + b"\n" + d,
    "long line": lambda d: d + b"x" * 300_000 + b"\n",
}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": _gzipped,
    "flipped.gz": lambda d: _flipped(_gzipped(d), len(_gzipped(d)) // 2),
    "flipped early.gz": lambda d: _flipped(_gzipped(d), 11),
    "checksum.gz": lambda d: _flipped(_gzipped(d), len(_gzipped(d)) - 6),
    "cut.gz": lambda d: _gzipped(d)[:-12],
    "header only.gz": lambda d: _gzipped(d)[:5],
    "rubbish behind.gz": lambda d: _gzipped(d) + b"rubbish",
    "two.gz": lambda d: _gzipped(d) + _gzipped(b""),
    "xz": lzma.compress,
    "flipped.xz": lambda d: _flipped(lzma.compress(d), len(lzma.compress(d)) // 2),
    "cut.xz": lambda d: lzma.compress(d)[:-20],
    "zst": lambda d: zstandard.ZstdCompressor().compress(d),
    "flipped.zst": lambda d: _flipped(zstandard.ZstdCompressor().compress(d), 12),
    "cut.zst": lambda d: zstandard.ZstdCompressor().compress(d)[:-5],
    "not at all.gz": lambda d: d,
}


def parquet(columns: dict[str, Any]) -> bytes:
    """A Parquet file of these columns."""
    out = io.BytesIO()
    polars.DataFrame(columns).write_parquet(out)
    return out.getvalue()


def odd_files(kind: str) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every odd file of a kind; the ending of the name is one that the kind may have."""
    ending = Path(GOOD[kind]).suffix
    text = good_text(kind)
    for what, twist in TWISTS.items():
        yield f"{what}{ending}", twist(text.encode())
    for what, pack in PACKED.items():
        name, dot, packing = what.rpartition(".")
        yield f"{name or packing}{ending}.{packing}" if dot else f"packed{ending}.{packing}", pack(text.encode())
    for i, number in enumerate(NUMBERS):
        yield f"number {i}{ending}", _with_number(kind, number).encode()
    for i, name_ in enumerate(NAMES):
        name_ = json.dumps(name_)[1:-1] if kind in DOCUMENTS else name_
        if FIRST in text and not (kind in LINES and name_.split() != [name_]):
            yield f"name {i}{ending}", text.replace(FIRST, name_).encode("utf-8", "surrogatepass")
    if kind in TABLES:
        yield from _odd_tables(kind)


def _with_number(kind: str, number: str) -> str:
    """The good file with that number in its first row."""
    if kind == "plan":
        return good_text(kind).replace("0.2", number)
    if kind in DOCUMENTS:
        return re.sub(r"(?<=: )[\d.]+(?=[,}\n])", number, good_text(kind), count=1)
    if kind in TABLES:
        header, rows = TABLES[kind]
        cell = rows[0][-1]
        return csv_text(header, [[*rows[0][:-1], number if cell else cell], *rows[1:]])
    first, *rest = LINES[kind]
    words = first.split(" ")
    words[4 if kind == "run" else -1] = number
    return "\n".join([" ".join(words), *rest]) + "\n"


def _odd_tables(kind: str) -> Iterator[tuple[str, bytes]]:
    header, rows = TABLES[kind]
    yield "good.tsv", csv_text(header, rows, "\t").encode()
    yield "header twice.csv", csv_text([*header[:-1], header[0]], rows).encode()
    yield "no header.csv", csv_text(rows[0], rows[1:]).encode()
    yield "other header.csv", csv_text([h.upper() + " " for h in header], rows).encode()
    yield "empty header.csv", csv_text(["" for _ in header], rows).encode()
    yield "empty cells.csv", csv_text(header, [["" for _ in header], *rows]).encode()
    yield "header only.csv", csv_text(header, []).encode()
    yield "wide.csv", csv_text([*header, *(f"c{i}" for i in range(300))], [[*r, *["1"] * 300] for r in rows]).encode()
    records = [dict(zip(header, row, strict=True)) for row in rows]
    for what, lines in _odd_json(records, header[-1]).items():
        yield f"{what}.jsonl", "".join(line + "\n" for line in lines).encode()
    for what, columns in _odd_columns(header, rows).items():
        yield f"{what}.parquet", parquet(columns)


def _odd_json(records: list[dict[str, str]], last: str) -> dict[str, list[str]]:
    """Lines of JSON that are odd in one way each."""
    good = [json.dumps(r) for r in records]

    def instead(value: str) -> list[str]:
        return [json.dumps({**records[0], last: "@"}).replace('"@"', value), *good[1:]]

    values = {
        "good": good[0].rpartition(": ")[2].rstrip("}"), "5000 digits": "9" * 5000, "large": "9" * 30, "null": "null",
        "true": "true", "list": "[1, 2]", "object": '{"a": 1}', "NaN": "NaN", "Infinity": "-Infinity", "1e400": "1e400",
        "lone surrogate": '"\\ud800"', "surrogate pair": '"\\ud83d\\ude00"', "zero": '"\\u0000"',
        "nested": "[" * 40 + "]" * 40, "deep": "[" * 100_000 + "]" * 100_000, "half": '"',
    }  # fmt: skip
    return {
        **{what: instead(value) for what, value in values.items()},
        "lone surrogate as key": [good[0].replace(f'"{last}"', '"\\udfff"'), *good[1:]],
        "a key twice": [good[0].rstrip("}") + f', "{last}": "7"}}', *good[1:]],
        "a list": [json.dumps(list(records[0].values())), *good[1:]],
        "no key": ["{}", *good[1:]],
        "another key": [json.dumps({"x": 1}), *good[1:]],
        "one array": [json.dumps(records)],
    }


def _odd_columns(header: list[str], rows: list[list[str]]) -> dict[str, dict[str, Any]]:
    """Parquet columns of every type; the last column, which mostly holds numbers, is the odd one."""
    texts = {h: [row[i] for row in rows] for i, h in enumerate(header)}
    last, n = header[-1], len(rows)
    of_type: dict[str, Any] = {
        "good": texts[last],
        "Int128": polars.Series([2**100] + [1] * (n - 1), dtype=polars.Int128),
        "UInt64": polars.Series([2**64 - 1] + [1] * (n - 1), dtype=polars.UInt64),
        "Int8": polars.Series([1] * n, dtype=polars.Int8),
        "Decimal": polars.Series(["1.50"] * n).cast(polars.Decimal(10, 2)),
        "Float32": polars.Series([0.1] * n, dtype=polars.Float32),
        "NaN": polars.Series([float("nan")] + [1.0] * (n - 1)),
        "list": [[1, 2]] * n,
        "struct": [{"a": 1}] * n,
        "categories": polars.Series(texts[last], dtype=polars.Categorical),
        "null": [None] * n,
        "some null": [None, *texts[last][1:]],
        "bool": [True] * n,
        "binary": [t.encode() for t in texts[last]],
        "other binary": [b"\xff\xfe"] * n,
        "date": polars.Series([18000] * n).cast(polars.Date),
        "duration": polars.Series([18000] * n).cast(polars.Duration("ms")),
    }
    found = {what: {**texts, last: column} for what, column in of_type.items()}
    for what in ("Int128", "list", "categories", "null", "binary", "other binary", "Float32", "Int8"):
        found[f"{what} first"] = {**texts, header[0]: of_type[what]}
    return {**found, "no rows": {h: [] for h in header}, "no columns": {}}
