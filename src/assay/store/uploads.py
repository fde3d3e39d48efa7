"""What is in a file that somebody sends, and may it be stored? Read within limits, checked as `assay check` does.

Nothing is stored before the checks pass or the person says so, and the name of the file is never a path.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from assay.check import Findings, check_qrels, check_run, read_run_leniently
from assay.check.finding import Finding
from assay.core.errors import AssayError, DataError, UsageError
from assay.core.markup import visible
from assay.core.registry import one_of
from assay.data import Qrels
from assay.io.files import GZIP, XZ, ZSTANDARD
from assay.io.samples import ARROW, PARQUET
from assay.store.database import plain
from assay.store.qrels_versions import QrelsVersion, QrelsVersions
from assay.store.stored_runs import StoredRun, StoredRuns

KINDS = ("run", "qrels")
CHUNK = 1 << 16
LONGEST_NAME = 200
XZ_MEMORY = 256 << 20
ZSTANDARD_WINDOW = 1 << 27
"""Memory that a packed file may ask for."""
Unpack = Callable[[bytes], Iterator[bytes]]
"""Packed bytes → unpacked ones, a bounded piece at a time."""


@dataclass(frozen=True)
class Limits:
    """How much of a file is read at most, in bytes as sent, bytes when unpacked, lines, bytes of a line, seconds."""

    sent: int = 200_000_000
    unpacked: int = 2_000_000_000
    lines: int = 10_000_000
    line: int = 10_000
    seconds: float = 300.0


@dataclass(frozen=True, eq=False)
class CheckedUpload:
    """A file that was read and checked, and is not stored."""

    name: str
    kind: str
    content: bytes
    findings: Findings

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong with it; remarks are no errors."""
        return self.findings.errors == 0


class Uploads:
    """Files on their way into a store."""

    def __init__(self, stored: StoredRuns, qrels: QrelsVersions) -> None:
        self._runs = stored
        self._qrels = qrels

    def check(
        self,
        stream: IO[bytes],
        name: str,
        *,
        kind: str = "run",
        collection: str | None = None,
        limits: Limits | None = None,
    ) -> CheckedUpload:
        """Read a stream within limits and say what is odd in it, with line numbers.

        collection: its newest judgments are held against a run. A file that goes beyond a limit is an error.
        """
        one_of("kind of file", kind, KINDS)
        shown = shown_name(name)
        judgments = self._judgments(collection) if kind == "run" else None
        with tempfile.TemporaryDirectory(prefix="assay-upload-") as folder:
            path = Path(folder) / "upload"
            with open(path, "wb") as file:
                for part in unpacked(stream, shown, limits or Limits()):
                    file.write(part)
            found = _findings(path, kind, judgments)
            content = path.read_bytes()
        named = tuple(replace(finding, where=shown, what=_without(finding.what, path)) for finding in found)
        return CheckedUpload(shown, kind, content, Findings(named))

    def keep_run(
        self, upload: CheckedUpload, collection: str, *, despite: bool = False, owner: str | None = None, **facts: Any
    ) -> list[StoredRun]:
        """Store the runs of a checked file. despite: also with errors; lines that are wrong are then left out."""
        self._refuse(upload, "run", despite)
        with tempfile.TemporaryDirectory(prefix="assay-upload-") as folder:
            path = Path(folder) / "upload"
            path.write_bytes(upload.content)
            if upload.ok:
                return self._runs.add(collection, path, owner=owner, **facts)
            run, _ = read_run_leniently(path)
            return self._runs.add(collection, run, owner=owner, **facts)

    def keep_qrels(self, upload: CheckedUpload, collection: str, *, label: str = "", note: str = "") -> QrelsVersion:
        """Store the judgments of a checked file as a new version; with errors they are refused."""
        self._refuse(upload, "qrels", False)
        with tempfile.TemporaryDirectory(prefix="assay-upload-") as folder:
            path = Path(folder) / "upload"
            path.write_bytes(upload.content)
            return self._qrels.add(collection, path, label=label, note=note)

    def _refuse(self, upload: CheckedUpload, kind: str, despite: bool) -> None:
        if upload.kind != kind:
            raise UsageError(f"{upload.name}: the file was checked as {upload.kind}, not as {kind}")
        if not upload.ok and not despite:
            first = next(finding for finding in upload.findings.found if finding.level == "error")
            raise DataError(f"{first.place()}: {first.what}; {upload.findings.errors} errors, nothing was stored")

    def _judgments(self, collection: str | None) -> Qrels | None:
        if collection is None or not self._qrels.listed(collection):
            return None
        return self._qrels.read(collection)


def _findings(path: Path, kind: str, judgments: Qrels | None) -> list[Finding]:
    """What is odd in a file; one that is of another kind, or cannot be read, is an error like others."""
    try:
        return check_run(path, judgments) if kind == "run" else check_qrels(path)
    except AssayError as error:
        return [Finding(str(path), None, "error", str(error).removeprefix(f"{path}: "), "unreadable")]


def _without(text: str, path: Path) -> str:
    """A message without the path of the temporary file."""
    return text.replace(f"{path}: ", "").replace(str(path), "the file").replace(path.name, "the file")


