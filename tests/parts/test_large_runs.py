"""A run that is scored in pieces has the scores of the run read whole, bit for bit; bad files are one clear line."""

from __future__ import annotations

import gzip
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import zstandard
from click.testing import CliRunner

from assay import DataError, evaluate
from assay.cli.score import command as score
from assay.io import large_files, topic_cuts
from assay.io.decompression import ByteStream
from assay.scoring import streamed_runs
from tests.parts.drawn_runs import drawn_judgments, drawn_lines, written

MEASURES = "AP nDCG@10 P@5 RR ERR NumRel Q"
TOPICS = 60


@pytest.fixture
def files(tmp_path: Path) -> SimpleNamespace:
    run = written(tmp_path / "bm25.run", drawn_lines(TOPICS, 1))
    qrels = written(tmp_path / "qrels.txt", drawn_judgments(TOPICS, 1))
    return SimpleNamespace(run=run, qrels=qrels, folder=tmp_path)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is large, and a piece has a few topics."""
    for module in (large_files, streamed_runs):
        for name in ("LARGE_FILE", "LARGE_COMPRESSED", "LARGE_TABLE"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, 64)
    for name in ("PIECE", "STREAM_PIECE"):
        monkeypatch.setattr(topic_cuts, name, 2000)


def bits(scores: object) -> list[bytes]:
    return [matrix.values.tobytes() for matrix in scores]  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [1, 300, 4000, 10**9])
@pytest.mark.parametrize("missing", ["zero", "drop"])
def test_pieces_have_the_bits_of_the_whole(files: SimpleNamespace, size: int, missing: str,
                                           monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    whole = evaluate(files.run, files.qrels, MEASURES, missing=missing)
    monkeypatch.setattr(large_files, "LARGE_TABLE", 1)
    monkeypatch.setattr(large_files, "LARGE_FILE", 1)
    monkeypatch.setattr(topic_cuts, "PIECE", size)
    cut = evaluate(files.run, files.qrels, MEASURES, missing=missing, jobs=2)
    assert bits(cut) == bits(whole)
    assert (cut.runs, cut.topics) == (whole.runs, whole.topics)
    assert [matrix.signature for matrix in cut] == [matrix.signature for matrix in whole]


@pytest.mark.parametrize("ties", ["docid", "docid-asc", "rank", "file", "average"])
def test_every_tie_policy(files: SimpleNamespace, ties: str, request: pytest.FixtureRequest) -> None:
    whole = evaluate(files.run, files.qrels, "AP nDCG@10", ties=ties)
    request.getfixturevalue("small_pieces")
    assert bits(evaluate(files.run, files.qrels, "AP nDCG@10", ties=ties)) == bits(whole)


@pytest.mark.parametrize("ending", ["gz", "xz", "zst"])
def test_compressed_files_come_as_a_stream(files: SimpleNamespace, ending: str, request: pytest.FixtureRequest) -> None:
    whole = evaluate(files.run, files.qrels, MEASURES)
    request.getfixturevalue("small_pieces")
    data = files.run.read_bytes()
    packers: dict[str, Callable[[bytes], bytes]] = {
        "gz": gzip.compress,
        "xz": lzma.compress,
        "zst": zstandard.ZstdCompressor().compress,
    }
    packed = files.folder / f"bm25.run.{ending}"
    half = data.index(b"\n", len(data) // 2) + 1
    packed.write_bytes(packers[ending](data[:half]) + packers[ending](data[half:]))  # two members are one file
    assert bits(evaluate(packed, files.qrels, MEASURES)) == bits(whole)
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(DataError, match="damaged"):
        evaluate(packed, files.qrels, MEASURES)


def test_standard_input_is_cut_too(files: SimpleNamespace, request: pytest.FixtureRequest) -> None:
    command = ["--qrels", str(files.qrels), "-", "-m", MEASURES, "--format", "csv", "-q"]
    plain = CliRunner().invoke(score, command, input=files.run.read_bytes())
    assert plain.exit_code == 0, plain.output
    request.getfixturevalue("small_pieces")
    cut = CliRunner().invoke(score, command, input=files.run.read_bytes())
    assert cut.exit_code == 0, cut.output
    assert cut.stdout == plain.stdout


@pytest.mark.usefixtures("small_pieces")
def test_topics_that_are_not_together_are_refused(files: SimpleNamespace) -> None:
    lines = drawn_lines(TOPICS, 1)
    written(files.run, [*lines[5:], *lines[:5]])
    with pytest.raises(DataError, match=r"the lines of topic 'q0' are not together.*assay split") as caught:
        evaluate(files.run, files.qrels, "AP")
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("small_pieces")
def test_an_error_names_the_line_of_the_whole_file(files: SimpleNamespace) -> None:
    lines = drawn_lines(TOPICS, 1)
    place = len(lines) - 3
    for broken, what in (("q99 Q0 d1 1 high bm25\n", "score is not a number"), (lines[place - 1], "twice")):
        written(files.run, [*lines[:place], broken, *lines[place:]])
        with pytest.raises(DataError, match=what) as caught:
            evaluate(files.run, files.qrels, "AP")
        assert f"{files.run}:{place + 1}:" in str(caught.value)


def test_cuts_fall_between_topics(tmp_path: Path) -> None:
    lines = ["# a comment\n", "\n", *drawn_lines(30, 2)]
    lines[40:40] = ["\n", "# within a topic or not\n"]
    path = str(written(tmp_path / "r", lines))
    for size in (1, 17, 500, 3000):
        pieces = topic_cuts.cut_file(path, size)
        texts = [piece.content().bytes().decode() for piece in pieces]
        assert "".join(texts) == "".join(lines)
        seen: set[str] = set()
        for text in texts:
            own = {line.split()[0] for line in text.splitlines() if line.strip() and not line.startswith("#")}
            assert not own & seen
            seen |= own


def test_a_file_that_changes_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "r", drawn_lines(10, 3))
    piece = topic_cuts.cut_file(str(path), 200)[0]
    written(path, drawn_lines(11, 3))
    with pytest.raises(DataError, match="changed while it was read"):
        piece.content()


def test_a_stream_is_cut_as_a_file(tmp_path: Path) -> None:
    data = "".join(drawn_lines(30, 4)).encode()
    for size in (*range(20, 400, 7), 1000, 10**6):
        stream = ByteStream("-", io.BytesIO(data))
        pieces = list(topic_cuts.pieces_of_stream("-", stream, size, begun=b""))
        texts = [piece.content().bytes() for piece in pieces]
        assert b"".join(texts) == data
        topics = [{line.split()[0] for line in text.splitlines() if line.strip()} for text in texts]
        assert sum(map(len, topics)) == len(set().union(*topics)), "a topic is cut"
        before = np.cumsum([0, *(text.count(b"\n") for text in texts)])
        assert [piece.before for piece in pieces] == before[:-1].tolist()
