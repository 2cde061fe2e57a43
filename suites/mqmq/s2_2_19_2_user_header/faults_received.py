"""Faults that break rules of MS-MQMQ 2.2.19.2 UserHeader in the receiver."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.fields import change_number_in_field
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_packets_of_kind, send_wrong_field_values
from harness.faults.registry import Install, add
from reference_qm.codec import FormatError, Packet, UserMessagePacket
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Message, MessagePosition, Queue, Session
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_19_2_user_header.fault_steps import (
    DIRECT_QUEUE_NAME_TYPE,
    PRIVATE_QUEUE_ON_DESTINATION_HOST_TYPE,
    PUBLIC_QUEUE_NAME_TYPE,
    QUEUE_NAMES_OFFSET,
    SECONDS_PER_HOUR,
    make_destination_queue_type_condition,
)


def _ignore_malformed_packet(detail: str) -> Install:
    """Let the receiver ignore a packet that is malformed for the reason `detail`, instead of closing the session."""

    class MalformedPacketIgnorer(SessionClosing):
        def close_session_after_malformed_packet(self, session: Session, error: FormatError, now: Now) -> None:
            if detail not in str(error):
                super().close_session_after_malformed_packet(session, error, now)

    return replace_part(MalformedPacketIgnorer)


for _name, _rule, _bits in (
    ("receiver-unlisted-dq-ignored", "MQMQ-2.2.19.2-30", "DQ"),
    ("receiver-unlisted-aq-ignored", "MQMQ-2.2.19.2-34", "AQ"),
):
    add(
        _name,
        _rule,
        f"The receiver ignores a message with an undefined {_bits} and keeps the session open.",
        _ignore_malformed_packet(f"{_bits} 0x"),
    )


@fault("receiver-resolves-rq-4-response-queue-at-source", breaks="MQMQ-2.2.19.2-37")
class ReceiverResolvesRq4ResponseQueueAtSource(MessagePositions):
    """The receiver resolves a response queue with RQ 4 on the source of the message."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        name = message.ResponseQueueFormatName
        if name is not None and name.upper().startswith("PRIVATE="):
            name = rf"PRIVATE={message.Identifier.QueueManagerGuid}\{name.rpartition(chr(92))[2]}"
        return super().insert_message(queue, replace(message, ResponseQueueFormatName=name))


