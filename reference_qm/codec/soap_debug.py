"""Parses and builds the SoapHeader and the DebugHeader. Spec: MS-MQMQ 2.2.20.7, 2.2.20.8."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self
from uuid import UUID

from reference_qm.codec import text
from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.format_error import MisuseError
from reference_qm.codec.layout import GUID, U16, U32, Layout
from reference_qm.codec.padding import build_end_padding, read_end_padding
from reference_qm.codec.record import Bits, Record, RecordWithBitFlags

_SOAP_HEADER_SPEC_SECTION = "MS-MQMQ 2.2.20.7"
_DEBUG_HEADER_SPEC_SECTION = "MS-MQMQ 2.2.20.8"
_SOAP_HEADER_LAYOUT = Layout(
    "SoapHeader", _SOAP_HEADER_SPEC_SECTION, HeaderSectionID=U16, Reserved=U16, HeaderDataLength=U32
)
_SOAP_BODY_LAYOUT = Layout(
    "SoapHeader", _SOAP_HEADER_SPEC_SECTION, BodySectionID=U16, Reserved1=U16, BodyDataLength=U32
)
_DEBUG_FLAGS_LAYOUT = Layout("DebugHeader", _DEBUG_HEADER_SPEC_SECTION, Flags=U16, Reserved=U16)
_DEBUG_QUEUE_LAYOUT = Layout("DebugHeader", _DEBUG_HEADER_SPEC_SECTION, QueueIdentifier=GUID)


@dataclass(frozen=True, slots=True)
class SoapHeader(Record):
    """The SOAP header and SOAP body of a message, which the application defines.

    Spec: MS-MQMQ 2.2.20.7. HeaderSectionID, Reserved, BodySectionID, Reserved1 u16 LE; HeaderDataLength and
    BodyDataLength in WCHARs (computed); Header and Body: text without the terminating null, or None for a length of
    0; HeaderTerminated and BodyTerminated: whether the text has its terminating null; Padding: None for zeros up to
    a 4-byte boundary, b"" for no padding. The last header of a packet may have no padding, because 2.2.20.7
    specifies none, although 2.2.19.1 requires aligned headers.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.20.7"

    Header: str | None = None
    Body: str | None = None
    HeaderSectionID: int = 0x0320
    BodySectionID: int = 0x0384
    Reserved: int = 0
    Reserved1: int = 0
    HeaderTerminated: bool = True
    BodyTerminated: bool = True
    Padding: bytes | None = None

    @property
    def HeaderDataLength(self) -> int:  # noqa: N802 - the printed name
        """The size of Header on the wire in WCHARs, including the terminating null."""
        return len(_build_soap_section(self.Header, self.HeaderTerminated)) // 2

    @property
    def BodyDataLength(self) -> int:  # noqa: N802 - the printed name
        """The size of Body on the wire in WCHARs, including the terminating null."""
        return len(_build_soap_section(self.Body, self.BodyTerminated)) // 2

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        header_id, reserved, header_length = cursor.unpack(_SOAP_HEADER_LAYOUT)
        header, header_terminated = _read_soap_section(cursor, header_length, "SoapHeader.Header")
        body_id, reserved1, body_length = cursor.unpack(_SOAP_BODY_LAYOUT)
        body, body_terminated = _read_soap_section(cursor, body_length, "SoapHeader.Body")
        padding = read_end_padding(cursor, "SoapHeader.Padding", _SOAP_HEADER_SPEC_SECTION)
        return cls(header, body, header_id, body_id, reserved, reserved1, header_terminated, body_terminated, padding)

    def build(self) -> bytes:
        header = _build_soap_section(self.Header, self.HeaderTerminated)
        body = _build_soap_section(self.Body, self.BodyTerminated)
        wire = b"".join(
            (
                _SOAP_HEADER_LAYOUT.pack(self.HeaderSectionID, self.Reserved, len(header) // 2),
                header,
                _SOAP_BODY_LAYOUT.pack(self.BodySectionID, self.Reserved1, len(body) // 2),
                body,
            )
        )
        return wire + build_end_padding(-len(wire) % 4, self.Padding, "SoapHeader")


def _read_soap_section(cursor: ByteCursor, length: int, field: str) -> tuple[str | None, bool]:
    if not length:
        return None, True
    return text.split_terminator(cursor.read_bytes(2 * length, field, _SOAP_HEADER_SPEC_SECTION))


def _build_soap_section(content: str | None, terminated: bool) -> bytes:
    return b"" if content is None else text.append_terminator(content, terminated)


@dataclass(frozen=True, slots=True)
class DebugHeader(RecordWithBitFlags, Record):
    """The queue that receives the reports about a traced message.

    Spec: MS-MQMQ 2.2.20.8. 4 or 20 bytes. Flags and Reserved u16 LE; QueueIdentifier 16-byte GUID, or None unless
    QT is 1.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.20.8"

    Flags: int = 0
    Reserved: int = 0
    QueueIdentifier: UUID | None = None

    QT = Bits(0, 2)
    X2 = Bits(2)
    X3 = Bits(3)
    X4 = Bits(4)
    X5 = Bits(5)
    X6 = Bits(6)
    X7 = Bits(7)
    X8 = Bits(8)
    X9 = Bits(9)
    X10 = Bits(10)
    X11 = Bits(11)
    X12 = Bits(12)
    X13 = Bits(13)
    X14 = Bits(14)
    X15 = Bits(15)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        flags, reserved = cursor.unpack(_DEBUG_FLAGS_LAYOUT)
        return cls(flags, reserved, cursor.unpack(_DEBUG_QUEUE_LAYOUT)[0] if flags & 3 == 1 else None)

    def build(self) -> bytes:
        if (self.QueueIdentifier is not None) != (self.QT == 1):
            raise MisuseError("DebugHeader.Flags.QT does not match the presence of QueueIdentifier")
        return _DEBUG_FLAGS_LAYOUT.build(self) + (
            b"" if self.QueueIdentifier is None else _DEBUG_QUEUE_LAYOUT.build(self)
        )
