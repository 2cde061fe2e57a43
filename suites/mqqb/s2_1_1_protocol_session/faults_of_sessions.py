"""Faults that break rules of MS-MQQB 2.1.1 Protocol Session on some sessions or in some packets only."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_packets import change_sent_packet, has_other_session
from reference_qm.codec import ConnectionParametersPacket, SessionAckPacket, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import CloseTransport
from reference_qm.surface.inputs import TransportAccepted

_BASE_HEADER_SIZE = 16


def _cut_base_header(data: bytes) -> bytes:
    return data[_BASE_HEADER_SIZE:]


add(
    "session-ack-beside-other-session-without-base-header",
    "MQQB-2.1.1-01",
    "The queue manager sends a SessionAck without a BaseHeader if another session is open.",
    change_sent_packet(SessionAckPacket, _cut_base_header, has_other_session),
    blind=True,
)
add(
    "transactional-message-without-base-header",
    "MQQB-2.1.1-01",
    "The queue manager sends a transactional message without a BaseHeader.",
    change_sent_packet(
        UserMessagePacket, _cut_base_header, lambda qm, session, packet: packet.TransactionHeader is not None
    ),
    blind=True,
)
add(
    "connection-parameters-response-without-base-header",
    "MQQB-2.1.1-01",
    "The acceptor sends the ConnectionParameters response without a BaseHeader.",
    change_sent_packet(ConnectionParametersPacket, _cut_base_header, lambda qm, session, packet: not session.initiator),
    blind=True,
)


@fault("acceptor-closes-connection-while-another-is-open", breaks="MQQB-2.1.1-03", blind=True)
class AcceptorClosesConnectionWhileAnotherIsOpen(SessionOpening):
    """The acceptor closes a connection at once while it has another accepted connection."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        if any(not session.initiator for session in self.qm.transports.values()):
            self.qm.emit_effect(CloseTransport(event.transport, "another connection is open"))
        else:
            super().accept_transport(event, now)


@fault("acceptor-closes-connection-from-host-of-own-open-session", breaks="MQQB-2.1.1-03", blind=True)
class AcceptorClosesConnectionFromHostOfOwnOpenSession(SessionOpening):
    """The acceptor closes a connection at once while it has a session that it initiated to the same address."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        if any(
            session.initiator and session.RemoteQMAddress == event.remote.host
            for session in self.qm.transports.values()
        ):
            self.qm.emit_effect(CloseTransport(event.transport, "a session with this address is open"))
        else:
            super().accept_transport(event, now)


@fault("acceptor-third-connection-closed", breaks="MQQB-2.1.1-03", blind=True)
class AcceptorThirdConnectionClosed(SessionOpening):
    """After its second connection, the acceptor immediately closes every further connection, even if the first two
    connections are already closed.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.accepted = 0

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        self.accepted += 1
        if self.accepted > 2:
            self.qm.emit_effect(CloseTransport(event.transport, "two connections were already accepted"))
        else:
            super().accept_transport(event, now)
