"""What every result is: frozen, with tables, and a record of plain values under ASCII keys; CSV is one table."""

from __future__ import annotations

import dataclasses
import inspect
import io
import json
import shlex
import sys
import typing
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import jsonschema
import numpy as np
import polars as pl
import pytest

from assay.core.engine import Engine
from assay.core.errors import AssayError
from assay.core.results import Result, json_text
from assay.core.tables import Table
from assay.data import ScoreMatrix
from assay.measures.explained import explained
from assay.stats import all_pairs, compare
from tests.conftest import ROOT
from tests.hostile.calls import CALLS, call, every_command, named, on_a_store
from tests.hostile.test_commands import Files
from tests.report.zoo import ZOO

sys.path.insert(0, str(ROOT / "docs"))
from make_reference import exported  # type: ignore[import-not-found]

DATA = {"score_matrix", "grades", "labels"}
"""What has a figure and is data, no result."""
NO_RESULTS = {
    "Grades", "IntentQrels", "Labelled", "Labels", "Lists", "Qrels", "Run", "RunsInfo", "ScoreMatrix", "Topics",
    "Collection", "Engine", "Factors", "Figure", "Measure", "PartScores", "CorrectedShare", "Path", "Recognised",
}  # fmt: skip
"""Nouns that functions may return beside results: data, and what is neither."""
MORE = [
    "crowd methods", "measures", "measures AP", "plan curve --delta .05 --sigma .2", "compare pairs {matrix}",
    "plan power --topics 50 --delta .05 --sigma .2", "predict methods", "similarity list",
    "similarity days {run folder} {run folder}", "similarity runs {run} {runs} --pairs",
    "study rbo-and-ap --repetitions 5", "replicate coverage --topics 10 --effects 1 --trials 5 -B 5",
    "score --qrels {qrels} {run} {runs} --per-topic -m AP -m nDCG@10",
    "standardize trend 2019={matrix} 2020={matrix} --reference sys0,sys1",
    "predict learn {run} {runs} --year 2021 --earlier x 2019 {qrels} {run folder} --method sakai-lin --model ridge",
    "predict compare --collection x {qrels} {run folder} --collection y {qrels} {run folder} --method sakai-lin",
    "predict transfer --collection x {qrels} {run folder} --collection y {qrels} {run folder} --method sakai-lin "
    "--model ridge",
    "study methods 'predict(method=sakai-lin)' 'predict(method=soboroff)' --collection x {qrels} {run folder} "
    "--collection y {qrels} {run folder} --sizes 2,3 --subsets 3",
]  # fmt: skip
SEVERAL_TABLES = {
    "answers agreement",
    "crowd aggregate",
    "crowd allocate",
    "crowd check",
    "crowd compare",
    "crowd cut-groups",
    "crowd cuts",
    "crowd effort",
    "crowd preferences",
    "crowd transform",
    "judge audit",
}
"""Commands whose tables are chosen with --show."""


def keys(thing: object) -> Iterator[str]:
    """All keys of a record."""
    if isinstance(thing, dict):
        for key, value in thing.items():
            yield key
            yield from keys(value)
    elif isinstance(thing, list | tuple):
        for value in thing:
            yield from keys(value)


@pytest.mark.parametrize("name", sorted(set(ZOO) - DATA))
def test_a_result_is_frozen_and_has_tables_and_a_record(name: str) -> None:
    result: Any = ZOO[name]()
    assert isinstance(result, Result)
    assert dataclasses.is_dataclass(result)
    assert result.__dataclass_params__.frozen
    assert isinstance(result.table(), Table)
    record = result.record()
    assert json.loads(json.dumps(record, allow_nan=False))  # plain values, and no NaN, which is no JSON
    assert [key for key in keys(record) if not key.isascii()] == []
    columns = result.table().keys
    assert len(set(columns)) == len(columns)


def test_a_corrected_p_is_always_called_that() -> None:
    rng = np.random.default_rng(0)
    for count in (2, 4):
        matrix = ScoreMatrix.of(rng.random((count, 8)))
        for test in ("t", "tukey", "randomisation"):
            for correction in ("holm", "bh", "none"):
                row = compare(matrix, test=test, correction=correction, resamples=50).record()["rows"][1]
                assert "p_corrected" in row
                assert {"delta", "delta_low", "delta_high", "effect"} <= set(row)
                pair = all_pairs(matrix, test, correction=correction, resamples=50).record()["rows"][0]
                assert {"p", "p_corrected", "delta", "delta_low", "delta_high"} <= set(pair)


def test_a_thing_has_one_key_in_all_commands() -> None:
    """A corrected p is p_corrected, and Spearman's correlation spearman: ρ is what Roitero calls Pearson's."""
    keys_of_rows = {key for command in SCHEMA["$defs"].values() for key in keys(command)}
    assert {"p_corrected", "pearson", "spearman"} <= keys_of_rows
    assert not {"corrected_p", "rho"} & keys_of_rows


def classes(annotation: object) -> Iterator[type]:
    """The classes that an annotation names."""
    if inspect.isclass(annotation) and not typing.get_args(annotation):
        yield annotation
    for part in typing.get_args(annotation):
        yield from classes(part)


