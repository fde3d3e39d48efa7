from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError
from assay.io import read_qrels
from assay.pooling import Judgment
from assay.pooling.journal import Journal

THREE = [Judgment("1", "a", 2), Judgment("2", "b", 0), Judgment("1", "ü-7", -1)]


def test_what_is_told_is_read_again_and_is_a_qrels_file(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "my.qrels")
    assert journal.read() == ([], None)
    journal.append(THREE[:2])
    journal.append(THREE[2:])
    assert journal.read() == (THREE, None)
    assert read_qrels(journal.path).to_dict() == {"1": {"a": 2, "ü-7": -1}, "2": {"b": 0}}


@given(cut=st.integers(0, 40))
@settings(deadline=None)
def test_cut_at_any_byte_only_the_last_judgment_is_lost(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    journal = Journal(tmp_path_factory.mktemp("cut") / "my.qrels")
    journal.append(THREE)
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[: len(whole) - min(cut, len(whole))])
    kept, remark = journal.read()
    assert kept == THREE[: len(kept)]
    left = journal.path.read_bytes()
    assert (remark is not None) == (not left.endswith(b"\n") and left != b"")
    journal.append([Judgment("9", "z", 1)])
    assert journal.read() == ([*kept, Judgment("9", "z", 1)], None)


def test_a_cut_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "my.qrels"
    path.write_text("1 0 a 2\n1 0 b")
    kept, remark = Journal(path).read()
    assert len(kept) == 1
    assert remark == f"{path}:2: the last line was cut off ('1 0 b'); that doc will be asked again"


@pytest.mark.parametrize("line", ["1 0 a", "1 0 a x", "1 0 a 1 0.5 7", "\x00\x01"])
def test_a_line_that_is_no_judgment_is_an_error_with_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "my.qrels"
    path.write_text(f"1 0 a 1\n{line}\n1 0 b 0\n")
    with pytest.raises(DataError, match=r"my\.qrels:2: not a judgment"):
        Journal(path).read()


@pytest.mark.parametrize("doc", ["", "two words", "line\nend"])
def test_names_that_a_qrels_file_cannot_hold_are_refused(tmp_path: Path, doc: str) -> None:
    with pytest.raises(DataError, match="cannot stand in a qrels file"):
        Journal(tmp_path / "my.qrels").append([Judgment("1", doc, 1)])
    assert not (tmp_path / "my.qrels").exists()
