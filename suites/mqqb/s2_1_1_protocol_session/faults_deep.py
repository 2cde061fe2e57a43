"""Faults of MS-MQQB 2.1.1 Protocol Session, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import FaultyCore, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.sessions.connecting import Connecting
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Connect, Effect
from reference_qm.surface.inputs import Input, TransportAccepted


def _change_port_of_retries(faulty: FaultyCore) -> None:
    def filter_connect(effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, Connect):
            session = faulty.core.transports.get(effect.transport)
            if isinstance(session, Session) and session.retrying:
                return [replace(effect, remote=effect.remote._replace(port=effect.remote.port + 1))]
        return [effect]

    faulty.effect_filters.append(filter_connect)


add(
    "initiator-retry-connects-to-next-port",
    "MQQB-2.1.1-02",
    "In a retry, the initiator connects to a port number that is one above the acceptor's port.",
    _change_port_of_retries,
    blind=True,
)


def _accept_first_only(faulty: FaultyCore) -> None:
    def filter_accepted(event: Input) -> Iterable[Input]:
        if isinstance(event, TransportAccepted):
            known = [one for one in faulty.core.sessions.values() if not one.initiator]
            if len(known) >= 3:
                return []
        return [event]

    faulty.input_filters.append(filter_accepted)


add(
    "acceptor-fourth-connection-not-accepted",
    "MQQB-2.1.1-03",
    "The acceptor serves only the first three connections.",
    _accept_first_only,
    blind=True,
)


@fault("initiator-messages-on-own-session-never-acknowledged", breaks="MQQB-2.1.1-D01", blind=True)
class InitiatorMessagesOnOwnSessionNeverAcknowledged(SessionAcks):
    """A queue manager sends no SessionAck on a session that the queue manager itself opened."""

    def send(self, session: Session, now: Now) -> None:
        if not session.initiator:
            super().send(session, now)


@fault("queue-manager-message-after-own-message-not-accepted", breaks="MQQB-2.1.1-D01", blind=True)
class QueueManagerMessageAfterOwnMessageNotAccepted(Receiving):
    """A queue manager that has sent a message on a session accepts no message on this session."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not session.MessageSentCount:
            super().receive_user_message(session, packet, now)


@fault("queue-manager-session-ack-after-zero-byte", breaks="MQQB-2.1.1-01", blind=True)
class QueueManagerSessionAckAfterZeroByte(Connecting):
    """A queue manager sends a zero byte before each SessionAck after the first one of a session."""

    def send(self, session: Session, packet: bytes) -> None:
        if len(packet) == 36 and session.RecoverableMessageReceivedCount > 1:
            packet = b"\0" + packet
        super().send(session, packet)
