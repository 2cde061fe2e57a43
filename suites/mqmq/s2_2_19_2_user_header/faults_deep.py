"""Faults of MS-MQMQ 2.2.19.2 that only special cases reveal: later times, other kinds of messages and queues, and bits
that have an effect although they must be ignored.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import at_restart, packets
from harness.faults.received_messages import change_received
from harness.faults.registry import add
from reference_qm.codec import NULL_GUID, Packet, PrivateQueueFormatName, UserMessagePacket
from reference_qm.core.names.numbering import Numbering
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import INFINITE, Message, MessagePosition, Queue, Session
from reference_qm.surface.clock import Now

NO_ACKNOWLEDGMENTS = {"MessagePropertiesHeader.Flags": 0}

for _name, _rule, _says, _changes, _when in (
    (
        "receiver-user-header-x1-of-transactional-message-suppresses-acknowledgments",
        "MQMQ-2.2.19.2-12",
        "The receiver sends no acknowledgments for a transactional message when bit X1 of UserHeader.Flags is set.",
        NO_ACKNOWLEDGMENTS,
        lambda packet: packet.UserHeader.X1 and packet.TransactionHeader is not None,
    ),
    (
        "receiver-user-header-x2-makes-express",
        "MQMQ-2.2.19.2-24",
        "The receiver treats a recoverable message as express when bit X2 of UserHeader.Flags is set.",
        {"UserHeader.Flags": lambda flags: flags & ~(3 << 5)},
        lambda packet: packet.UserHeader.X2 and packet.TransactionHeader is None,
    ),
    (
        "receiver-user-header-x3-upper-bit-message-expires",
        "MQMQ-2.2.19.2-26",
        "The receiver removes a message from its queue after one second if the upper bit of X3 is set.",
        {"UserHeader.TimeToBeReceived": 1},
        lambda packet: packet.UserHeader.X3 & 2,
    ),
    (
        "receiver-user-header-x4-of-7-response-queue-lost",
        "MQMQ-2.2.19.2-28",
        "The receiver delivers a message without its response queue if all three bits X4 are set.",
        {
            "BaseHeader.PacketSize": 0,
            "UserHeader.Flags": lambda flags: flags & ~(7 << 16),
            "UserHeader.ResponseQueue": None,
        },
        lambda packet: packet.UserHeader.X4 == 7,
    ),
    (
        "receiver-connector-type-suppresses-acknowledgments",
        "MQMQ-2.2.19.2-39",
        "The receiver sends no acknowledgments for a message with a ConnectorType.",
        NO_ACKNOWLEDGMENTS,
        lambda packet: packet.UserHeader.ConnectorType is not None,
    ),
    (
        "receiver-time-to-be-received-signed",
        "MQMQ-2.2.19.2-D03",
        "The receiver removes a message at once if TimeToBeReceived is 0x80000000 or more, but not infinite.",
        {"UserHeader.TimeToBeReceived": 0},
        lambda packet: 0x80000000 <= packet.UserHeader.TimeToBeReceived < INFINITE,
    ),
):
    add(_name, _rule, _says, change_received(_changes, _when))

add(
    "sender-queue-manager-address-of-source-if-response-queue-is-named",
    "MQMQ-2.2.19.2-02",
    "The sender sets QueueManagerAddress to its own GUID in a message with a response queue to a private queue.",
    packets(
        UserMessagePacket,
        lambda packet: replace(
            packet, UserHeader=replace(packet.UserHeader, QueueManagerAddress=packet.UserHeader.SourceQueueManager)
        ).build(),
        lambda packet: packet.UserHeader.DQ == 3 and packet.UserHeader.RQ,
    ),
)
add(
    "sender-administration-queue-missing-if-only-receipt-is-acknowledged",
    "MQMQ-2.2.19.2-31",
    "The sender names no administration queue in a message in which NR is the only acknowledgment flag that is set.",
    packets(
        UserMessagePacket,
        lambda packet: replace(
            packet,
            BaseHeader=replace(packet.BaseHeader, PacketSize=0),
            UserHeader=replace(packet.UserHeader, Flags=packet.UserHeader.Flags & ~(7 << 13), AdminQueue=None),
        ).build(),
        lambda packet: packet.MessagePropertiesHeader.Flags == 8 and packet.UserHeader.AdminQueue is not None,
    ),
)


@fault("receiver-time-to-be-received-of-transactional-message-not-observed", breaks="MQMQ-2.2.19.2-05")
class ReceiverTimeToBeReceivedOfTransactionalMessageNotObserved(Lifetimes):
    """The receiver does not remove a transactional message whose TimeToBeReceived expires."""

    def watch_received(self, position: MessagePosition) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().watch_received(position)


class WatchedFromRestart(Lifetimes):
    """After a restart, the receiver keeps each message in its queue for twice its TimeToBeReceived."""

    def recover_deadlines(self) -> None:
        vars(self)["restored"] = True
        super().recover_deadlines()
        vars(self)["restored"] = False

    def watch_received(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if not getattr(self, "restored", False) or message.TimeToBeReceived == INFINITE:
            super().watch_received(position)
            return
        self.qm.to_be_received.add(position, message.SentTime + 2 * message.TimeToBeReceived)


add(
    "receiver-time-to-be-received-begins-again-at-restart",
    "MQMQ-2.2.19.2-D04",
    "After a restart, the receiver keeps each message in its queue for twice its TimeToBeReceived.",
    replace_part(WatchedFromRestart),
)


def _reset_ordinal(qm: QueueManager) -> None:
    qm.adm.MessageIdOrdinal = 0


add(
    "sender-message-id-counted-from-1-after-restart",
    "MQMQ-2.2.19.2-07",
    "After a restart, the sender counts MessageID from 1 again.",
    at_restart(_reset_ordinal),
)


@fault("sender-message-id-of-acknowledgments-counted-separately", breaks="MQMQ-2.2.19.2-07")
class SenderMessageIdOfAcknowledgmentsCountedSeparately(Numbering):
    """The sender gives every eighth message the MessageID of the preceding message."""

    def assign_identifier(self) -> int:
        number = super().assign_identifier()
        return number - 1 if number % 8 == 0 else number


@fault("queue-manager-recoverable-message-in-journal-lost-at-restart", breaks="MQMQ-2.2.19.2-11")
class QueueManagerRecoverableMessageInJournalLostAtRestart(Journaling):
    """At a restart, the queue manager loses the recoverable messages in the journal of a queue."""

    def keep_message(self, queue: Queue, message: Message) -> None:
        self.qm.positions.message_available(self.qm.positions.insert_message(queue, message))


@fault(
    "sender-refused-message-with-jn-not-in-dead-letter-queue",
    breaks=("MQMQ-2.2.19.2-13", "MQQB-3.1.5.7-05", "MQQB-3.1.5.7-07"),
)
class SenderRefusedMessageWithJnNotInDeadLetterQueue(Journaling):
    """The sender puts a transactional message with JN set into the dead-letter queue if the message expires, but not if
    the receiver refuses it.
    """

    def journal_failed(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.TransactionIdentifier is not None and message.TimeToReachQueue == INFINITE:
            position.MessageReference = replace(message, NegativeJournalingRequested=False)
        super().journal_failed(position)


@fault(
    "sender-second-message-with-jp-not-in-journal",
    breaks=("MQMQ-2.2.19.2-14", "MQDMPR-3.1.1.12-21", "MQDMPR-3.1.1.2-17"),
)
class SenderSecondMessageWithJpNotInJournal(Journaling):
    """The sender puts only the first of the messages with JP set that one SessionAck acknowledges into the system
    journal.
    """

    def journal_delivered(self, position: MessagePosition) -> None:
        count = getattr(self, "count", 0) + 1
        self.count = count
        if count % 2 == 0:
            position.MessageReference = replace(position.MessageReference, PositiveJournalingRequested=False)
        super().journal_delivered(position)


def _resolve_on_source(packet: UserMessagePacket) -> bool:
    user = packet.UserHeader
    return user.RQ == 4 and isinstance(user.AdminQueue, PrivateQueueFormatName)


add(
    "receiver-response-queue-type-4-on-source-if-administration-queue-on-third-host",
    "MQMQ-2.2.19.2-37",
    "The receiver resolves a response queue with RQ 4 on the source when AQ is 6.",
    change_received({"UserHeader.Flags": lambda flags: flags & ~(7 << 16) | 2 << 16}, _resolve_on_source),
)
add(
    "receiver-administration-queue-on-third-host-resolved-on-source",
    "MQMQ-2.2.19.2-D07",
    "When AQ is 6, the receiver sends acknowledgments to the private queue with the same number on the source.",
    change_received(
        {"UserHeader.AdminQueue.SourceQueueManager": NULL_GUID},
        lambda packet: isinstance(packet.UserHeader.AdminQueue, PrivateQueueFormatName),
    ),
)
add(
    "receiver-response-queue-type-1-of-transactional-message-none",
    "MQMQ-2.2.19.2-D08",
    "The receiver delivers a transactional message with RQ 1 without a response queue.",
    change_received(
        {"UserHeader.Flags": lambda flags: flags & ~(7 << 16)},
        lambda packet: packet.UserHeader.RQ == 1 and packet.TransactionHeader is not None,
    ),
)


@fault("receiver-administration-queue-of-undefined-type-tolerated-without-acknowledgments", breaks="MQMQ-2.2.19.2-34")
class UndefinedAdminTypeTolerated(Identifying):
    """The receiver stores a message with an undefined AQ when the message requests no acknowledgment."""

    def identify_packet(self, data: bytes) -> Packet:
        if data[2] & 8 == 0 and len(data) > 64:
            flags = int.from_bytes(data[60:64], "little")
            if flags >> 13 & 7 in (1, 4):
                cleared = data[:60] + (flags & ~(7 << 13)).to_bytes(4, "little") + data[64:]
                packet = super().identify_packet(cleared)
                if isinstance(packet, UserMessagePacket) and not packet.MessagePropertiesHeader.Flags:
                    return packet
        return super().identify_packet(data)


@fault("receiver-destination-of-undefined-type-ignored-in-transactional-message", breaks="MQMQ-2.2.19.2-30")
class ReceiverDestinationOfUndefinedTypeIgnoredInTransactionalMessage(Identifying):
    """The receiver ignores a transactional message with an undefined DQ, and leaves the session open."""

    def receive_packet(self, session: Session, data: bytes, now: Now) -> None:
        if data[2] & 8 == 0 and len(data) > 64:
            flags = int.from_bytes(data[60:64], "little")
            if flags >> 10 & 7 not in (3, 5, 7) and flags >> 20 & 1:
                return
        super().receive_packet(session, data, now)
