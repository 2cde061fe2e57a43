"""Faults that break rules of MS-MQQB 3.1.7.6 Send Ping Request."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.datagrams import change_received_datagrams, change_sent_datagrams
from harness.faults.fields import add_to_field, limit_to_sender_role, set_bits, set_field_value
from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers, omit_step_during
from harness.faults.registry import Install, add
from reference_qm.codec import PingPacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.model.adm import Session
from reference_qm.model.states import AwaitedOpeningEvent
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint, PingSocket


def _increment_ping_cookie_by_wrong_number(step: int) -> Install:
    """Make the initiator increment PingCookie by a number other than one."""

    class CookieIncrementChanged(PingHandling):
        def send_request(self, session: Session, now: Now) -> None:
            self.qm.adm.PingCookie = self.qm.adm.PingCookie + step - 1 & 0xFFFFFFFF
            super().send_request(session, now)

    return replace_part(CookieIncrementChanged)


add(
    "initiator-ping-cookie-grows-by-2",
    "MQQB-3.1.7.6-03",
    "The initiator increments PingCookie by two for each Ping Request.",
    _increment_ping_cookie_by_wrong_number(2),
)


add(
    "initiator-ping-cookie-not-incremented",
    "MQQB-3.1.7.6-03",
    "The initiator does not increment PingCookie.",
    _increment_ping_cookie_by_wrong_number(0),
)


add(
    "initiator-ping-request-4-bytes-too-long",
    "MQQB-3.1.7.6-04",
    "The initiator's Ping Request has four bytes too many.",
    change_sent_datagrams(PingSocket.SOURCE, lambda sent: replace(sent, data=sent.data + bytes(4))),
)


add(
    "initiator-ping-request-qm-guid-wrong",
    "MQQB-3.1.7.6-05",
    "The initiator sends a Ping Request whose QMGuid belongs to no queue manager.",
    limit_to_sender_role("initiator", set_field_value(PingPacket, "QMGuid", MADE_UP_GUID)),
)


add(
    "initiator-ping-request-cookie-wrong",
    "MQQB-3.1.7.6-06",
    "The initiator's Ping Request has a Cookie other than PingCookie.",
    limit_to_sender_role("initiator", add_to_field(PingPacket, "Cookie", 0x100)),
)


add(
    "initiator-ping-request-rf-set",
    ("MQQB-2.2.7-05", "MQQB-3.1.7.6-07"),
    "The initiator's Ping Request has RF set.",
    limit_to_sender_role("initiator", set_bits(PingPacket, "RF")),
)


add(
    "initiator-ping-request-to-wrong-port",
    "MQQB-3.1.7.6-08",
    "The initiator sends the Ping Request to a port number that is one above the acceptor's ping port.",
    change_sent_datagrams(
        PingSocket.SOURCE, lambda sent: replace(sent, remote=Endpoint(sent.remote.host, sent.remote.port + 1))
    ),
)


def _list_waiting_sessions(part: PingHandling) -> list[Session]:
    """Return the sessions that wait for a Ping Response, the oldest first."""
    return [one for one in part.qm.sessions.values() if one.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE]


@fault("initiator-ping-request-sent-to-first-pinged-address", breaks="MQQB-3.1.7.6-08")
class InitiatorPingRequestSentToFirstPingedAddress(PingHandling):
    """While the initiator waits for a Ping Response, it sends further Ping Requests to the first pinged address."""

    def send_request(self, session: Session, now: Now) -> None:
        waiting, own = _list_waiting_sessions(self), session.RemoteQMAddress
        session.RemoteQMAddress = (waiting or [session])[0].RemoteQMAddress
        super().send_request(session, now)
        session.RemoteQMAddress = own


add(
    "initiator-ping-response-timer-not-started",
    "MQQB-3.1.7.6-09",
    "The initiator starts no Ping Response Timer and waits without limit for a Ping Response.",
    omit_step_during(PingHandling.send_request, SessionTimers.start),
)


@fault("initiator-second-ping-stops-ping-response-timer-of-first", breaks="MQQB-3.1.7.6-09", blind=True)
class InitiatorSecondPingStopsPingResponseTimerOfFirst(PingHandling):
    """The initiator has one Ping Response Timer for all Ping Requests: when it starts the timer for a new Ping Request,
    the timer of the earlier Ping Request never expires.
    """

    def send_request(self, session: Session, now: Now) -> None:
        for other in self.qm.sessions.values():
            if other.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE:
                self.qm.session_timers.stop(other, TimerName.PING_RESPONSE)
        super().send_request(session, now)


@fault("initiator-ping-timer-of-second-session-not-started", breaks="MQQB-3.1.7.6-09", blind=True)
class InitiatorPingTimerOfSecondSessionNotStarted(PingHandling):
    """The initiator does not start the Ping Response Timer for a session while another session waits for a Ping
    Response.
    """

    def send_request(self, session: Session, now: Now) -> None:
        pending = any(
            one.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE
            for one in self.qm.sessions.values()
            if one is not session
        )
        super().send_request(session, now)
        if pending:
            self.qm.session_timers.stop(session, TimerName.PING_RESPONSE)


@fault("initiator-ping-timer-shared-by-destinations", breaks="MQQB-3.1.7.6-09", blind=True)
class InitiatorPingTimerSharedByDestinations(PingHandling):
    """The initiator has one Ping Response Timer, so that a second Ping Request stops the timer of the
    first Ping Request.
    """

    def send_request(self, session: Session, now: Now) -> None:
        super().send_request(session, now)
        for other in self.qm.sessions.values():
            if other is not session:
                self.qm.session_timers.stop(other, TimerName.PING_RESPONSE)


@fault("initiator-connects-before-ping-response", breaks="MQQB-3.1.7.6-10")
class InitiatorConnectsBeforePingResponse(PingHandling):
    """The initiator connects at once after its Ping Request."""

    def send_request(self, session: Session, now: Now) -> None:
        super().send_request(session, now)
        self.qm.session_connecting.connect_transport(session)


@fault("initiator-connects-at-once-while-other-ping-is-pending", breaks="MQQB-3.1.7.6-10", blind=True)
class InitiatorConnectsAtOnceWhileOtherPingIsPending(PingHandling):
    """The initiator does not wait for a Ping Response of one destination while it waits for the Ping Response of
    another destination.
    """

    def send_request(self, session: Session, now: Now) -> None:
        others = [
            one for one in self.qm.sessions.values() if one.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE
        ]
        super().send_request(session, now)
        if any(one is not session for one in others):
            self.qm.session_timers.stop(session, TimerName.PING_RESPONSE)
            self.qm.session_connecting.connect_transport(session)


@fault("initiator-ping-response-opens-sessions-with-all-pinged-destinations", breaks="MQQB-3.1.7.6-10")
class InitiatorPingResponseOpensSessionsWithAllPingedDestinations(PingHandling):
    """A Ping Response lets the initiator connect to every destination that it has pinged."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        for other in _list_waiting_sessions(self):
            super().on_ping_response_processed(other, response, now)


