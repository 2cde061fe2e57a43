"""Faults of the rules MQDMPR-3.1.1.12-02 to MQDMPR-3.1.1.12-26 in which only some messages are journaled wrongly, and
of the lifetimes of messages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, faulty_only_if, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, Queue, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now

_MessageCondition = Callable[[Message], bool]
_LARGE_BODY_BYTES = 50_000


def _is_transactional(message: Message) -> bool:
    return message.TransactionIdentifier is not None


def _is_recoverable(message: Message) -> bool:
    return message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE and message.TransactionIdentifier is None


def _omit_journal_copies(when: _MessageCondition) -> Install:
    """Build a fault in which some delivered messages are not journaled."""

    class JournalCopyOmitter(MessageJournaling):
        def journal_delivered_message(self, position: MessagePosition) -> None:
            message = position.MessageReference
            if when(message):
                position.MessageReference = replace(message, PositiveJournalingRequested=False)
            super().journal_delivered_message(position)

    return replace_part(JournalCopyOmitter)


def _omit_dead_letters(when: _MessageCondition) -> Install:
    """Build a fault in which some undelivered messages are not stored as dead letters."""

    class JournalCopyOmitter(MessageJournaling):
        def journal_failed_message(self, position: MessagePosition) -> None:
            message = position.MessageReference
            if when(message):
                position.MessageReference = replace(message, NegativeJournalingRequested=False)
            super().journal_failed_message(position)

    return replace_part(JournalCopyOmitter)


for _name, _rule, _says, _install in (
    (
        "sender-message-with-large-body-not-journaled",
        "MQDMPR-3.1.1.12-21",
        "The sender does not journal a delivered message with a body of more than 50,000 bytes.",
        _omit_journal_copies(lambda message: len(message.Body) > _LARGE_BODY_BYTES),
    ),
    (
        "sender-message-with-both-journals-not-journaled",
        "MQDMPR-3.1.1.12-21",
        "The sender does not journal a delivered message that also requests negative journaling.",
        _omit_journal_copies(lambda message: message.NegativeJournalingRequested),
    ),
    (
        "sender-message-with-acknowledgments-not-journaled",
        "MQDMPR-3.1.1.12-21",
        "The sender does not journal a delivered message that requests acknowledgments.",
        _omit_journal_copies(lambda message: bool(message.AcknowledgementsRequested)),
    ),
    (
        "sender-recoverable-message-not-dead-letter",
        "MQDMPR-3.1.1.12-24",
        "The sender does not store an undelivered recoverable message as a dead letter.",
        _omit_dead_letters(_is_recoverable),
    ),
    (
        "sender-message-with-acknowledgments-not-dead-letter",
        "MQDMPR-3.1.1.12-24",
        "If an undelivered message requests acknowledgments, the sender does not store the message as a dead letter.",
        _omit_dead_letters(lambda message: bool(message.AcknowledgementsRequested)),
    ),
    (
        "sender-message-with-infinite-time-to-reach-queue-not-dead-letter",
        "MQDMPR-3.1.1.12-24",
        "If an undelivered message has an infinite TimeToReachQueue, the sender does not store the message as a "
        "dead letter.",
        _omit_dead_letters(lambda message: message.TimeToReachQueue == 0xFFFFFFFF),
    ),
):
    add(_name, _rule, _says, _install, blind=True)


class _JournaledMessageCounter(MessageJournaling):
    """Count the messages that were journaled, and the dead letters."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.journaled = self.dead = 0
        self.name = ""


@fault("sender-second-message-to-destination-not-journaled", breaks="MQDMPR-3.1.1.12-21", blind=True)
class SenderSecondMessageToDestinationNotJournaled(_JournaledMessageCounter):
    """The sender does not journal the second delivered message with PositiveJournalingRequested."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested:
            self.journaled += 1
            if self.journaled == 2:
                position.MessageReference = replace(message, PositiveJournalingRequested=False)
        super().journal_delivered_message(position)


@fault("sender-second-dead-letter-not-stored", breaks="MQDMPR-3.1.1.12-24", blind=True)
class SenderSecondDeadLetterNotStored(_JournaledMessageCounter):
    """The sender does not store the second undelivered message with NegativeJournalingRequested as a dead letter."""

    def journal_failed_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.NegativeJournalingRequested:
            self.dead += 1
            if self.dead == 2:
                position.MessageReference = replace(message, NegativeJournalingRequested=False)
        super().journal_failed_message(position)


@fault("sender-messages-after-first-journaled-message-all-journaled", breaks="MQDMPR-3.1.1.12-23", blind=True)
class SenderMessagesAfterFirstJournaledMessageAllJournaled(_JournaledMessageCounter):
    """The sender journals every delivered message after the first message with PositiveJournalingRequested."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        self.journaled += message.PositiveJournalingRequested
        if self.journaled:
            position.MessageReference = replace(message, PositiveJournalingRequested=True)
        super().journal_delivered_message(position)


