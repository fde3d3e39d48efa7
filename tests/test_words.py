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
        for match in re.finditer(pattern, text, re.IGNORECASE):
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
