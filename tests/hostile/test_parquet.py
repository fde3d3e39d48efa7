"""A Parquet file that kills the parser of Parquet files is an error; whoever reads it goes on."""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from assay.core.errors import DataError
from assay.io import columns, read_run
from tests.hostile.odd_files import parquet

ABORTS = (
    "eNqtVWtMW1Uc//cJNu0Ew7nplaoXRq8wOmgvj7Z0Uy4tr1FYW5msBhdKH0CEllEGXeKSuy0aoujmsuzhB0Nmxod9mGbMuPjBgMpesOFQGSMY"
    "iSSTRIPoF9HEzHNuL0X9gF+8uff8X7//4/z/5+R6eJ8FKVEWYt2YAED+R8V/MhovgAwLFrJwCBCDOBNKoAykRmoJk3EUQI7NCZksM6/+FHkL"
    "kJYuA3UGrVf1x3q7gkhLJahe6rSMrWPTAce/qkbn5G4cSErU9i7WwqxS9/j4Rd0jxdBPjQ5jyy8rRsVvTO4xdKT19swbzxWF7+JlsqP6mbOz"
    "YxdONARshX9cO83kChXM0n3ndV15aLHNqT0gElGamNLS1vmTB4/r6MG1KznL6mwu+mHO8rYDkZvXJl4fzu4eoluOK06UveOYc63OR3Ordsjx"
    "DnvRMZkJOf6xRduETNqiOrOS0boChroLJvfyLk9eY3P45f2jPa0/HGnLfzvU9V7npcvdP37aa5rp7/kucflnrE+1QhGKJRvxMI1aVLDDSnZO"
    "BjjhdBpakJOmwmbGtofwlApcqmRSWHoe1tahUpmuzXgii9I/aXiaycndnmdkn80v2FFo2llUbBbAIgAnQIkApQKUCVAugFUAmwB2ASoEcAiw"
    "S4Ddwu5KB26XoiR755tHz791ZnJ8umaqvS3yfthiHrsXIssV/bkHJ189H7511n8mSajfualTxWOmTdI+cqe7YOFg6XakoY2gxnOOB2N9YXF7"
    "v6ZRgoJdVZE5j6ehq7K/z3kJXpPD9zcyNRkrUTWM5OZxqkcvLfgf7J9vuf/i3L5vmr9+4SvfrPee58u9M013G++4pxum9tyuv1V3s/ZGzfXq"
    "SdcXzs+rPuMnKsc/+Hjq222OZjkoZKmpJf6/qSmlqSn7AtFXkvtKp9bl7LqGHX0MaANVh5opHBxzw0o0KpP4VRUSFBK/rpH0SE631in7YrF+"
    "hE+/1iiXroUR3AZiJhpyOjZkDUGIDcU9xLxYA1AJ2kC72UWZYcvbRS1qURawK2mGrU8etaZFemBX0w1bzZAa0hHUms7wHx2hRgiQ+oSmEmw6"
    "taLJIi3Qa3mfb29LRTzYGe4J6FfkxeQZ9FfxPF+NP942gOWEl0/KoqqB5+O8U6RevtBD8INEX8/zHRKO4J1BIoT4jUjJ1U/wh0WcGNSZNCUJ"
    "fuzEbhbZKsm+h0Cdkn+wp+ZQQEzn9JNS61NIXmR5b6MUyVVO7LikWpyVQGpEf65pINizj9jrib323/4+74a/aOdJrlrfgH/QFSeye7NofwqP"
    "/as7cH2EepNxXFKUYrE/3lT+UK19MNDSyIO+yRPrDvTFmfzew/2dsWgBMxDui3fFogxXZCkyM/nth7q6Q4w1Yjdz7aGSSCTEWSMRGxeylHJW"
    "W8BsD3D2skiEi1gD4ZCdK6DJyUy9MIvvlQf/Mf4C5Te/rg=="
)
"""A file of four columns with some bytes of its footer changed: polars 1 and 2 abort the process that reads it."""
GOOD = {"topic": ["1", "1"], "doc": ["a", "b"], "score": [2.0, 1.0]}


def test_a_file_that_aborts_the_parser_is_one_line(tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.parquet", tmp_path / "good.parquet"
    bad.write_bytes(zlib.decompress(base64.b64decode(ABORTS)))
    good.write_bytes(parquet(GOOD))
    for _ in range(2):
        with pytest.raises(DataError, match=r"bad\.parquet: .*(crash|not a Parquet file)") as error:
            read_run(bad)
        assert "\n" not in str(error.value)
        assert read_run(good).ranking("1") == ["a", "b"]


def test_the_parser_may_be_killed(tmp_path: Path) -> None:
    path = tmp_path / "good.parquet"
    path.write_bytes(parquet(GOOD))
    read_run(path)
    os.kill(columns._RUNNING[0].pid, signal.SIGKILL)
    with pytest.raises(DataError, match="crash"):
        read_run(path)
    assert read_run(path).topics == ("1",)


def test_a_command_says_so_in_one_line(tmp_path: Path) -> None:
    bad, qrels = tmp_path / "bad.parquet", tmp_path / "qrels.txt"
    bad.write_bytes(zlib.decompress(base64.b64decode(ABORTS)))
    qrels.write_text("1 0 a 1\n")
    command = [sys.executable, "-m", "assay.cli.main", "score", "--qrels", str(qrels), str(bad)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("assay: ")


def test_the_parser_takes_nothing_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(7)")
    (tmp_path / "good.parquet").write_bytes(parquet(GOOD))
    program = "import sys; sys.path.remove(''); import assay; print(assay.read_run('good.parquet').topics)"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "('1',)\n", done.stderr


def test_a_forked_process_has_a_parser_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "good.parquet"
    path.write_bytes(parquet(GOOD))
    program = (
        "import os, sys, assay\n"
        "before = assay.read_run(sys.argv[1])\n"
        "child = os.fork()\n"
        "assert assay.read_run(sys.argv[1]).topics == before.topics\n"
        "if child:\n"
        "    _, status = os.waitpid(child, 0)\n"
        "    print(status)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("0\n", "")
