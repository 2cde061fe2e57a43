"""Faults of MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue: in some kinds of messages, in later messages, and
in other queues.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.sent_messages import change_inserted_message
from reference_qm.codec import MessageClass, PrivateQueueFormatNameId, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.model.adm import (
    Message,
    MessagePosition,
    Queue,
    Session,
)
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_5_08_08_inserting_a_message.fault_steps import OVER_QUOTA_CLASS

LARGE_BODY_BYTES = 0x1000
LONG_LABEL_CHARACTERS = 64

# -- the properties of the message ------------------------------------------------------------------------------------


def _is_transactional(message: Message) -> bool:
    return message.TransactionIdentifier is not None


def _change_inserted_property(name: str, change: Callable[[Any], Any], when: Callable[[Message], bool]) -> Any:
    def change_message(message: Message) -> Message:
        return replace(message, **{name: change(getattr(message, name))}) if when(message) else message

    return change_inserted_message(change_message)


for _name, _property, _change, _when, _says in (
    (
        "receiver-extension-of-transactional-message-lost",
        "Extension",
        lambda old: b"",
        _is_transactional,
        "The receiver stores a transactional message without its ExtensionData.",
    ),
    (
        "receiver-response-queue-of-express-message-lost",
        "ResponseQueueFormatName",
        lambda old: None,
        lambda message: message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS,
        "The receiver stores an express message without its ResponseQueue.",
    ),
    (
        "receiver-highest-bit-of-application-tag-cleared",
        "AppSpecific",
        lambda old: old & 0x7FFFFFFF,
        lambda message: True,
        "The receiver clears the highest bit of ApplicationTag of a stored message.",
    ),
    (
        "receiver-label-cut-after-64-characters",
        "Label",
        lambda old: old[:LONG_LABEL_CHARACTERS],
        lambda message: True,
        "The receiver stores only the first 64 characters of the Label of a message.",
    ),
    (
        "receiver-zero-bytes-at-end-of-body-removed",
        "Body",
        lambda old: old.rstrip(b"\0"),
        lambda message: True,
        "The receiver removes the zero bytes at the end of the body of a stored message.",
    ),
    (
        "receiver-correlation-of-message-with-priority-0-lost",
        "CorrelationIdentifier",
        lambda old: bytes(20),
        lambda message: message.Priority == 0 and not _is_transactional(message),
        "The receiver stores a message with priority 0 without its CorrelationID.",
    ),
    (
        "receiver-stored-body-type-of-transactional-message-0",
        "BodyType",
        lambda old: 0,
        _is_transactional,
        "The receiver sets BodyType of a stored transactional message to 0.",
    ),
):
    add(_name, ("MQQB-3.1.5.8.8-01", "MQQB-3.1.5.8.8-05"), _says, _change_inserted_property(_property, _change, _when))


@fault("receiver-second-message-of-sender-has-body-of-first", breaks=("MQQB-3.1.5.8.8-02", "MQQB-3.1.5.8.8-05"))
class ReceiverSecondMessageOfSenderHasBodyOfFirst(MessagePositions):
    """The receiver stores a message with the body of the previous message in the same queue, if both bodies have the
    same length.
    """

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        earlier = [one.MessageReference.Body for one in queue.MessagePositionList]
        if earlier and len(earlier[-1]) == len(message.Body):
            message = replace(message, Body=earlier[-1])
        return super().insert_message(queue, message)


@fault("receiver-label-copied-from-latest-message-of-other-queue", breaks="MQQB-3.1.5.8.8-02")
class ReceiverLabelCopiedFromLatestMessageOfOtherQueue(MessagePositions):
    """The receiver stores a message with the label of the latest message in any other queue."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        others = [
            one.MessageReference
            for other in self.qm.adm.QueueCollection.values()
            if other is not queue
            for one in other.MessagePositionList
        ]
        if others and others[-1].Label:
            message = replace(message, Label=others[-1].Label)
        return super().insert_message(queue, message)


# -- the queue --------------------------------------------------------------------------------------------------------