@fault("initiator-session-opened-at-ping-timer-expiry", breaks=("MQQB-3.1.6.8-01", "MQQB-3.1.7.6-11"))
class InitiatorSessionOpenedAtPingTimerExpiry(PingHandling):
    """The initiator opens the session although the Ping Response Timer expires without a response."""

    def on_response_timer(self, session: Session, now: Now) -> None:
        self.qm.session_connecting.connect_transport(session)


_REFUSAL_FLAG_RF_OF_PING = PingPacket.flags(RF=1)


add(
    "initiator-ping-response-rf-ignored",
    ("MQQB-3.1.7.6-12", "MQQB-3.1.7.6-13", "MQQB-3.1.7.9-01"),
    "The initiator opens the session although the Ping Response has RF set.",
    change_received_datagrams(PingSocket.SOURCE, lambda data: bytes([data[0] & ~_REFUSAL_FLAG_RF_OF_PING]) + data[1:]),
)


@fault("initiator-ignores-rf-after-first-ping-response-with-rf-clear", breaks="MQQB-3.1.7.6-12", blind=True)
class InitiatorIgnoresRfAfterFirstPingResponseWithRfClear(PingHandling):
    """After one Ping Response with RF clear, the initiator ignores RF of later Ping Responses."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.allowed = False

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        self.allowed |= not response.RF
        rf = 0 if self.allowed else response.RF
        flags = PingPacket.flags(RC=response.RC, RF=rf)
        super().on_ping_response_processed(session, PingPacket(flags, response.Cookie, response.QMGuid), now)


@fault("initiator-ping-response-opens-session-with-first-pinged-destination", breaks="MQQB-3.1.7.6-12")
class InitiatorPingResponseOpensSessionWithFirstPingedDestination(PingHandling):
    """A Ping Response lets the initiator connect to the destination that it has pinged first."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        super().on_ping_response_processed(_list_waiting_sessions(self)[0], response, now)


