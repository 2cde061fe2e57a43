"""Faults that break the rules MQMQ-2.2.19.2-02 to MQMQ-2.2.19.2-30."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.fields import register_refusal_faults, register_set_bit_faults, set_field_value
from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart, change_packets_of_kind, send_wrong_field_values
from harness.faults.received_messages import change_received_message
from harness.faults.registry import add
from reference_qm.codec import (
    UserMessagePacket,
)
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import (
    INFINITE_TIMEOUT,
    Message,
    MessagePosition,
    OutgoingMessagePosition,
    Queue,
    Session,
)
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_19_2_user_header.fault_steps import (
    PUBLIC_QUEUE_NAME_TYPE,
    SECOND_QUEUE_MANAGER_GUID,
    has_admin_queue,
    make_destination_queue_type_condition,
)
from suites.mqmq.steps.kinds_of_messages import (
    is_transactional,
)


@fault(
    "sender-sets-queue-manager-address-to-next-hop", breaks=("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29")
)
class SenderSetsQueueManagerAddressToNextHop(SessionAddressResolving):
    """When a message is sent through another queue manager, the sender sets QueueManagerAddress to the GUID of that
    queue manager.
    """

    def set_queue_manager_address(self, session: Session, position: OutgoingMessagePosition) -> None:
        destination, session.destination = session.destination, session.RemoteQMGuid
        super().set_queue_manager_address(session, position)
        session.destination = destination


add(
    "sender-queue-manager-address-of-source-if-response-queue-is-named",
    "MQMQ-2.2.19.2-02",
    "In a message to a private queue that names a response queue, the sender sets QueueManagerAddress to its own GUID.",
    change_packets_of_kind(
        UserMessagePacket,
        lambda packet: replace(
            packet, UserHeader=replace(packet.UserHeader, QueueManagerAddress=packet.UserHeader.SourceQueueManager)
        ).build(),
        lambda packet: packet.UserHeader.DQ == 3 and packet.UserHeader.RQ,
    ),
)


add(
    "sender-sets-queue-manager-address-if-priority-7-message-requests-acks",
    "MQMQ-2.2.19.2-02",
    "The sender's UserMessage to a direct name carries a QueueManagerAddress if its priority is 7 and it "
    "requests acknowledgments.",
    send_wrong_field_values(
        UserMessagePacket,
        {"UserHeader.QueueManagerAddress": UUID(int=7)},
        lambda packet: packet.BaseHeader.PR == 7 and packet.MessagePropertiesHeader.Flags,
    ),
)


@fault("sender-changes-last-digit-of-private-destination-guid", breaks="MQMQ-2.2.19.2-02", blind=True)
class SenderChangesLastDigitOfPrivateDestinationGuid(MessageSending):
    """The sender changes the last digit of UserHeader.QueueManagerAddress in messages to private queues."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet: UserMessagePacket = super().construct_user_message(position)
        if not position.MessageReference.DestinationQueueFormatName.upper().startswith("PRIVATE="):
            return packet
        user = packet.UserHeader
        return replace(
            packet, UserHeader=replace(user, QueueManagerAddress=UUID(int=user.QueueManagerAddress.int ^ 15))
        )


