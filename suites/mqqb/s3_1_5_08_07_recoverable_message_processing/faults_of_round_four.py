"""Faults of MS-MQQB 3.1.5.8.7 Recoverable Message Processing that depend on earlier acknowledgments."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionHeader
from reference_qm.core.part import QM
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-session-ack-after-64-messages-repeats-first-number", breaks="MQQB-3.1.5.8.7-06", blind=True)
class ReceiverSessionAckAfter64MessagesRepeatsFirstNumber(SessionAcks):
    """In the second SessionAck of a session that the receiver sends because no flag is left, RecoverableMsgAckSeqNumber
    is that of the first such SessionAck.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.sets_flag = False
        self.first_numbers: dict[tuple[int, str | None], int] = {}

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        self.sets_flag = True
        try:
            super().set_acknowledgment_flag(session, now)
        finally:
            self.sets_flag = False

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        if not self.sets_flag or not header.RecoverableMsgAckFlags:
            return header
        connection = (session.number, session.transport)
        number = self.first_numbers.setdefault(connection, header.RecoverableMsgAckSeqNumber)
        return replace(header, RecoverableMsgAckSeqNumber=number)
