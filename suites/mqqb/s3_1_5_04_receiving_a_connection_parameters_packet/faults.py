"""Faults that break rules of MS-MQQB 3.1.5.4 Receiving a ConnectionParameters Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_states import ignore_packets_in_wrong_state
from reference_qm.codec import ConnectionParametersPacket, Packet
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("queue-manager-unexpected-connection-parameters-ignored", breaks="MQQB-3.1.5.4-01")
class QueueManagerUnexpectedConnectionParametersIgnored(SessionClosing):
    """A queue manager ignores a ConnectionParameters packet in a state that does not expect the packet."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        if not isinstance(packet, ConnectionParametersPacket):
            super().close_session_after_unexpected_packet(session, packet, now)


add(
    "initiator-connection-parameters-on-open-session-ignored",
    "MQQB-3.1.5.4-01",
    "The initiator ignores a ConnectionParameters packet on an open session.",
    ignore_packets_in_wrong_state(ConnectionParametersPacket, SessionState.OPEN, initiator=True),
    blind=True,
)


@fault("acceptor-unexpected-connection-parameters-close-all-sessions", breaks="MQQB-3.1.5.4-01")
class AcceptorUnexpectedConnectionParametersCloseAllSessions(SessionClosing):
    """When a ConnectionParameters packet arrives in a state that does not expect this packet, the queue manager closes
    all sessions, not only the session of the packet.
    """

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        super().close_session_after_unexpected_packet(session, packet, now)
        if isinstance(packet, ConnectionParametersPacket):
            for other in list(self.qm.sessions.values()):
                self.close(other, "a fault", now)


@fault("acceptor-second-parameters-request-on-open-session-accepted", breaks="MQQB-3.1.5.4-01", blind=True)
class AcceptorSecondParametersRequestOnOpenSessionAccepted(SessionClosing):
    """An acceptor answers a second ConnectionParameters request on an open session, and uses the values of this
    request.
    """

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        is_open = not session.initiator and session.SessionState is SessionState.OPEN
        if is_open and isinstance(packet, ConnectionParametersPacket):
            self.qm.session_opening.receive_parameters_request(session, packet, now)
        else:
            super().close_session_after_unexpected_packet(session, packet, now)


@fault("initiator-connection-parameters-before-response-ignored", breaks="MQQB-3.1.5.4-01", blind=True)
class InitiatorConnectionParametersBeforeResponseIgnored(SessionClosing):
    """An initiator that waits for an EstablishConnection response ignores a ConnectionParameters packet."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        waits = session.SessionState is SessionState.WAITING_ECR_MSG
        if not (waits and isinstance(packet, ConnectionParametersPacket)):
            super().close_session_after_unexpected_packet(session, packet, now)


class _IgnoredUnexpectedPacketFault(SessionClosing):
    def is_unexpected_packet_ignored(self, session: Session) -> bool:
        raise NotImplementedError

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        if not (isinstance(packet, ConnectionParametersPacket) and self.is_unexpected_packet_ignored(session)):
            super().close_session_after_unexpected_packet(session, packet, now)


@fault("initiator-connection-parameters-in-open-session-ignored", breaks="MQQB-3.1.5.4-01", blind=True)
class InitiatorConnectionParametersInOpenSessionIgnored(_IgnoredUnexpectedPacketFault):
    """An initiator with an open session ignores a ConnectionParameters packet."""

    def is_unexpected_packet_ignored(self, session: Session) -> bool:
        return session.initiator and session.SessionState is SessionState.OPEN


@fault("initiator-connection-parameters-before-establish-response-ignored", breaks="MQQB-3.1.5.4-01", blind=True)
class InitiatorConnectionParametersBeforeEstablishResponseIgnored(_IgnoredUnexpectedPacketFault):
    """An initiator that waits for the EstablishConnection response ignores a ConnectionParameters packet."""

    def is_unexpected_packet_ignored(self, session: Session) -> bool:
        return session.SessionState is SessionState.WAITING_ECR_MSG


@fault("acceptor-connection-parameters-before-establish-request-ignored", breaks="MQQB-3.1.5.4-01", blind=True)
class AcceptorConnectionParametersBeforeEstablishRequestIgnored(_IgnoredUnexpectedPacketFault):
    """An acceptor that waits for the EstablishConnection request ignores a ConnectionParameters packet."""

    def is_unexpected_packet_ignored(self, session: Session) -> bool:
        return session.SessionState is SessionState.WAITING_EC_MSG and not session.initiator


@fault("acceptor-connection-parameters-after-messages-ignored", breaks="MQQB-3.1.5.4-01", blind=True)
class AcceptorConnectionParametersAfterMessagesIgnored(_IgnoredUnexpectedPacketFault):
    """An acceptor that has received a message on its session ignores a ConnectionParameters packet."""

    def is_unexpected_packet_ignored(self, session: Session) -> bool:
        return not session.initiator and session.MessageReceivedCount > 0
