"""Everything in and out: export and rebuild, backup while people judge, check, uploads, full disks."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard

import assay
from assay.core.errors import DataError, UsageError
from assay.data import Run
from assay.store import Store
from assay.store.schema import answers, items, sa
from assay.store.uploads import Limits
from tests.store.conftest import BACKENDS


def fill(store: Store) -> None:
    """A bit of everything."""
    store.people.add("ann")
    store.people.add("bob <b>", "organiser")
    store.collections.add(
        "pets / ☃", topics={"1": {"title": "cats", "description": "two\nlines"}, "2": "dogs"},
        docs={"a": {"title": "A", "text": "aaa\u2028b"}, "b": "bbb"}, title="T", year=2020, measure="nDCG@10",
    )  # fmt: skip
    store.qrels.add("pets / ☃", {"1": {"a": 1, "b": 0}, "2": {"c": 2}}, label="first")
    store.qrels.add("pets / ☃", {"1": {"a": 1, "b": 2}, "2": {"c": 2, "d": 0}})
    generator = np.random.default_rng(0)
    for number in range(4):
        lists = {topic: generator.permutation(list("abcdef")).tolist() for topic in ("1", "2")}
        store.runs.add("pets / ☃", Run.from_lists(f"r{number}", lists), team="x", owner="ann", manual=number > 1)
    store.references.add("pets / ☃", "base", ["r0", "r1"])
    store.scores.certify(store.runs.find("pets / ☃", "r2").hash, "AP", qrels=1)
    table = "paper,year,collection,baseline,improved\nSmith,2004,pets / ☃,.2,.3\n"
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"published-{os.getpid()}.csv"
    path.write_text(table)
    store.published.add(path)
    path.unlink()
    campaign = store.campaigns.add("c", "pets / ☃", labels=2, order="hedge", gold={("1", "g"): 1})
    for number in range(6):
        for name in ("ann", "bob <b>"):
            for asked in campaign.next(name):
                campaign.judge(name, asked.item, number % 4, seconds=number)
    campaign.undo("ann")
    (asked,) = campaign.next("ann")
    campaign.skip("ann", asked.item)
    (asked,) = campaign.next("ann")
    campaign.cannot_judge("ann", asked.item, "broken")


def content(store: Store) -> dict[str, object]:
    """All answers of a store."""
    name = "pets / ☃"
    campaign = store.campaigns["c"]
    log = [
        (g.id, g.topic, g.doc, g.person, g.kind, g.label, g.reason, g.seconds, g.takes_back, g.counted, g.made)
        for g in campaign.history()
    ]
    runs = [(run.hash, run.tag, run.team, run.kind, run.owner, run.made) for run in store.runs.listed(name)]
    return {
        "people": [(person.name, person.role) for person in store.people.listed()],
        "topics": store.collections.topics(name).to_dict(),
        "docs": store.collections.docs(name),
        "qrels": [(v.version, v.hash, v.label, v.made) for v in store.qrels.listed(name)],
        "runs": runs,
        "scores": {v: store.scores.of(name, "AP nDCG@10", qrels=v).to_dict() for v in (1, 2)},
        "standardized": store.references.standardized(name, "base", resamples=50).low.tolist(),
        "published": store.published.listed(),
        "labels": str(campaign.labels().to_dict()),
        "log": log,
        "grades": campaign.qrels().to_dict(),
        "next": [(one.topic, one.doc) for one in campaign.upcoming(5).docs],
        "progress": campaign.progress(),
    }


@pytest.mark.parametrize("target", BACKENDS)
def test_a_store_is_exported_and_rebuilt_to_the_same_answers(
    store: Store, tmp_path: Path, target: str, new_database: Callable[[str], tuple[str, Path]]
) -> None:
    fill(store)
    folder = store.export(tmp_path / "out")
    where, files = new_database(target)
    with Store.rebuilt(folder, where, files=files) as again:
        assert content(again) == content(store)
        assert again.check().errors == 0
        (certificate,) = (folder / "collections").glob("*/certificates.jsonl")
        address = certificate.read_text().split('"address": "')[1][:32]
        assert again.scores.certificate(address).score == store.scores.certificate(address).score
        run = again.runs.find("pets / ☃", "r2")
        assert again.scores.certify(run.hash, "AP", qrels=1).address == address
    with pytest.raises(UsageError, match="there is something already"):
        store.export(folder)
    with pytest.raises(UsageError, match="the store is not empty"):
        Store.rebuilt(folder, where, files=files)


def test_what_was_exported_is_read_by_every_command(store: Store, tmp_path: Path) -> None:
    fill(store)
    folder = store.export(tmp_path / "out")
    (collection,) = (folder / "collections").iterdir()
    (campaign,) = (folder / "campaigns").iterdir()
    runs = sorted((collection / "runs").iterdir())
    scores = assay.evaluate([str(path) for path in runs], str(collection / "qrels" / "2.qrels"), "AP")
    assert sorted(scores.runs) == ["r0", "r1", "r2", "r3"]
    assert assay.read_topics(collection / "topics.jsonl").to_dict() == store.collections.topics("pets / ☃").to_dict()
    assert len(assay.read_labels(campaign / "labels.csv")) == len(store.campaigns["c"].labels())
    assert assay.read_qrels(campaign / "qrels.txt").to_dict() == store.campaigns["c"].qrels().to_dict()
    inside = [path.name for path in folder.rglob("*")]
    assert not any("☃" in name or " " in name for name in inside)


def test_an_import_that_fails_leaves_nothing(store: Store, tmp_path: Path) -> None:
    fill(store)
    folder = store.export(tmp_path / "out")
    (log,) = folder.glob("campaigns/*/judgments.jsonl")
    log.write_text(log.read_text() + "{broken\n")
    target = tmp_path / "new"
    with pytest.raises(DataError, match=r"judgments\.jsonl:\d+: not JSON"):
        Store.rebuilt(folder, target)
    with Store(target) as empty:
        assert empty.collections.listed() == []
        assert list(empty.files.hashes()) == []


def test_a_backup_while_people_judge_is_a_whole_store(store: Store, tmp_path: Path) -> None:
    fill(store)
    store.campaigns["c"].close()
    store.runs.add("pets / ☃", Run.from_lists("long", {"1": [f"d{i}" for i in range(300)]}))
    campaign = store.campaigns.add("busy", "pets / ☃", runs=["long"], pool="depth(k=300)", scale="S2")
    stop = threading.Event()
    kept: list[str] = []

    def judge() -> None:
        while not stop.is_set():
            for asked in campaign.next("ann"):
                kept.append(campaign.judge("ann", asked.item, 1).id)

    worker = threading.Thread(target=judge)
    worker.start()
    try:
        copies = []
        for number in range(3):
            before = set(kept)
            copies.append((before, store.backup(tmp_path / f"backup{number}")))
    finally:
        stop.set()
        worker.join()
    for before, folder in copies:
        with Store(folder) as copy:
            assert copy.check().errors == 0
            there = {given.id for given in copy.campaigns["busy"].history()}
            assert before <= there <= set(kept)
            assert copy.scores.of("pets / ☃", "AP").to_dict() == store.scores.of("pets / ☃", "AP").to_dict()
            assert content(copy)["labels"] == content(store)["labels"]
    with pytest.raises(UsageError, match="there is something already"):
        store.backup(tmp_path / "backup0")


def test_check_finds_what_is_damaged(store: Store) -> None:
    fill(store)
    assert store.check().errors == 0
    run = store.runs.listed("pets / ☃")[0]
    path = store.files.path(run.hash)
    whole = path.read_bytes()
    path.write_bytes(zstandard.compress(b"1 Q0 x 1 1 x\n"))
    assert next(what for level, _, what in store.check().found if level == "error").endswith("from a backup")
    path.unlink()
    assert store.check().errors == 1
    with pytest.raises(DataError, match="is not there; restore it from a backup"):
        store.runs.read(run.hash)
    path.write_bytes(whole)
    stray = store.files.folder / "ff" / ("f" * 64 + ".zst")
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"x")
    assert store.check().found == (), "it may belong to a run that is being added"
    os.utime(stray, (1, 1))
    assert [(level, what) for level, _, what in store.check().found] == [
        ("remark", "nobody refers to this file; it may be deleted")
    ]
    with store.database.writing() as connection:
        connection.execute(sa.update(items).values(answers=items.c.answers + 1).where(items.c.id == 1))
        connection.execute(sa.delete(answers).where(answers.c.item_id == 2))
    assert store.check().errors >= 2


def run_bytes(lines: int = 3) -> bytes:
    return b"".join(b"1 Q0 d%d %d %d bm25\n" % (i, i, 1000 - i) for i in range(1, lines + 1))


@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, lzma.compress, zstandard.compress], ids=["plain", "gz", "xz", "zst"]
)
def test_an_upload_is_checked_and_then_stored(store: Store, pack: Callable[[bytes], bytes]) -> None:
    store.collections.add("c")
    store.qrels.add("c", {"1": {"d1": 1}})
    upload = store.uploads.check(io.BytesIO(pack(run_bytes())), "../../my run.gz", collection="c")
    assert upload.ok
    assert upload.name == "my run.gz"
    assert any("unjudged" in finding.what for finding in upload.findings.found)
    assert store.runs.listed("c") == []
    (run,) = store.uploads.keep_run(upload, "c", team="x", visibility="private")
    assert store.runs.content(run.hash) == run_bytes()


def test_a_bad_upload_says_the_line_and_stores_nothing(store: Store) -> None:
    store.collections.add("c")
    bad = run_bytes() + b"1 Q0 d9 4 NA bm25\n"
    upload = store.uploads.check(io.BytesIO(bad), "<script>.run")
    assert not upload.ok
    errors = [finding for finding in upload.findings.found if finding.level == "error"]
    assert [(finding.where, finding.line) for finding in errors] == [("<script>.run", 4)]
    with pytest.raises(DataError, match="nothing was stored"):
        store.uploads.keep_run(upload, "c")
    assert store.runs.listed("c") == []
    assert list(store.files.hashes()) == []
    (run,) = store.uploads.keep_run(upload, "c", despite=True)
    assert run.docs == 3
    other = store.uploads.check(io.BytesIO(b"1 0 a 1\n"), "q", kind="qrels")
    assert store.uploads.keep_qrels(other, "c").version == 1
    with pytest.raises(UsageError, match="checked as qrels"):
        store.uploads.keep_run(other, "c")


LIMITS = Limits(sent=50_000, unpacked=1_000_000, lines=1000, line=100, seconds=20)


class Slow(io.RawIOBase):
    """A stream of one byte at a time that never ends."""

    def read(self, size: int = -1) -> bytes:
        import time

        time.sleep(0.01)
        return b"x\n"


@pytest.mark.parametrize(
    ("sent", "limits", "says"),
    [
        (run_bytes(5000), LIMITS, "larger than 50000 bytes"),
        (gzip.compress(bytes(50_000_000)), LIMITS, "a line of more than 100 bytes"),
        (gzip.compress(b"x\n" * 20_000_000), LIMITS, "unpacks to more than 1000000|more than 1000 lines"),
        (lzma.compress(b"\n" * 20_000_000), LIMITS, "more than 1000 lines"),
        (zstandard.compress(b"ab\n" * 20_000_000), LIMITS, "more than 1000 lines|unpacks to more"),
        (run_bytes(1001), LIMITS, "more than 1000 lines"),
        (b"1 Q0 " + b"d" * 200 + b" 1 1 x\n", LIMITS, "run:1: a line of more than 100 bytes"),
        (b"", LIMITS, "the file is empty"),
        (gzip.compress(run_bytes())[:-9], LIMITS, "ends in the middle|damaged"),
        (gzip.compress(run_bytes())[:20] + b"garbage", LIMITS, "damaged|ends in the middle"),
        (lzma.compress(run_bytes())[:30], LIMITS, "ends in the middle|damaged"),
        (b"PAR1" + bytes(50), LIMITS, "Parquet and Arrow are not taken"),
    ],
    ids=range(12),
)
def test_uploads_are_bounded(tmp_path: Path, sent: bytes, limits: Limits, says: str) -> None:
    with Store(tmp_path / "s") as store:
        with pytest.raises(DataError, match=says):
            store.uploads.check(io.BytesIO(sent), "run", limits=limits)
        assert list(store.files.hashes()) == []


def test_an_upload_that_takes_too_long_ends(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store, pytest.raises(DataError, match="took longer than"):
        store.uploads.check(Slow(), "run", limits=Limits(seconds=0.2))  # type: ignore[arg-type]


def test_a_bomb_of_ten_gigabytes_costs_little_memory_and_time(tmp_path: Path) -> None:
    import resource
    import zlib

    packer = zlib.compressobj(9, wbits=31)
    block = b"1 Q0 a 1 1 x\n" * 80_000
    parts = [packer.compress(block) for _ in range(10)]
    bomb = b"".join(parts) + packer.flush()
    members = bomb * 1000  # 1000 members of 10 MB each unpack to 10 GB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Store(tmp_path / "s") as store, pytest.raises(DataError, match="unpacks to more than 100000000 bytes"):
        store.uploads.check(io.BytesIO(members), "bomb.gz", limits=Limits(unpacked=100_000_000, lines=10**9))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000


FULL = """
import resource, sys, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from assay.data import Run
from assay.store import Store
store = Store(sys.argv[1])
size = max(path.stat().st_size for path in store.folder.iterdir() if path.is_file())
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 65536, size + 65536))
import random
for number in range(400):
    lists = {str(t): [f"doc{random.random()}" for _ in range(200)] for t in range(20)}
    try:
        store.runs.add("c", Run.from_lists(f"r{number}", lists))
        for kept in range(60):
            store.collections.add_docs("c", {f"d{number}-{kept}": "x" * 2000})
    except Exception as error:
        print(type(error).__name__, error)
        break
"""


def test_a_disk_that_is_full_is_one_message_and_nothing_is_half_written(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.collections.add("c")
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path / "s")], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith(("NoRoom", "NotNow")), done.stdout + done.stderr
    assert done.stdout.count("\n") == 1
    assert "nothing was written" in done.stdout
    with Store(tmp_path / "s") as store:
        assert store.check().errors == 0
        assert store.files.unfinished() == []
        for run in store.runs.listed("c"):
            assert len(store.runs.read(run.hash).topics) == 20
