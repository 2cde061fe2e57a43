"""Parses and builds the UserHeader, which contains the source and the destination of a message. Spec: MS-MQMQ
2.2.19.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self
from uuid import UUID

from reference_qm.codec.base import INFINITE_TIMEOUT
from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.format_error import FormatError, MisuseError
from reference_qm.codec.layout import GUID, NULL_GUID, U32, Layout
from reference_qm.codec.queue_formats import (
    DirectQueueFormatName,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
)
from reference_qm.codec.record import Bits, Record, RecordWithBitFlags
from reference_qm.value_object import value_object

USER_HEADER_SPEC_SECTION = "MS-MQMQ 2.2.19.2"
QueueName = PrivateQueueFormatNameId | PublicQueueFormatName | PrivateQueueFormatName | DirectQueueFormatName

USER_HEADER_FLAGS_OFFSET = 44
_USER_HEADER_LAYOUT = Layout(
    "UserHeader",
    USER_HEADER_SPEC_SECTION,
    SourceQueueManager=GUID,
    QueueManagerAddress=GUID,
    TimeToBeReceived=U32,
    SentTime=U32,
    MessageID=U32,
    Flags=U32,
)
_CONNECTOR_TYPE_LAYOUT = Layout("UserHeader", USER_HEADER_SPEC_SECTION, ConnectorType=GUID)

_QueueNameTypeByNumber = Mapping[int, type[QueueName] | None]
_DESTINATION_QUEUE_NAME_TYPE_BY_NUMBER: _QueueNameTypeByNumber = {
    0: None,
    3: PrivateQueueFormatNameId,
    5: PublicQueueFormatName,
    7: DirectQueueFormatName,
}
_ADMINISTRATION_QUEUE_NAME_TYPE_BY_NUMBER: _QueueNameTypeByNumber = {
    **_DESTINATION_QUEUE_NAME_TYPE_BY_NUMBER,
    2: PrivateQueueFormatNameId,
    6: PrivateQueueFormatName,
}
_RESPONSE_QUEUE_NAME_TYPE_BY_NUMBER: _QueueNameTypeByNumber = {
    **_ADMINISTRATION_QUEUE_NAME_TYPE_BY_NUMBER,
    1: None,
    4: PrivateQueueFormatNameId,
}


@value_object
class UserHeader(RecordWithBitFlags, Record):
    """The source and destination of a message, and flags for the headers that follow.

    Spec: MS-MQMQ 2.2.19.2. 48 bytes, then the queues. SourceQueueManager and QueueManagerAddress 16-byte GUID;
    TimeToBeReceived u32 LE s, 0xFFFFFFFF for no limit; SentTime u32 LE s since 1970 UTC; MessageID u32 LE; Flags
    u32 LE; DestinationQueue, AdminQueue and ResponseQueue in the layouts that the bits DQ, AQ and RQ announce, or
    None; ConnectorType 16-byte GUID, or None if the bit CQ is clear.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.19.2"

    SourceQueueManager: UUID = NULL_GUID
    QueueManagerAddress: UUID = NULL_GUID
    TimeToBeReceived: int = INFINITE_TIMEOUT
    SentTime: int = 0
    MessageID: int = 0
    Flags: int = 0
    DestinationQueue: QueueName | None = None
    AdminQueue: QueueName | None = None
    ResponseQueue: QueueName | None = None
    ConnectorType: UUID | None = None

    RC = Bits(0, 5)
    DM = Bits(5, 2)
    X1 = Bits(7)
    JN = Bits(8)
    JP = Bits(9)
    DQ = Bits(10, 3)
    AQ = Bits(13, 3)
    RQ = Bits(16, 3)
    SH = Bits(19)
    TH = Bits(20)
    MP = Bits(21)
    CQ = Bits(22)
    MQ = Bits(23)
    X2 = Bits(24)
    AH = Bits(25)
    X3 = Bits(26, 2)
    HH = Bits(28)
    X4 = Bits(29, 3)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        """Read the header; raise FormatError for a DQ, AQ or RQ whose queue layout is not defined."""
        flags_at = cursor.offset + USER_HEADER_FLAGS_OFFSET
        source, address, life, sent, message, flags = cursor.unpack(_USER_HEADER_LAYOUT)
        destination = _read_queue(cursor, _DESTINATION_QUEUE_NAME_TYPE_BY_NUMBER, flags >> 10 & 7, "DQ", flags_at)
        administration = response = None
        if flags & _ADMIN_AND_RESPONSE_QUEUE_FLAGS:
            administration = _read_queue(
                cursor, _ADMINISTRATION_QUEUE_NAME_TYPE_BY_NUMBER, flags >> 13 & 7, "AQ", flags_at
            )
            response = _read_queue(cursor, _RESPONSE_QUEUE_NAME_TYPE_BY_NUMBER, flags >> 16 & 7, "RQ", flags_at)
        connector = cursor.unpack(_CONNECTOR_TYPE_LAYOUT)[0] if flags & 1 << 22 else None
        return cls(source, address, life, sent, message, flags, destination, administration, response, connector)

    def build(self) -> bytes:
        flags = self.Flags
        if (self.ConnectorType is not None) != bool(flags & _CONNECTOR_TYPE_FLAG):
            raise MisuseError("UserHeader.Flags.CQ does not match the presence of ConnectorType")
        wire = _USER_HEADER_LAYOUT.pack(
            self.SourceQueueManager,
            self.QueueManagerAddress,
            self.TimeToBeReceived,
            self.SentTime,
            self.MessageID,
            flags,
        ) + _build_queue(self.DestinationQueue, _DESTINATION_QUEUE_NAME_TYPE_BY_NUMBER, flags >> 10 & 7, "DQ")
        if flags & _ADMIN_AND_RESPONSE_QUEUE_FLAGS or self.AdminQueue is not None or self.ResponseQueue is not None:
            wire += _build_queue(self.AdminQueue, _ADMINISTRATION_QUEUE_NAME_TYPE_BY_NUMBER, flags >> 13 & 7, "AQ")
            wire += _build_queue(self.ResponseQueue, _RESPONSE_QUEUE_NAME_TYPE_BY_NUMBER, flags >> 16 & 7, "RQ")
        return wire if self.ConnectorType is None else wire + _CONNECTOR_TYPE_LAYOUT.build(self)


_ADMIN_AND_RESPONSE_QUEUE_FLAGS = UserHeader.flags(AQ=7, RQ=7)
_CONNECTOR_TYPE_FLAG = UserHeader.flags(CQ=1)


def _read_queue(
    cursor: ByteCursor, types: _QueueNameTypeByNumber, kind: int, bits: str, flags_at: int
) -> QueueName | None:
    if kind not in types:
        raise FormatError(
            "UserHeader.Flags", flags_at, USER_HEADER_SPEC_SECTION, f"no queue layout is defined for {bits} 0x{kind:X}"
        )
    queue = types[kind]
    return None if queue is None else queue.read(cursor)


def _build_queue(queue: QueueName | None, types: _QueueNameTypeByNumber, kind: int, bits: str) -> bytes:
    if kind not in types:
        raise MisuseError(f"no queue layout is defined for UserHeader.Flags.{bits} 0x{kind:X}")
    expected = types[kind]
    if queue is None and expected is None:
        return b""
    if queue is None or type(queue) is not expected:
        name = "no queue" if expected is None else f"a {expected.__name__}"
        raise MisuseError(f"UserHeader.Flags.{bits} 0x{kind:X} announces {name}, not {type(queue).__name__}")
    return queue.build()
