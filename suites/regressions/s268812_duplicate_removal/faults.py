"""A fault that reproduces the bug that Microsoft article KB268812 describes."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("regression-268812-duplicates-removed-before-order-check", breaks="REGRESSIONS-268812-01")
class Regression268812DuplicatesRemovedBeforeOrderCheck(TransactionalReceiving):
    """The receiver removes a transactional message as a duplicate before it checks the sequence."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        entry = self.qm.message_history.find_duplicate(packet)
        if entry is None:
            super().receive_transactional_message(session, packet, receipt, now)
        else:
            self.qm.message_history.disregard_duplicate(session, entry, receipt, now)