@fault("receiver-puts-messages-of-session-into-queue-of-first-message", breaks=("MQQB-3.1.5.8.8-04", "MQQB-3.1.5.8-10"))
class ReceiverPutsMessagesOfSessionIntoQueueOfFirstMessage(MessageAdmission):
    """The receiver puts every later nontransactional message of a session into the queue of the first message of the
    session.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._queues: dict[int, Queue] = {}

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        if packet.TransactionHeader is None:
            first = self._queues.setdefault(session.number, queue)
            if first is not queue and not first.Transactional:
                self.qm.message_positions.on_message_available(self.qm.message_positions.insert_message(first, message))
                return False
        return super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("receiver-private-queue-number-compared-in-lowest-bit", breaks="MQQB-3.1.5.8.8-04")
class ReceiverPrivateQueueNumberComparedInLowestBit(MessageArrival):
    """The receiver compares only the lowest bit of the PrivateQueueIdentifier of a message with its queues."""

    def find_destination(self, packet: UserMessagePacket) -> Queue | None:
        queue = super().find_destination(packet)
        if isinstance(packet.UserHeader.DestinationQueue, PrivateQueueFormatNameId):
            number = packet.UserHeader.DestinationQueue.PrivateQueueIdentifier
            for lower in range(number % 2 or 2, number, 2):
                found = self.qm.adm.QueueCollection.find_private_queue(lower)
                if found is not None and queue is not None and found.Transactional == queue.Transactional:
                    return found
        return queue


# -- the quota of the queue -------------------------------------------------------------------------------------------


@fault("receiver-quota-not-checked-for-transactional-message", breaks="MQQB-3.1.5.8.8-06")
class ReceiverQuotaNotCheckedForTransactionalMessage(QueueQuotas):
    """The receiver inserts a transactional message although the message exceeds the quota of its queue."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        transactional = message.TransactionIdentifier is not None
        ignored = transactional and status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED
        return EnqueueStatus.NO_ERROR if ignored else status


@fault("receiver-quota-ignored-for-priority-7", breaks="MQQB-3.1.5.8.8-06")
class ReceiverQuotaIgnoredForPriority7(QueueQuotas):
    """The receiver inserts a message of priority 7 although the message exceeds the quota of its queue."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        ignored = message.Priority == 7 and status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED
        return EnqueueStatus.NO_ERROR if ignored else status


@fault("receiver-queue-quota-ignored-while-other-queue-is-full", breaks="MQQB-3.1.5.8.8-06")
class ReceiverQueueQuotaIgnoredWhileOtherQueueIsFull(QueueQuotas):
    """The receiver ignores the quota of a queue while another queue with a quota is full."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        if status is EnqueueStatus.QUEUE_QUOTA_EXCEEDED:
            for other in self.qm.adm.QueueCollection.values():
                if (
                    other is not queue
                    and super().check_room_for_message(other, message) is EnqueueStatus.QUEUE_QUOTA_EXCEEDED
                ):
                    return EnqueueStatus.NO_ERROR
        return status


class _OverQuotaNackOmissionFault(AdminAcks):
    def is_over_quota_answer_omitted(self, message: Message) -> bool:
        raise NotImplementedError

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        if message_class is not OVER_QUOTA_CLASS or not self.is_over_quota_answer_omitted(message):
            super().acknowledge_failure(message, message_class, now)


@fault("receiver-over-quota-nack-of-large-message-omitted", breaks="MQQB-3.1.5.8.8-07")
class ReceiverOverQuotaNackOfLargeMessageOmitted(_OverQuotaNackOmissionFault):
    """The receiver sends no acknowledgment of class Q_EXCEED_QUOTA for a message with more than 4,096 bytes of body."""

    def is_over_quota_answer_omitted(self, message: Message) -> bool:
        return len(message.Body) > LARGE_BODY_BYTES


@fault("receiver-over-quota-nack-sent-only-if-pa-is-set", breaks="MQQB-3.1.5.8.8-07")
class ReceiverOverQuotaNackSentOnlyIfPaIsSet(_OverQuotaNackOmissionFault):
    """The receiver sends no acknowledgment of class Q_EXCEED_QUOTA for a message with NA but without PA."""

    def is_over_quota_answer_omitted(self, message: Message) -> bool:
        return not message.AcknowledgementsRequested & 1


@fault("receiver-over-quota-nack-omitted-if-jn-is-set", breaks="MQQB-3.1.5.8.8-07")
class ReceiverOverQuotaNackOmittedIfJnIsSet(_OverQuotaNackOmissionFault):
    """The receiver sends no acknowledgment of class Q_EXCEED_QUOTA for a message with JN."""

    def is_over_quota_answer_omitted(self, message: Message) -> bool:
        return message.NegativeJournalingRequested


