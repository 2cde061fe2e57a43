"""Parses and builds the headers of internal packets, and the Ping packet. Spec: MS-MQQB 2.2.1, 2.2.2.1, 2.2.3.1,
2.2.7.
"""

from __future__ import annotations

from typing import ClassVar, Self
from uuid import UUID

from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.format_error import FormatError
from reference_qm.codec.layout import GUID, NULL_GUID, U16, U32, Layout
from reference_qm.codec.record import Bits, Record, RecordWithBitFlags
from reference_qm.value_object import value_object

PT_SESSION_ACK = 0x1
PT_ESTABLISH_CONNECTION = 0x2
PT_CONNECTION_PARAMETERS = 0x3
PING_SIGNATURE = 0x5548

_INTERNAL_HEADER_LAYOUT = Layout("InternalHeader", "MS-MQQB 2.2.1", Reserved=U16, Flags=U16)
_CONNECTION_PARAMETERS_LAYOUT = Layout(
    "ConnectionParametersHeader",
    "MS-MQQB 2.2.2.1",
    RecoverableAckTimeout=U32,
    AckTimeout=U32,
    Reserved=U16,
    WindowSize=U16,
)
_ESTABLISH_CONNECTION_LAYOUT = Layout(
    "EstablishConnectionHeader",
    "MS-MQQB 2.2.3.1",
    ClientGuid=GUID,
    ServerGuid=GUID,
    TimeStamp=U32,
    OperatingSystem=U16,
    Reserved=U16,
    Padding="512s",
)
_PING_LAYOUT = Layout("PingPacket", "MS-MQQB 2.2.7", Flags=U16, Signature=U16, Cookie=U32, QMGuid=GUID)


@value_object
class InternalHeader(RecordWithBitFlags, Record):
    """The header with the type of an internal packet and the connection status of the session.

    Spec: MS-MQQB 2.2.1. 4 bytes. Reserved u16 LE; Flags u16 LE.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQQB 2.2.1"

    Reserved: int = 0
    Flags: int = 0

    PT = Bits(0, 4)
    CS = Bits(4)
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
        return cls(*cursor.unpack(_INTERNAL_HEADER_LAYOUT))

    def build(self) -> bytes:
        return _INTERNAL_HEADER_LAYOUT.build(self)


@value_object
class ConnectionParametersHeader(Record):
    """The acknowledgment timeouts and the window size of the queue manager that sends the packet.

    Spec: MS-MQQB 2.2.2.1. 12 bytes. RecoverableAckTimeout and AckTimeout u32 LE ms; Reserved u16 LE; WindowSize u16 LE
    packets.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQQB 2.2.2.1"

    RecoverableAckTimeout: int = 0
    AckTimeout: int = 0
    Reserved: int = 0
    WindowSize: int = 0

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(*cursor.unpack(_CONNECTION_PARAMETERS_LAYOUT))

    def build(self) -> bytes:
        return _CONNECTION_PARAMETERS_LAYOUT.build(self)


@value_object
class EstablishConnectionHeader(RecordWithBitFlags, Record):
    """The identifiers of the initiating and the accepting queue manager, and data about the initiator.

    Spec: MS-MQQB 2.2.3.1. 552 bytes. ClientGuid and ServerGuid 16-byte GUID; TimeStamp u32 LE, ms since the system
    started; OperatingSystem u16 LE bits; Reserved u16 LE; Padding 512 bytes.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQQB 2.2.3.1"

    ClientGuid: UUID = NULL_GUID
    ServerGuid: UUID = NULL_GUID
    TimeStamp: int = 0
    OperatingSystem: int = 0x0010
    Reserved: int = 0
    Padding: bytes = b"\x5a" * 512

    RE = Bits(0, 8, of="OperatingSystem")
    SE = Bits(8, of="OperatingSystem")
    OS = Bits(9, of="OperatingSystem")
    QS = Bits(10, of="OperatingSystem")
    X11 = Bits(11, of="OperatingSystem")
    X12 = Bits(12, of="OperatingSystem")
    X13 = Bits(13, of="OperatingSystem")
    X14 = Bits(14, of="OperatingSystem")
    X15 = Bits(15, of="OperatingSystem")

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(*cursor.unpack(_ESTABLISH_CONNECTION_LAYOUT))

    def build(self) -> bytes:
        return _ESTABLISH_CONNECTION_LAYOUT.build(self)


@value_object
class PingPacket(RecordWithBitFlags, Record):
    """A Ping Request or Ping Response, which is one UDP datagram.

    Spec: MS-MQQB 2.2.7. 24 bytes. Flags u16 LE (the document shows bits 2 to 15 as X); Signature u16 LE, fixed;
    Cookie u32 LE; QMGuid 16-byte GUID.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQQB 2.2.7"

    Flags: int = 0
    Cookie: int = 0
    QMGuid: UUID = NULL_GUID

    Signature: ClassVar[int] = PING_SIGNATURE

    RC = Bits(0)
    RF = Bits(1)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        """Read a Ping packet (24 bytes); raise FormatError for a wrong Signature."""
        start = cursor.offset
        flags, signature, cookie, guid = cursor.unpack(_PING_LAYOUT)
        if signature != PING_SIGNATURE:
            raise FormatError(
                "PingPacket.Signature",
                start + 2,
                _PING_LAYOUT.section,
                f"the value is 0x{signature:04X} instead of 0x{PING_SIGNATURE:04X}",
            )
        return cls(flags, cookie, guid)

    def build(self) -> bytes:
        return _PING_LAYOUT.pack(self.Flags, PING_SIGNATURE, self.Cookie, self.QMGuid)
