"""Faults that break rules of MS-MQQB 3.1.4 Higher layer triggered events and of 3.1.4.1 and 3.1.4.2."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.states import OutgoingQueueState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("queue-manager-start-initializes-only-three-resend-entries", breaks="MQQB-3.1.4.1-01")
class QueueManagerStartInitializesOnlyThreeResendEntries(QueueManagerInitialization):
    """A queue manager initializes only the first three entries of ResendTimerTable when it starts."""

    def initialize_globally(self, now: Now) -> None:
        super().initialize_globally(now)
        self.qm.adm.ResendTimerTable = self.qm.adm.ResendTimerTable[:3]


add(
    "initiator-waiting-messages-not-sent-at-start",
    "MQQB-3.1.4.1-02",
    "A queue manager connects to no other queue manager when it starts, although messages wait.",
    omit_step(TransferAdministering.establish_waiting),
)


@fault("initiator-connects-only-to-first-destination-at-start", breaks="MQQB-3.1.4.1-02", blind=True)
class InitiatorConnectsOnlyToFirstDestinationAtStart(QueueManagerInitialization):
    """When a queue manager starts, it connects only to the first queue manager for which it has messages."""

    def begin(self, now: Now) -> None:
        super().begin(now)
        begun = [one for one in self.qm.sessions.values() if one.initiator]
        for session in begun[1:]:
            self.qm.session_closing.close(session, "a fault", now)
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("initiator-not-connected-at-start-for-transactional-messages", breaks="MQQB-3.1.4.1-02", blind=True)
class InitiatorNotConnectedAtStartForTransactionalMessages(TransferAdministering):
    """When the queue manager starts, it does not connect for a queue that has only transactional messages."""

    def establish_waiting(self, now: Now) -> None:
        for queue in self.qm.adm.OutgoingQueues.values():
            table = queue.session.OutgoingMessageTable
            if (
                len(table)
                and queue.State is not OutgoingQueueState.ON_HOLD
                and any(not one.TxSequenceNumber for one in table)
            ):
                self.qm.session_establishing.establish(queue.session, now)
