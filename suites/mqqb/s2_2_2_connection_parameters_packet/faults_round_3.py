"""Faults that break rules of MS-MQQB 2.2.2."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import ConnectionParametersPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("acceptor-connection-parameters-nonzero-reserved-taken-as-window-size", breaks="MQQB-2.2.2.1-01", blind=True)
class AcceptorConnectionParametersNonzeroReservedTakenAsWindowSize(SessionOpening):
    """The acceptor uses a nonzero Reserved of a ConnectionParameters request as the WindowSize of the initiator."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        header = packet.ConnectionParametersHeader
        session.ReceivedWindowSize = header.Reserved or header.WindowSize
