"""Faults of MS-MQQB 3.1.4.1 Queue Manager Started, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.administering import Administering
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


@fault("initiator-only-first-queue-connected-at-start", breaks="MQQB-3.1.4.1-02", blind=True)
class InitiatorOnlyFirstQueueConnectedAtStart(Administering):
    """When the queue manager starts, it connects only for the first outgoing queue that has messages."""

    def establish_waiting(self, now: Now) -> None:
        for queue in self.qm.adm.OutgoingQueues.values():
            idle = queue.session.SessionState in (SessionState.CLOSED, SessionState.WAITING_RECONNECT)
            if idle and len(queue.session.OutgoingMessageTable) and queue.State is not OutgoingQueueState.ON_HOLD:
                self.qm.establishing.establish(queue.session, now)
                return


@fault("initiator-queue-of-transactional-messages-not-connected-at-start", breaks="MQQB-3.1.4.1-02", blind=True)
class InitiatorQueueOfTransactionalMessagesNotConnectedAtStart(Administering):
    """When the queue manager starts, it does not connect for a queue that has only transactional messages."""

    def establish_waiting(self, now: Now) -> None:
        for queue in self.qm.adm.OutgoingQueues.values():
            table = queue.session.OutgoingMessageTable
            if (
                len(table)
                and queue.State is not OutgoingQueueState.ON_HOLD
                and any(not one.TxSequenceNumber for one in table)
            ):
                self.qm.establishing.establish(queue.session, now)
