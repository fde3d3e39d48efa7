"""What crowd-kit says of the released labels: the golden rows that tests/golden/make_crowd.py writes."""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from assay.core.arrays import Ints
from assay.data import Labels, Qrels
from assay.io import read_qrels
from assay.io.labels import read_labels
from tests.conftest import real_data

GOLDEN = Path(__file__).resolve().parent.parent / "golden"


@cache
def s100() -> Labels:
    """The TREC-8 labels on 0–100."""
    return read_labels(real_data("crowd-s100-trec8/judgments.tsv.xz"), times=100)


@cache
def nist() -> Qrels:
    """The TREC-8 judgments of the same docs."""
    return read_qrels(real_data("crowd-s100-trec8/trec8-qrels.txt"))


@cache
def binary_labels(name: str) -> Labels:
    """S100 with 50 and more as relevant, or one of the two label files of TREC 2011 (votes, others)."""
    if name == "s100":
        return replace(s100(), label=(s100().label >= 50).astype(float))
    file = {"votes": "votes", "others": "otherparticipantsvotes"}[name]
    return read_labels(real_data(f"crowd-trec2011/{file}.tsv.xz"), split="_")


def golden_rows(file: str) -> list[dict[str, str]]:
    """The rows of a golden file."""
    with (GOLDEN / file).open() as text:
        return list(csv.DictReader(text))


@cache
def crowd_kit() -> dict[tuple[str, str, str], dict[str, str]]:
    """(set, method, call) → iterations, share and labels."""
    return {(r["set"], r["method"], r["call"]): r for r in golden_rows("crowd_kit.csv")}


def crowd_kit_labels(name: str, method: str, call: str = "file") -> Ints:
    """The label that crowd-kit gives to each doc, in the order of our items."""
    row = crowd_kit()[name, method, call]
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(row["labels"]), dtype=np.uint8))
    return bits[: int(row["docs"])].astype(np.int64)
