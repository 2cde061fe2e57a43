"""Faults of MS-MQQB 2.1.1 Protocol Session that depend on the role, or occur only in a second session or for a second
message.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.sessions.connecting import Connecting
from reference_qm.core.transfer.order_acks import ORDER_ACK_LABEL
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.model.states import Opening, SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Connect
from reference_qm.surface.inputs import Endpoint


@fault("initiator-message-of-acceptor-on-its-session-dropped", breaks="MQQB-2.1.1-D01")
class InitiatorMessageOfAcceptorOnItsSessionDropped(Receiving):
    """The initiator acknowledges a UserMessage that the acceptor sends on the session, but does not store the
    message.
    """

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        if session.initiator and packet.MessagePropertiesHeader.Label != ORDER_ACK_LABEL:
            receipt.done = True
            return
        super().take_message(session, packet, receipt, now)


@fault("initiator-received-message-not-acknowledged-on-session", breaks="MQQB-2.1.1-D01")
class InitiatorReceivedMessageNotAcknowledgedOnSession(SessionAcks):
    """The initiator sends no SessionAck for a UserMessage that it receives on its own session."""

    def send(self, session: Session, now: Now) -> None:
        if not session.initiator:
            super().send(session, now)


@fault("acceptor-session-ack-on-second-open-session-missing", breaks="MQQB-2.1.1-D01")
class AcceptorSessionAckOnSecondOpenSessionMissing(SessionAcks):
    """The acceptor sends SessionAck packets only on the session that was opened first."""

    def send(self, session: Session, now: Now) -> None:
        accepted = [
            one for one in self.qm.sessions.values() if not one.initiator and one.SessionState is SessionState.OPEN
        ]
        if not accepted or session.initiator or session is accepted[0]:
            super().send(session, now)


@fault("initiator-reconnect-to-other-port", breaks="MQQB-2.1.1-02")
class InitiatorReconnectToOtherPort(Connecting):
    """The initiator connects to the port below the acceptor's TCP port when it connects again after a failure."""

    def connect_transport(self, session: Session) -> None:
        if not session.retrying:
            super().connect_transport(session)
            return
        session.transport = self.qm.next_transport()
        session.opening = Opening.TRANSPORT
        self.qm.transports[session.transport] = session
        remote = Endpoint(session.RemoteQMAddress, self.qm.config.remote_tcp_port - 1)
        self.qm.emit(Connect(session.transport, remote))
