"""Faults of MS-MQQB 3.1.1.3 Queue Manager State, written without reading the checks."""

from __future__ import annotations

from collections.abc import Mapping

from harness.faults.parts import fault
from reference_qm.core.enterprise.restoring import Restoring


@fault("sender-resend-timeouts-final-equals-long-after-restart", breaks="MQQB-3.1.1.3-31", blind=True)
class SenderResendTimeoutsFinalEqualsLongAfterRestart(Restoring):
    """After a restart, the sender's ResendTimeoutsFinal has the value of ResendTimeoutsLong."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        if entries:
            self.qm.adm.ResendTimeoutsFinal = self.qm.adm.ResendTimeoutsLong


@fault("sender-outgoing-tx-sequence-number-counted-anew-at-restart", breaks="MQQB-3.1.1.3.2-02", blind=True)
class SenderOutgoingTxSequenceNumberCountedAnewAtRestart(Restoring):
    """After a restart, the sender sets OutgoingTxSequenceNumber to the number of transactional messages in
    OutgoingMessageTable plus one, so that it uses a number again that was already sent and acknowledged.
    """

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        for queue in self.qm.adm.OutgoingQueues.values():
            waiting = sum(position.TxSequenceNumber > 0 for position in queue.session.OutgoingMessageTable)
            queue.session.OutgoingTxSequenceNumber = waiting + 1
