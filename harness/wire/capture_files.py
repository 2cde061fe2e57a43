"""Read the records of a pcap or pcapng file with scapy. The file may have either byte order and any unit of time.

Spec: the IETF drafts "PCAP Capture File Format" and "PCAP Next Generation (pcapng) Capture File Format".
"""

from __future__ import annotations

import logging
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, NamedTuple

from scapy.error import Scapy_Exception
from scapy.utils import RawPcapNgReader, RawPcapReader

MAX_RECORD_BYTES = 0x01000000
"""int bytes: the maximum size of a record. A longer record is refused before its content is read."""
_PCAPNG_MAGIC = b"\x0a\x0d\x0d\x0a"
_INBOUND_FLAG = 1
_LINK_TYPE_MASK = 0xFFFF
"""The mask of the link type in the header of a pcap file. The other bits describe checksums at the end of frames."""
_MICROSECONDS_PER_SECOND = 1_000_000


class CaptureFileRecord(NamedTuple):
    """One frame of a capture file. ``size`` is the size of the frame on the network; ``data`` contains the captured
    bytes, which may be only a part of the frame. ``time_us`` is in int microseconds since 1970 UTC, or 0 if the
    file contains no times. ``inbound`` states whether the computer that captured the frame received it; it is None
    if the file does not record this.
    """

    time_us: int
    link_type: int
    data: bytes
    size: int
    inbound: bool | None
    comment: str | None


class RecordError(ValueError):
    """Raised when a capture file is damaged. The one-line message describes the damage that follows the last readable
    record.
    """


class _SectionReader(RawPcapNgReader):
    """A reader of a pcapng file with several sections. Each section describes its own interfaces."""

    def _read_block_shb(self) -> None:
        self.interfaces = []
        super()._read_block_shb()


class _BoundedFile:
    """A file that refuses to read more bytes at once than a record may have. It remembers whether the last read
    returned no bytes, or fewer bytes than requested.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.empty = self.short = False
        self.failure = ""

    def read(self, size: int) -> bytes:
        if size > MAX_RECORD_BYTES:
            self.failure = f"a record has {size} bytes; at most {MAX_RECORD_BYTES} are read"
            raise OSError(self.failure)
        try:
            data = self._file.read(size)
        except (EOFError, zlib.error, OSError) as error:
            self.failure = f"the file cannot be decompressed further: {error}"
            raise OSError(self.failure) from error
        self.empty, self.short = not data, len(data) < size
        return data


def read_records(file: IO[bytes], magic: bytes) -> Iterator[CaptureFileRecord]:
    """Yield the records of a file whose first 4 bytes (``magic``) have already been read. Raise RecordError at the
    place where the file is damaged.
    """
    bounded = _BoundedFile(file)
    with _collect_scapy_warnings() as warned:
        try:
            reader = _make_reader(_SectionReader if magic == _PCAPNG_MAGIC else RawPcapReader, bounded, magic)
            while True:
                warned.clear()
                data, about = reader._read_packet(MAX_RECORD_BYTES)
                if magic == _PCAPNG_MAGIC:
                    yield _read_pcapng_records(data, about)
                elif len(data) < about.caplen and bounded.short:
                    raise RecordError("the last record is truncated")
                else:
                    yield _read_pcap_records(data, about, reader)
        except EOFError:
            if warned or bounded.failure or not bounded.empty:
                raise RecordError(_describe_scapy_error(bounded, warned) or "the last record is truncated") from None
        except (Scapy_Exception, struct.error, IndexError, OverflowError, ZeroDivisionError) as error:
            raise RecordError(_describe_scapy_error(bounded, warned) or str(error)) from error


def _make_reader(kind: type, file: _BoundedFile, magic: bytes) -> RawPcapReader:
    """Create a scapy reader for a file that is already open, because scapy's own function accepts only a file name."""
    reader = object.__new__(kind)
    reader.__init__("", file, magic)
    return reader


def _read_pcap_records(data: bytes, about: RawPcapReader.PacketMetadata, reader: RawPcapReader) -> CaptureFileRecord:
    time_us = about.sec * _MICROSECONDS_PER_SECOND + (about.usec // 1000 if reader.nano else about.usec)
    return CaptureFileRecord(
        time_us, reader.linktype & _LINK_TYPE_MASK, data, max(about.wirelen, len(data)), None, None
    )


def _read_pcapng_records(data: bytes, about: RawPcapNgReader.PacketMetadata) -> CaptureFileRecord:
    time_us = 0
    if about.tshigh is not None:
        time_us = (about.tshigh << 32 | about.tslow) * _MICROSECONDS_PER_SECOND // about.tsresol
    inbound = about.direction == _INBOUND_FLAG if about.direction else None
    comment = about.comments[0].decode(errors="replace") if about.comments else None
    return CaptureFileRecord(time_us, about.linktype, data, max(about.wirelen, len(data)), inbound, comment)


@contextmanager
def _collect_scapy_warnings() -> Iterator[list[str]]:
    """Collect the warnings of scapy, because scapy reports damage by warnings instead of exceptions."""
    said: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    logger, handler = logging.getLogger("scapy.runtime"), Collect()
    propagates, logger.propagate = logger.propagate, False
    others, logger.handlers = logger.handlers, [handler]
    try:
        yield said
    finally:
        logger.propagate, logger.handlers = propagates, others


def _describe_scapy_error(file: _BoundedFile, warned: list[str]) -> str:
    said = file.failure or (warned[-1] if warned else "")
    return said.removeprefix("PcapNg: ").removeprefix("Pcap: ").strip().rstrip("!").rstrip()