for _name, _broken_rules, _says, _install in (
    (
        "sender-queue-manager-address-wrong-for-public-name",
        ("MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "The sender's UserMessage to a public queue carries the QueueManagerAddress of an unknown queue manager.",
        set_field_value(
            UserMessagePacket,
            "UserHeader.QueueManagerAddress",
            SECOND_QUEUE_MANAGER_GUID,
            make_destination_queue_type_condition(PUBLIC_QUEUE_NAME_TYPE),
        ),
    ),
    (
        "sender-transactional-message-sent-time-zero",
        ("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05", "MQDMPR-3.1.1.12-D60"),
        "The sender's transactional UserMessage carries SentTime 0.",
        set_field_value(UserMessagePacket, "UserHeader.SentTime", 0, is_transactional),
    ),
    (
        "sender-admin-queue-without-ack-request",
        ("MQMQ-2.2.19.2-31",),
        "The sender's UserMessage names an administration queue, but requests no acknowledgments.",
        send_wrong_field_values(UserMessagePacket, {"MessagePropertiesHeader.Flags": 0}, has_admin_queue),
    ),
):
    add(_name, _broken_rules, _says, _install)


@fault(
    "receiver-transactional-message-never-expires",
    breaks=("MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53", "MQDMPR-3.1.7.1.9-15"),
    blind=True,
)
class ReceiverTransactionalMessageNeverExpires(MessageLifetimes):
    """The receiver keeps a transactional message in its queue after TimeToBeReceived has expired."""

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().start_time_to_be_received_timer(position)


INFINITE_LIFETIME_S = 0xFFFFFFFF


def _set_infinite_time_to_be_received(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in queue.MessagePositionList:
            position.MessageReference = replace(position.MessageReference, TimeToBeReceived=INFINITE_LIFETIME_S)


add(
    "queue-manager-time-to-be-received-not-recovered",
    ("MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53"),
    "The queue manager recovers messages without their TimeToBeReceived after a restart.",
    change_core_at_restart(_set_infinite_time_to_be_received),
    blind=True,
)


def _reset_message_id_ordinal(qm: QueueManager) -> None:
    qm.adm.MessageIdOrdinal = 0


add(
    "sender-message-id-counted-from-1-after-restart",
    "MQMQ-2.2.19.2-07",
    "After a restart, the sender counts MessageID from 1 again.",
    change_core_at_restart(_reset_message_id_ordinal),
)


@fault("sender-message-id-of-every-eighth-message-repeated", breaks="MQMQ-2.2.19.2-07")
class SenderMessageIdOfEveryEighthMessageRepeated(MessageNumbering):
    """The sender gives every eighth message the MessageID of the preceding message."""

    def assign_message_ordinal(self) -> int:
        number = super().assign_message_ordinal()
        return number - 1 if number % 8 == 0 else number


def _clear_extension_data(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in queue.MessagePositionList:
            position.MessageReference = replace(position.MessageReference, Extension=b"")


add(
    "queue-manager-extension-not-recovered",
    ("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20"),
    "The queue manager recovers messages without their extensions after a restart.",
    change_core_at_restart(_clear_extension_data),
    blind=True,
)


@fault("receiver-recoverable-message-of-subqueue-lost-at-restart", breaks="MQMQ-2.2.19.2-11", blind=True)
class ReceiverRecoverableMessageOfSubqueueLostAtRestart(StateRestoring):
    """At a restart, the queue manager loses the recoverable messages of subqueues."""

    def _restore_message(self, rest: str, value: Any) -> None:
        place = value["in"].lower()
        if not (place.startswith("queue:") and ";" in place and not place.endswith(";journal")):
            super()._restore_message(rest, value)


@fault("queue-manager-recoverable-message-in-journal-lost-at-restart", breaks="MQMQ-2.2.19.2-11")
class QueueManagerRecoverableMessageInJournalLostAtRestart(MessageJournaling):
    """At a restart, the queue manager loses the recoverable messages in the journal of a queue."""

    def put_into_system_queue(self, queue: Queue, message: Message) -> None:
        self.qm.message_positions.on_message_available(self.qm.message_positions.insert_message(queue, message))


register_refusal_faults(
    UserMessagePacket,
    ("receiver-user-header-x1-refused", "MQMQ-2.2.19.2-12", "UserHeader.X1"),
    ("receiver-user-header-x2-refused", "MQMQ-2.2.19.2-24", "UserHeader.X2"),
    ("receiver-user-header-x3-refused", "MQMQ-2.2.19.2-26", "UserHeader.X3"),
    ("receiver-user-header-x4-refused", "MQMQ-2.2.19.2-28", "UserHeader.X4"),
    (
        "receiver-user-header-connector-type-refused",
        ("MQMQ-2.2.19.2-39", "MQDMPR-3.1.1.12-58"),
        "UserHeader.ConnectorType",
    ),
)


register_set_bit_faults(
    UserMessagePacket,
    ("sender-user-header-x1-set", "MQMQ-2.2.19.2-12", "UserHeader.X1"),
    ("sender-user-header-x2-set", "MQMQ-2.2.19.2-24", "UserHeader.X2"),
    ("sender-user-header-x3-set", "MQMQ-2.2.19.2-26", "UserHeader.X3"),
    ("sender-user-header-x4-set", "MQMQ-2.2.19.2-28", "UserHeader.X4"),
)


NO_ACK_REQUEST_FIELDS = {"MessagePropertiesHeader.Flags": 0}


for _name, _rule, _says, _changes, _when in (
    (
        "receiver-user-header-x1-of-transactional-message-suppresses-acknowledgments",
        "MQMQ-2.2.19.2-12",
        "The receiver sends no acknowledgments for a transactional message when bit X1 of UserHeader.Flags is set.",
        NO_ACK_REQUEST_FIELDS,
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
        NO_ACK_REQUEST_FIELDS,
        lambda packet: packet.UserHeader.ConnectorType is not None,
    ),
    (
        "receiver-time-to-be-received-signed",
        "MQMQ-2.2.19.2-D03",
        "The receiver removes a message at once if TimeToBeReceived is 0x80000000 or more, but not infinite.",
        {"UserHeader.TimeToBeReceived": 0},
        lambda packet: 0x80000000 <= packet.UserHeader.TimeToBeReceived < INFINITE_TIMEOUT,
    ),
):
    add(_name, _rule, _says, change_received_message(_changes, _when))


@fault(
    "sender-refused-message-with-jn-not-in-dead-letter-queue",
    breaks=("MQMQ-2.2.19.2-13", "MQQB-3.1.5.7-05", "MQQB-3.1.5.7-07"),
)
class SenderRefusedMessageWithJnNotInDeadLetterQueue(MessageJournaling):
    """The sender puts a transactional message with JN set into the dead-letter queue if the message expires, but not if
    the receiver refuses it.
    """

    def journal_failed_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.TransactionIdentifier is not None and message.TimeToReachQueue == INFINITE_TIMEOUT:
            position.MessageReference = replace(message, NegativeJournalingRequested=False)
        super().journal_failed_message(position)


@fault(
    "sender-second-message-with-jp-not-in-journal",
    breaks=("MQMQ-2.2.19.2-14", "MQDMPR-3.1.1.12-21", "MQDMPR-3.1.1.2-17"),
)
class SenderSecondMessageWithJpNotInJournal(MessageJournaling):
    """The sender puts only the first of the messages with JP set that one SessionAck acknowledges into the system
    journal.
    """

    def journal_delivered_message(self, position: MessagePosition) -> None:
        count = getattr(self, "count", 0) + 1
        self.count = count
        if count % 2 == 0:
            position.MessageReference = replace(position.MessageReference, PositiveJournalingRequested=False)
        super().journal_delivered_message(position)


@fault("receiver-ignores-transactional-message-with-undefined-dq", breaks="MQMQ-2.2.19.2-30")
class ReceiverIgnoresTransactionalMessageWithUndefinedDq(Identifying):
    """The receiver ignores a transactional message with an undefined DQ, and leaves the session open."""

    def receive_packet(self, session: Session, data: bytes, now: Now) -> None:
        if data[2] & 8 == 0 and len(data) > 64:
            flags = int.from_bytes(data[60:64], "little")
            if flags >> 10 & 7 not in (3, 5, 7) and flags >> 20 & 1:
                return
        super().receive_packet(session, data, now)
