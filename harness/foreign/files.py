"""Read capture files of other tools (pcap and pcapng, compressed or not). The format is recognized by the content
of the file.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from harness.capture import CaptureError
from harness.errors import UsageError
from harness.wire.capture_files import CaptureFileRecord, RecordError, read_records

GZIP_FILE_MAGIC_BYTES = b"\x1f\x8b"
PCAPNG_FILE_MAGIC_BYTES = b"\x0a\x0d\x0d\x0a"
PCAP_FILE_MAGIC_BYTES = tuple(bytes.fromhex(magic) for magic in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1"))
"""The magic numbers of pcap in both byte orders, with microseconds and with nanoseconds."""
_UNSUPPORTED_FILE_FORMATS = (
    (bytes.fromhex("28b52ffd"), "a file compressed by zstd"),
    (bytes.fromhex("04224d18"), "a file compressed by LZ4"),
    (b"snoop\0", "a snoop file"),
    (b"GMBU", "a Network Monitor file"),
    (b"RTSS", "a Network Monitor file"),
    (b"TRSN", "a Sniffer file"),
    (b"XCP\0", "a NetXRay file"),
    (bytes.fromhex("34cdb2a1"), "a pcap file written by a patched libpcap"),
    (bytes.fromhex("a1b2cd34"), "a pcap file written by a patched libpcap"),
)
"""The unsupported capture formats that `editcap` can convert, by the first bytes of a file."""


def read_frames(path: Path, damaged: Callable[[str], None]) -> Iterator[CaptureFileRecord]:
    """Yield the frames of a capture file. ``damaged`` is called with a description of any damage.

    Raise UsageError, whose message names the remedy, for a file in an unsupported format, and CaptureError for a
    file without a complete record.
    """
    with path.open("rb") as raw:
        file = _open_decompressed_file(raw)
        try:
            magic = file.read(4)
        except (EOFError, zlib.error, OSError) as error:
            raise CaptureError(path, 0, f"the file cannot be decompressed: {error}") from error
        if magic != PCAPNG_FILE_MAGIC_BYTES and magic not in PCAP_FILE_MAGIC_BYTES:
            raise UsageError(_describe_unsupported_file(path, magic))
        number = 0
        try:
            for record in read_records(file, magic):
                number += 1
                yield record
        except RecordError as error:
            if not number:
                raise CaptureError(path, 0, f"no frame can be read: {error}") from error
            damaged(f"the file is damaged after frame {number}: {error}")


def _open_decompressed_file(raw: IO[bytes]) -> IO[bytes]:
    is_gzip = raw.read(2) == GZIP_FILE_MAGIC_BYTES
    raw.seek(0)
    return gzip.GzipFile(fileobj=raw) if is_gzip else raw  # type: ignore[return-value]  # it has the interface of IO[bytes]


def _describe_unsupported_file(path: Path, magic: bytes) -> str:
    if not magic:
        return f"{path}: the file is empty"
    for first, name in _UNSUPPORTED_FILE_FORMATS:
        if magic.startswith(first[:4]):
            return f"{path}: {name}; convert it with: editcap -F pcapng {path.name} {path.stem}.pcapng"
    return (
        f"{path}: neither pcap nor pcapng (it begins with {magic.hex(' ')}); "
        f"if Wireshark opens it, convert it with: editcap -F pcapng {path.name} {path.stem}.pcapng"
    )
