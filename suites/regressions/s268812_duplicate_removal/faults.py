"""A fault that reproduces the bug that Microsoft article KB268812 describes."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("regression-268812-duplicates-removed-before-order-check", breaks="REGRESSIONS-268812-01")
class Regression268812DuplicatesRemovedBeforeOrderCheck(InSequence):
    """The receiver removes a transactional message as a duplicate before it checks the sequence."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        entry = self.qm.history.find_duplicate(packet)
        if entry is None:
            super().receive_transactional_message(session, packet, receipt, now)
        else:
            self.qm.history.disregard_duplicate(session, entry, receipt, now)
