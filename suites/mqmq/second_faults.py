"""Second faults of packets and what is in them, by an author who had read the rules and not the checks.

Spec: MS-MQMQ 2.2.18 to 2.2.20.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import changed, fault, replaced
from harness.faults.primitives import at_restart, packets
from harness.faults.registry import add
from harness.faults.sent_messages import size_off_by
from reference_qm.codec import FormatError, Packet, PrivateQueueFormatNameId, UserHeader, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

INFINITE = 0xFFFFFFFF

# -- what is sent -----------------------------------------------------------------------------------------------------


def _constructed(change: Callable[[UserMessagePacket, Message], UserMessagePacket]) -> Any:
    """Make the packets of messages otherwise."""

    def make(original: Any) -> Any:
        def construct(qm: QM, position: MessagePosition) -> UserMessagePacket:
            return change(original(qm, position), position.MessageReference)

        return construct

    return replaced(changed(Sending.construct_user_message, make))


def _with_properties(packet: UserMessagePacket, **values: Any) -> UserMessagePacket:
    return replace(packet, MessagePropertiesHeader=replace(packet.MessagePropertiesHeader, **values))


def _with_base(packet: UserMessagePacket, **values: Any) -> UserMessagePacket:
    return replace(packet, BaseHeader=replace(packet.BaseHeader, **values))


def _without_its_third_name(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
    header = packet.MultiQueueFormatHeader
    if header is None:
        return packet
    listed = replace(header.Destination, FormatNameList=header.Destination.FormatNameList[:2])
    return replace(packet, MultiQueueFormatHeader=replace(header, Destination=listed))


def _last_flag_missing(packet: UserMessagePacket) -> bytes:
    header = packet.TransactionHeader
    assert header is not None
    return replace(packet, TransactionHeader=replace(header, Flags=header.Flags & ~header.flags(LM=1))).build()


for name, rule, says, change in (
    (
        "priority-zero-sent-as-three",
        ("MQMQ-2.2.19.1-D01", "MQMQ-2.2.19.1-D02", "MQDMPR-3.1.1.12-D48"),
        "A message of priority 0 is sent as one without a priority.",
        lambda packet, message: (
            packet if packet.BaseHeader.Flags & 7 or packet.UserHeader.TH else _with_base(packet, Flags=3)
        ),
    ),
    (
        "label-cut-at-124-characters",
        (
            "MQMQ-2.2.19.3-29",
            "MQDMPR-3.1.1.12-45",
        ),
        "A label is cut after 124 characters.",
        lambda packet, message: _with_properties(packet, Label=message.Label[:124] or None),
    ),
    (
        "third-destination-not-listed",
        (
            "MQMQ-2.2.20.1-01",
            "MQDMPR-3.1.1.12-28",
            "MQDMPR-3.1.1.12-27",
        ),
        "Of the destinations of a message the first two are listed.",
        _without_its_third_name,
    ),
    (
        "application-tag-sent-as-signed",
        ("MQMQ-2.2.19.3-16",),
        "ApplicationTag is sent without its highest bit.",
        lambda packet, message: _with_properties(packet, ApplicationTag=message.AppSpecific & 0x7FFFFFFF),
    ),
    (
        "negative-arrival-asked-for-with-negative-receive-only",
        ("MQQB-3.1.7.1.1-03",),
        "NA is sent only with NR.",
        lambda packet, message: (
            packet
            if packet.MessagePropertiesHeader.NR
            else _with_properties(packet, Flags=packet.MessagePropertiesHeader.Flags & ~4)
        ),
    ),
    (
        "recoverable-journal-bit-not-sent-with-dead-letter-bit",
        ("MQQB-3.1.7.1.1-03",),
        "JP is sent only without JN.",
        lambda packet, message: (
            replace(packet, UserHeader=replace(packet.UserHeader, Flags=packet.UserHeader.Flags & ~0x200))
            if packet.UserHeader.JN
            else packet
        ),
    ),
    (
        "time-to-be-received-of-transactional-messages-not-sent",
        ("MQQB-3.1.7.1.1-03",),
        "A transactional message is sent without its time to be received.",
        lambda packet, message: (
            replace(packet, UserHeader=replace(packet.UserHeader, TimeToBeReceived=INFINITE))
            if packet.UserHeader.TH
            else packet
        ),
    ),
    (
        "priority-of-a-recoverable-message-not-sent",
        (
            "MQMQ-2.2.19.1-D02",
            "MQDMPR-3.1.1.12-D48",
        ),
        "A recoverable message is sent with priority 3, whatever was asked for.",
        lambda packet, message: (
            _with_base(packet, Flags=packet.BaseHeader.Flags & ~7 | 3)
            if packet.UserHeader.DM and not packet.UserHeader.TH
            else packet
        ),
    ),
):
    add(name, rule, says, _constructed(change))

add(
    "only-message-of-a-transaction-not-the-last",
    ("MQMQ-2.2.20.5-05", "MQDMPR-3.1.1.12-D59"),
    "LM is clear in a message that is the only one of its transaction.",
    packets(
        UserMessagePacket,
        _last_flag_missing,
        lambda packet: packet.TransactionHeader is not None and packet.TransactionHeader.FM,
    ),
)
add(
    "packet-size-without-the-debug-header",
    ("MQMQ-2.2.19.1-22", "MQDMPR-3.1.7.1.32-04"),
    "PacketSize leaves out the DebugHeader.",
    packets(
        UserMessagePacket,
        lambda packet: size_off_by(-len(packet.DebugHeader.build()))(packet.build()),
        lambda packet: packet.DebugHeader is not None,
    ),
)
add(
    "packet-size-with-the-session-header-of-a-recoverable-message",
    ("MQMQ-2.2.19.1-22", "MQDMPR-3.1.7.1.32-04"),
    "PacketSize counts the SessionHeader of a recoverable message.",
    packets(
        UserMessagePacket,
        lambda packet: size_off_by(16)(packet.build()),
        lambda packet: packet.SessionHeader is not None and bool(packet.UserHeader.DM),
    ),
)

# -- what is received -------------------------------------------------------------------------------------------------


def _arriving(change: Callable[[Message], Message]) -> Any:
    """Put other messages into queues."""

    def make(original: Any) -> Any:
        return lambda qm, queue, message: original(qm, queue, change(message))

    return replaced(changed(Positions.insert_message, make))


for name, rule, says, arrive in (
    (
        "correlation-keeps-its-first-sixteen-bytes",
        ("MQMQ-2.2.19.3-13", "MQDMPR-3.1.1.12-34"),
        "Of CorrelationID the GUID is handed on, the number behind it is lost.",
        lambda message: replace(message, CorrelationIdentifier=message.CorrelationIdentifier[:16] + bytes(4)),
    ),
    (
        "application-tag-received-without-its-highest-bit",
        ("MQMQ-2.2.19.3-16", "MQDMPR-3.1.1.12-31"),
        "The highest bit of ApplicationTag is lost when a message is received.",
        lambda message: replace(message, AppSpecific=message.AppSpecific & 0x7FFFFFFF),
    ),
    (
        "body-filled-up-to-four-bytes",
        ("MQMQ-2.2.19.3-17", "MQMQ-2.2.19.3-D05"),
        "A body is handed on with the padding that follows it.",
        lambda message: replace(message, Body=message.Body + bytes(-len(message.Body) % 4)),
    ),
    (
        "body-ends-at-its-trailing-zeros",
        ("MQMQ-2.2.19.3-17", "MQDMPR-3.1.1.12-32"),
        "A body is handed on without the zeros at its end.",
        lambda message: replace(message, Body=message.Body.rstrip(b"\0")),
    ),
    (
        "type-of-body-in-one-byte",
        ("MQQB-3.1.7.10-03", "MQDMPR-3.1.1.12-33", "MQDMPR-3.1.7.1.31-D02"),
        "BodyType is kept in one byte: VT_VECTOR is lost.",
        lambda message: replace(message, BodyType=message.BodyType & 0xFF),
    ),
    (
        "response-queue-that-is-the-administration-queue-lost",
        (
            "MQMQ-2.2.19.2-D08",
            "MQDMPR-3.1.7.1.31-D17",
            "MQDMPR-3.1.1.12-55",
        ),
        "A message with RQ 1 has no response queue.",
        lambda message: (
            replace(message, ResponseQueueFormatName=None)
            if message.ResponseQueueFormatName == message.AdministrationQueueFormatName
            else message
        ),
    ),
    (
        "blanks-at-the-end-of-a-label-lost",
        ("MQMQ-2.2.19.3-09",),
        "A label is handed on without the blanks at its end.",
        lambda message: replace(message, Label=message.Label.rstrip()),
    ),
    (
        "extension-of-transactional-messages-lost",
        ("MQQB-3.1.7.10-03", "MQDMPR-3.1.7.1.31-04", "MQDMPR-3.1.7.1.31-D02"),
        "The extension of a transactional message is lost when it is received.",
        lambda message: replace(message, Extension=b"") if message.TransactionIdentifier is not None else message,
    ),
    (
        "sent-time-is-that-of-arrival",
        ("MQQB-3.1.7.10-03", "MQDMPR-3.1.7.1.31-04", "MQDMPR-3.1.7.1.31-D05"),
        "A message that is received has the time of its arrival for SentTime.",
        lambda message: replace(message, SentTime=message.ArrivalTime or message.SentTime),
    ),
):
    add(name, rule, says, _arriving(arrive))


@fault("priority-one-lies-with-priority-zero", breaks="MQMQ-2.2.19.1-03")
class PriorityOneLiesWithPriorityZero(Positions):
    """Messages of priority 1 lie among those of priority 0."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Priority != 1:
            return super().insert_message(queue, message)
        position = super().insert_message(queue, replace(message, Priority=0))
        position.MessageReference = message
        return position


