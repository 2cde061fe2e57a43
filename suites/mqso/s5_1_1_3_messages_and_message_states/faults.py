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
    "so-session-acks-transfer-nothing",
    ("MQSO-4.3.1.2-D05", "MQSO-5.1.1.3-D04"),
    "Messages stay in their outgoing queue when the session acknowledges them.",
    skip(SessionAcks.delete_position),
)
add(
    "so-order-acks-transfer-nothing",
    ("MQSO-4.3.1.2-D05", "MQSO-5.1.1.3-D04"),
    "Transactional messages stay in their outgoing queue when they are acknowledged.",
    skip(OrderAcks.delete_order_acknowledged),
)


@fault("so-peek-takes", breaks="MQSO-5.1.1.3-D05")
class PeekTakes(Seeking):
    """What was peeked at once is seen by nobody any more."""

    def is_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        readable = super().is_readable(position, peek_operation)
        if readable and peek_operation:
            position.State = MessagePositionState.LOCKED
        return readable


@fault("so-locked-seen-by-all", breaks=("MQSO-3.3.4.7-D01", "MQSO-4.3.1.2-D06", "MQSO-5.1.1.3-D06"))
class LockedSeenByAll(Seeking):
    """Who peeks sees messages that a transaction has."""

    def is_readable(self, position: MessagePosition, peek_operation: bool) -> bool:
        return super().is_readable(position, peek_operation) or (
            peek_operation and position.State is MessagePositionState.LOCKED
        )


add(
    "so-aborted-stays-locked",
    ("MQSO-3.2.1-01", "MQSO-3.3.4.7-D02", "MQSO-4.3.1.2-D07", "MQSO-5.1.1.3-D07"),
    "What an aborted transaction received stays locked.",
    skip(TransactionEvents.abort_dequeue),
)


@fault("so-committed-comes-back", breaks=("MQSO-3.2.1-01", "MQSO-3.3.4.7-D02", "MQSO-4.3.1.2-D07", "MQSO-5.1.1.3-D07"))
class CommittedComesBack(TransactionEvents):
    """What a committed transaction received is there again."""

    def commit_dequeue(self, operation: TransactionalOperation, now: Now) -> None:
        self.abort_dequeue(operation, now)


@fault("so-all-become-dead-letters", breaks=("MQSO-5.1.1.3-D02", "MQSO-5.1.1.3-D08"))
class AllBecomeDeadLetters(Journaling):
    """Whatever could not be delivered becomes a dead letter, whether it asked for it or not."""

    def journal_failed(self, position: MessagePosition) -> None:
        message = position.MessageReference
        position.MessageReference = replace(message, NegativeJournalingRequested=True)
        super().journal_failed(position)
