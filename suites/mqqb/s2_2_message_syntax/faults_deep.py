"""Faults of MS-MQQB 2.2 Message Syntax, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import ConnectionParametersPacket, SessionHeader
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


def _swap(value: int, size: int) -> int:
    return int.from_bytes(value.to_bytes(size, "little"), "big")


@fault("sender-ack-number-read-in-big-endian-order", breaks="MQQB-2.2-D01", blind=True)
class AckNumberSwapped(SessionAcks):
    """The sender reads AckSequenceNumber of a SessionHeader in big-endian order."""

    def process_header(self, session: Session, header: SessionHeader, now: Now) -> None:
        number = _swap(header.AckSequenceNumber, 2)
        super().process_header(session, replace(header, AckSequenceNumber=number), now)


@fault("acceptor-window-size-read-in-big-endian-order", breaks="MQQB-2.2-D01", blind=True)
class WindowSwapped(SessionOpening):
    """The acceptor reads WindowSize of a ConnectionParameters request in big-endian order."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.ReceivedWindowSize = _swap(session.ReceivedWindowSize, 2)


@fault("acceptor-window-size-of-response-in-big-endian-order", breaks="MQQB-2.2-D01", blind=True)
class SentWindowSwapped(SessionOpening):
    """The acceptor sends WindowSize of a ConnectionParameters response in big-endian order."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        packet = super().build_parameters_response(session, request)
        return set_fields(packet, {"ConnectionParametersHeader.WindowSize": lambda old: _swap(old, 2)})