@fault("recoverable-messages-before-express-ones", breaks="MQMQ-2.2.19.1-03")
class RecoverableMessagesBeforeExpressOnes(Positions):
    """A recoverable message lies one priority higher than it should."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        recoverable = message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        if not recoverable or message.TransactionIdentifier is not None or message.Priority == 7:
            return super().insert_message(queue, message)
        position = super().insert_message(queue, replace(message, Priority=message.Priority + 1))
        position.MessageReference = message
        return position


@fault("no-time-to-reach-taken-for-endless", breaks="MQMQ-2.2.19.1-D04")
class NoTimeToReachTakenForEndless(Admission):
    """A TimeToReachQueue of 0 is taken for none: the message never expires on its way."""

    def check_expiration(self, session: Any, packet: UserMessagePacket, queue: Queue, now: Now) -> Any:
        if not packet.BaseHeader.TimeToReachQueue:
            return packet
        return super().check_expiration(session, packet, queue, now)


@fault("no-time-to-be-received-taken-for-endless", breaks="MQMQ-2.2.19.2-D03")
class NoTimeToBeReceivedTakenForEndless(Lifetimes):
    """A TimeToBeReceived of 0 is taken for none: the message stays in its queue for ever."""

    def watch_received(self, position: MessagePosition) -> None:
        if position.MessageReference.TimeToBeReceived:
            super().watch_received(position)


@fault("time-to-be-received-of-transactional-messages-not-watched", breaks=("MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53"))
class TimeToBeReceivedOfTransactionalMessagesNotWatched(Lifetimes):
    """The time to be received of a transactional message is never over."""

    def watch_received(self, position: MessagePosition) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().watch_received(position)


@fault("largest-packet-refused", breaks="MQMQ-2.2.19.1-D03")
class LargestPacketRefused(Identifying):
    """A packet of 0x00400000 bytes is refused."""

    def check_form(self, packet: Packet) -> None:
        super().check_form(packet)
        if packet.BaseHeader.PacketSize == 0x00400000:
            raise FormatError("BaseHeader.PacketSize", 8, "a fault", "is 0x00400000")


def _forget_extensions(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in queue.MessagePositionList:
            position.MessageReference = replace(position.MessageReference, Extension=b"")


def _forget_life(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in queue.MessagePositionList:
            position.MessageReference = replace(position.MessageReference, TimeToBeReceived=INFINITE)


add(
    "extension-not-on-disk",
    ("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20"),
    "After a restart recoverable messages have lost their extensions.",
    at_restart(_forget_extensions),
)
add(
    "time-to-be-received-not-on-disk",
    ("MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53"),
    "After a restart the time to be received of a message is forgotten.",
    at_restart(_forget_life),
)


add(
    "admin-queue-of-another-host-sent-as-of-the-sender",
    ("MQMQ-2.2.19.2-D07", "MQDMPR-3.1.7.1.32-D15", "MQDMPR-3.1.1.12-54"),
    "The administration queue of a message that is on neither queue manager is sent with AQ 2.",
    packets(
        UserMessagePacket,
        lambda packet: replace(
            packet,
            BaseHeader=replace(packet.BaseHeader, PacketSize=0),
            UserHeader=replace(
                packet.UserHeader,
                Flags=packet.UserHeader.Flags & ~UserHeader.flags(AQ=7) | UserHeader.flags(AQ=2),
                AdminQueue=PrivateQueueFormatNameId(packet.UserHeader.AdminQueue.PrivateQueueIdentifier),
            ),
        ).build(),
        lambda packet: packet.UserHeader.AQ == 6,
    ),
)
