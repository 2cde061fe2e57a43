"""Faults of MS-MQQB 3.1.7.11 Construction of a UserMessage Packet that only special cases reveal: second occurrences,
other causes, boundary values.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-session-header-once-per-session", breaks=("MQQB-3.1.7.11-02", "MQQB-3.1.7.11-03"), blind=True)
class SenderSessionHeaderOncePerSession(Sending):
    """The sender adds a SessionHeader to at most one message of a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.added: set[int] = set()

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        due = super().is_acknowledgment_due(session, now) and session.number not in self.added
        if due:
            self.added.add(session.number)
        return due


@fault(
    "sender-session-header-for-recoverable-messages-only", breaks=("MQQB-3.1.7.11-02", "MQQB-3.1.7.11-03"), blind=True
)
class SenderSessionHeaderForRecoverableMessagesOnly(Sending):
    """The sender adds a SessionHeader only when it has received recoverable messages that are still unacknowledged."""

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return super().is_acknowledgment_due(session, now) and bool(session.RecoverableMsgAckFlags)
