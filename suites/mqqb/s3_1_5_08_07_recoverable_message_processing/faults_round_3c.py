"""Faults that break rules of MS-MQQB 3.1.5.8.7."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import PT_CONNECTION_PARAMETERS, PT_SESSION_ACK
from reference_qm.core.part import QM
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

FLAGS_OFFSET = 18
"""The offset of InternalHeader.Flags in a SessionAck Packet."""


@fault("initiator-session-ack-of-32-recoverable-messages-pt-3", breaks="MQQB-3.1.5.8.7-04", blind=True)
class InitiatorSessionAckOf32RecoverableMessagesPt3(SessionAcks):
    """The receiver that initiated the session sends PT 3 in the SessionAck after 32 unacknowledged recoverable
    messages.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.flagging = False

    def set_flag(self, session: Session, now: Now) -> None:
        self.flagging = session.initiator
        super().set_flag(session, now)
        self.flagging = False

    def send(self, session: Session, now: Now) -> None:
        if not self.flagging:
            super().send(session, now)
            return
        data = bytearray(self.build(session).build())
        data[FLAGS_OFFSET] ^= PT_SESSION_ACK ^ PT_CONNECTION_PARAMETERS
        self.qm.connecting.send(session, bytes(data))
        self.note_acknowledged(session, now)
