"""Parses and builds identifiers and sequence information. Spec: MS-MQMQ 2.2.5, 2.2.8, 2.2.18.1.2, 2.2.18.1.3,
2.2.18.1.8.
"""

from __future__ import annotations

from typing import ClassVar, Self
from uuid import UUID

from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.layout import GUID, I64, NULL_GUID, U32, Layout
from reference_qm.codec.record import Record
from reference_qm.value_object import value_object

_SEQUENCE_INFO_LAYOUT = Layout("SEQUENCE_INFO", "MS-MQMQ 2.2.5.1", SeqID=I64, SeqNo=U32, PrevNo=U32)
_OBJECT_ID_LAYOUT = Layout("OBJECTID", "MS-MQMQ 2.2.8", Lineage=GUID, Uniquifier=U32)
_TX_SEQUENCE_ID_LAYOUT = Layout("TxSequenceID", "MS-MQMQ 2.2.18.1.2", Ordinal=U32, TimeStamp=U32)
_MESSAGE_IDENTIFIER_LAYOUT = Layout("MessageIdentifier", "MS-MQMQ 2.2.18.1.3", QueueManagerGuid=GUID, Ordinal=U32)
_XACTUOW_LAYOUT = Layout("XACTUOW", "MS-MQMQ 2.2.18.1.8", rgb="16s")


@value_object
class SequenceInfo(Record):
    """SEQUENCE_INFO: the place of a message in a sequence of messages.

    Spec: MS-MQMQ 2.2.5.1. 16 bytes. SeqID i64 LE; SeqNo and PrevNo u32 LE.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.5.1"

    SeqID: int = 0
    SeqNo: int = 0
    PrevNo: int = 0

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(*cursor.unpack(_SEQUENCE_INFO_LAYOUT))

    def build(self) -> bytes:
        return _SEQUENCE_INFO_LAYOUT.build(self)


@value_object
class ObjectID(Record):
    """OBJECTID: the identifier of an object within a group.

    Spec: MS-MQMQ 2.2.8. 20 bytes. Lineage 16-byte GUID; Uniquifier u32 LE.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.8"

    Lineage: UUID = NULL_GUID
    Uniquifier: int = 0

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(*cursor.unpack(_OBJECT_ID_LAYOUT))

    def build(self) -> bytes:
        return _OBJECT_ID_LAYOUT.build(self)


@value_object
class TxSequenceID(Record):
    """The identifier of a sequence of transactional messages.

    Spec: MS-MQMQ 2.2.18.1.2. 8 bytes. Ordinal and TimeStamp u32 LE. Identifiers are compared by their 64-bit
    numbers, which ``int()`` returns.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.18.1.2"

    Ordinal: int = 0
    TimeStamp: int = 0

    def __int__(self) -> int:
        return self.TimeStamp << 32 | self.Ordinal

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(*cursor.unpack(_TX_SEQUENCE_ID_LAYOUT))

    def build(self) -> bytes:
        return _TX_SEQUENCE_ID_LAYOUT.build(self)


@value_object
class MessageIdentifier(Record):
    """The identifier of a message, unique within its queue manager.

    Spec: MS-MQMQ 2.2.18.1.3. 20 bytes. QueueManagerGuid 16-byte GUID; Ordinal u32 LE.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.18.1.3"

    QueueManagerGuid: UUID = NULL_GUID
    Ordinal: int = 0

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(*cursor.unpack(_MESSAGE_IDENTIFIER_LAYOUT))

    def build(self) -> bytes:
        return _MESSAGE_IDENTIFIER_LAYOUT.build(self)


@value_object
class XactUow(Record):
    """XACTUOW: the identifier of a transaction (unit of work).

    Spec: MS-MQMQ 2.2.18.1.8. 16 bytes. rgb 16 bytes of a GUID.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.18.1.8"

    rgb: bytes = bytes(16)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(*cursor.unpack(_XACTUOW_LAYOUT))

    def build(self) -> bytes:
        return _XACTUOW_LAYOUT.build(self)
