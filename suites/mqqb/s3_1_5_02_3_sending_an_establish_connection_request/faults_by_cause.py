"""Faults that break rules of MS-MQQB 3.1.5.2.3 after one of several causes, or in one kind of session only."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_packets import (
    OPERATING_SYSTEM_FIELD_OFFSET,
    RESERVED_FIELD_OFFSET,
    change_sent_packet,
    clear_internal_flag,
    has_earlier_request,
    has_other_session,
    is_destination_guid,
    set_byte,
    set_packet_type,
    set_refusal_flag,
    was_ping_sent_before_session,
)
from reference_qm.codec import (
    NULL_GUID,
    PT_CONNECTION_PARAMETERS,
    PT_SESSION_ACK,
    BaseHeader,
    ConnectionParametersHeader,
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    InternalHeader,
    SessionAckPacket,
    SessionHeader,
)
from reference_qm.core.sessions.session_connecting import SessionConnecting, get_outgoing_queue
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import AwaitedOpeningEvent, ConnectionStatus
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Connect
from reference_qm.surface.inputs import Endpoint


def prepend_session_ack(data: bytes) -> bytes:
    """Return a SessionAck and then the packet."""
    ack = SessionAckPacket(
        BaseHeader(Flags=BaseHeader.flags(IN=1, SH=1, PR=3)),
        InternalHeader(Flags=InternalHeader.flags(PT=PT_SESSION_ACK)),
        SessionHeader(WindowSize=64),
    )
    return ack.build() + data


def prepend_connection_parameters(data: bytes) -> bytes:
    """Return a ConnectionParameters packet and then the packet."""
    parameters = ConnectionParametersPacket(
        BaseHeader(Flags=BaseHeader.flags(IN=1, PR=3)),
        InternalHeader(Flags=InternalHeader.flags(PT=PT_CONNECTION_PARAMETERS)),
        ConnectionParametersHeader(500, 120_000, 0, 64),
    )
    return parameters.build() + data


add(
    "initiator-establish-request-in-clear-on-later-connection",
    "MQQB-3.1.5.2.3-04",
    "The initiator sends an EstablishConnection request with IN clear on a later connection to the same destination.",
    change_sent_packet(EstablishConnectionPacket, clear_internal_flag, has_earlier_request),
    blind=True,
)

add(
    "initiator-establish-request-in-clear-to-guid",
    "MQQB-3.1.5.2.3-04",
    "The initiator sends an EstablishConnection request with IN clear if the destination has no direct format name.",
    change_sent_packet(EstablishConnectionPacket, clear_internal_flag, is_destination_guid),
    blind=True,
)

add(
    "initiator-establish-request-in-clear-beside-other-session",
    "MQQB-3.1.5.2.3-04",
    "The initiator sends an EstablishConnection request with IN clear while another session is open.",
    change_sent_packet(EstablishConnectionPacket, clear_internal_flag, has_other_session),
    blind=True,
)

add(
    "initiator-establish-request-type-3-on-later-connection",
    "MQQB-3.1.5.2.3-05",
    "The initiator sends an EstablishConnection request with PT 3 on a later connection to the same destination.",
    change_sent_packet(EstablishConnectionPacket, set_packet_type(3), has_earlier_request),
    blind=True,
)

add(
    "initiator-establish-request-type-3-to-guid",
    "MQQB-3.1.5.2.3-05",
    "The initiator sends an EstablishConnection request with PT 3 if the destination has no direct format name.",
    change_sent_packet(EstablishConnectionPacket, set_packet_type(3), is_destination_guid),
    blind=True,
)

add(
    "initiator-establish-request-type-3-after-ping",
    "MQQB-3.1.5.2.3-05",
    "The initiator sends an EstablishConnection request with PT 3 if a Ping Request was sent before.",
    change_sent_packet(EstablishConnectionPacket, set_packet_type(3), was_ping_sent_before_session),
    blind=True,
)

add(
    "initiator-establish-request-cs-set-on-later-connection",
    "MQQB-3.1.5.2.3-06",
    "The initiator sends an EstablishConnection request with CS set on a later connection to the same destination.",
    change_sent_packet(EstablishConnectionPacket, set_refusal_flag, has_earlier_request),
    blind=True,
)

add(
    "initiator-establish-request-cs-set-to-guid",
    "MQQB-3.1.5.2.3-06",
    "The initiator sends an EstablishConnection request with CS set if the destination has no direct format name.",
    change_sent_packet(EstablishConnectionPacket, set_refusal_flag, is_destination_guid),
    blind=True,
)

add(
    "initiator-establish-request-cs-set-beside-other-session",
    "MQQB-3.1.5.2.3-06",
    "The initiator sends an EstablishConnection request with CS set while another session is open.",
    change_sent_packet(EstablishConnectionPacket, set_refusal_flag, has_other_session),
    blind=True,
)

add(
    "initiator-establish-request-reserved-1-on-later-connection",
    "MQQB-3.1.5.2.3-12",
    "The initiator sends an EstablishConnection request with Reserved 1 on a later connection to the same destination.",
    change_sent_packet(EstablishConnectionPacket, set_byte(RESERVED_FIELD_OFFSET, 1), has_earlier_request),
    blind=True,
)

add(
    "initiator-establish-request-re-0-to-guid",
    "MQQB-3.1.5.2.3-12",
    "The initiator sends an EstablishConnection request with RE 0 if the destination has no direct format name.",
    change_sent_packet(EstablishConnectionPacket, set_byte(OPERATING_SYSTEM_FIELD_OFFSET, 0), is_destination_guid),
    blind=True,
)

add(
    "initiator-establish-request-re-17-beside-other-session",
    "MQQB-3.1.5.2.3-12",
    "The initiator sends an EstablishConnection request with RE 0x11 while another session is open.",
    change_sent_packet(EstablishConnectionPacket, set_byte(OPERATING_SYSTEM_FIELD_OFFSET, 0x11), has_other_session),
    blind=True,
)

add(
    "initiator-establish-request-after-session-ack-on-later-connection",
    "MQQB-3.1.5.2.3-02",
    "The initiator sends an EstablishConnection request after a SessionAck on a later connection.",
    change_sent_packet(EstablishConnectionPacket, prepend_session_ack, has_earlier_request),
    blind=True,
)

add(
    "initiator-establish-request-sent-after-parameters-to-guid",
    "MQQB-3.1.5.2.3-02",
    "To a destination without a direct format name, the initiator sends ConnectionParameters before the request.",
    change_sent_packet(EstablishConnectionPacket, prepend_connection_parameters, is_destination_guid),
    blind=True,
)


@fault("initiator-connects-to-next-port-at-retry", breaks="MQQB-3.1.5.2.3-02", blind=True)
class InitiatorConnectsToNextPortAtRetry(SessionConnecting):
    """When the initiator retries a connection, it connects to the port after the acceptor's TCP port."""

    def connect_transport(self, session: Session) -> None:
        if not session.is_retrying_connection:
            super().connect_transport(session)
            return
        session.transport = self.qm.assign_transport_name()
        session.awaited_opening_event = AwaitedOpeningEvent.TRANSPORT
        self.qm.transports[session.transport] = session
        remote = Endpoint(session.RemoteQMAddress, self.qm.config.remote_tcp_port + 1)
        self.qm.emit_effect(Connect(session.transport, remote))