def returned_by(function: Callable[..., Any]) -> object:
    """What a function says that it returns; names that only type checkers see may stand in its parameters."""
    said = function.__annotations__.get("return", "")
    if not isinstance(said, str) or "Path" in said:
        return said
    return eval(said, vars(sys.modules[function.__module__]), {"npt": np.typing, "Engine": Engine, "DataFrame": object})


def test_public_functions_return_data_plain_values_or_results() -> None:
    odd = []
    for module, name, function in exported():
        if not inspect.isfunction(function):
            continue
        for kind in classes(returned_by(function)):
            fine = issubclass(kind, Result) or kind.__name__ in NO_RESULTS or not kind.__module__.startswith("assay")
            if not fine:
                odd.append(f"{module}.{name}: {kind.__name__}")
    assert odd == []


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("results"))


def shows_tables(template: str) -> bool:
    return "--format" not in template and not template.startswith("report")


@pytest.mark.parametrize("template", [t for t in [*CALLS, *MORE] if shows_tables(t)])
def test_csv_is_one_table_and_json_is_json(template: str, files: Files) -> None:
    words = files.arguments(template) if "{" in template else shlex.split(template)
    files.empty_out()
    as_json = call([*words, "--format", "json"])
    assert as_json.code in (0, 1), as_json.err
    record = json.loads(as_json.out, parse_constant=lambda text: pytest.fail(f"{text} is no JSON"))
    assert [key for key in keys(record) if not key.isascii()] == []
    assert_fits_the_schema(record, named(template))
    files.empty_out()
    as_csv = call([*words, "--format", "csv"])
    if " ".join(words[:2]) in SEVERAL_TABLES and as_csv.code == 2:
        first = as_csv.err.partition("choose it with --show, one of: ")[2].partition(",")[0]
        as_csv = call([*words, "--format", "csv", "--show", first])
    assert as_csv.code in (0, 1), as_csv.err
    table = pl.read_csv(io.StringIO(as_csv.out), infer_schema_length=None)
    assert all(name.isascii() for name in table.columns)
    assert len({len(line) for line in rows_of(as_csv.out)}) == 1


SCHEMA = json.loads((ROOT / "docs" / "reference" / "schema.json").read_text())


def assert_fits_the_schema(printed: Any, command: str) -> None:
    """What a command prints is what the published schema says of it, and of all commands."""
    jsonschema.validate(printed, SCHEMA)
    assert command in SCHEMA["$defs"], f"{command} is not in the schema; run python docs/make_reference.py"
    jsonschema.validate(printed, {"$ref": f"#/$defs/{quote(command)}", "$defs": SCHEMA["$defs"]})
    for record in printed if isinstance(printed, list) else [printed]:
        columns = [column["key"] for column in record["columns"]]
        assert all(list(row) == columns for row in record["rows"])
        assert [key for key in columns if key != key.lower() and not is_measure(key)] == []


def is_measure(key: str) -> bool:
    """Whether a column is named for a measure, or for the marks beside it."""
    try:
        explained(key.removesuffix("_marks"))
    except AssayError:
        return False
    return True


@pytest.mark.parametrize(
    ("broken", "where"),
    [
        (lambda record: record.pop("rows"), "rows"),
        (lambda record: record["rows"][0].pop("p_corrected"), "p_corrected"),
        (lambda record: record["rows"][0].update(mean="high"), "mean"),
        (lambda record: record.pop("verdict"), "verdict"),
        (lambda record: record.update(result="other"), "result"),
    ],
)
def test_the_schema_finds_what_is_missing_or_wrong(broken: Callable[[Any], object], where: str) -> None:
    board = compare(ScoreMatrix.of(np.random.default_rng(0).random((3, 8)), measure="AP"))
    record = json.loads(json_text([board.table()], board))
    assert_fits_the_schema(record, "compare runs")
    broken(record)
    with pytest.raises(jsonschema.ValidationError, match=where):
        assert_fits_the_schema(record, "compare runs")


def test_every_command_that_prints_tables_is_in_the_schema() -> None:
    silent = {"demo", "help", "report"}
    others = {command for command in every_command() if not on_a_store(command)}
    assert set(SCHEMA["$defs"]) - {"record"} == others - silent


def test_keys_that_read_as_names_of_measures_are_in_the_schema() -> None:
    """The measures P, F and Judged are no reason to leave out the columns p, f and judged."""
    page = (ROOT / "docs" / "reference" / "json.md").read_text()
    for command, keys in {"compare anova": ("f", "p"), "compare pairs": ("p", "p_corrected", "wins")}.items():
        rows = SCHEMA["$defs"][command]["else"]["properties"]["rows"]["items"]
        assert set(keys) <= set(rows["properties"]), command
        section = page.partition(f"## assay {command}\n")[2].partition("\n## ")[0]
        assert all(f"`{key}`" in section for key in keys), command


def test_the_schema_that_is_shipped_is_the_published_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert call(["help", "schema"]).out == (ROOT / "docs" / "reference" / "schema.json").read_text()


def rows_of(text: str) -> list[list[str]]:
    """The rows of a CSV."""
    import csv

    return list(csv.reader(io.StringIO(text)))
