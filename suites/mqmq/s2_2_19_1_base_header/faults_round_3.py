"""Faults that break rules of MS-MQMQ 2.2.19.1 BaseHeader."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import ConnectionParametersPacket, FormatError
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-parameters-response-with-x3-refused", breaks="MQMQ-2.2.19.1-17", blind=True)
class InitiatorParametersResponseWithX3Refused(SessionOpening):
    """The initiator closes the session if bit X3 of BaseHeader.Flags is set in the ConnectionParameters response."""

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if packet.BaseHeader.X3:
            error = FormatError("BaseHeader.Flags", 2, "MS-MQMQ 2.2.19.1", "bit X3 is set")
            self.qm.closing.refuse_malformed(session, error, now)
        else:
            super().receive_parameters_response(session, packet, now)
