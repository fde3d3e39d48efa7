"""Registry, engine and tables: the small things everything stands on."""

from __future__ import annotations

import ast
import functools
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.core.engine import chunks, generator, generators, ordered_map
from assay.core.errors import UsageError
from assay.core.registry import Registry, keyword_parameters, parse_call
from assay.core.tables import Table, render, shown


def test_a_registry_knows_parameters_and_suggests() -> None:
    things: Registry = Registry("thing")  # type: ignore[type-arg]

    @things.register("alpha", colour="red")
    def alpha(x: int, *, k: int = 3) -> int:
        """What it is.

        More of it.
        """
        return x * k

    entry, given = things.parse("alpha(k=2)")
    assert (entry.summary, entry.parameters, entry.facts, given) == (
        "What it is.",
        {"k": 3},
        {"colour": "red"},
        {"k": 2},
    )
    with pytest.raises(UsageError, match="no thing 'alhpa'; did you mean alpha"):
        things["alhpa"]
    with pytest.raises(UsageError, match="alpha: no parameter 'q'; it takes: k"):
        things.parse("alpha(q=1)")
    with pytest.raises(UsageError, match="registered twice"):
        things.register("alpha")(alpha)


@pytest.mark.parametrize("text", ["a(b", "a(b)", "a(1,2)"])
def test_a_broken_call_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_call(text)


def square(x: int) -> int:
    return x * x


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("threads", [True, False])
def test_the_number_of_jobs_changes_nothing(jobs: int, threads: bool) -> None:
    told: list[tuple[int, int]] = []
    result = ordered_map(square, range(5), jobs=jobs, threads=threads, progress=lambda a, b: told.append((a, b)))
    assert result == [0, 1, 4, 9, 16]
    assert told[-1] == (5, 5)


def root(x: float) -> float:
    if x < 0:
        raise UsageError(f"{x} has no root")
    return float(x**0.5)


def test_copies_of_the_process_answer_in_order_and_raise_what_was_raised() -> None:
    numbers = [float(i * i) for i in range(20)]
    assert ordered_map(root, numbers, jobs=3, forks=True) == [float(i) for i in range(20)]
    told: list[int] = []
    with pytest.raises(UsageError, match=r"-1.0 has no root"):
        ordered_map(root, [*numbers, -1.0, *numbers], jobs=2, forks=True, progress=lambda a, _: told.append(a))
    assert told[-1] == 20
    local = 3
    assert ordered_map(lambda x: x + local, range(9), jobs=2, forks=True) == list(range(3, 12))


def test_seeds_are_a_function_of_seed_and_place() -> None:
    assert [g.integers(1 << 30) for g in generators(7, 3)] == [g.integers(1 << 30) for g in generators(7, 5)][:3]
    rng = np.random.default_rng(1)
    assert generator(rng) is rng
    assert list(chunks(0, 3)) == []


TABLE = Table.of(
    {"run": "", "Δ": "+.2f", "p": "p"},
    [("a_1", np.float64(-0.5), 0.2), ("b|<&>", None, 1e-9)],
    caption="A 10% table",
    notes=["note"],
)


def test_renderings() -> None:
    assert TABLE.text().splitlines()[2:] == ["run        Δ       p", "-----  -----  ------", "a_1    −0.50   .2000",
                                             "b|<&>      –  <.0001", "note"]  # fmt: skip
    assert TABLE.csv() == "run,delta,p\na_1,-0.5,0.2\nb|<&>,,1e-09"
    assert "| b\\|<&> | – | <.0001 |" in TABLE.markdown()
    latex = TABLE.latex()
    assert r"a\_1 & $-$0.50 & .2000 \\" in latex
    assert r"\caption{A 10\% table}" in latex
    assert json.loads(render([TABLE], "json"))["rows"][0] == {"run": "a_1", "delta": -0.5, "p": 0.2}
    assert len(json.loads(render([TABLE, TABLE], "json"))) == 2
    assert TABLE.column("p") == [0.2, 1e-9]
    with pytest.raises(UsageError, match="no format 'xml'"):
        render([TABLE], "xml")
    with pytest.raises(UsageError, match="a row of 1 values"):
        Table.of({"a": "", "b": ""}, [("x",)])


