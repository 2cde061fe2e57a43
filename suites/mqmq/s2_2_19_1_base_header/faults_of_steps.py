"""Faults in the use of the BaseHeader: the order in a queue, and the expiry of messages. Spec: MS-MQMQ 2.2.19.1."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.fields import set_field_value
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import (
    UserMessagePacket,
)
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, Queue, Session
from reference_qm.model.states import DeliveryGuarantee, SessionState
from reference_qm.surface.clock import Now
from suites.mqmq.steps.faulty_messages import drop_messages
from suites.mqmq.steps.kinds_of_messages import (
    has_large_body,
    is_transactional,
)


def _set_message_priority(message: Message, priority: int) -> Message:
    return replace(message, Priority=priority)


class _WrongPriorityInserter(MessagePositions):
    """The receiver orders a message by a priority that differs from the priority of the message."""

    def get_ordering_priority(self, queue: Queue, message: Message) -> int:
        """Return the priority by which the receiver orders a message."""
        raise NotImplementedError

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        position = super().insert_message(
            queue, _set_message_priority(message, self.get_ordering_priority(queue, message))
        )
        position.MessageReference = message
        return position


@fault("receiver-recoverable-messages-not-ordered-by-priority", breaks="MQMQ-2.2.19.1-03", blind=True)
class ReceiverRecoverableMessagesNotOrderedByPriority(_WrongPriorityInserter):
    """The receiver inserts recoverable messages with any BaseHeader.PR as if PR were 3."""

    def get_ordering_priority(self, queue: Queue, message: Message) -> int:
        recoverable = message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        return 3 if recoverable else message.Priority


@fault("receiver-does-not-order-message-priorities-0-and-1", breaks="MQMQ-2.2.19.1-03", blind=True)
class ReceiverDoesNotOrderMessagePriorities0And1(_WrongPriorityInserter):
    """The receiver inserts messages with BaseHeader.PR 0 and 1 in their order of arrival."""

    def get_ordering_priority(self, queue: Queue, message: Message) -> int:
        return max(1, message.Priority)


@fault("receiver-does-not-order-message-priorities-6-and-7", breaks="MQMQ-2.2.19.1-03", blind=True)
class ReceiverDoesNotOrderMessagePriorities6And7(_WrongPriorityInserter):
    """The receiver inserts messages with BaseHeader.PR 6 and 7 in their order of arrival."""

    def get_ordering_priority(self, queue: Queue, message: Message) -> int:
        return min(6, message.Priority)


@fault("receiver-puts-large-message-at-end-of-queue-for-any-priority", breaks="MQMQ-2.2.19.1-03", blind=True)
class ReceiverPutsLargeMessageAtEndOfQueueForAnyPriority(_WrongPriorityInserter):
    """The receiver inserts messages with a body of more than 4 KiB at the end of the queue, for any BaseHeader.PR."""

    def get_ordering_priority(self, queue: Queue, message: Message) -> int:
        return 0 if len(message.Body) > 4096 else message.Priority


@fault("receiver-does-not-order-messages-after-first-three-by-priority", breaks="MQMQ-2.2.19.1-03", blind=True)
class ReceiverDoesNotOrderMessagesAfterFirstThreeByPriority(_WrongPriorityInserter):
    """The receiver inserts a message at the end of a queue that contains three messages, for any BaseHeader.PR."""

    def get_ordering_priority(self, queue: Queue, message: Message) -> int:
        return 0 if len(queue.MessagePositionList) >= 3 else message.Priority


for _name, _says, _when in (
    (
        "later",
        "a TxSequenceNumber above 1",
        lambda packet: is_transactional(packet) and packet.TransactionHeader.TxSequenceNumber > 1,
    ),
    ("large", "a body of more than 4 KiB", lambda packet: is_transactional(packet) and has_large_body(packet)),
):
    add(
        f"sender-priority-of-{_name}-transactional-message-3",
        "MQMQ-2.2.19.1-04",
        f"The sender sets PR to 3 in a transactional message with {_says}.",
        set_field_value(UserMessagePacket, "BaseHeader.PR", 3, _when),
        blind=True,
    )


@fault("receiver-expired-transactional-message-accepted", breaks=("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24"), blind=True)
class ReceiverExpiredTransactionalMessageAccepted(MessageAdmission):
    """The receiver accepts a transactional message whose TimeToReachQueue has expired."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Any:
        if is_transactional(packet):
            return packet
        return super().check_expiration(session, packet, queue, now)