class _KeptInitializationTimerFault(SessionEstablishing):
    """The initiator does not stop the Session Initialization Timer of an earlier attempt that ended in one of the
    given ways.
    """

    ended: tuple[ConnectionStatus, ...] = ()

    def send_establish_request(self, session: Session, now: Now) -> None:
        history = get_outgoing_queue(session).ConnectionHistory
        kept = any(one.Status in self.ended for one in list(history)[-2:])
        deadlines = vars(self).setdefault("deadlines", {})
        super().send_establish_request(session, now)
        key = TimerKey(TimerName.SESSION_INITIALIZATION, session.number)
        earlier = deadlines.get(session.number, 0) - now.monotonic_ms
        if kept and earlier > 0:
            self.qm.timers.start(key, now.monotonic_ms, earlier)
        deadlines[session.number] = now.monotonic_ms + (self.qm.timers.get_remaining_ms(key, now.monotonic_ms) or 0)


@fault("initiator-initialization-timer-of-refused-attempt-kept", breaks="MQQB-3.1.5.2.3-01", blind=True)
class InitiatorInitializationTimerOfRefusedAttemptKept(_KeptInitializationTimerFault):
    """The initiator does not stop the Session Initialization Timer of an attempt that the acceptor refused."""

    ended = (ConnectionStatus.CONNECTION_REFUSED, ConnectionStatus.UNKNOWN_FAILURE)


