"""Faults that break rules of MS-MQQB 2.1.1 Protocol Session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import change_every_packet, filter_effects, filter_inputs, omit_step
from harness.faults.registry import FaultyCore, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.order_acks import ORDER_ACK_LABEL, OrderAcks
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.model.states import AwaitedOpeningEvent, SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Connect, Effect
from reference_qm.surface.inputs import Endpoint, Input, TransportAccepted

add(
    "any-packet-base-header-first-half-missing",
    "MQQB-2.1.1-01",
    "A queue manager sends every packet without the first 8 bytes of its BaseHeader.",
    change_every_packet(lambda data: data[8:]),
)


@fault("queue-manager-zero-byte-sent-before-session-ack", breaks="MQQB-2.1.1-01", blind=True)
class QueueManagerZeroByteSentBeforeSessionAck(SessionConnecting):
    """A queue manager sends a zero byte before each SessionAck of a session except the first SessionAck."""

    def send(self, session: Session, packet: bytes) -> None:
        if len(packet) == 36 and session.RecoverableMessageReceivedCount > 1:
            packet = b"\0" + packet
        super().send(session, packet)


def _change_connect_port(effect: Effect) -> Iterable[Effect]:
    if isinstance(effect, Connect):
        return [replace(effect, remote=Endpoint(effect.remote.host, effect.remote.port ^ 1))]
    return [effect]


add(
    "initiator-connects-to-port-1800",
    "MQQB-2.1.1-02",
    "The initiator connects to TCP port 1800 instead of 1801.",
    filter_effects(_change_connect_port),
)


def _install_changed_port_of_retries(faulty: FaultyCore) -> None:
    def filter_connect(effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, Connect):
            session = faulty.core.transports.get(effect.transport)
            if isinstance(session, Session) and session.is_retrying_connection:
                return [replace(effect, remote=effect.remote._replace(port=effect.remote.port + 1))]
        return [effect]

    faulty.effect_filters.append(filter_connect)


add(
    "initiator-retry-connects-to-next-port",
    "MQQB-2.1.1-02",
    "In a retry, the initiator connects to a port number that is one above the acceptor's port.",
    _install_changed_port_of_retries,
    blind=True,
)


@fault("initiator-reconnects-to-port-below-tcp-port-of-acceptor", breaks="MQQB-2.1.1-02")
class InitiatorReconnectsToPortBelowTcpPortOfAcceptor(SessionConnecting):
    """The initiator connects to the port below the acceptor's TCP port when it connects again after a failure."""

    def connect_transport(self, session: Session) -> None:
        if not session.is_retrying_connection:
            super().connect_transport(session)
            return
        session.transport = self.qm.assign_transport_name()
        session.awaited_opening_event = AwaitedOpeningEvent.TRANSPORT
        self.qm.transports[session.transport] = session
        remote = Endpoint(session.RemoteQMAddress, self.qm.config.remote_tcp_port - 1)
        self.qm.emit_effect(Connect(session.transport, remote))


def _drop_accepted_connection(event: Input) -> Iterable[Input]:
    return [] if isinstance(event, TransportAccepted) else [event]


add(
    "acceptor-accepts-no-connection",
    "MQQB-2.1.1-03",
    "The acceptor ignores every incoming TCP connection.",
    filter_inputs(_drop_accepted_connection),
)


def _limit_accepted_sessions_to_three(faulty: FaultyCore) -> None:
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
    _limit_accepted_sessions_to_three,
    blind=True,
)


add(
    "receiver-order-ack-and-final-ack-never-sent",
    "MQQB-2.1.1-D01",
    "The receiver never sends an OrderAck or a FinalAck.",
    omit_step(OrderAcks.send_transactional_ack),
)


@fault("initiator-ignores-user-message-received-on-own-session", breaks="MQQB-2.1.1-D01")
class InitiatorIgnoresUserMessageReceivedOnOwnSession(MessageReceiving):
    """The initiator ignores a UserMessage that arrives on a session that it opened itself."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not session.initiator:
            super().receive_user_message(session, packet, now)


@fault("initiator-sends-no-session-ack-on-session-that-it-opened", breaks="MQQB-2.1.1-D01", blind=True)
class InitiatorSendsNoSessionAckOnSessionThatItOpened(SessionAcks):
    """A queue manager sends no SessionAck on a session that the queue manager itself opened."""

    def send(self, session: Session, now: Now) -> None:
        if not session.initiator:
            super().send(session, now)


@fault("queue-manager-refuses-received-messages-after-sending-a-message", breaks="MQQB-2.1.1-D01", blind=True)
class QueueManagerRefusesReceivedMessagesAfterSendingAMessage(MessageReceiving):
    """A queue manager that has sent a message on a session accepts no message on this session."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not session.MessageSentCount:
            super().receive_user_message(session, packet, now)


@fault("initiator-acknowledges-but-drops-message-on-own-session", breaks="MQQB-2.1.1-D01")
class InitiatorAcknowledgesButDropsMessageOnOwnSession(MessageReceiving):
    """The initiator acknowledges a UserMessage that the acceptor sends on the session, but does not store the
    message.
    """

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if session.initiator and packet.MessagePropertiesHeader.Label != ORDER_ACK_LABEL:
            receipt.is_on_disk = True
            return
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("acceptor-session-ack-on-second-open-session-missing", breaks="MQQB-2.1.1-D01")
class AcceptorSessionAckOnSecondOpenSessionMissing(SessionAcks):
    """The acceptor sends SessionAck packets only on the session that was opened first."""

    def send(self, session: Session, now: Now) -> None:
        accepted = [
            one for one in self.qm.sessions.values() if not one.initiator and one.SessionState is SessionState.OPEN
        ]
        if not accepted or session.initiator or session is accepted[0]:
            super().send(session, now)
