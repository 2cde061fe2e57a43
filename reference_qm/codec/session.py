"""Parses and builds the SessionHeader, which contains the session acknowledgment. Spec: MS-MQMQ 2.2.20.4."""

from __future__ import annotations

from typing import ClassVar, Self

from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.layout import U16, U32, Layout
from reference_qm.codec.record import Record
from reference_qm.value_object import value_object

_SESSION_HEADER_LAYOUT = Layout(
    "SessionHeader",
    "MS-MQMQ 2.2.20.4",
    AckSequenceNumber=U16,
    RecoverableMsgAckSeqNumber=U16,
    RecoverableMsgAckFlags=U32,
    UserMsgSequenceNumber=U16,
    RecoverableMsgSeqNumber=U16,
    WindowSize=U16,
    Reserved=U16,
)


@value_object
class SessionHeader(Record):
    """The counts of the messages that were received and sent on a session.

    Spec: MS-MQMQ 2.2.20.4. 16 bytes, all LE: AckSequenceNumber u16; RecoverableMsgAckSeqNumber u16;
    RecoverableMsgAckFlags u32 (bit k stands for the message RecoverableMsgAckSeqNumber + k); UserMsgSequenceNumber
    u16; RecoverableMsgSeqNumber u16; WindowSize u16 packets; Reserved u16.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.20.4"

    AckSequenceNumber: int = 0
    RecoverableMsgAckSeqNumber: int = 0
    RecoverableMsgAckFlags: int = 0
    UserMsgSequenceNumber: int = 0
    RecoverableMsgSeqNumber: int = 0
    WindowSize: int = 0
    Reserved: int = 0

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(*cursor.unpack(_SESSION_HEADER_LAYOUT))

    def build(self) -> bytes:
        return _SESSION_HEADER_LAYOUT.build(self)
