"""Runs and judgments that lie elsewhere: on a real S3 server of this machine, behind https, in file://."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import assay
from assay.core.errors import DataError, MissingExtra
from assay.io.addresses import address_of
from assay.studies import simulate

pytest.importorskip("s3fs")
server = pytest.importorskip("moto.server")
boto3 = pytest.importorskip("boto3")
pytestmark = pytest.mark.filterwarnings("default")  # those of the clients of S3 are not ours

BUCKET = "assay-runs"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ten runs and judgments."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "runs").mkdir()
    small = simulate(topics=4, docs=60, depth=20, runs_per_group=3, manual_runs=0)
    for run in small.runs[:10]:
        assay.write(folder / "runs" / f"{run.name}.run", run)
    assay.write(folder / "qrels.txt", small.qrels)
    return folder


@pytest.fixture(scope="module")
def s3(made: Path) -> Iterator[str]:
    """The same in a bucket of an S3 server on loopback."""
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    environment = pytest.MonkeyPatch()
    host, port = running.get_host_and_port()
    names = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in {**names, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}.items():
        environment.setenv(name, value)
    try:
        client = boto3.client("s3")
        client.create_bucket(Bucket=BUCKET)
        for file in [*(made / "runs").iterdir(), made / "qrels.txt"]:
            client.upload_file(str(file), BUCKET, str(file.relative_to(made)))
        yield f"s3://{BUCKET}"
    finally:
        environment.undo()
        running.stop()


def command(*words: object) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-m", "assay.cli.main", *map(str, words)]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("s3://bucket/a/b.run", "s3://bucket/a/b.run"),
        (Path("gs://bucket/a/b.run"), "gs://bucket/a/b.run"),
        ("https://host/b.run?version=2", "https://host/b.run?version=2"),
        (Path("file:///data/b.run"), "file:///data/b.run"),
        ("/data/b.run", None),
        ("c:/runs/b.run", None),
        ("irds:cranfield", None),
        ("-", None),
    ],
)
def test_an_address_is_known_by_its_scheme(path: str | Path, address: str | None) -> None:
    assert address_of(path) == address


def test_a_bucket_is_scored_as_a_folder_is(made: Path, s3: str) -> None:
    here = assay.evaluate(made / "runs", made / "qrels.txt", "AP nDCG@10")
    there = assay.evaluate(f"{s3}/runs", f"{s3}/qrels.txt", "AP nDCG@10", jobs=2)
    assert there.measures == here.measures
    for one, other in zip(here, there, strict=True):
        assert one.runs == other.runs
        assert one.values.tobytes() == other.values.tobytes()


def test_the_command_line_reads_a_bucket(made: Path, s3: str, tmp_path: Path) -> None:
    here = command("score", made / "runs", "--qrels", made / "qrels.txt", "--save", tmp_path / "here.csv")
    there = command("score", f"{s3}/runs", "--qrels", f"{s3}/qrels.txt", "--save", tmp_path / "there.csv")
    assert (here.returncode, there.returncode) == (0, 0), there.stderr
    assert (tmp_path / "here.csv").read_bytes() == (tmp_path / "there.csv").read_bytes()
    assert here.stdout == there.stdout


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("s3://no-such-bucket/a.run", "s3://no-such-bucket/a.run: no such file or bucket ("),
        (f"s3://{BUCKET}/runs/nobody.run", f"s3://{BUCKET}/runs/nobody.run: no such file or bucket ("),
        ("pigeon://loft/a.run", "pigeon://loft/a.run: no storage is opened by such an address ("),
        ("file:///no/such/a.run", "file:///no/such/a.run: no such file or bucket ("),
    ],
)
def test_what_is_not_there_is_one_line(made: Path, s3: str, run: str, message: str) -> None:
    failed = command("score", run, "--qrels", made / "qrels.txt")
    assert failed.returncode == 2
    assert failed.stderr.startswith(f"assay: {message}")
    assert failed.stderr.count("\n") == 1
    assert failed.stdout == ""


def test_a_bad_line_is_shown_with_the_address(made: Path, s3: str) -> None:
    boto3.client("s3").put_object(Bucket=BUCKET, Key="bad.run", Body=b"1 Q0 a 1 high tag\n")
    with pytest.raises(DataError, match=rf"^s3://{BUCKET}/bad.run:1: "):
        assay.read_run(f"s3://{BUCKET}/bad.run")


def test_a_file_behind_http_and_one_by_its_address(made: Path) -> None:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Nothing is said of requests."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(made)))
    threading.Thread(target=http.serve_forever, daemon=True).start()
    try:
        there = assay.read_qrels(f"http://127.0.0.1:{http.server_port}/qrels.txt")
    finally:
        http.shutdown()
        http.server_close()
    here = assay.read_qrels(made / "qrels.txt")
    assert there.to_dict() == here.to_dict()
    assert assay.read_qrels(f"file://{made}/qrels.txt").to_dict() == here.to_dict()


def test_without_the_extra_an_address_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtra, match=r"^s3://bucket/a.run: fsspec is not installed; .*'assay-ir\[cloud\]'"):
        assay.read_run("s3://bucket/a.run")


def test_an_address_is_opened_as_it_is_written() -> None:
    """Two slashes in a row, or a question with another address in it, are part of it."""
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/b//x.run", b"1 Q0 a 1 2.5 bm25\n")
    (found,) = assay.evaluate(["memory://b//x.run"], {"1": {"a": 1}}, "RR")
    assert found.values.tolist() == [[1.0]]
