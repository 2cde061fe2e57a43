"""Faults of MS-MQSO 5.1.1.3 Messages and Message States."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import TransactionalOperation
from reference_qm.surface.clock import Now

add(
    "session-ack-leaves-messages-in-outgoing-queue",
    ("MQSO-4.3.1.2-D05", "MQSO-5.1.1.3-D04"),
    "A SessionAck does not remove messages from their outgoing queue.",
    skip(SessionAcks.delete_position),
)
add(
    "order-ack-leaves-messages-in-outgoing-queue",
    ("MQSO-4.3.1.2-D05", "MQSO-5.1.1.3-D04"),
    "An OrderAck does not remove transactional messages from their outgoing queue.",
    skip(OrderAcks.delete_order_acknowledged),
)


@fault("peek-hides-message", breaks="MQSO-5.1.1.3-D05")
class PeekHidesMessage(Seeking):
    """A peeked message is invisible to later reads."""

    def is_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        readable = super().is_readable(position, peek_operation)
        if readable and peek_operation:
            position.State = MessagePositionState.LOCKED
        return readable


@fault("peek-shows-locked-message", breaks=("MQSO-3.3.4.7-D01", "MQSO-4.3.1.2-D06", "MQSO-5.1.1.3-D06"))
class PeekShowsLockedMessage(Seeking):
    """A peek returns a message that a transaction has received."""

    def is_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        return super().is_readable(position, peek_operation) or (
            peek_operation and position.State is MessagePositionState.LOCKED
        )


add(
    "abort-leaves-received-message-locked",
    ("MQSO-3.2.1-01", "MQSO-3.3.4.7-D02", "MQSO-4.3.1.2-D07", "MQSO-5.1.1.3-D07"),
    "A message that an aborted transaction has received stays locked.",
    skip(TransactionEvents.abort_dequeue),
)


@fault(
    "commit-restores-received-message",
    breaks=("MQSO-3.2.1-01", "MQSO-3.3.4.7-D02", "MQSO-4.3.1.2-D07", "MQSO-5.1.1.3-D07"),
)
class CommitRestoresReceivedMessage(TransactionEvents):
    """A message that a committed transaction has received returns to its queue."""

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        self.abort_dequeue(operation, now)


@fault("undelivered-message-without-jn-put-into-dead-letter-queue", breaks=("MQSO-5.1.1.3-D02", "MQSO-5.1.1.3-D08"))
class UndeliveredMessageWithoutJnPutIntoDeadLetterQueue(Journaling):
    """Every undelivered message becomes a dead letter, even without negative journaling."""

    def journal_failed(self, position: MessagePosition) -> None:
        message = position.MessageReference
        position.MessageReference = replace(message, NegativeJournalingRequested=True)
        super().journal_failed(position)


@fault("peek-finds-message-purged-during-transaction", breaks="MQSO-5.1.1.3-D06")
class PeekFindsMessagePurgedDuringTransaction(Seeking):
    """After a queue was purged, a peek still returns a message that a transaction has received."""

    def is_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        purged = position.State is MessagePositionState.PURGE_PENDING
        return (peek_operation and purged) or bool(super().is_readable(position, peek_operation))