@fault("receiver-sends-every-over-quota-nack-to-first-admin-queue", breaks="MQQB-3.1.5.8.8-07")
class ReceiverSendsEveryOverQuotaNackToFirstAdminQueue(AdminAcks):
    """The receiver sends each acknowledgment of class Q_EXCEED_QUOTA to the administration queue of the first refused
    message.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._first: str | None = None

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        if message_class is OVER_QUOTA_CLASS and message.AdministrationQueueFormatName:
            self._first = self._first or message.AdministrationQueueFormatName
            message = replace(message, AdministrationQueueFormatName=self._first)
        super().acknowledge_failure(message, message_class, now)


class _OverQuotaDeadLetterOmissionFault(MessageAdmission):
    def is_over_quota_answer_omitted(self, message: Message) -> bool:
        raise NotImplementedError

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        if self.is_over_quota_answer_omitted(message):
            unjournaled = replace(message, NegativeJournalingRequested=False)
            return super().has_queue_room_for_message(session, packet, queue, unjournaled, now)
        return super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("receiver-over-quota-message-in-dead-letter-queue-only-with-na", breaks="MQQB-3.1.5.8.8-10")
class ReceiverOverQuotaMessageInDeadLetterQueueOnlyWithNa(_OverQuotaDeadLetterOmissionFault):
    """The receiver puts a message with JN that exceeds the quota into the dead-letter queue only if NA is set."""

    def is_over_quota_answer_omitted(self, message: Message) -> bool:
        return not message.AcknowledgementsRequested & 4


@fault("receiver-over-quota-message-with-na-not-in-dead-letter-queue", breaks="MQQB-3.1.5.8.8-10")
class ReceiverOverQuotaMessageWithNaNotInDeadLetterQueue(_OverQuotaDeadLetterOmissionFault):
    """The receiver does not put a message with JN and NA that exceeds the quota into the dead-letter queue."""

    def is_over_quota_answer_omitted(self, message: Message) -> bool:
        return bool(message.AcknowledgementsRequested & 4)


@fault("receiver-second-over-quota-message-not-in-dead-letter-queue", breaks="MQQB-3.1.5.8.8-10")
class ReceiverSecondOverQuotaMessageNotInDeadLetterQueue(MessageAdmission):
    """The receiver puts only the first message of a sender that exceeds a quota into the dead-letter queue."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._seen: set[int] = set()

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        full = self.qm.queue_quotas.check_room_for_message(queue, message) is EnqueueStatus.QUEUE_QUOTA_EXCEEDED
        if full and session.number in self._seen:
            message = replace(message, NegativeJournalingRequested=False)
        if full:
            self._seen.add(session.number)
        return super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("receiver-puts-over-quota-message-into-both-dead-letter-queues", breaks="MQQB-3.1.5.8.8-10")
class ReceiverPutsOverQuotaMessageIntoBothDeadLetterQueues(MessageAdmission):
    """The receiver puts a nontransactional message that exceeds the quota into the transactional dead-letter queue."""

    def journal_refused_message(self, message: Message) -> None:
        wanted = message.TransactionIdentifier is None and message.NegativeJournalingRequested
        if wanted:
            self.qm.message_journaling.put_into_system_queue(self.qm.adm.SystemTransactionalDeadletterQueue, message)


class _OverQuotaFinalAckOmissionFault(FinalAcks):
    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._seen: set[int] = set()

    def is_over_quota_answer_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        raise NotImplementedError

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class is OVER_QUOTA_CLASS and self.is_over_quota_answer_omitted(session, packet):
            return
        super().send_negative_final_ack(session, packet, message_class, now)


@fault("receiver-second-over-quota-final-ack-of-session-omitted", breaks="MQQB-3.1.5.8.8-11")
class ReceiverSecondOverQuotaFinalAckOfSessionOmitted(_OverQuotaFinalAckOmissionFault):
    """The receiver sends only one FinalAck of class Q_EXCEED_QUOTA on a session."""

    def is_over_quota_answer_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        known = session.number in self._seen
        self._seen.add(session.number)
        return known


@fault("receiver-over-quota-final-ack-only-with-journaling", breaks="MQQB-3.1.5.8.8-11")
class ReceiverOverQuotaFinalAckOnlyWithJournaling(_OverQuotaFinalAckOmissionFault):
    """The receiver sends no FinalAck of class Q_EXCEED_QUOTA for a message without JN and JP."""

    def is_over_quota_answer_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        return not (packet.UserHeader.JN or packet.UserHeader.JP)


@fault("receiver-over-quota-final-ack-omitted-if-jn-is-set", breaks="MQQB-3.1.5.8.8-11")
class ReceiverOverQuotaFinalAckOmittedIfJnIsSet(_OverQuotaFinalAckOmissionFault):
    """The receiver sends no FinalAck of class Q_EXCEED_QUOTA for a message with JN."""

    def is_over_quota_answer_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        return bool(packet.UserHeader.JN)


