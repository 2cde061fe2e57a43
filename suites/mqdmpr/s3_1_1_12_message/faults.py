"""Faults of MS-MQDMPR 3.1.1.12 Message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import change_number
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import at_restart, set_fields, skip
from harness.faults.registry import Install, add
from harness.faults.sent_messages import change_insertion
from reference_qm.codec import FormatError, MessageClass, MessagePropertiesHeader, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.positions import LOW_LOOKUP_ID_BYTES, Positions
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.store.entries import build_relocation
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.expiring import Expiring
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.routing import Routing
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Message, MessagePosition, Queue, RecoverableReceipt, Session
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.rpc.calls import Call
from reference_qm.surface.clock import Now

# -- properties that the queue manager must not change --------------------------------------------------------------


def _change_inserted_message(change: Callable[[Message], Message]) -> Install:
    """Build a fault that changes each message when it enters a queue, even an outgoing queue."""

    class Interpreting(Positions):
        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            return super().insert_message(queue, change(message))

    return replace_part(Interpreting)


for _name, _rules, _says, _change in (
    (
        "receiver-text-body-recoded-as-utf-8",
        "MQDMPR-3.1.1.12-32",
        "If BodyType is text, the receiver converts the Body to UTF-8.",
        lambda message: (
            replace(message, Body=message.Body.decode("utf-8", "replace").encode())
            if message.BodyType == 0x1F
            else message
        ),
    ),
    (
        "receiver-label-stripped",
        "MQDMPR-3.1.1.12-46",
        "The receiver removes blanks at both ends of the Label.",
        lambda message: replace(message, Label=message.Label.strip()),
    ),
    (
        "receiver-extension-trailing-zeros-cut",
        "MQDMPR-3.1.1.12-57",
        "The receiver removes trailing zero bytes from the Extension.",
        lambda message: replace(message, Extension=message.Extension.rstrip(b"\0")),
    ),
    (
        "receiver-arrival-time-is-sent-time",
        "MQDMPR-3.1.1.12-D04",
        "The receiver sets ArrivalTime to SentTime.",
        lambda message: replace(message, ArrivalTime=message.SentTime),
    ),
    (
        "locked-message-can-be-peeked",
        "MQDMPR-3.1.1.12-D03",
        "A reader can peek at a message that another reader has locked.",
        lambda message: replace(message, AllowPeekWhenLocked=True),
    ),
):
    add(_name, _rules, _says, _change_inserted_message(_change))


@fault("lookup-identifier-priority-inverted", breaks=("MQDMPR-3.1.1.12-D01", "MQDMPR-3.1.1.12-D48"))
class LookupIdentifierPriorityInverted(Positions):
    """The high byte of a LookupIdentifier is the priority, so the last message of a queue has the lowest identifier."""

    def assign_lookup_identifier(self, message: Message) -> int:
        return message.Priority << 56 | super().assign_lookup_identifier(message) & LOW_LOOKUP_ID_BYTES


def _refuse_unknown_provider(field: str, known: tuple[Any, ...]) -> Install:
    """Build a fault in which the receiver refuses a message if the cryptographic provider of the message is not
    installed.
    """

    class Knowing(Identifying):
        def check_form(self, packet: Any) -> None:
            header = getattr(packet, "SecurityHeader", None)
            info = header.SecurityData.ProviderInfo if header is not None else b""
            value: Any = int.from_bytes(info[:4], "little") if field == "ProviderType" else info[4:].decode("utf-16-le")
            if info and not str(value).startswith(known):
                raise FormatError(f"SecurityHeader.{field}", 0, "a fault", f"{value} is not supported here")
            super().check_form(packet)

    return replace_part(Knowing)


add(
    "unknown-connector-provider-type-refused",
    "MQDMPR-3.1.1.12-60",
    "The receiver refuses a message whose ProviderInfo has an unknown provider type.",
    _refuse_unknown_provider("ProviderType", ("1", "24")),
)
add(
    "unknown-connector-provider-name-refused",
    "MQDMPR-3.1.1.12-61",
    "The receiver refuses a message whose ProviderInfo has an unknown provider name.",
    _refuse_unknown_provider("ProviderName", ("Microsoft",)),
)


def _change_forwarded_message(change: Callable[[bytes], Any], field: str) -> Install:
    """Build a fault in which the router changes a field of each message that it forwards."""

    class Altering(Routing):
        def count_hop(self, packet: UserMessagePacket) -> UserMessagePacket | None:
            counted = super().count_hop(packet)
            if counted is None:
                return None
            altered: UserMessagePacket = set_fields(counted, {f"MessagePropertiesHeader.{field}": change})
            return altered

    return replace_part(Altering)


for _name, _rule, _field, _alter in (
    (
        "router-body-highest-bits-cleared",
        "MQDMPR-3.1.1.12-32",
        "MessageBody",
        lambda body: bytes(one & 0x7F for one in body),
    ),
    ("router-body-type-cut-to-4-bits", "MQDMPR-3.1.1.12-33", "BodyType", lambda kind: kind & 0xF),
    ("router-correlation-id-cut-to-guid", "MQDMPR-3.1.1.12-34", "CorrelationID", lambda old: old[:16] + bytes(4)),
    (
        "router-label-replaced-by-question-marks",
        "MQDMPR-3.1.1.12-46",
        "Label",
        lambda label: label and "?" * len(label),
    ),
    ("router-extension-zeroed", "MQDMPR-3.1.1.12-57", "ExtensionData", lambda extension: bytes(len(extension))),
):
    add(_name, _rule, f"The router changes {_field} of a forwarded message.", _change_forwarded_message(_alter, _field))

# -- acknowledgments and journals ----------------------------------------------------------------------------------


@fault(
    "combined-acknowledgment-requests-ignored",
    breaks=(
        "MQDMPR-3.1.1.12-35",
        "MQDMPR-3.1.1.12-36",
        "MQDMPR-3.1.1.12-42",
        "MQDMPR-3.1.1.12-43",
        "MQDMPR-3.1.1.12-44",
    ),
)
class CombinedAcknowledgmentRequestsIgnored(AdminAcks):
    """The receiver acknowledges a message only if the message requests exactly one kind of acknowledgment, or
    all kinds.
    """

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        if message.AcknowledgementsRequested in (0x1, 0x2, 0x4, 0x8, 0xF):
            super().send(message, message_class, now)


@fault("message-without-jp-journaled", breaks="MQDMPR-3.1.1.12-23")
class MessageWithoutJpJournaled(Journaling):
    """The sender journals every delivered message."""

    def journal_delivered(self, position: MessagePosition) -> None:
        message = position.MessageReference
        position.MessageReference = replace(message, PositiveJournalingRequested=True)
        super().journal_delivered(position)


@fault("message-without-jn-put-into-dead-letter-queue", breaks="MQDMPR-3.1.1.12-26")
class MessageWithoutJnPutIntoDeadLetterQueue(Journaling):
    """The sender stores every failed message as a dead letter."""

    def journal_failed(self, position: MessagePosition) -> None:
        message = position.MessageReference
        position.MessageReference = replace(message, NegativeJournalingRequested=True)
        super().journal_failed(position)


@fault("unjournaled-message-resent-after-restart", breaks="MQDMPR-3.1.1.12-22")
class UnjournaledMessageResentAfterRestart(Positions):
    """After a restart, the sender sends a delivered message again if the full journal could not store it."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        there = super().move_message(position, queue)
        if there is None:
            self.qm.disk.save(build_relocation(position))
        return there