def shown_name(name: str) -> str:
    """The name of a file as messages show it: its last part, without signs that a terminal or page would obey.

    >>> shown_name("../../etc/passwd"), shown_name("my run.gz"), shown_name("")
    ('passwd', 'my run.gz', 'file')
    """
    last = plain(str(name).replace("\x00", ""), "name").replace("\\", "/").rstrip("/").rpartition("/")[2]
    return visible(last)[:LONGEST_NAME] or "file"


def unpacked(stream: IO[bytes], name: str, limits: Limits) -> Iterator[bytes]:
    """The content of a stream, decompressed, piece by piece; beyond a limit an error is raised."""
    started = time.monotonic()
    counted = _Counts(name, limits)
    unpack: Unpack | None = None
    is_whole: Callable[[], bool] = _always
    sent = 0
    while True:
        packed = stream.read(CHUNK)
        if not packed:
            break
        sent += len(packed)
        if sent > limits.sent:
            raise DataError(f"{name}: larger than {limits.sent} bytes, which is the most that may be sent")
        if time.monotonic() - started > limits.seconds:
            raise DataError(f"{name}: it took longer than {limits.seconds:g} seconds to come; send it again")
        if unpack is None:
            unpack, is_whole = _unpacker(name, packed)
        for part in unpack(packed):
            counted.add(part)
            yield part
            if time.monotonic() - started > limits.seconds:
                raise DataError(f"{name}: it took longer than {limits.seconds:g} seconds to unpack; send less at once")
    if not sent:
        raise DataError(f"{name}: the file is empty")
    if not is_whole():
        raise DataError(f"{name}: the compressed file ends in the middle; send it again")


@dataclass
class _Counts:
    """How much has been read, against the limits."""

    name: str
    limits: Limits
    size: int = 0
    lines: int = 0
    open_line: int = 0

    def add(self, part: bytes) -> None:
        self.size += len(part)
        if self.size > self.limits.unpacked:
            raise DataError(
                f"{self.name}: unpacks to more than {self.limits.unpacked} bytes, which is the most allowed"
            )
        lengths = [len(line) for line in part.split(b"\n")]
        lengths[0] += self.open_line
        longest = max(lengths)
        if longest > self.limits.line:
            where = f"{self.name}:{self.lines + lengths.index(longest) + 1}"
            raise DataError(f"{where}: a line of more than {self.limits.line} bytes; is it a text file?")
        self.open_line = lengths[-1]
        self.lines += len(lengths) - 1
        if self.lines > self.limits.lines:
            raise DataError(f"{self.name}: more than {self.limits.lines} lines, the most that is allowed")


def _always() -> bool:
    return True


def _unpacker(name: str, head: bytes) -> tuple[Unpack, Callable[[], bool]]:
    """What unpacks a file that begins so, and whether it has come to an end."""
    if head.startswith((PARQUET, ARROW)):
        raise DataError(f"{name}: Parquet and Arrow are not taken here; send text (TREC, CSV, JSON), packed or not")
    if head.startswith(GZIP):
        return _gzip(name)
    if head.startswith(XZ):
        return _xz(name)
    if head.startswith(ZSTANDARD):
        return _zstandard(name)
    return lambda packed: iter([packed]), _always


def _damaged(name: str, error: Exception) -> DataError:
    return DataError(f"{name}: the compressed file is damaged ({error}); pack it again")


def _gzip(name: str) -> tuple[Unpack, Callable[[], bool]]:
    import zlib

    members = [zlib.decompressobj(wbits=31)]

    def unpack(packed: bytes) -> Iterator[bytes]:
        left = packed
        try:
            while left:
                if members[-1].eof:
                    members.append(zlib.decompressobj(wbits=31))
                yield members[-1].decompress(left, CHUNK)
                # a file may be filled up with zeros
                left = members[-1].unconsumed_tail or members[-1].unused_data.lstrip(b"\0")
        except zlib.error as error:
            raise _damaged(name, error) from None

    return unpack, lambda: members[-1].eof


def _xz(name: str) -> tuple[Unpack, Callable[[], bool]]:
    import lzma

    members = [lzma.LZMADecompressor(memlimit=XZ_MEMORY)]

    def unpack(packed: bytes) -> Iterator[bytes]:
        left = packed
        try:
            while left or not (members[-1].needs_input or members[-1].eof):
                if members[-1].eof:
                    members.append(lzma.LZMADecompressor(memlimit=XZ_MEMORY))
                yield members[-1].decompress(left, CHUNK)
                left = members[-1].unused_data.lstrip(b"\0") if members[-1].eof else b""
        except lzma.LZMAError as error:
            raise _damaged(name, error) from None

    return unpack, lambda: members[-1].eof


def _zstandard(name: str) -> tuple[Unpack, Callable[[], bool]]:
    import zstandard

    packer = zstandard.ZstdDecompressor(max_window_size=ZSTANDARD_WINDOW)
    frames = [packer.decompressobj()]

    def unpack(packed: bytes) -> Iterator[bytes]:
        # One call unpacks all that it is given, so that it is given little at a time.
        try:
            for start in range(0, len(packed), 256):
                left = packed[start : start + 256]
                while left:
                    if frames[-1].eof:
                        frames.append(packer.decompressobj())
                    yield frames[-1].decompress(left)
                    left = frames[-1].unused_data if frames[-1].eof else b""
        except zstandard.ZstdError as error:
            raise _damaged(name, error) from None

    return unpack, lambda: frames[-1].eof
