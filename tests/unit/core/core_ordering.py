"""Makes OrderAck and FinalAck Packets, and transactional messages, for tests. Spec: MS-MQQB 2.2.4, 2.2.5."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core_network import TRANSACTIONAL, guid
from core_raw import RAW, user_message

from reference_qm.codec import (
    BaseHeader,
    DirectQueueFormatName,
    FinalAckBody,
    MessageClass,
    MessagePropertiesHeader,
    OrderAckBody,
    TransactionHeader,
    TxSequenceID,
    UserHeader,
    UserMessagePacket,
)

SENDER = guid(1)
SEQUENCE = TxSequenceID(Ordinal=1, TimeStamp=1_800_000_000)


def ordering(message_class: int, body: bytes, recoverable: bool = False, **properties: Any) -> UserMessagePacket:
    return UserMessagePacket(
        BaseHeader=BaseHeader(),
        UserHeader=UserHeader(
            SourceQueueManager=RAW,
            MessageID=7_000,
            SentTime=1_800_000_000,
            Flags=UserHeader.flags(DM=int(recoverable), DQ=7, MP=1),
            DestinationQueue=DirectQueueFormatName("TCP:10.0.0.1\\PRIVATE$\\order_queue$"),
        ),
        MessagePropertiesHeader=MessagePropertiesHeader(
            **({"MessageClass": message_class, "Label": "QM Ordering Ack", "MessageBody": body} | properties)
        ),
    )


def order_ack(number: int, sequence: TxSequenceID = SEQUENCE, **properties: Any) -> UserMessagePacket:
    body = OrderAckBody(sequence, number, number - 1).build()
    return ordering(MessageClass.MQMSG_CLASS_ORDER_ACK, body, **properties)


def final_ack(message: UserMessagePacket, message_class: int, source: Any = SENDER) -> UserMessagePacket:
    header = message.TransactionHeader
    assert header is not None
    body = FinalAckBody(
        header.TxSequenceID,
        header.TxSequenceNumber,
        header.PreviousTxSequenceNumber,
        source,
        message.UserHeader.MessageID,
    )
    return ordering(message_class, body.build(), recoverable=True)


def in_sequence(
    number: int,
    previous: int | None = None,
    *,
    sequence: TxSequenceID = SEQUENCE,
    queue: str = TRANSACTIONAL,
    source: Any = RAW,
    flags: int = TransactionHeader.flags(FM=1, LM=1, ID=1),
    bits: int = 0,
    **fields: Any,
) -> UserMessagePacket:
    """Return a transactional message whose body is its sequence number; ``bits`` are added to UserHeader.Flags."""
    fields = {"body": str(number).encode(), "priority": 0, "SourceQueueManager": source} | fields
    packet = user_message(number, transactional=True, queue=queue, **fields)
    return replace(
        packet,
        UserHeader=replace(packet.UserHeader, Flags=packet.UserHeader.Flags | bits),
        TransactionHeader=TransactionHeader(flags, sequence, number, number - 1 if previous is None else previous),
    )