@fault("quota-of-queue-manager-journal-ignored", breaks=("MQDMPR-3.1.1.12-22", "MQDMPR-3.1.1.12-25"))
class QuotaOfQueueManagerJournalIgnored(Quotas):
    """The sender stores journaled messages and dead letters beyond the JournalQuota."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        return EnqueueStatus.NO_ERROR if queue.QueueType is QueueType.SYSTEM else status


add(
    "rejected-message-acknowledged-as-received",
    "MQDMPR-3.1.1.12-D27",
    "The receiver acknowledges a rejected message with the class AckReceive.",
    skip(TransactionOperations.reject),
)


@fault("rejected-message-acknowledged-as-expired", breaks="MQDMPR-3.1.1.12-D27")
class RejectedMessageAcknowledgedAsExpired(TransactionOperations):
    """The receiver acknowledges a rejected message with the class NackReceiveTimeout."""

    def reject(self, transaction: Transaction, queue: Queue, lookup_identifier: int) -> None:
        super().reject(transaction, queue, lookup_identifier)
        for operation in transaction.TransactionalOperationCollection:
            if operation.DequeueReason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_REJECTED:
                operation.DequeueReason = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT


RECEIVE_ACK_CLASS = MessageClass.MQMSG_CLASS_ACK_RECEIVE


add(
    "receiver-ignores-pa-bit",
    ("MQMQ-2.2.19.3-01", "MQDMPR-3.1.1.12-38"),
    "The receiver ignores MessagePropertiesHeader.Flags.PA, and so never acknowledges that a message arrived.",
    skip(AdminAcks.acknowledge_arrival),
)


@fault("receiver-ignores-pr-bit", breaks=("MQMQ-2.2.19.3-02", "MQDMPR-3.1.1.12-39"))
class ReceiverIgnoresPrBit(AdminAcks):
    """The receiver ignores MessagePropertiesHeader.Flags.PR, and so never acknowledges that a message was received."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is not RECEIVE_ACK_CLASS:
            super().acknowledge_receive(message, reason, now)


