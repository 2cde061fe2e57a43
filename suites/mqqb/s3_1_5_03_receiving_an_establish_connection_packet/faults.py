"""Faults that break rules of MS-MQQB 3.1.5.3 Receiving an EstablishConnection Packet."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_states import ignore_packets_in_wrong_state
from reference_qm.codec import EstablishConnectionPacket, Packet
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("queue-manager-unexpected-establish-connection-ignored", breaks="MQQB-3.1.5.3-01")
class QueueManagerUnexpectedEstablishConnectionIgnored(SessionClosing):
    """A queue manager ignores an EstablishConnection packet in a state that does not expect the packet."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        if not isinstance(packet, EstablishConnectionPacket):
            super().close_session_after_unexpected_packet(session, packet, now)


add(
    "acceptor-second-establish-connection-ignored",
    "MQQB-3.1.5.3-01",
    "The acceptor ignores a second EstablishConnection packet while it waits for ConnectionParameters.",
    ignore_packets_in_wrong_state(EstablishConnectionPacket, SessionState.WAITING_CP_MSG, initiator=False),
    blind=True,
)


add(
    "initiator-establish-connection-on-open-session-ignored",
    "MQQB-3.1.5.3-01",
    "The initiator ignores an EstablishConnection packet on an open session.",
    ignore_packets_in_wrong_state(EstablishConnectionPacket, SessionState.OPEN, initiator=True),
    blind=True,
)


@fault("initiator-refusal-while-waiting-for-parameters-ignored", breaks="MQQB-3.1.5.3-01")
class InitiatorRefusalWhileWaitingForParametersIgnored(SessionClosing):
    """The initiator ignores an EstablishConnection packet with CS set while it waits for ConnectionParameters."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        waits = session.SessionState is SessionState.WAITING_CPR_MSG
        if not (waits and isinstance(packet, EstablishConnectionPacket) and packet.InternalHeader.CS):
            super().close_session_after_unexpected_packet(session, packet, now)


@fault("acceptor-second-establish-connection-answered-again", breaks="MQQB-3.1.5.3-01", blind=True)
class AcceptorSecondEstablishConnectionAnsweredAgain(SessionClosing):
    """An acceptor that waits for ConnectionParameters answers a second EstablishConnection request, and continues to
    wait.
    """

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        if isinstance(packet, EstablishConnectionPacket) and session.SessionState is SessionState.WAITING_CP_MSG:
            self.qm.session_connecting.send(
                session, self.qm.session_opening.build_establish_response(session, packet).build()
            )
        else:
            super().close_session_after_unexpected_packet(session, packet, now)


@fault("acceptor-establish-connection-after-messages-ignored", breaks="MQQB-3.1.5.3-01", blind=True)
class AcceptorEstablishConnectionAfterMessagesIgnored(SessionClosing):
    """An acceptor ignores an EstablishConnection packet on an open session on which messages have arrived."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        if not (isinstance(packet, EstablishConnectionPacket) and session.MessageReceivedCount):
            super().close_session_after_unexpected_packet(session, packet, now)


class _IgnoredUnexpectedPacketFault(SessionClosing):
    def is_unexpected_packet_ignored(self, session: Session) -> bool:
        raise NotImplementedError

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        if not (isinstance(packet, EstablishConnectionPacket) and self.is_unexpected_packet_ignored(session)):
            super().close_session_after_unexpected_packet(session, packet, now)


@fault("initiator-establish-connection-in-open-session-ignored", breaks="MQQB-3.1.5.3-01", blind=True)
class InitiatorEstablishConnectionInOpenSessionIgnored(_IgnoredUnexpectedPacketFault):
    """An initiator with an open session ignores an EstablishConnection packet."""

    def is_unexpected_packet_ignored(self, session: Session) -> bool:
        return session.initiator and session.SessionState is SessionState.OPEN


@fault("initiator-second-establish-connection-response-ignored", breaks="MQQB-3.1.5.3-01", blind=True)
class InitiatorSecondEstablishConnectionResponseIgnored(_IgnoredUnexpectedPacketFault):
    """An initiator that waits for the ConnectionParameters response ignores a second EstablishConnection response."""

    def is_unexpected_packet_ignored(self, session: Session) -> bool:
        return session.SessionState is SessionState.WAITING_CPR_MSG


@fault("acceptor-second-establish-connection-request-ignored", breaks="MQQB-3.1.5.3-01", blind=True)
class AcceptorSecondEstablishConnectionRequestIgnored(_IgnoredUnexpectedPacketFault):
    """An acceptor that waits for the ConnectionParameters request ignores a second EstablishConnection request."""

    def is_unexpected_packet_ignored(self, session: Session) -> bool:
        return session.SessionState is SessionState.WAITING_CP_MSG
