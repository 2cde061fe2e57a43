"""Faults of MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier."""

from __future__ import annotations

from harness.faults.calls import instead_if, with_arguments, with_result, with_status
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction

add(
    "lookup-peek-receives",
    ("MQDMPR-3.1.7.1.13-02", "MQDMPR-3.1.7.1.13-11"),
    "A peek by identifier takes the message.",
    with_arguments(Reading.read_by_lookup_identifier, peek_operation=lambda given: False),
)
add(
    "lookup-in-the-first-open-queue",
    "MQDMPR-3.1.7.1.13-09",
    "A read by identifier looks in the queue that was opened first.",
    with_arguments(
        Reading.read_by_lookup_identifier, queue_desc=lambda given: next(iter(given.qm.descriptors.values()))
    ),
)


def _behind(found: MessagePosition | None) -> MessagePosition | None:
    behind = None if found is None else found.Next
    return behind if isinstance(behind, MessagePosition) else found


add(
    "lookup-brings-the-message-behind",
    ("MQDMPR-3.1.7.1.13-16", "MQDMPR-3.1.7.1.13-38"),
    "A read by identifier brings the message behind the one that was found, if there is one.",
    with_result(Reading.read_by_lookup_identifier, lambda status, found: (status, _behind(found))),
)
add(
    "lookup-failures-told-as-time-out",
    "MQDMPR-3.1.7.1.13-18",
    "A read by identifier that finds nothing returns MQ_ERROR_IO_TIMEOUT, as one that waited would.",
    with_result(
        Reading.read_by_lookup_identifier,
        lambda status, found: (Status.MQ_ERROR_IO_TIMEOUT if found is None else status, found),
    ),
)
add(
    "lookup-success-told-as-not-found",
    ("MQDMPR-3.1.7.1.13-39", "MQDMPR-3.1.7.3.3-03"),
    "A read by identifier brings its message with MQ_ERROR_MESSAGE_NOT_FOUND.",
    with_status(Reading.read_by_lookup_identifier, Status.MQ_ERROR_MESSAGE_NOT_FOUND),
)
add(
    "two-phases-without-lock",
    (
        "MQDMPR-3.1.7.1.10-D05",
        "MQDMPR-3.1.7.1.11-07",
        "MQDMPR-3.1.7.1.12-13",
        "MQDMPR-3.1.7.1.13-02",
        "MQDMPR-3.1.7.1.13-04",
        "MQDMPR-3.1.7.1.13-32",
    ),
    "A message that is received in two phases can be received by others meanwhile.",
    instead_if(
        Reading.take_message_out,
        lambda given: given.two_phase_read,
        lambda given: given.answered(Status.MQ_OK, given.position),
    ),
)


@fault("received-within-transaction-not-locked", breaks=("MQDMPR-3.1.7.1.10-D03", "MQDMPR-3.1.7.1.13-24"))
class NotLocked(TransactionOperations):
    """What is received within a transaction can be received by others, too, until that commits."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        position.State = MessagePositionState.AVAILABLE


@fault(
    "received-within-transaction-deleted-at-once",
    breaks=("MQDMPR-3.1.7.1.10-D04", "MQDMPR-3.1.7.1.13-25", "MQDMPR-3.1.7.1.13-29"),
)
class DeletedAtOnce(TransactionOperations):
    """What is received within a transaction is gone at once, whatever becomes of that."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        operation = transaction.TransactionalOperationCollection.pop()
        assert operation.DequeueReason is not None
        self.qm.positions.delete_message(position, operation.DequeueReason)
