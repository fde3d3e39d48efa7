"""Plain English: the worst words of the list in CONTRIBUTING are gone from docs, README and help, and stay away."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

# What is not to be said → what to say instead. Patterns take in a line break between two words.
WORDS = {
    r"\bparted\s+(by|at|with)\b": "separated by",
    r"\bare\s+parted\b": "are separated",
    r"-manieth\b": "every nth",
    r"\bso\s+many\b(?!\s+\w+\s+that\b)": "this many, or at most N",
    r"\bin\s+doubt\b": "uncertain",
    r"\btold\s+by\b": "recognised by, given by",
    r"\bunless\s+told\b": "by default",
    r"\b(?:can\s+be|was|is)\s+told\b(?!\s+(?:to|apart)\b)": "given, recognised",
    r"\b(?:do|does|did)\s+not\s+differ\b": "not significantly different, or: have the same score",
    r"\bwhat\s+a\s+topic\s+counts\b": "score of a topic",
    r"\bwhom\b": "who, or another sentence",
    r"\bdrawn\s+anew\b": "resampled, drawn again",
    r"\blest\b": "so that … not",
}
# Docstrings and comments that still say so. An entry goes when its file is next rewritten; none is added.
LEFT = {
    ("core/registry.py", "so many"),
    ("data/quantities.py", "can be told"),
    ("io/files.py", "told by"),
    ("io/labels.py", "can be told"),
    ("io/labels.py", "parted at"),
    ("io/rows.py", "are parted"),
    ("io/trec.py", "is told"),
    ("nojudgments/ranking.py", "so many"),
    ("pooling/sampling.py", "so many"),
    ("report/figures/data.py", "unless told"),
    ("report/figures/plan.py", "-manieth"),
    ("report/figures/stats.py", "unless told"),
    ("report/material.py", "was told"),
    ("similarity/drank.py", "drawn anew"),
    ("standard/factors.py", "do not differ"),
    ("standard/variance.py", "do not differ"),
    ("stats/resampling.py", "drawn anew"),
    ("studies/__init__.py", "lest"),
    ("studies/arms.py", "so many"),
    ("topics/clusters.py", "so many"),
    ("topics/exact.py", "so many"),
    ("topics/exact.py", "told by"),
    ("topics/nsga.py", "drawn anew"),
}
GENERATED = ROOT / "docs" / "reference"


def texts() -> list[Path]:
    """Files that people read: source, templates, pages. The generated reference repeats the source."""
    source = [p for p in (ROOT / "src").rglob("*") if p.suffix in (".py", ".html", ".js")]
    pages = [p for p in (ROOT / "docs").rglob("*") if p.suffix in (".md", ".py") and GENERATED not in p.parents]
    return sorted([*source, *pages, ROOT / "README.md"])


@pytest.mark.parametrize("pattern", WORDS)
def test_invented_words_are_gone(pattern: str) -> None:
    found = []
    for path in texts():
        text = path.read_text()
        name = path.relative_to(ROOT).as_posix().removeprefix("src/assay/")
        for match in re.finditer(pattern, text, re.IGNORECASE):
            if (name, match.group().lower()) in LEFT:
                continue
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{path.relative_to(ROOT)}:{line}: {match.group()!r}; say: {WORDS[pattern]}")
    assert found == []


def test_the_list_finds_what_it_should_and_nothing_else() -> None:
    bad = [
        "numbers parted by commas",
        "every so-manieth pair",
        "judgments in doubt",
        "Show only so many runs",
        "told by",
    ]
    fine = ["separated by", "departed by train", "so many judgments that it overflows", "told apart", "is told to stop"]
    assert all(any(re.search(p, text) for p in WORDS) for text in bad)
    assert not any(re.search(p, text) for p in WORDS for text in fine)
