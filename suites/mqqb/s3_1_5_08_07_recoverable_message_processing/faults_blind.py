"""Faults of MS-MQQB 3.1.5.8.7 Recoverable Message Processing, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.part import QM
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-ack-of-32-messages-counts-recoverable-messages-only", breaks="MQQB-3.1.5.8.7-05", blind=True)
class ReceiverAckOf32MessagesCountsRecoverableMessagesOnly(SessionAcks):
    """The receiver sends a SessionAck after 32 recoverable messages whose AckSequenceNumber does not count the express
    messages.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.flags_are_full = False

    def set_flag(self, session: Session, now: Now) -> None:
        self.flags_are_full = True
        super().set_flag(session, now)
        self.flags_are_full = False

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        if not self.flags_are_full:
            return header
        return replace(header, AckSequenceNumber=session.RecoverableMessageReceivedCount)
