"""Faults of MS-MQQB 3.1.7.1.2 Checking for Message Expiration that occur only for second messages, other deliveries or
boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message, MessagePosition
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now


@fault("sender-second-expired-message-not-acknowledged", breaks="MQQB-3.1.7.1.2-03", blind=True)
class SenderSecondExpiredMessageNotAcknowledged(AdminAcks):
    """The sender sends REACH_QUEUE_TIMEOUT only for the first expired message to a destination."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.done: set[str] = set()

    def acknowledge_expiration(self, message: Message, now: Now) -> None:
        if message.DestinationQueueFormatName not in self.done:
            super().acknowledge_expiration(message, now)
        self.done.add(message.DestinationQueueFormatName)


@fault("sender-expired-transactional-message-not-acknowledged", breaks="MQQB-3.1.7.1.2-03", blind=True)
class SenderExpiredTransactionalMessageNotAcknowledged(AdminAcks):
    """The sender sends no REACH_QUEUE_TIMEOUT for an expired transactional message."""

    def acknowledge_expiration(self, message: Message, now: Now) -> None:
        if message.TransactionIdentifier is None:
            super().acknowledge_expiration(message, now)


@fault("sender-expired-message-with-journaling-not-acknowledged", breaks="MQQB-3.1.7.1.2-03", blind=True)
class SenderExpiredMessageWithJournalingNotAcknowledged(AdminAcks):
    """The sender sends no REACH_QUEUE_TIMEOUT for an expired message that it puts into a dead-letter queue."""

    def acknowledge_expiration(self, message: Message, now: Now) -> None:
        if not message.NegativeJournalingRequested:
            super().acknowledge_expiration(message, now)


@fault("sender-expired-express-message-not-in-dead-letter-queue", breaks="MQQB-3.1.7.1.2-06", blind=True)
class SenderExpiredExpressMessageNotInDeadLetterQueue(Journaling):
    """The sender puts no express message into the dead-letter queue."""

    def journal_failed(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            position.MessageReference = replace(message, NegativeJournalingRequested=False)
        super().journal_failed(position)


@fault("sender-expired-message-with-jp-in-dead-letter-queue", breaks="MQQB-3.1.7.1.2-06", blind=True)
class SenderExpiredMessageWithJpInDeadLetterQueue(Journaling):
    """The sender puts an expired message with JP, but without JN, into the dead-letter queue."""

    def journal_failed(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested:
            position.MessageReference = replace(message, NegativeJournalingRequested=True)
        super().journal_failed(position)


@fault("sender-second-dead-letter-replaces-first", breaks="MQQB-3.1.7.1.2-06", blind=True)
class SenderSecondDeadLetterReplacesFirst(Journaling):
    """The sender keeps only the last expired message of a destination in the dead-letter queue."""

    def journal_failed(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.NegativeJournalingRequested:
            queue = self.dead_letter_queue(message)
            for kept in list(queue.MessagePositionList):
                if kept.MessageReference.DestinationQueueFormatName == message.DestinationQueueFormatName:
                    queue.MessagePositionList.remove(kept)
        super().journal_failed(position)


@fault("sender-long-time-to-reach-queue-as-expired", breaks="MQQB-3.1.7.1.2-D01", blind=True)
class SenderLongTimeToReachQueueAsExpired(Lifetimes):
    """The sender treats a message whose TimeToReachQueue is between 0x80000000 and 0xFFFFFFFE as expired."""

    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return super().has_expired(packet, now) or 0x80000000 <= packet.BaseHeader.TimeToReachQueue < 0xFFFFFFFF
