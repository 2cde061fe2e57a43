"""Faults of MS-MQQB 3.1.7.6 Send Ping Request in some of the Ping Requests only."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.opening_sessions import (
    OpeningCondition,
    find_other_pinging_session,
    has_open_session,
    has_other_pinging_session,
    has_pinged_before,
    is_destination_not_direct_name,
    sends_transactional_message,
)
from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.model.states import AwaitedOpeningEvent, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Effect, SendDatagram
from reference_qm.surface.inputs import Endpoint, PingSocket

SESSION_PORT = 1801
"""The port on which queue managers accept sessions."""


def increment_ping_cookie_twice(when: OpeningCondition) -> Install:
    """Return an installer of a fault that increments PingCookie twice for selected Ping Requests."""

    class CookieSkipped(PingHandling):
        def send_request(self, session: Session, now: Now) -> None:
            if when(self.qm, session):
                self.qm.adm.PingCookie += 1
            super().send_request(session, now)

    return replace_part(CookieSkipped)


for _name, _says, _when in (
    (
        "initiator-ping-cookie-incremented-twice-beside-waiting-request",
        "The initiator adds two to PingCookie for a Ping Request while another Ping Request waits for its response.",
        has_other_pinging_session,
    ),
    (
        "initiator-ping-cookie-incremented-twice-beside-open-session",
        "The initiator adds two to PingCookie for a Ping Request while another session is open.",
        has_open_session,
    ),
    (
        "initiator-ping-cookie-incremented-twice-for-private-name",
        "The initiator adds two to PingCookie for a Ping Request if the destination is not a direct format name.",
        is_destination_not_direct_name,
    ),
):
    add(_name, "MQQB-3.1.7.6-03", _says, increment_ping_cookie_twice(_when), blind=True)


class PingWithChangedRequestDatagrams(PingHandling):
    """Changes the datagram of each Ping Request."""

    def send_request(self, session: Session, now: Now) -> None:
        self.qm.adm.PingCookie = self.qm.adm.PingCookie + 1 & 0xFFFFFFFF
        session.ping_cookie = self.qm.adm.PingCookie
        session.awaited_opening_event = AwaitedOpeningEvent.PING_RESPONSE
        remote = Endpoint(session.RemoteQMAddress, self.qm.config.remote_ping_port)
        effect = SendDatagram(PingSocket.SOURCE, remote, self.build_request().build())
        self.qm.emit_effect(self.change_request(session, effect))
        self.qm.session_timers.start(session, TimerName.PING_RESPONSE, self.qm.settings.ping_response_ms, now)

    def change_request(self, session: Session, effect: SendDatagram) -> Effect:
        """Return the changed datagram."""
        return effect


@fault("initiator-ping-request-beside-open-session-has-rf-set", breaks="MQQB-3.1.7.6-07", blind=True)
class InitiatorPingRequestBesideOpenSessionHasRfSet(PingWithChangedRequestDatagrams):
    """The initiator sets RF of a Ping Request while another session is open."""

    def change_request(self, session: Session, effect: SendDatagram) -> Effect:
        if not has_open_session(self.qm, session):
            return effect
        return replace(effect, data=bytes([effect.data[0] | PingPacket.flags(RF=1)]) + effect.data[1:])


@fault("initiator-ping-request-of-transactional-message-has-rf-set", breaks="MQQB-3.1.7.6-07", blind=True)
class InitiatorPingRequestOfTransactionalMessageHasRfSet(PingWithChangedRequestDatagrams):
    """The initiator sets RF of a Ping Request if a transactional message waits."""

    def change_request(self, session: Session, effect: SendDatagram) -> Effect:
        if not sends_transactional_message(self.qm, session):
            return effect
        return replace(effect, data=bytes([effect.data[0] | PingPacket.flags(RF=1)]) + effect.data[1:])


@fault("initiator-ping-request-beside-waiting-request-has-signature-0", breaks="MQQB-3.1.7.6-07", blind=True)
class InitiatorPingRequestBesideWaitingRequestHasSignature0(PingWithChangedRequestDatagrams):
    """The initiator sets Signature of a Ping Request to 0 while another Ping Request waits for its response."""

    def change_request(self, session: Session, effect: SendDatagram) -> Effect:
        waiting = has_other_pinging_session(self.qm, session)
        return replace(effect, data=effect.data[:2] + bytes(2) + effect.data[4:]) if waiting else effect


@fault("initiator-sends-ping-for-transactional-message-to-session-port", breaks="MQQB-3.1.7.6-08", blind=True)
class InitiatorSendsPingForTransactionalMessageToSessionPort(PingWithChangedRequestDatagrams):
    """The initiator sends a Ping Request to the port for sessions if a transactional message waits."""

    def change_request(self, session: Session, effect: SendDatagram) -> Effect:
        if not sends_transactional_message(self.qm, session):
            return effect
        return replace(effect, remote=effect.remote._replace(port=SESSION_PORT))


@fault("initiator-sends-second-ping-to-address-of-waiting-ping-request", breaks="MQQB-3.1.7.6-08", blind=True)
class InitiatorSendsSecondPingToAddressOfWaitingPingRequest(PingWithChangedRequestDatagrams):
    """The initiator sends a Ping Request to the address of another Ping Request that waits for its response."""

    def change_request(self, session: Session, effect: SendDatagram) -> Effect:
        other = find_other_pinging_session(self.qm, session)
        if other is None:
            return effect
        return replace(effect, remote=effect.remote._replace(host=other.RemoteQMAddress))


@fault("initiator-sends-later-ping-requests-to-port-after-ping-port", breaks="MQQB-3.1.7.6-08", blind=True)
class InitiatorSendsLaterPingRequestsToPortAfterPingPort(PingWithChangedRequestDatagrams):
    """The initiator sends each Ping Request except the first to the port after the ping port."""

    def change_request(self, session: Session, effect: SendDatagram) -> Effect:
        if not has_pinged_before(self.qm, session):
            return effect
        return replace(effect, remote=effect.remote._replace(port=effect.remote.port + 1))


def close_session_when_ping_response_timer_expires(when: OpeningCondition) -> Install:
    """Return an installer of a fault that does not stop the Ping Response Timer when the response arrives, and closes
    the session when the timer expires.
    """

    class TimerKept(PingHandling):
        def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
            kept = when(self.qm, session)
            super().on_ping_response_processed(session, response, now)
            if kept and session.awaited_opening_event is not AwaitedOpeningEvent.PING_RESPONSE:
                self.qm.session_timers.start(session, TimerName.PING_RESPONSE, self.qm.settings.ping_response_ms, now)

        def on_response_timer(self, session: Session, now: Now) -> None:
            if session.SessionState is SessionState.OPEN:
                self.qm.session_closing.close(session, "a fault", now)
            else:
                super().on_response_timer(session, now)

    return replace_part(TimerKept)


for _name, _says, _when in (
    (
        "initiator-ping-timer-of-transactional-message-not-stopped",
        "The initiator does not stop the Ping Response Timer if a transactional message waits, and closes the session "
        "when the timer expires.",
        sends_transactional_message,
    ),
    (
        "initiator-ping-timer-for-private-name-not-stopped",
        "The initiator does not stop the Ping Response Timer if the destination is not a direct format name, and "
        "closes the session when the timer expires.",
        is_destination_not_direct_name,
    ),
    (
        "initiator-ping-timer-beside-open-session-not-stopped",
        "The initiator does not stop the Ping Response Timer while another session is open, and closes the session "
        "when the timer expires.",
        has_open_session,
    ),
):
    add(_name, "MQQB-3.1.7.6-14", _says, close_session_when_ping_response_timer_expires(_when), blind=True)
