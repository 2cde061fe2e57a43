"""A violation of MS-MQSO 4.3.1.2."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.transactions import TransactionalOperation
from reference_qm.surface.clock import Now


@fault("message-expired-before-commit-not-kept-as-dead-letter", breaks="MQSO-4.3.1.2-04", blind=True)
class ExpiredBeforeCommit(TransactionEvents):
    """If the lifetime of a message ends before its transaction commits, the sender discards the message despite
    negative journaling.
    """

    def commit_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        queue = operation.MessagePositionReference.QueueReference
        if isinstance(queue, OutgoingQueue):
            for outgoing in queue.session.OutgoingMessageTable:
                mine = outgoing.MessagePosition is operation.MessagePositionReference
                if mine and self.qm.lifetimes.has_expired(outgoing.UserMessage, now):
                    self.qm.sending.remove_unsent(queue.session, outgoing)
                    return
        super().commit_enqueue(operation, now)