@fault("initiator-ping-response-with-rf-clear-handled-as-refusal", breaks="MQQB-3.1.7.6-12")
class InitiatorPingResponseWithRfClearHandledAsRefusal(PingHandling):
    """The initiator handles every Ping Response as a refusal, and opens no session until the retry time."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        refused = replace(response, Flags=PingPacket.flags(RC=response.RC, RF=1))
        super().on_ping_response_processed(session, refused, now)


@fault("initiator-rf-of-ping-response-ignored-for-private-name", breaks="MQQB-3.1.7.6-13", blind=True)
class InitiatorRfOfPingResponseIgnoredForPrivateName(PingHandling):
    """The initiator opens a session for a private or public format name although RF of the Ping Response is set."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if not session.is_destination_direct:
            response = replace(response, Flags=0)
        super().on_ping_response_processed(session, response, now)


@fault("initiator-refusal-by-one-ping-response-applied-to-all-others", breaks="MQQB-3.1.7.6-13", blind=True)
class InitiatorRefusalByOnePingResponseAppliedToAllOthers(PingHandling):
    """After one Ping Response with RF set, the initiator treats the responses of all destinations as refusals."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.refused = 0

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        self.refused |= response.RF
        flags = PingPacket.flags(RC=response.RC, RF=self.refused)
        super().on_ping_response_processed(session, PingPacket(flags, response.Cookie, response.QMGuid), now)


@fault("initiator-treats-reserved-bit-of-ping-response-as-refusal", breaks="MQQB-3.1.7.6-13", blind=True)
class InitiatorTreatsReservedBitOfPingResponseAsRefusal(PingHandling):
    """The initiator opens no session if any bit of Flags of the Ping Response except RC is set."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        flags = PingPacket.flags(RC=response.RC, RF=int(response.Flags > 1))
        super().on_ping_response_processed(session, PingPacket(flags, response.Cookie, response.QMGuid), now)


class _SessionCloseAtPingTimeout(PingHandling):
    def on_response_timer(self, session: Session, now: Now) -> None:
        self.qm.session_closing.close(session, "no Ping Response arrived (fault)", now)


add(
    "initiator-ping-response-timer-not-stopped",
    "MQQB-3.1.7.6-14",
    "The initiator does not stop the Ping Response Timer, whose expiry closes the session.",
    combine_installers(
        omit_step_during(PingHandling.on_ping_response_processed, SessionTimers.stop),
        replace_part(_SessionCloseAtPingTimeout),
    ),
)


@fault("initiator-ping-timer-of-second-session-not-stopped", breaks="MQQB-3.1.7.6-14", blind=True)
class InitiatorPingTimerOfSecondSessionNotStopped(PingHandling):
    """The initiator stops the Ping Response Timer only in its first session; in a later session, the expiry of the
    timer closes the session.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.answered = 0

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        super().on_ping_response_processed(session, response, now)
        self.answered += 1
        if self.answered > 1 and not response.RF:
            self.qm.session_timers.start(session, TimerName.PING_RESPONSE, self.qm.settings.ping_response_ms, now)

    def on_response_timer(self, session: Session, now: Now) -> None:
        if self.answered > 1 and session.awaited_opening_event is not AwaitedOpeningEvent.PING_RESPONSE:
            self.qm.session_closing.close(session, "a fault", now)
        else:
            super().on_response_timer(session, now)