def test_a_not_a_number_never_reaches_the_screen() -> None:
    assert Table.of({"x": ".2f"}, [(float("nan"),)]).cells() == [["–"]]
    assert shown(True, "") == "yes"
    assert shown(-0.0001, ".2f") == "0.00"


def test_blank_notes_part_the_text_and_nothing_else() -> None:
    table = Table.of({"a": "d"}, [(1,)], notes=["", "a note"])
    assert table.text().splitlines()[-2:] == ["", "a note"]
    assert table.record()["notes"] == ["a note"]
    assert table.markdown().splitlines()[-2:] == ["", "a note"]
    assert table.latex().count("footnotesize") == 1


def test_latex_knows_every_sign_that_tables_use() -> None:
    """pdflatex stops at a character that it has no glyph for; those past Latin-1 are ours to write out."""
    root = Path(assay.__file__).parent
    files = [p for p in root.rglob("*.py") if p.parent.name not in ("report", "tests")]
    trees = [ast.parse(p.read_text(encoding="utf-8")) for p in files]
    texts = [n.value for t in trees for n in ast.walk(t) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    strings = [t for t in texts if "\n" not in t]  # docstrings of several lines are not shown in tables
    signs = {c for t in strings for c in t if ord(c) > 0x17F}
    assert {c for c in signs if c in Table.of({c: ""}, []).latex()} == set()


def test_a_name_that_is_removed_can_be_given_again() -> None:
    shapes: Registry[Any] = Registry("shape")
    shapes.register("square")(lambda x: x * x)
    shapes.remove("square")
    assert "square" not in shapes
    shapes.register("square")(lambda x: x**2)
    with pytest.raises(UsageError, match="no shape 'circle'"):
        shapes.remove("circle")


def test_a_text_is_taken_apart_by_the_registry_alone() -> None:
    """Others ask for the entry, what is given, a bound function or the answer; measures have a `parse` of their own."""
    taken_apart = []
    for path in Path(assay.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr == "parse" and path.name != "registry.py":
                taken_apart.append(f"{path.name}:{node.lineno}")
    assert taken_apart == []


def test_what_a_text_names_and_gives() -> None:
    things: Registry[Any] = Registry("thing")

    @things.register("scaled", paper="none")
    def scaled(x: float, *, by: float = 2.0, seed: int = 0, how: str = "up") -> tuple[float, int, str]:
        return x * by, seed, how

    assert things.entry("scaled(by=3)").name == "scaled"
    assert things.given("scaled(by=3)") == {"by": 3}
    assert things.bound("scaled(by=3)", seed=7, resamples=9)(2.0) == (6.0, 7, "up")
    # Where a word is wanted, what looks like a number or like none is a word.
    assert things.call("scaled(how=3)", 1.0) == (2.0, 0, "3")
    assert things.call("scaled(how=none)", 1.0) == (2.0, 0, "none")
    with pytest.raises(UsageError, match="no parameter 'size'; it takes: by, seed, how"):
        things.entry("scaled(size=3)")
    with pytest.raises(UsageError, match="by=inf is too large"):
        things.entry("scaled(by=inf)")
    with pytest.raises(UsageError, match="too large; give at most 1e"):
        things.entry(f"scaled(seed={10**30})")
    with pytest.raises(UsageError, match="5 is no name"):
        things.entry(5)  # type: ignore[arg-type]


def test_keyword_parameters_are_those_of_the_signature() -> None:
    def plain(x: int, y: int = 1, *rest: int, k: int, rel: float = 1.0, **others: int) -> None: ...

    @functools.wraps(plain)
    def wrapped(*arguments: Any, **named: Any) -> None: ...

    class Callable:
        def __call__(self, x: int, *, depth: int = 10) -> None: ...

    wanted = {"k": inspect.Parameter.empty, "rel": 1.0}
    assert keyword_parameters(plain) == keyword_parameters(wrapped) == wanted
    assert keyword_parameters(Callable()) == {"depth": 10}
    assert keyword_parameters(functools.partial(plain, 1, k=3)) == {"k": 3, "rel": 1.0}
    assert keyword_parameters(lambda x: x) == {}
    wrapped.__signature__ = inspect.Signature()  # type: ignore[attr-defined]
    assert keyword_parameters(wrapped) == {}