@fault("initiator-initialization-timer-kept-after-attempt-lost-response", breaks="MQQB-3.1.5.2.3-01", blind=True)
class InitiatorInitializationTimerKeptAfterAttemptLostResponse(_KeptInitializationTimerFault):
    """The initiator does not stop the Session Initialization Timer of an attempt whose connection was lost after the
    EstablishConnection response.
    """

    ended = (ConnectionStatus.ESTABLISH_PACKET_RECEIVED,)


@fault("initiator-initialization-timer-of-earlier-open-session-kept", breaks="MQQB-3.1.5.2.3-01", blind=True)
class InitiatorInitializationTimerOfEarlierOpenSessionKept(_KeptInitializationTimerFault):
    """The initiator does not stop the Session Initialization Timer of a session that was open before."""

    ended = (ConnectionStatus.ESTABLISHED,)


@fault("initiator-direct-request-has-server-guid-of-earlier-response", breaks="MQQB-3.1.5.2.3-09", blind=True)
class InitiatorDirectRequestHasServerGuidOfEarlierResponse(SessionEstablishing):
    """In a later request to a direct destination, the initiator sends the GUID that an earlier response contained."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        learned = vars(self).setdefault("learned", {}).get(session.number)
        if not session.is_destination_direct or learned is None:
            return request
        header = replace(request.EstablishConnectionHeader, ServerGuid=learned)
        return replace(request, EstablishConnectionHeader=header)

    def establish(self, session: Session, now: Now, *, again: bool = False) -> None:
        if session.RemoteQMGuid != NULL_GUID:
            vars(self).setdefault("learned", {})[session.number] = session.RemoteQMGuid
        super().establish(session, now, again=again)


@fault("initiator-direct-request-has-server-guid-of-known-address", breaks="MQQB-3.1.5.2.3-09", blind=True)
class InitiatorDirectRequestHasServerGuidOfKnownAddress(SessionEstablishing):
    """For a direct destination, the initiator sends the GUID of the queue manager with which another session to the
    same address is open.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        known = [
            one.RemoteQMGuid
            for one in self.qm.sessions.values()
            if one is not session and one.RemoteQMAddress == session.RemoteQMAddress and one.RemoteQMGuid != NULL_GUID
        ]
        if not session.is_destination_direct or not known:
            return request
        header = replace(request.EstablishConnectionHeader, ServerGuid=known[0])
        return replace(request, EstablishConnectionHeader=header)


@fault("initiator-own-guid-as-server-guid-in-request-without-ping", breaks="MQQB-3.1.5.2.3-09", blind=True)
class InitiatorOwnGuidAsServerGuidInRequestWithoutPing(SessionEstablishing):
    """For a direct destination, the initiator sends its own GUID as ServerGuid if it sent no Ping Request."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        if not session.is_destination_direct or session.is_ping_sent_before_session:
            return request
        header = replace(request.EstablishConnectionHeader, ServerGuid=self.qm.adm.Identifier)
        return replace(request, EstablishConnectionHeader=header)


@fault(
    "initiator-response-on-later-connection-taken-as-request",
    breaks=("MQQB-3.1.5.2.3-13", "MQQB-3.1.5.3.2-D01"),
    blind=True,
)
class InitiatorResponseOnLaterConnectionTakenAsRequest(SessionOpening):
    """On a later connection to the same destination, the initiator treats the EstablishConnection response as a
    request.
    """

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        if has_earlier_request(self.qm, session, packet):
            self.receive_establish_request(session, packet, now)
        else:
            super().receive_establish_response(session, packet, now)


@fault("initiator-ignores-establish-response-while-session-is-open", breaks="MQQB-3.1.5.2.3-13", blind=True)
class InitiatorIgnoresEstablishResponseWhileSessionIsOpen(SessionOpening):
    """While another session is open, the initiator ignores the EstablishConnection response."""

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        if not has_other_session(self.qm, session, packet):
            super().receive_establish_response(session, packet, now)


@fault("initiator-ignores-establish-response-later-than-1000-ms", breaks="MQQB-3.1.5.2.3-13", blind=True)
class InitiatorIgnoresEstablishResponseLaterThan1000Ms(SessionOpening):
    """The initiator ignores an EstablishConnection response that arrives more than a second after the request."""

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        key = TimerKey(TimerName.SESSION_INITIALIZATION, session.number)
        remaining = self.qm.timers.get_remaining_ms(key, now.monotonic_ms) or 0
        if self.qm.settings.session_initialization_ms // self.qm.settings.scale - remaining <= 1000:
            super().receive_establish_response(session, packet, now)
