"""Faults that break rules of MS-MQQB 3.1.5.8.7 Recoverable Message Processing."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.part import QM
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-session-ack-of-32-ack-sequence-number-recoverable-only", breaks="MQQB-3.1.5.8.7-05", blind=True)
class ReceiverSessionAckOf32AckSequenceNumberRecoverableOnly(SessionAcks):
    """The receiver sets AckSequenceNumber in the SessionAck that it sends when all flags are in use to the number of
    received recoverable messages, without the express messages.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.flagging = False

    def set_flag(self, session: Session, now: Now) -> None:
        self.flagging = True
        super().set_flag(session, now)
        self.flagging = False

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        if self.flagging:
            return replace(header, AckSequenceNumber=session.RecoverableMessageReceivedCount)
        return header
