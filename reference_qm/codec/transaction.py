"""Parses and builds the TransactionHeader, and the bodies of order and final acknowledgments.

Spec: MS-MQMQ 2.2.20.5; MS-MQQB 2.2.4.1, 2.2.5.1.
"""

from __future__ import annotations

from typing import ClassVar, Self
from uuid import UUID

from reference_qm.codec import ids
from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.format_error import MisuseError
from reference_qm.codec.layout import GUID, NULL_GUID, U32, Layout
from reference_qm.codec.record import Bits, Record, RecordWithBitFlags
from reference_qm.value_object import value_object

_TRANSACTION_HEADER_SPEC_SECTION = "MS-MQMQ 2.2.20.5"
_TRANSACTION_FLAGS_LAYOUT = Layout("TransactionHeader", _TRANSACTION_HEADER_SPEC_SECTION, Flags=U32)
_SEQUENCE_NUMBERS_LAYOUT = Layout(
    "TransactionHeader", _TRANSACTION_HEADER_SPEC_SECTION, TxSequenceNumber=U32, PreviousTxSequenceNumber=U32
)
_CONNECTOR_GUID_LAYOUT = Layout("TransactionHeader", _TRANSACTION_HEADER_SPEC_SECTION, ConnectorQMGuid=GUID)
_ORDER_ACK_LAYOUT = Layout(
    "OrderAckBody", "MS-MQQB 2.2.4.1", TxSequenceNumber=U32, TxPreviousSequenceNumber=U32, Reserved="20s"
)
_FINAL_ACK_LAYOUT = Layout(
    "FinalAckBody",
    "MS-MQQB 2.2.5.1",
    TxSequenceNumber=U32,
    TxPreviousSequenceNumber=U32,
    SourceGUID=GUID,
    MessageID=U32,
)
_NO_SEQUENCE_ID = ids.TxSequenceID()


@value_object
class TransactionHeader(RecordWithBitFlags, Record):
    """The place of a message in a transactional sequence.

    Spec: MS-MQMQ 2.2.20.5. 20 or 36 bytes. Flags u32 LE; TxSequenceID 8 bytes; TxSequenceNumber and
    PreviousTxSequenceNumber u32 LE; ConnectorQMGuid 16-byte GUID, or None if the bit CG is clear.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.20.5"

    Flags: int = 0
    TxSequenceID: ids.TxSequenceID = _NO_SEQUENCE_ID
    TxSequenceNumber: int = 0
    PreviousTxSequenceNumber: int = 0
    ConnectorQMGuid: UUID | None = None

    CG = Bits(0)
    FA = Bits(1)
    FM = Bits(2)
    LM = Bits(3)
    ID = Bits(4, 20)
    X1 = Bits(24)
    X2 = Bits(25)
    X3 = Bits(26)
    X4 = Bits(27)
    X5 = Bits(28)
    X6 = Bits(29)
    X7 = Bits(30)
    X8 = Bits(31)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        (flags,) = cursor.unpack(_TRANSACTION_FLAGS_LAYOUT)
        sequence = ids.TxSequenceID.read(cursor)
        number, previous = cursor.unpack(_SEQUENCE_NUMBERS_LAYOUT)
        connector = cursor.unpack(_CONNECTOR_GUID_LAYOUT)[0] if flags & 1 else None
        return cls(flags, sequence, number, previous, connector)

    def build(self) -> bytes:
        if (self.ConnectorQMGuid is not None) != bool(self.CG):
            raise MisuseError("TransactionHeader.Flags.CG does not match the presence of ConnectorQMGuid")
        connector = b"" if self.ConnectorQMGuid is None else _CONNECTOR_GUID_LAYOUT.build(self)
        return (
            _TRANSACTION_FLAGS_LAYOUT.build(self)
            + self.TxSequenceID.build()
            + _SEQUENCE_NUMBERS_LAYOUT.build(self)
            + connector
        )


@value_object
class OrderAckBody(Record):
    """The OrderAck Body, which is the MessageBody of an OrderAck Packet.

    Spec: MS-MQQB 2.2.4.1. 36 bytes. TxSequenceID 8 bytes; TxSequenceNumber and TxPreviousSequenceNumber u32 LE;
    Reserved 20 bytes.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQQB 2.2.4.1"

    TxSequenceID: ids.TxSequenceID = _NO_SEQUENCE_ID
    TxSequenceNumber: int = 0
    TxPreviousSequenceNumber: int = 0
    Reserved: bytes = bytes(20)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(ids.TxSequenceID.read(cursor), *cursor.unpack(_ORDER_ACK_LAYOUT))

    def build(self) -> bytes:
        return self.TxSequenceID.build() + _ORDER_ACK_LAYOUT.build(self)


@value_object
class FinalAckBody(Record):
    """The FinalAck Body, which is the MessageBody of a FinalAck Packet.

    Spec: MS-MQQB 2.2.5.1. 36 bytes. TxSequenceID 8 bytes; TxSequenceNumber and TxPreviousSequenceNumber u32 LE;
    SourceGUID 16-byte GUID; MessageID u32 LE.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQQB 2.2.5.1"

    TxSequenceID: ids.TxSequenceID = _NO_SEQUENCE_ID
    TxSequenceNumber: int = 0
    TxPreviousSequenceNumber: int = 0
    SourceGUID: UUID = NULL_GUID
    MessageID: int = 0

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(ids.TxSequenceID.read(cursor), *cursor.unpack(_FINAL_ACK_LAYOUT))

    def build(self) -> bytes:
        return self.TxSequenceID.build() + _FINAL_ACK_LAYOUT.build(self)