@fault("sender-transactional-message-journaled-without-request", breaks="MQDMPR-3.1.1.12-23", blind=True)
class SenderTransactionalMessageJournaledWithoutRequest(MessageJournaling):
    """The sender journals a delivered transactional message that requests only negative journaling."""

    @faulty_only_if(lambda part, position: position.MessageReference.TransactionIdentifier is not None)
    def journal_delivered_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        position.MessageReference = replace(message, PositiveJournalingRequested=message.NegativeJournalingRequested)
        super().journal_delivered_message(position)


@fault("sender-messages-after-first-dead-letter-all-stored-as-dead-letters", breaks="MQDMPR-3.1.1.12-26", blind=True)
class SenderMessagesAfterFirstDeadLetterAllStoredAsDeadLetters(_JournaledMessageCounter):
    """After its first dead letter, the sender stores every undelivered message as a dead letter, even without a
    request.
    """

    def journal_failed_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        self.dead += message.NegativeJournalingRequested
        if self.dead:
            position.MessageReference = replace(message, NegativeJournalingRequested=True)
        super().journal_failed_message(position)


@fault("sender-refused-message-stored-as-dead-letter-without-request", breaks="MQDMPR-3.1.1.12-26", blind=True)
class SenderRefusedMessageStoredAsDeadLetterWithoutRequest(FinalAcks):
    """The sender stores a refused transactional message as a dead letter although the message requests only positive
    journaling.
    """

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        message = position.MessagePosition.MessageReference
        if message_class & 0x8000 and message.PositiveJournalingRequested:
            position.MessagePosition.MessageReference = replace(message, NegativeJournalingRequested=True)
        super().journal_completed_message(position, message_class)


@fault(
    "named-dead-letter-queue-of-refused-message-ignored", breaks=("MQDMPR-3.1.1.12-02", "MQQB-3.1.5.7-07"), blind=True
)
class NamedDeadLetterQueueOfRefusedMessageIgnored(FinalAcks):
    """When a transactional message is refused, the sender stores it in the system dead-letter queue although the
    message names another dead-letter queue.
    """

    def journal_completed_message(self, position: OutgoingMessagePosition, message_class: int) -> None:
        message = position.MessagePosition.MessageReference
        position.MessagePosition.MessageReference = replace(message, ApplicationDeadletterQueue="")
        super().journal_completed_message(position, message_class)


@fault(
    "dead-letter-queue-named-by-first-message-used-for-all-messages",
    breaks=("MQDMPR-3.1.1.12-02", "MQQB-3.1.5.7-07"),
    blind=True,
)
class DeadLetterQueueNamedByFirstMessageUsedForAllMessages(_JournaledMessageCounter):
    """The sender stores each dead letter that names a queue in the queue that the first dead letter named."""

    def find_dead_letter_queue(self, message: Message) -> Queue:
        if message.ApplicationDeadletterQueue:
            self.name = self.name or message.ApplicationDeadletterQueue
            message = replace(message, ApplicationDeadletterQueue=self.name)
        return super().find_dead_letter_queue(message)


@fault("dead-letter-stored-in-queue-that-previous-dead-letter-named", breaks="MQDMPR-3.1.1.12-D46", blind=True)
class DeadLetterStoredInQueueThatPreviousDeadLetterNamed(_JournaledMessageCounter):
    """The sender stores a dead letter that names no queue in the queue that the previous dead letter named."""

    def find_dead_letter_queue(self, message: Message) -> Queue:
        self.name = message.ApplicationDeadletterQueue or self.name
        return super().find_dead_letter_queue(replace(message, ApplicationDeadletterQueue=self.name))


def _ignore_quota_of_system_queue(which: Callable[[QueueQuotas], Queue]) -> Install:
    """Build a fault that puts transactional messages into a full system queue."""

    class SystemQueueQuotaIgnorer(QueueQuotas):
        def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
            if queue is which(self) and _is_transactional(message):
                return EnqueueStatus.NO_ERROR
            return super().check_room_for_message(queue, message)

    return replace_part(SystemQueueQuotaIgnorer)


add(
    "full-system-journal-takes-transactional-message",
    "MQDMPR-3.1.1.12-22",
    "The sender copies a delivered transactional message to a full system journal.",
    _ignore_quota_of_system_queue(lambda part: part.qm.adm.SystemJournalQueue),
    blind=True,
)
add(
    "full-transactional-dead-letter-queue-takes-message",
    "MQDMPR-3.1.1.12-25",
    "The sender copies an undelivered transactional message to a full dead-letter queue.",
    _ignore_quota_of_system_queue(lambda part: part.qm.adm.SystemTransactionalDeadletterQueue),
    blind=True,
)


