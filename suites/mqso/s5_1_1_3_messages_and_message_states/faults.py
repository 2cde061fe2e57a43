"""Faults that break rules of MS-MQSO 5.1.1.3 Messages and Message States."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, faulty_only_if, replace_part
from harness.faults.primitives import combine_installers, omit_step
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import INFINITE_TIMEOUT, MessagePosition, OutgoingMessagePosition, Queue, Session
from reference_qm.model.elements import OnReadAnswered, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.enums import MessageSeekAction
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation, TransactionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("express-message-of-subqueue-survives-restart", breaks="MQSO-5.1.1.3-D01", blind=True)
class ExpressMessageOfSubqueueSurvivesRestart(MessagePositions):
    """An express message that was moved to a subqueue survives a restart."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        if not position.key and queue.parent is not None and queue.QueueType is not QueueType.SYSTEM:
            position.key = self.qm.assign_persist_token()
        return super().move_message(position, queue)


@fault("queue-manager-time-to-be-received-of-unsendable-message-ignored", breaks="MQSO-5.1.1.3-D02", blind=True)
class QueueManagerTimeToBeReceivedOfUnsendableMessageIgnored(MessageLifetimes):
    """The sender observes TimeToReachQueue of an outgoing message that cannot be sent, but not its TimeToBeReceived."""

    def record_deadline_of_message_to_send(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.MessagePosition.MessageReference.TimeToReachQueue != INFINITE_TIMEOUT:
            super().record_deadline_of_message_to_send(session, position)


@fault("queue-manager-message-locked-at-expiry-never-expires", breaks="MQSO-5.1.1.3-D02")
class QueueManagerMessageLockedAtExpiryNeverExpires(MessageLifetimes):
    """A message that a transaction locked never expires after an abort has returned it to its queue."""

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        seen = getattr(self, "seen", ())
        if id(position) not in seen:
            super().start_time_to_be_received_timer(position)
        self.seen = (*seen, id(position))


@fault("queue-manager-transactional-message-in-queue-never-expires", breaks="MQSO-5.1.1.3-D02")
class QueueManagerTransactionalMessageInQueueNeverExpires(MessageLifetimes):
    """A transactional message in a local queue never expires."""

    @faulty_only_if(lambda self, position: position.MessageReference.TransactionIdentifier is not None)
    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        """Do not start a timer, so that the message never expires."""


add(
    "session-ack-leaves-messages-in-outgoing-queue",
    ("MQSO-4.3.1.2-D05", "MQSO-5.1.1.3-D04"),
    "A SessionAck does not remove messages from their outgoing queue.",
    omit_step(SessionAcks.delete_position),
)


add(
    "order-ack-leaves-messages-in-outgoing-queue",
    ("MQSO-4.3.1.2-D05", "MQSO-5.1.1.3-D04"),
    "An OrderAck does not remove transactional messages from their outgoing queue.",
    omit_step(OrderAcks.delete_order_acknowledged_messages),
)


@fault("sender-express-message-removed-when-sent", breaks="MQSO-5.1.1.3-D04", blind=True)
class SenderExpressMessageRemovedWhenSent(MessageSending):
    """An express message leaves its outgoing queue as soon as it is sent, before its acknowledgment."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        if not position.recoverable and session.initiator:
            session.OutgoingMessageTable.remove(position)
            session.UnAckedMessageCount -= 1


@fault("peeked-message-invisible-to-later-reads", breaks="MQSO-5.1.1.3-D05")
class PeekedMessageInvisibleToLaterReads(MessageSearch):
    """A peeked message is invisible to later reads."""

    def is_message_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        readable = super().is_message_readable(position, peek_operation)
        if readable and peek_operation:
            position.State = MessagePositionState.LOCKED
        return readable


@fault("queue-manager-peek-with-seek-last-removes-message", breaks="MQSO-5.1.1.3-D05", blind=True)
class QueueManagerPeekWithSeekLastRemovesMessage(MessageReading):
    """A peek with seek last removes the message."""

    def read_by_lookup_identifier(
        self,
        queue_desc: OpenQueueDescriptor,
        lookup_id: int,
        lookup_operation: MessageSeekAction,
        answered: OnReadAnswered,
        peek_operation: bool = False,
        *args: Any,
        **named: Any,
    ) -> None:
        receives = peek_operation and lookup_operation is MessageSeekAction.LAST
        super().read_by_lookup_identifier(
            queue_desc, lookup_id, lookup_operation, answered, peek_operation and not receives, *args, **named
        )


@fault("peek-shows-locked-message", breaks=("MQSO-3.3.4.7-D01", "MQSO-4.3.1.2-D06", "MQSO-5.1.1.3-D06"))
class PeekShowsLockedMessage(MessageSearch):
    """A peek returns a message that a transaction has received."""

    def is_message_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        return super().is_message_readable(position, peek_operation) or (
            peek_operation and position.State is MessagePositionState.LOCKED
        )


@fault("peek-finds-message-purged-during-transaction", breaks="MQSO-5.1.1.3-D06")
class PeekFindsMessagePurgedDuringTransaction(MessageSearch):
    """After a queue was purged, a peek still returns a message that a transaction has received."""

    def is_message_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        purged = position.State is MessagePositionState.PURGE_PENDING
        return (peek_operation and purged) or bool(super().is_message_readable(position, peek_operation))


@fault("queue-manager-locked-message-peeked-by-identifier", breaks="MQSO-5.1.1.3-D06")
class QueueManagerLockedMessagePeekedByIdentifier(MessageSearch):
    """A peek with the identifier of a message that a transaction has received returns the message."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        position = queue.MessagePositionList.find(lookup_id)
        locked = position is not None and position.State is MessagePositionState.LOCKED
        if locked and peek_operation and lookup_action is MessageSeekAction.CURRENT:
            return Status.MQ_OK, position
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-locked-message-received-by-identifier", breaks="MQSO-5.1.1.3-D06", blind=True)
class QueueManagerLockedMessageReceivedByIdentifier(MessageSearch):
    """A receive by LookupIdentifier returns a message that another transaction has received."""

    def seek_with_identifier(
        self, queue: Queue, lookup_id: int, peek_operation: bool, lookup_action: MessageSeekAction
    ) -> tuple[Status, MessagePosition | None]:
        position = queue.MessagePositionList.find(lookup_id)
        locked = position is not None and position.State is MessagePositionState.LOCKED
        if locked and not peek_operation and lookup_action is MessageSeekAction.CURRENT:
            return Status.MQ_OK, position
        return super().seek_with_identifier(queue, lookup_id, peek_operation, lookup_action)


@fault("queue-manager-message-of-waiting-read-stays-in-queue", breaks="MQSO-5.1.1.3-D06", blind=True)
class QueueManagerMessageOfWaitingReadStaysInQueue(WaitingReads):
    """A nontransactional message that a waiting receive gets stays in its queue."""

    def pass_message_to_waiting_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        super().pass_message_to_waiting_reader(reader, position)
        if reader.DestructiveRead and reader.transaction is None and not self.qm.readers:
            again = self.qm.message_positions.insert_message(position.QueueReference, position.MessageReference)
            self.qm.message_positions.on_message_available(again)


add(
    "abort-leaves-received-message-locked",
    ("MQSO-3.2.1-01", "MQSO-3.3.4.7-D02", "MQSO-4.3.1.2-D07", "MQSO-5.1.1.3-D07"),
    "A message that an aborted transaction has received stays locked.",
    omit_step(TransactionEvents.abort_dequeue),
)


@fault(
    "commit-restores-received-message",
    breaks=("MQSO-3.2.1-01", "MQSO-3.3.4.7-D02", "MQSO-4.3.1.2-D07", "MQSO-5.1.1.3-D07"),
)
class CommitRestoresReceivedMessage(TransactionEvents):
    """A message that a committed transaction has received returns to its queue."""

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        self.abort_dequeue(operation, now)


@fault("queue-manager-message-deleted-by-second-abort", breaks="MQSO-5.1.1.3-D07")
class QueueManagerMessageDeletedBySecondAbort(TransactionEvents):
    """A message is deleted when a second transaction that received this message is aborted."""

    def abort_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        position = operation.MessagePositionReference
        aborted: set[int] = getattr(self, "aborted", set())
        self.aborted = aborted
        super().abort_dequeue(operation, now)
        if position.LookupIdentifier in aborted and position.State is MessagePositionState.AVAILABLE:
            self.qm.message_positions.delete_message(position, MessageClass.MQMSG_CLASS_ACK_RECEIVE)
        aborted.add(position.LookupIdentifier)


@fault("queue-manager-committed-message-of-second-queue-returns", breaks="MQSO-5.1.1.3-D07", blind=True)
class QueueManagerCommittedMessageOfSecondQueueReturns(TransactionEvents):
    """A commit returns the messages that the transaction received from its second queue."""

    def transaction_commit(self, transaction: Transaction, now: Now) -> None:
        received = [
            one for one in transaction.TransactionalOperationCollection if one.OperationType is OperationType.DEQUEUE
        ]
        first = received[0].MessagePositionReference.QueueReference if received else None
        for operation in received:
            if operation.MessagePositionReference.QueueReference is not first:
                transaction.TransactionalOperationCollection.remove(operation)
                self.abort_dequeue(operation, now)
        super().transaction_commit(transaction, now)


@fault("queue-manager-expired-message-with-jp-becomes-dead-letter", breaks="MQSO-5.1.1.3-D08")
class QueueManagerExpiredMessageWithJpBecomesDeadLetter(MessageJournaling):
    """An expired message for which only positive journaling was requested becomes a dead letter."""

    def journal_failed_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested and message.TimeToReachQueue != INFINITE_TIMEOUT:
            position.MessageReference = replace(message, NegativeJournalingRequested=True)
        super().journal_failed_message(position)


@fault("queue-manager-refused-message-without-jn-dead-lettered", breaks="MQSO-5.1.1.3-D08", blind=True)
class QueueManagerRefusedMessageWithoutJnDeadLettered(MessageJournaling):
    """If its destination refuses a transactional message, the message becomes a dead letter even if it requests no
    negative journaling.
    """

    def journal_failed_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.TransactionIdentifier is not None and message.TimeToReachQueue == INFINITE_TIMEOUT:
            position.MessageReference = replace(message, NegativeJournalingRequested=True)
        super().journal_failed_message(position)


class _TransactionalDestinationRecorder(SessionAddressResolving):
    def resolve_host_address(self, session: Session, now: Now) -> None:
        waiting = [one.UserMessage for one in session.OutgoingMessageTable]
        vars(self.qm.next_hops)["transactional"] = any(packet.UserHeader.TH for packet in waiting)
        super().resolve_host_address(session, now)


class _NextHopsThatSendTransactionalMessagesDirectly(NextHops):
    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        return (guid,) if self.__dict__.get("transactional") else super().get_next_hop_identifiers(guid)


class _PreparedAbortRecorder(TransactionCoordinating):
    def abort(self, transaction: Transaction, token: int | None) -> Result | None:
        prepared = transaction.state is TransactionState.PREPARED
        vars(self.qm.transaction_events)["prepared"] = transaction if prepared else None
        return super().abort(transaction, token)


class _ReceivedMessageLockKeeper(TransactionEvents):
    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        if self.__dict__.get("prepared") is transaction:
            received = [one for one in transaction.TransactionalOperationCollection if _is_dequeue_operation(one)]
            for operation in received:
                transaction.TransactionalOperationCollection.remove(operation)
        super().transaction_abort(transaction, now)


def _is_dequeue_operation(operation: TransactionalOperation) -> bool:
    return operation.OperationType is OperationType.DEQUEUE


add(
    "sender-transactional-message-not-sent-to-next-hop",
    "MQSO-5.1.1.3-D03",
    "The sender sends a transactional message directly to its destination, although the route has a next hop.",
    combine_installers(
        replace_part(_TransactionalDestinationRecorder), replace_part(_NextHopsThatSendTransactionalMessagesDirectly)
    ),
    blind=True,
)


add(
    "queue-manager-abort-of-prepared-transaction-keeps-messages-locked",
    "MQSO-5.1.1.3-D07",
    "The abort of a prepared transaction does not unlock the messages that were received in the transaction.",
    combine_installers(replace_part(_PreparedAbortRecorder), replace_part(_ReceivedMessageLockKeeper)),
    blind=True,
)
