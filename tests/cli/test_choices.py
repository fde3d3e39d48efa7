"""What an option offers is a constant of the library, and the library takes these words and refuses all others."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path
from typing import Any

import click
import pytest

from assay.cli.commands import KnownWord
from assay.core.tables import FORMATS
from tests.cli.test_options import COMMANDS
from tests.conftest import ROOT
from tests.hostile.calls import CALLS, call, named, on_a_store
from tests.hostile.test_commands import Files

SOURCES = sorted((ROOT / "src" / "assay" / "cli").glob("*.py"))
COLLECTIONS = "--collection one {qrels} {run folder} --collection other {qrels} {run folder}"
PREDICT_COMPARE = f"predict compare {COLLECTIONS} --method sakai-lin --method emap"
PREDICT_TRANSFER = f"predict transfer {COLLECTIONS} --method sakai-lin --method emap --model ridge"
STORED = ["store add collection judged", "store add qrels judged {qrels}", "store add runs judged {run}"]
"""What fills the store that the calls on a store find as {out}/store."""
CALLED = {
    "score --draw": "score --qrels {qrels} {run} --figure {out}/drawn.svg",
    "score -R": "score --qrels {qrels} {run} --format trec_eval",
    "score -T": "score --qrels {qrels} {run} --format trec_eval",
    "compare factorial --only": "compare factorial {grid}",
    "similarity runs --ties": "similarity runs {run} {one run}",
    "pool make --by": "pool make {run} {runs}",
    "pool contributions --by": "pool contributions {run} {runs}",
    "pool bias --by": "pool bias {run} {runs} --qrels {qrels}",
    "pool adjust --by": "pool adjust {run} {runs} --qrels {qrels} --run b",
    "crowd aggregate --give": "crowd aggregate {labels} --scale 4 --method dawid-skene",
    "crowd transform --unjudged": "crowd transform {labels} --scale 4 --levels 3 --way D_a+t --target {qrels}",
    "crowd transform --aggregate": "crowd transform {labels} --scale 4 --way H_a+t",
    "fairness --unknown": "fairness --qrels {qrels} --groups {doc groups} {run} {runs}",
    "topics clusters --pca-columns": "topics clusters {matrix} --repetitions 5 --pca 2",
    "interleave pairs --no-clicks": "interleave pairs {teams}",
    "predict rank --per-group": "predict rank {run} {runs} --qrels {qrels} --info {groups} --by group",
    "predict rank --scale": "predict rank {run} {runs} --method sakai-lin --save {out}/predicted.csv",
    "predict accuracy --per-group": "predict accuracy {run} {runs} --qrels {qrels} --info {groups} --by group",
    "predict difficulty --order": "predict difficulty {run} {runs} --qrels {qrels} --method sakai-lin --quarters",
    "predict compare --statistic": PREDICT_COMPARE,
    "predict compare --level": PREDICT_COMPARE,
    "predict compare --boxes": f"{PREDICT_COMPARE} --figure {{out}}/boxes.svg",
    "predict transfer --statistic": PREDICT_TRANSFER,
    "predict transfer --level": PREDICT_TRANSFER,
    "store add campaign --protocol": "store add campaign pilot judged --store {out}/store",
    "store add experiment --form": "store add experiment crowd judged --depth 2 --store {out}/store",
    "store add person --role": "store add person ann --store {out}/store",
    "store add runs --type": "store add runs judged {runs} --store {out}/store",
    "store add runs --visibility": "store add runs judged {runs} --store {out}/store",
}
"""Calls in which an option has an effect, where the usual call of its command names it or leaves it without one."""


def choices(kind: type[click.ParamType[Any]]) -> list[tuple[str, click.Option]]:
    """Every option of this type, with the words of its command."""
    return [
        (words, option)
        for words, command in COMMANDS.items()
        for option in command.params
        if isinstance(option, click.Option) and isinstance(option.type, kind)
    ]


KNOWN_WORDS = [
    pytest.param(*pair, id=f"{pair[0]} {pair[1].opts[0]}")
    for pair in choices(KnownWord)
    if pair[1].opts[0]
    != "--engine"  # of every command the same, and tried in tests/engines, since clusters are started
]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_no_choice_is_typed_in_a_command(path: Path) -> None:
    """Neither a list or tuple in the call of Choice, nor a constant of the module that is one."""
    tree = ast.parse(path.read_text())
    typed = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.Tuple | ast.Set)
        for target in node.targets
        if isinstance(target, ast.Name) and all(isinstance(part, ast.Constant) for part in node.value.elts)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Choice"):
            [given] = node.args
            assert not isinstance(given, ast.List | ast.Tuple | ast.Set), ast.unparse(node)
            assert not (isinstance(given, ast.Name) and given.id in typed), ast.unparse(node)


@pytest.mark.parametrize(("words", "option"), KNOWN_WORDS)
def test_a_default_is_one_of_the_words(words: str, option: click.Option) -> None:
    assert isinstance(option.type, KnownWord)
    assert option.type.choices
    default = option.to_info_dict()["default"]
    assert default is None or default in option.type.choices


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(tmp_path_factory.mktemp("choices"))


@pytest.fixture(scope="module")
def store(files: Files) -> Path:
    """A store with one collection, its judgments and a run."""
    folder = files.folder / "store"
    for template in STORED:
        outcome = call([*files.arguments(template), "--store", str(folder)])
        assert outcome.code == 0, outcome.err
    return folder


def call_of(words: str, option: click.Option, files: Files, store: Path) -> list[str]:
    """A call of the command on good files in which the option has an effect; what an earlier call wrote is gone."""
    files.empty_out()
    template = CALLED.get(f"{words} {option.opts[0]}")
    if template is None:
        template = next(usual for usual in CALLS if named(usual) == words and "--format" not in usual)
    if on_a_store(words):
        shutil.copytree(store, files.out / "store")
    return files.arguments(template)


@pytest.mark.parametrize(("words", "option"), KNOWN_WORDS)
def test_the_library_refuses_what_the_option_does_not_offer(
    words: str, option: click.Option, files: Files, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the option's own check taken away the library still says what it knows: just what is offered."""
    monkeypatch.setattr(KnownWord, "convert", lambda self, value, param, ctx: value)
    outcome = call([*call_of(words, option, files, store), option.opts[0], "no-such-word"])
    assert outcome.fell_over is None
    assert outcome.code == 2, outcome.err
    assert isinstance(option.type, KnownWord)
    assert outcome.err.rstrip().endswith(f"'no-such-word'; known: {', '.join(option.type.choices)}"), outcome.err


@pytest.mark.parametrize(("words", "option"), KNOWN_WORDS)
def test_the_library_takes_what_the_option_offers(words: str, option: click.Option, files: Files, store: Path) -> None:
    """Each word, or the library says what else it needs; it never says that it does not know the word."""
    assert isinstance(option.type, KnownWord)
    for word in option.type.choices:
        outcome = call([*call_of(words, option, files, store), option.opts[0], word])
        assert outcome.fell_over is None
        assert "known: " not in outcome.err
        assert outcome.code in (0, 2)


def test_formats_are_those_of_tables() -> None:
    plain = [(words, option) for words, option in choices(click.Choice) if not isinstance(option.type, KnownWord)]
    for words, option in plain:
        assert isinstance(option.type, click.Choice)
        assert option.opts == ["--format"], words
        assert set(option.type.choices) <= {*FORMATS, "trec_eval", "junit"}