add(
    "receiver-ignores-na-bit",
    ("MQMQ-2.2.19.3-03", "MQDMPR-3.1.1.12-D50", "MQDMPR-3.1.1.12-40"),
    "The receiver ignores MessagePropertiesHeader.Flags.NA, and so never acknowledges a failed delivery.",
    skip(AdminAcks.acknowledge_failure),
)


@fault("receiver-ignores-nr-bit", breaks=("MQMQ-2.2.19.3-04", "MQDMPR-3.1.1.12-41"))
class ReceiverIgnoresNrBit(AdminAcks):
    """The receiver ignores MessagePropertiesHeader.Flags.NR, and so never acknowledges that a message was removed
    unread from its queue.
    """

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        if reason is RECEIVE_ACK_CLASS:
            super().acknowledge_receive(message, reason, now)


add(
    "receiver-application-tag-highest-bit-cleared",
    ("MQMQ-2.2.19.3-16", "MQDMPR-3.1.1.12-31"),
    "The receiver clears the highest bit of an arriving message's ApplicationTag.",
    change_insertion(lambda message: replace(message, AppSpecific=message.AppSpecific & 0x7FFFFFFF)),
    blind=True,
)


@fault(
    "receiver-transactional-arrival-not-acknowledged",
    breaks=("MQQB-3.1.5.8.10-02", "MQDMPR-3.1.1.12-D07"),
    blind=True,
)
class ReceiverTransactionalArrivalNotAcknowledged(AdminAcks):
    """The receiver sends no arrival acknowledgments to the administration queues of transactional messages."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().acknowledge_arrival(position, now)


_ALL_ACKS = MessagePropertiesHeader.flags(PA=1, PR=1, NA=1, NR=1)


@fault(
    "receiver-arrival-acknowledged-without-request",
    breaks=("MQQB-3.1.5.8.10-02", "MQDMPR-3.1.1.12-37", "MQDMPR-3.1.1.12-D07"),
)
class ReceiverArrivalAcknowledgedWithoutRequest(AdminAcks):
    """The receiver acknowledges the arrival of a message that does not request this acknowledgment
    (MessagePropertiesHeader.Flags.PA is 0).
    """

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        asking = replace(position.MessageReference, AcknowledgementsRequested=_ALL_ACKS)
        super().acknowledge_arrival(replace(position, MessageReference=asking), now)


def _swap_bytes(value: int) -> int:
    return int.from_bytes(value.to_bytes(2, "little"), "big")


add(
    "receiver-ack-message-class-big-endian",
    ("MQMQ-2.2.18-D01", "MQMQ-2.2.18.1.6-D01", "MQDMPR-3.1.1.12-03", "MQDMPR-3.1.7.1.32-D08"),
    "The receiver sends an acknowledgment whose MessageClass is in big-endian byte order.",
    change_number(UserMessagePacket, "MessagePropertiesHeader.MessageClass", _swap_bytes),
)


def _keep_messages_out_of_queue(which: Callable[[QueueManager], Queue]) -> Install:
    """Build a fault in which the queue manager moves no message into a system queue; ``which`` returns that queue."""

    class KeptOut(Positions):
        def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
            return None if queue is which(self.qm) else super().move_message(position, queue)

    return replace_part(KeptOut)


add(
    "sender-dead-letter-not-stored",
    ("MQMQ-2.2.19.2-13", "MQDMPR-3.1.1.12-D46", "MQDMPR-3.1.1.12-24", "MQDMPR-3.1.1.2-17"),
    "The sender does not store failed messages in the system dead-letter queue.",
    _keep_messages_out_of_queue(lambda qm: qm.adm.SystemDeadletterQueue),
)


add(
    "sender-journaled-message-not-stored",
    ("MQMQ-2.2.19.2-14", "MQDMPR-3.1.1.12-21", "MQDMPR-3.1.1.2-17"),
    "The sender does not store delivered messages in the system journal.",
    _keep_messages_out_of_queue(lambda qm: qm.adm.SystemJournalQueue),
)


@fault(
    "receiver-final-ack-not-sent",
    breaks=("MQMQ-2.2.20.5-D02", "MQDMPR-3.1.1.12-63", "MQDMPR-3.1.1.12-62"),
)
class ReceiverFinalAckNotSent(InSequence):
    """The receiver sends no FinalAck for a message whose TransactionHeader.Flags.FA is 1."""

    def take_transactional(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        flags = packet.TransactionHeader.Flags & ~2 if packet.TransactionHeader else 0
        packet = set_fields(packet, {"TransactionHeader.Flags": flags})
        super().take_transactional(session, packet, receipt, now)


@fault(
    "receiver-final-ack-without-request",
    breaks=("MQMQ-2.2.20.5-D02", "MQDMPR-3.1.1.12-64", "MQDMPR-3.1.1.12-62"),
)
class ReceiverFinalAckWithoutRequest(InSequence):
    """The receiver sends a FinalAck for every transactional message."""

    def take_transactional(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        flags = packet.TransactionHeader.Flags | 2 if packet.TransactionHeader else 0
        packet = set_fields(packet, {"TransactionHeader.Flags": flags})
        super().take_transactional(session, packet, receipt, now)


def _drop_request_for_nack(position: MessagePosition) -> None:
    message = position.MessageReference
    requested = message.AcknowledgementsRequested & ~MessagePropertiesHeader.flags(NR=1)
    position.MessageReference = replace(message, AcknowledgementsRequested=requested)


@fault("message-purged-by-remote-reader-not-acknowledged", breaks="MQDMPR-3.1.1.12-D24")
class MessagePurgedByRemoteReaderNotAcknowledged(RemoteOpening):
    """When a remote reader purges a queue, the receiver sends no negative acknowledgments of the purged messages."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        for position in queue.MessagePositionList:
            _drop_request_for_nack(position)
        super().purge_remote_queue(call, queue)


@fault("only-first-of-messages-that-expire-together-acknowledged", breaks="MQDMPR-3.1.1.12-D25")
class OnlyFirstOfMessagesThatExpireTogetherAcknowledged(Expiring):
    """If the TimeToBeReceived of several messages expires at the same time, the receiver acknowledges only the first of
    these messages.
    """

    def delete_not_received(self, positions: list[MessagePosition], now: Now) -> None:
        for position in positions[1:]:
            _drop_request_for_nack(position)
        super().delete_not_received(positions, now)


def _forget_dead_letter_queues(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.OutgoingQueues.values():
        for outgoing in queue.session.OutgoingMessageTable:
            position = outgoing.MessagePosition
            position.MessageReference = replace(position.MessageReference, ApplicationDeadletterQueue="")


add(
    "dead-letter-queue-of-outgoing-message-lost-at-restart",
    "MQDMPR-3.1.1.12-02",
    "After a restart, the sender has lost the ApplicationDeadletterQueue of outgoing messages.",
    at_restart(_forget_dead_letter_queues),
)