@fault(
    "receiver-drops-response-queue-of-rq-1", breaks=("MQMQ-2.2.19.2-D08", "MQDMPR-3.1.1.12-55", "MQDMPR-3.1.7.1.31-D17")
)
class ReceiverDropsResponseQueueOfRq1(MessagePositions):
    """The receiver delivers a message with RQ 1 without its response queue."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        same = message.ResponseQueueFormatName == message.AdministrationQueueFormatName
        name = None if same else message.ResponseQueueFormatName
        return super().insert_message(queue, replace(message, ResponseQueueFormatName=name))


def _resolve_queue_at_receiver(attribute: str) -> Install:
    """Resolve a private queue of the sender, named in one attribute of a message, as a queue of the receiver."""

    class ReceiverQueueResolver(MessagePositions):
        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            name = str(getattr(message, attribute) or "")
            own = f"PRIVATE={message.Identifier.QueueManagerGuid}".upper()
            if name.upper().startswith(own):
                moved: dict[str, Any] = {attribute: f"PRIVATE={self.qm.adm.Identifier}{name[len(own) :]}"}
                message = replace(message, **moved)
            return super().insert_message(queue, message)

    return replace_part(ReceiverQueueResolver)


for _name, _breaks, _attribute in (
    (
        "receiver-admin-queue-of-source-resolved-at-receiver",
        ("MQMQ-2.2.19.2-D07", "MQDMPR-3.1.7.1.31-D16", "MQDMPR-3.1.1.12-54"),
        "AdministrationQueueFormatName",
    ),
    (
        "receiver-response-queue-of-source-resolved-at-receiver",
        ("MQMQ-2.2.19.2-D08", "MQDMPR-3.1.7.1.31-D17", "MQDMPR-3.1.1.12-55"),
        "ResponseQueueFormatName",
    ),
):
    add(
        _name,
        _breaks,
        f"The receiver treats a private queue of the source that {_attribute} names as a queue of the receiver.",
        _resolve_queue_at_receiver(_attribute),
    )


def _add_direct_prefix(queue: Any) -> Any:
    return replace(queue, DirectFormatName=f"DIRECT={queue.DirectFormatName}", Padding=None)


def _reverse_public_destination_bytes(packet: UserMessagePacket) -> bytes:
    data = packet.build()
    return (
        data[:QUEUE_NAMES_OFFSET]
        + UUID(bytes_le=data[QUEUE_NAMES_OFFSET : QUEUE_NAMES_OFFSET + 16]).bytes
        + data[QUEUE_NAMES_OFFSET + 16 :]
    )


for _name, _broken_rules, _says, _install in (
    (
        "sender-public-destination-guid-big-endian",
        ("MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.32-D14"),
        "The sender's UserMessage to a public queue carries a big-endian GUID in DestinationQueue.",
        change_packets_of_kind(
            UserMessagePacket,
            _reverse_public_destination_bytes,
            make_destination_queue_type_condition(PUBLIC_QUEUE_NAME_TYPE),
        ),
    ),
    (
        "sender-direct-destination-with-prefix",
        ("MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.32-D14"),
        "The sender's UserMessage carries a direct DestinationQueue that begins with DIRECT=.",
        send_wrong_field_values(
            UserMessagePacket,
            {"UserHeader.DestinationQueue": _add_direct_prefix},
            make_destination_queue_type_condition(DIRECT_QUEUE_NAME_TYPE),
        ),
    ),
    (
        "sender-admin-queue-of-source-sent-with-aq-3",
        ("MQMQ-2.2.19.2-D07", "MQDMPR-3.1.7.1.32-D15", "MQDMPR-3.1.1.12-54"),
        "The sender's UserMessage carries AQ 3 for a private administration queue on the source.",
        change_number_in_field(UserMessagePacket, "UserHeader.AQ", lambda kind: 3 if kind == 2 else kind),
    ),
    (
        "sender-response-queue-of-destination-sent-with-rq-2",
        ("MQMQ-2.2.19.2-D08", "MQDMPR-3.1.7.1.32-D16", "MQDMPR-3.1.1.12-55"),
        "The sender's UserMessage carries RQ 2 for a private response queue on the destination.",
        change_number_in_field(UserMessagePacket, "UserHeader.RQ", lambda kind: 2 if kind == 3 else kind),
    ),
):
    add(_name, _broken_rules, _says, _install)


@fault(
    "receiver-refuses-message-with-destination-queue-type-dq-3", breaks=("MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.31-D15")
)
class ReceiverRefusesMessageWithDestinationQueueTypeDq3(Identifying):
    """The receiver refuses a message with DQ 3."""

    def check_field_values(self, packet: Packet) -> None:
        if isinstance(packet, UserMessagePacket) and packet.UserHeader.DQ == PRIVATE_QUEUE_ON_DESTINATION_HOST_TYPE:
            raise FormatError(
                "UserHeader.DestinationQueue", QUEUE_NAMES_OFFSET, "a fault", "the name of the queue cannot be read"
            )
        super().check_field_values(packet)


@fault(
    "receiver-message-sent-1-hour-ago-expires-at-once",
    breaks=("MQMQ-2.2.19.2-D04", "MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53", "MQDMPR-3.1.2.4-D01"),
)
class ReceiverMessageSent1HourAgoExpiresAtOnce(MessagePositions):
    """The receiver treats every message that arrives an hour after its SentTime as expired."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.ArrivalTime - message.SentTime >= SECONDS_PER_HOUR:
            message = replace(message, TimeToBeReceived=0)
        return super().insert_message(queue, message)
