"""Faults of round five that break rules of MS-MQSO 5.5.1 Queue Manager Restart."""

from __future__ import annotations

from collections.abc import Mapping

from harness.faults.parts import fault
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.store.entries import build_removal_change


@fault("sender-outgoing-transactional-message-lost-at-second-restart", breaks="MQSO-5.5.1-02", blind=True)
class SenderOutgoingTransactionalMessageLostAtSecondRestart(StateRestoring):
    """The sender restores the transactional messages of its outgoing queues at a restart and then removes their
    records, so that a second restart loses these messages.
    """

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        for queue in self.qm.adm.OutgoingQueues.values():
            for outgoing in queue.session.OutgoingMessageTable:
                position = outgoing.MessagePosition
                if position.MessageReference.TransactionIdentifier is not None and position.key:
                    self.qm.disk.save(build_removal_change([position]))
