"""Faults of MS-MQDMPR 3.1.7.1.13 Read Message By Lookup Identifier."""

from __future__ import annotations

from harness.faults.calls import replace_step_if, with_arguments, with_result, with_status
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction

add(
    "lookup-peek-removes-message",
    ("MQDMPR-3.1.7.1.13-02", "MQDMPR-3.1.7.1.13-11"),
    "A peek by LookupIdentifier removes the message.",
    with_arguments(Reading.read_by_lookup_identifier, peek_operation=lambda given: False),
)
add(
    "lookup-searches-first-opened-queue",
    "MQDMPR-3.1.7.1.13-09",
    "A read by LookupIdentifier searches the queue that was opened first.",
    with_arguments(
        Reading.read_by_lookup_identifier, queue_desc=lambda given: next(iter(given.qm.descriptors.values()))
    ),
)


def _skip_message(found: MessagePosition | None) -> MessagePosition | None:
    behind = None if found is None else found.Next
    return behind if isinstance(behind, MessagePosition) else found


add(
    "lookup-returns-next-message",
    ("MQDMPR-3.1.7.1.13-16", "MQDMPR-3.1.7.1.13-38"),
    "A read by LookupIdentifier returns the content of the message after the found message.",
    with_result(Reading.read_by_lookup_identifier, lambda status, found: (status, _skip_message(found))),
)
add(
    "failed-lookup-returns-status-timeout",
    "MQDMPR-3.1.7.1.13-18",
    "A read by LookupIdentifier that finds no message returns MQ_ERROR_IO_TIMEOUT.",
    with_result(
        Reading.read_by_lookup_identifier,
        lambda status, found: (Status.MQ_ERROR_IO_TIMEOUT if found is None else status, found),
    ),
)
add(
    "successful-lookup-returns-status-not-found",
    ("MQDMPR-3.1.7.1.13-39", "MQDMPR-3.1.7.3.3-03"),
    "A read by LookupIdentifier returns its message with MQ_ERROR_MESSAGE_NOT_FOUND.",
    with_status(Reading.read_by_lookup_identifier, Status.MQ_ERROR_MESSAGE_NOT_FOUND),
)
add(
    "two-phase-receive-does-not-lock",
    (
        "MQDMPR-3.1.7.1.10-D05",
        "MQDMPR-3.1.7.1.11-07",
        "MQDMPR-3.1.7.1.12-13",
        "MQDMPR-3.1.7.1.13-02",
        "MQDMPR-3.1.7.1.13-04",
        "MQDMPR-3.1.7.1.13-32",
    ),
    "Before a two-phase receive has ended, other readers can receive its message.",
    replace_step_if(
        Reading.take_message_out,
        lambda given: given.two_phase_read,
        lambda given: given.answered(Status.MQ_OK, given.position),
    ),
)


@fault("receive-in-transaction-does-not-lock", breaks=("MQDMPR-3.1.7.1.10-D03", "MQDMPR-3.1.7.1.13-24"))
class ReceiveInTransactionDoesNotLock(TransactionOperations):
    """Before the commit, other readers can receive a message that a transaction receives by LookupIdentifier."""

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        position.State = MessagePositionState.AVAILABLE


@fault(
    "receive-in-transaction-deletes-at-once",
    breaks=("MQDMPR-3.1.7.1.10-D04", "MQDMPR-3.1.7.1.13-25", "MQDMPR-3.1.7.1.13-29"),
)
class ReceiveInTransactionDeletesAtOnce(TransactionOperations):
    """The queue manager deletes a message that a transaction receives by LookupIdentifier at once, even if the
    transaction is later aborted.
    """

    def dequeue_in_transaction(self, transaction: Transaction, position: MessagePosition) -> None:
        super().dequeue_in_transaction(transaction, position)
        operation = transaction.TransactionalOperationCollection.pop()
        assert operation.DequeueReason is not None
        self.qm.positions.delete_message(position, operation.DequeueReason)
