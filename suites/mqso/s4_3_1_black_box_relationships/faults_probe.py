"""Faults of MS-MQSO 4.3.1 that an author wrote without reading the checks."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import replace_part
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.elements import Answered
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction


class ExternalSendsNoted(TransactionOperations):
    """The queue manager records the messages that external transactions send."""

    sent_externally: frozenset[tuple[UUID, int]] = frozenset()

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        if not transaction.SinglePhase:
            self.sent_externally |= {(message.Identifier.QueueManagerGuid, message.Identifier.Ordinal)}
        position: MessagePosition = super().enqueue_in_transaction(transaction, queue, message)
        return position


class InternalReceiveRefused(Reading):
    """The queue manager refuses to receive, in an internal transaction, a message that an external transaction sent."""

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: Answered,
    ) -> None:
        identifier = position.MessageReference.Identifier
        noted = self.qm.transaction_operations.sent_externally  # type: ignore[attr-defined]
        if (
            transaction is not None
            and transaction.SinglePhase
            and (identifier.QueueManagerGuid, identifier.Ordinal) in noted
        ):
            answered(Status.MQ_ERROR_TRANSACTION_USAGE, None)
            return
        super().take_message_out(position, transaction, two_phase_read, answered)


add(
    "queue-manager-internal-receive-of-external-send-refused",
    "MQSO-4.3.1.2-D09",
    "The queue manager refuses to receive, in an internal transaction, a message that an external transaction sent.",
    both(replace_part(ExternalSendsNoted), replace_part(InternalReceiveRefused)),
    blind=True,
)
