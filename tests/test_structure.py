"""What keeps the project in order: imports point one way, sizes stay small, all is documented."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay
from assay.cli.main import COMMANDS
from assay.core.registry import Registry
from assay.measures import MEASURES
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "docs"))
from make_reference import PACKAGES, exported  # type: ignore[import-not-found]

SOURCE = ROOT / "src" / "assay"
LAYERS = [
    "version", "core", "data", "io", "rankings", "measures", "scoring", "parts", "spark", "trec_eval", "check", "stats",
    "standard", "plan", "hierarchy", "gate", "interleaving", "similarity", "agreement", "crowd", "pooling", "topics",
    "board", "replication", "nojudgments", "judges", "studies", "report", "store", "web", "cli",
]  # fmt: skip
MODULES = sorted(SOURCE.rglob("*.py"))
FORBIDDEN = {"utils", "util", "common", "helpers", "misc", "base_classes"}


def layer(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """The layers that a module imports, also inside functions; not what only type checkers see."""
    tree = ast.parse(path.read_text())
    unseen = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in unseen:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("assay."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.ImportFrom) and node.module == "assay":
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (n.name.split(".")[1] for n in node.names if n.name.startswith("assay."))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_to_earlier_layers(path: Path) -> None:
    if path == SOURCE / "__init__.py":
        return
    own = layer(path)
    assert own in LAYERS, f"{own} has no place in the layers"
    for other in imports(path):
        if other in LAYERS and other != own:
            assert LAYERS.index(other) < LAYERS.index(own), (
                f"{path.relative_to(SOURCE)} imports {other}, which comes later"
            )


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_is_one_idea(path: Path) -> None:
    text = path.read_text()
    assert not FORBIDDEN & set(path.relative_to(SOURCE).with_suffix("").parts)
    assert len(text.splitlines()) <= 400
    if text.strip():
        assert ast.get_docstring(ast.parse(text)), "a module says what question it answers"
    assert not re.search(r"\b(TODO|FIXME|XXX)\b|NotImplementedError", text)


def functions() -> Iterator[tuple[Path, ast.FunctionDef]]:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                yield path, node


def size(node: ast.FunctionDef) -> int:
    """Lines of code of a function, without its signature and docstring."""
    body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
    return (node.end_lineno or 0) - body[0].lineno + 1


def test_functions_are_small() -> None:
    sizes = [size(node) for _, node in functions()]
    assert statistics.median(sizes) <= 8
    long = [f"{p.name}:{n.name} {size(n)}" for p, n in functions() if size(n) > 45]
    assert not long


def test_public_functions_and_classes_have_docstrings() -> None:
    bare = [
        f"{path.relative_to(SOURCE)}:{node.name}"
        for path in MODULES
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert not bare


def stem_owner(path: Path) -> str:
    """What a module's name stands for: figures and commands carry the names of packages, formats those of types."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    if parts[0] == "cli" or parts[:2] == ("report", "figures"):
        return "/".join(parts)
    if parts[0] in ("data", "io"):
        return f"data/{parts[-1]}"
    return "/".join(parts)


def test_a_stem_stands_for_one_thing() -> None:
    owners: dict[str, set[str]] = {}
    for path in MODULES:
        if path.stem != "__init__" and path.relative_to(SOURCE).parts[0] != "cli" and "figures" not in path.parts:
            owners.setdefault(path.stem, set()).add(stem_owner(path))
    assert {stem: sorted(found) for stem, found in owners.items() if len(found) > 1} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_exports_a_few_names(package: str) -> None:
    module = importlib.import_module(f"assay.{package}")
    assert 3 <= len(module.__all__) <= 15
    assert sorted(module.__all__) == list(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_every_exported_name_has_an_example_and_stands_in_the_reference() -> None:
    reference = (ROOT / "docs" / "reference" / "api.md").read_text()
    bare = []
    for module, name, thing in exported():
        assert f"{module}.{name}" in reference
        registered = isinstance(thing, Registry)
        assert registered or inspect.isclass(thing) or inspect.isfunction(thing), (
            f"{module}.{name} cannot be documented"
        )
        is_error = inspect.isclass(thing) and issubclass(thing, Exception)
        if (
            (inspect.isclass(thing) or inspect.isfunction(thing))
            and not is_error
            and ">>>" not in (thing.__doc__ or "")
        ):
            bare.append(f"{module}.{name}")
    assert not bare


def test_names_of_python_and_of_commands_match() -> None:
    same = {
        "check", "compare", "gate", "similarity", "agreement", "judge", "predict", "pool", "report", "standardize",
    }  # fmt: skip
    assert same <= set(COMMANDS)
    assert same <= set(assay.__all__)


def test_public_names_are_there_and_sorted() -> None:
    assert sorted(assay.__all__) == assay.__all__
    for name in assay.__all__:
        assert getattr(assay, name) is not None
    assert dir(assay) == assay.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = assay.nothing


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_helps_and_is_documented(name: str) -> None:
    module = importlib.import_module(f"assay.cli.{name}")
    assert module.command.help
    assert f"assay {name}" in (ROOT / "docs" / "reference" / "commands.md").read_text()


@pytest.mark.parametrize("entry", list(MEASURES), ids=lambda e: e.name)
def test_every_measure_is_documented(entry: object) -> None:
    function = entry.function  # type: ignore[attr-defined]
    text = inspect.getdoc(function) or ""
    assert text, "what it is, formula, edges"
    name = entry.name  # type: ignore[attr-defined]
    assert f"`{name}" in (ROOT / "docs" / "reference" / "measures.md").read_text()


def test_no_file_that_a_command_wrote_is_kept() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip(f"git does not list the files: {listed.stderr.strip()}")
    at_the_top = {name.partition("/")[0] for name in listed.stdout.splitlines()}
    folders = {".ci", "benchmarks", "coverage", "docs", "reproduction", "src", "tests"}
    files = {".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "constraints.txt"}
    assert at_the_top == folders | files | {"mkdocs.yml", "pyproject.toml"}