@fault("receiver-over-quota-final-ack-names-first-refused-message", breaks="MQQB-3.1.5.8.8-11")
class ReceiverOverQuotaFinalAckNamesFirstRefusedMessage(FinalAcks):
    """The receiver names the first refused message of a session in each FinalAck of class Q_EXCEED_QUOTA."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._first: dict[int, UserMessagePacket] = {}

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        if message_class is OVER_QUOTA_CLASS:
            packet = self._first.setdefault(session.number, packet)
        super().send_negative_final_ack(session, packet, message_class, now)


class _OverQuotaInsertionFault(MessageAdmission):
    def is_over_quota_message_inserted(self, message: Message) -> bool:
        raise NotImplementedError

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        full = self.qm.queue_quotas.check_room_for_message(queue, message) is EnqueueStatus.QUEUE_QUOTA_EXCEEDED
        has_room = super().has_queue_room_for_message(session, packet, queue, message, now)
        return has_room or (full and self.is_over_quota_message_inserted(message))


@fault("receiver-over-quota-transactional-message-refused-and-inserted", breaks="MQQB-3.1.5.8.8-13")
class ReceiverOverQuotaTransactionalMessageRefusedAndInserted(_OverQuotaInsertionFault):
    """The receiver refuses a transactional message that exceeds the quota, but inserts the message nevertheless."""

    def is_over_quota_message_inserted(self, message: Message) -> bool:
        return _is_transactional(message)


@fault("receiver-over-quota-express-message-refused-and-inserted", breaks="MQQB-3.1.5.8.8-13")
class ReceiverOverQuotaExpressMessageRefusedAndInserted(_OverQuotaInsertionFault):
    """The receiver refuses an express message that exceeds the quota, but inserts the message nevertheless."""

    def is_over_quota_message_inserted(self, message: Message) -> bool:
        return message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS


@fault("receiver-over-quota-message-with-jn-refused-and-inserted", breaks="MQQB-3.1.5.8.8-13")
class ReceiverOverQuotaMessageWithJnRefusedAndInserted(_OverQuotaInsertionFault):
    """The receiver refuses a message with JN that exceeds the quota, but inserts the message nevertheless."""

    def is_over_quota_message_inserted(self, message: Message) -> bool:
        return message.NegativeJournalingRequested


# -- the quota of the queue manager -----------------------------------------------------------------------------------


@fault("receiver-machine-quota-not-checked-for-transactional-message", breaks="MQQB-3.1.5.8.8-14")
class ReceiverMachineQuotaNotCheckedForTransactionalMessage(QueueQuotas):
    """The receiver inserts a transactional message that exceeds the quota of the queue manager."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        ignored = _is_transactional(message) and status is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED
        return EnqueueStatus.NO_ERROR if ignored else status


@fault("receiver-machine-quota-ignored-for-repeated-message", breaks="MQQB-3.1.5.8.8-14")
class ReceiverMachineQuotaIgnoredForRepeatedMessage(QueueQuotas):
    """If a message that exceeds the quota of the queue manager arrives a second time, the receiver inserts
    the message.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._refused: set[object] = set()

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check_room_for_message(queue, message)
        if status is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED:
            if message.Identifier in self._refused:
                return EnqueueStatus.NO_ERROR
            self._refused.add(message.Identifier)
        return status


@fault("receiver-machine-quota-closes-first-session-only", breaks="MQQB-3.1.5.8.8-15")
class ReceiverMachineQuotaClosesFirstSessionOnly(MessageAdmission):
    """The receiver keeps a session open when a message exceeds the quota of the queue manager for the second time."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._closed = False

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        full = self.qm.queue_quotas.check_room_for_message(queue, message) is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED
        if full and self._closed:
            return False
        self._closed = self._closed or full
        return super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("receiver-machine-quota-puts-message-with-jn-into-dead-letter-queue", breaks="MQQB-3.1.5.8.8-16")
class ReceiverMachineQuotaPutsMessageWithJnIntoDeadLetterQueue(MessageAdmission):
    """The receiver puts a message with JN that exceeds the quota of the queue manager into the dead-letter queue."""

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        if self.qm.queue_quotas.check_room_for_message(queue, message) is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED:
            self.journal_refused_message(message)
        return super().has_queue_room_for_message(session, packet, queue, message, now)


@fault("receiver-message-above-machine-quota-kept-in-history", breaks="MQQB-3.1.5.8.8-16")
class ReceiverMessageAboveMachineQuotaKeptInHistory(MessageAdmission):
    """If a message that exceeded the quota of the queue manager is repeated, the receiver discards the repetition as a
    duplicate.
    """

    def has_queue_room_for_message(
        self, session: Session, packet: UserMessagePacket, queue: Queue, message: Message, now: Now
    ) -> bool:
        full = self.qm.queue_quotas.check_room_for_message(queue, message) is EnqueueStatus.QUEUE_MANAGER_QUOTA_EXCEEDED
        has_room = super().has_queue_room_for_message(session, packet, queue, message, now)
        if full and packet.TransactionHeader is None:
            self.qm.message_positions.on_message_available(self.qm.message_positions.insert_message(queue, message))
        return has_room
