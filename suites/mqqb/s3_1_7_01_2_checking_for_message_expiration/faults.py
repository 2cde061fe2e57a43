"""Faults that break rules of MS-MQQB 3.1.7.1.2 Checking for Message Expiration."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers, omit_step
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.events import MessageDeadlinesChanged
from reference_qm.core.part import QM
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.message_expiring import MessageExpiring
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import INFINITE_TIMEOUT, Message, MessagePosition
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now


class _MessageLifetimesThatNeverExpire(MessageLifetimes):
    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return False


add(
    "sender-expired-message-sent",
    ("MQQB-3.1.7.1-06", "MQQB-3.1.7.1.2-01", "MQQB-3.1.7.1.2-02", "MQQB-3.1.7.1.2-D01"),
    "The sender sends expired messages.",
    combine_installers(replace_part(_MessageLifetimesThatNeverExpire), omit_step(MessageExpiring.on_expiration_timer)),
)


add(
    "sender-nack-of-expired-message-not-sent",
    ("MQQB-3.1.7.1.2-03", "MQDMPR-3.1.1.12-D12"),
    "The sender does not acknowledge an expired message with NA.",
    omit_step(AdminAcks.acknowledge_failure),
)


@fault("sender-nack-of-expired-message-has-class-receive-timeout", breaks=("MQQB-3.1.7.1.2-03", "MQDMPR-3.1.1.12-D12"))
class SenderNackOfExpiredMessageHasClassReceiveTimeout(AdminAcks):
    """The sender sends an acknowledgment of class RECEIVE_TIMEOUT for an expired message."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        super().acknowledge_failure(message, MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT, now)


@fault(
    "sender-nack-of-expired-recoverable-message-not-sent",
    breaks=("MQQB-3.1.7.1.2-03", "MQDMPR-3.1.1.12-D12"),
    blind=True,
)
class SenderNackOfExpiredRecoverableMessageNotSent(AdminAcks):
    """The sender sends no acknowledgment for its own recoverable messages when they expire."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        own = message.Identifier.QueueManagerGuid == self.qm.adm.Identifier
        if not own or message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            super().acknowledge_failure(message, message_class, now)


@fault("router-expired-message-not-acknowledged", breaks="MQQB-3.1.7.1.2-03", blind=True)
class RouterExpiredMessageNotAcknowledged(AdminAcks):
    """A router sends no negative acknowledgment for a routed message that expires before it is sent."""

    def acknowledge_expiration(self, message: Message, now: Now) -> None:
        if message.Identifier.QueueManagerGuid == self.qm.adm.Identifier:
            super().acknowledge_expiration(message, now)


@fault("sender-second-expired-message-not-acknowledged", breaks="MQQB-3.1.7.1.2-03", blind=True)
class SenderSecondExpiredMessageNotAcknowledged(AdminAcks):
    """The sender sends an acknowledgment of class REACH_QUEUE_TIMEOUT only for the first expired message to a
    destination.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[str] = set()

    def acknowledge_expiration(self, message: Message, now: Now) -> None:
        if message.DestinationQueueFormatName not in self.done:
            super().acknowledge_expiration(message, now)
        self.done.add(message.DestinationQueueFormatName)


@fault("sender-expired-transactional-message-not-acknowledged", breaks="MQQB-3.1.7.1.2-03", blind=True)
class SenderExpiredTransactionalMessageNotAcknowledged(AdminAcks):
    """The sender sends no acknowledgment of class REACH_QUEUE_TIMEOUT for an expired transactional message."""

    def acknowledge_expiration(self, message: Message, now: Now) -> None:
        if message.TransactionIdentifier is None:
            super().acknowledge_expiration(message, now)


add(
    "sender-dead-letter-of-expired-message-missing",
    "MQQB-3.1.7.1.2-06",
    "The sender does not put an expired message with JN into a dead-letter queue.",
    omit_step(MessageJournaling.journal_failed_message),
)


@fault("sender-dead-letter-deleted-after-time-to-be-received", breaks="MQQB-3.1.7.1.2-06")
class SenderDeadLetterDeletedAfterTimeToBeReceived(MessageLifetimes):
    """The sender deletes a dead letter when its TimeToBeReceived expires."""

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        super().start_time_to_be_received_timer(position)
        message = position.MessageReference
        if position.QueueReference.QueueType is QueueType.SYSTEM and message.TimeToBeReceived != INFINITE_TIMEOUT:
            self.qm.to_be_received.add(position, message.SentTime + message.TimeToBeReceived)
            self.qm.post_event(MessageDeadlinesChanged())


@fault("sender-puts-expired-message-without-jn-into-dead-letter-queue", breaks="MQQB-3.1.7.1.2-06")
class SenderPutsExpiredMessageWithoutJnIntoDeadLetterQueue(MessageJournaling):
    """The sender puts an expired message without JN into a dead-letter queue."""

    def journal_failed_message(self, position: MessagePosition) -> None:
        position.MessageReference = replace(position.MessageReference, NegativeJournalingRequested=True)
        super().journal_failed_message(position)


@fault("sender-expired-express-message-not-in-dead-letter-queue", breaks="MQQB-3.1.7.1.2-06", blind=True)
class SenderExpiredExpressMessageNotInDeadLetterQueue(MessageJournaling):
    """The sender puts no express message into the dead-letter queue."""

    def journal_failed_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            position.MessageReference = replace(message, NegativeJournalingRequested=False)
        super().journal_failed_message(position)


@fault("sender-second-dead-letter-replaces-first", breaks="MQQB-3.1.7.1.2-06", blind=True)
class SenderSecondDeadLetterReplacesFirst(MessageJournaling):
    """The sender keeps only the last expired message of a destination in the dead-letter queue."""

    def journal_failed_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.NegativeJournalingRequested:
            queue = self.find_dead_letter_queue(message)
            for kept in list(queue.MessagePositionList):
                if kept.MessageReference.DestinationQueueFormatName == message.DestinationQueueFormatName:
                    queue.MessagePositionList.remove(kept)
        super().journal_failed_message(position)


@fault("sender-message-expires-a-second-early", breaks="MQQB-3.1.7.1.2-D01")
class SenderMessageExpiresASecondEarly(MessageLifetimes):
    """The sender treats a message as expired one second before its TimeToReachQueue expires."""

    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return now.utc_s - packet.UserHeader.SentTime >= packet.BaseHeader.TimeToReachQueue


@fault("sender-message-with-future-sent-time-expired", breaks="MQQB-3.1.7.1.2-D01")
class SenderMessageWithFutureSentTimeExpired(MessageLifetimes):
    """The sender treats a message as expired when its SentTime is later than the current time of the sender's clock."""

    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return (now.utc_s - packet.UserHeader.SentTime) & 0xFFFF_FFFF > packet.BaseHeader.TimeToReachQueue


@fault("sender-treats-long-time-to-reach-queue-as-expired", breaks="MQQB-3.1.7.1.2-D01", blind=True)
class SenderTreatsLongTimeToReachQueueAsExpired(MessageLifetimes):
    """If TimeToReachQueue of a message is between 0x80000000 and 0xFFFFFFFE, the sender treats the message as
    expired.
    """

    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return super().has_message_expired(packet, now) or 0x80000000 <= packet.BaseHeader.TimeToReachQueue < 0xFFFFFFFF