@fault("receiver-time-to-reach-queue-0-never-expires", breaks=("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24"), blind=True)
class ReceiverTimeToReachQueue0NeverExpires(MessageLifetimes):
    """The receiver treats TimeToReachQueue 0 of a message as no limit."""

    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return bool(packet.BaseHeader.TimeToReachQueue) and super().has_message_expired(packet, now)


@fault("sender-expired-transactional-message-sent", breaks=("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24"), blind=True)
class SenderExpiredTransactionalMessageSent(MessageLifetimes):
    """The sender sends a transactional message whose TimeToReachQueue has expired."""

    def record_deadline_of_message_to_send(self, session: Session, position: OutgoingMessagePosition) -> None:
        if not is_transactional(position.UserMessage):
            super().record_deadline_of_message_to_send(session, position)

    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        own = packet.UserHeader.SourceQueueManager == self.qm.adm.Identifier
        return not (own and is_transactional(packet)) and super().has_message_expired(packet, now)


@fault(
    "sender-sends-expired-message-behind-first-waiting-message",
    breaks=("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24"),
    blind=True,
)
class SenderSendsExpiredMessageBehindFirstWaitingMessage(MessageSending):
    """The sender checks only the first waiting message of a session for expiration, and sends the messages behind
    the first message although TimeToReachQueue has expired.
    """

    def delete_expired_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if next(iter(session.OutgoingMessageTable)) is position:
            super().delete_expired_message(session, position, now)
        elif session.SessionState is SessionState.OPEN:
            packet = self.update_user_message(session, position, now)
            self.transmit(session, position, packet)


@fault("receiver-time-to-reach-queue-above-31-bits-expired", breaks="MQMQ-2.2.19.1-D04", blind=True)
class ReceiverTimeToReachQueueAbove31BitsExpired(MessageLifetimes):
    """The receiver reads TimeToReachQueue as a signed number: a finite value above 0x7FFFFFFF has expired."""

    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        life = packet.BaseHeader.TimeToReachQueue
        return 0x7FFF_FFFF < life < 0xFFFF_FFFF or super().has_message_expired(packet, now)


@fault("receiver-reads-only-low-16-bits-of-time-to-reach-queue", breaks="MQMQ-2.2.19.1-D04", blind=True)
class ReceiverReadsOnlyLow16BitsOfTimeToReachQueue(MessageLifetimes):
    """The receiver reads only the lowest 16 bits of a finite TimeToReachQueue."""

    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        life = packet.BaseHeader.TimeToReachQueue
        if life == 0xFFFF_FFFF:
            return super().has_message_expired(packet, now)
        return super().has_message_expired(
            replace(packet, BaseHeader=replace(packet.BaseHeader, TimeToReachQueue=life & 0xFFFF)), now
        )


@fault("receiver-expires-transactional-message-with-infinite-time", breaks="MQMQ-2.2.19.1-D04", blind=True)
class ReceiverExpiresTransactionalMessageWithInfiniteTime(MessageLifetimes):
    """The receiver treats a transactional message with TimeToReachQueue 0xFFFFFFFF as expired after an hour."""

    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        base = packet.BaseHeader
        if is_transactional(packet) and base.TimeToReachQueue == 0xFFFF_FFFF:
            packet = replace(packet, BaseHeader=replace(base, TimeToReachQueue=3600))
        return super().has_message_expired(packet, now)


add(
    "receiver-transactional-packet-of-maximum-size-dropped",
    "MQMQ-2.2.19.1-D03",
    "The receiver drops a transactional message of 0x00400000 bytes.",
    drop_messages(lambda packet: is_transactional(packet) and packet.BaseHeader.PacketSize == 0x0040_0000),
)
add(
    "receiver-packet-of-maximum-size-with-session-header-dropped",
    "MQMQ-2.2.19.1-D03",
    "The receiver drops a message with PacketSize 0x00400000 and a SessionHeader.",
    drop_messages(lambda packet: packet.SessionHeader is not None and packet.BaseHeader.PacketSize == 0x0040_0000),
)