class _OldestMessageRemover(QueueQuotas):
    """Remove the oldest message of a full system queue to make room."""

    def find_queue(self) -> Queue:
        """Return the system queue."""
        raise NotImplementedError

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        status: EnqueueStatus = super().check_room_for_message(queue, message)
        if status is EnqueueStatus.NO_ERROR or queue is not self.find_queue():
            return status
        oldest = next(iter(queue.MessagePositionList), None)
        if oldest is not None:
            self.qm.disk.save(build_removal_change([oldest]))
            queue.MessagePositionList.remove(oldest)
        return EnqueueStatus.NO_ERROR


@fault("full-system-journal-drops-oldest-message", breaks="MQDMPR-3.1.1.12-22", blind=True)
class FullSystemJournalDropsOldestMessage(_OldestMessageRemover):
    """The sender removes the oldest message of a full system journal to store a copy of a delivered message."""

    def find_queue(self) -> Queue:
        return self.qm.adm.SystemJournalQueue


@fault("full-dead-letter-queue-drops-oldest-message", breaks="MQDMPR-3.1.1.12-25", blind=True)
class FullDeadLetterQueueDropsOldestMessage(_OldestMessageRemover):
    """The sender removes the oldest message of a full dead-letter queue to store a copy of an undelivered message."""

    def find_queue(self) -> Queue:
        return self.qm.adm.SystemDeadletterQueue


@fault("sender-second-waiting-message-never-expires", breaks="MQDMPR-3.1.1.12-D52", blind=True)
class SenderSecondWaitingMessageNeverExpires(MessageLifetimes):
    """The sender checks only for the first message of an outgoing queue whether TimeToReachQueue has expired."""

    @faulty_only_if(lambda part, session, position: len(session.OutgoingMessageTable) > 1)
    def record_deadline_of_message_to_send(self, session: Session, position: OutgoingMessagePosition) -> None:
        pass

    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        own = packet.UserHeader.SourceQueueManager == self.qm.adm.Identifier
        return False if own else super().has_message_expired(packet, now)


@fault("receiver-late-transactional-message-accepted", breaks="MQDMPR-3.1.1.12-D52", blind=True)
class ReceiverLateTransactionalMessageAccepted(MessageLifetimes):
    """The receiver accepts a transactional message whose TimeToReachQueue has expired."""

    @faulty_only_if(lambda part, packet, now: packet.TransactionHeader is not None)
    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return False


@fault("recoverable-message-in-queue-never-expires", breaks="MQDMPR-3.1.1.12-D53", blind=True)
class RecoverableMessageInQueueNeverExpires(MessageLifetimes):
    """A recoverable message stays in its queue after its TimeToBeReceived has expired."""

    @faulty_only_if(lambda part, position: _is_recoverable(position.MessageReference))
    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        pass


@fault("local-message-never-expires", breaks="MQDMPR-3.1.1.12-D53", blind=True)
class LocalMessageNeverExpires(MessageLifetimes):
    """A message of a local application stays in its queue after its TimeToBeReceived has expired."""

    @faulty_only_if(
        lambda part, position: position.MessageReference.Identifier.QueueManagerGuid == part.qm.adm.Identifier
    )
    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        pass


@fault("message-expires-not-before-earlier-messages-in-queue", breaks="MQDMPR-3.1.1.12-D53", blind=True)
class MessageExpiresNotBeforeEarlierMessagesInQueue(MessageLifetimes):
    """A message expires no earlier than the messages before it in its queue."""

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        message = position.MessageReference
        lives = [
            one.MessageReference.SentTime + one.MessageReference.TimeToBeReceived - message.SentTime
            for one in position.QueueReference.MessagePositionList
            if one.MessageReference.TimeToBeReceived != 0xFFFFFFFF
        ]
        if message.TimeToBeReceived != 0xFFFFFFFF and lives:
            position.MessageReference = replace(message, TimeToBeReceived=max(0, *lives, message.TimeToBeReceived))
        super().start_time_to_be_received_timer(position)
        position.MessageReference = message


@fault("system-journal-copy-label-cut-to-9-characters", breaks="MQDMPR-3.1.1.12-46")
class SystemJournalCopyLabelCutTo9Characters(MessageJournaling):
    """The copy of a delivered message in the system journal contains only the first 9 characters of the message's
    label.
    """

    def journal_delivered_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        position.MessageReference = replace(message, Label=message.Label[:9])
        super().journal_delivered_message(position)
