"""Tables of runs as organisers write them, and what is wrong with those that are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import AssayError
from assay.io import read_info
from tests.conftest import real_data


def written(tmp_path: Path, text: str, name: str = "runs.csv") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("run", ["run", "tag", "RunID", "run_id"])
@pytest.mark.parametrize("team", ["team", "group", "Participant"])
def test_common_names_of_columns(tmp_path: Path, run: str, team: str) -> None:
    info = read_info(written(tmp_path, f"{team},{run},runtype\nlab,bm25,automatic\n"))
    assert info.column("team") == info.column("group") == info.column(team) == {"bm25": "lab"}
    assert info.column("type") == {"bm25": "automatic"}
    assert "year" not in info


def test_the_leaderboard_of_trec_covid_as_it_is() -> None:
    info = read_info(real_data("trec-covid-round1/leaderboard.csv"))
    assert len(info.rows) == 143
    assert info.column("team")["run1"] == "GUIR_S2"
    assert set(info.column("type").values()) == {"automatic", "manual"}
    assert info.of_runs("query", ["run1", "nobody"]) == [None, None]
    groups = info.groups("type", list(info.rows))
    assert sum(map(len, groups.values())) == 143


def test_groups_keep_the_order_of_runs_and_leave_out_what_is_not_said(tmp_path: Path) -> None:
    info = read_info(written(tmp_path, "run,team\na,x\nb,y\nc,x\nd,\n"))
    assert info.groups("team", ["c", "b", "a", "d", "e"]) == {"x": ["c", "a"], "y": ["b"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name_of_it,team\na,x\n", "no column of runs (run, tag, runid"),
        ("run,team\na,x\na,y\n", ":3: run 'a' is there twice; keep one row"),
        ("run,team\na\n", "1 cells where the header has 2"),
        ("", "the file is empty"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(AssayError) as error:
        read_info(written(tmp_path, text))
    assert message in str(error.value)


def test_columns_and_runs_that_are_not_there(tmp_path: Path) -> None:
    info = read_info(written(tmp_path, "run,team\na,x\n"))
    with pytest.raises(AssayError, match="no column 'teem'; did you mean team"):
        info.column("teem")
    with pytest.raises(AssayError, match="none of the 2 runs is in this file; its runs are a"):
        info.groups("team", ["p", "q"])
