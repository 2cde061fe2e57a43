"""Faults of MS-MQQB 3.1.7.6 Send Ping Request that occur only for a second destination, ping or answer."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import PingPacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.adm import Session
from reference_qm.model.states import Opening
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("initiator-ping-timer-shared-by-destinations", breaks="MQQB-3.1.7.6-09", blind=True)
class InitiatorPingTimerSharedByDestinations(Ping):
    """The initiator has one Ping Response Timer, so that a second Ping Request stops the timer of the
    first Ping Request.
    """

    def send_request(self, session: Session, now: Now) -> None:
        super().send_request(session, now)
        for other in self.qm.sessions.values():
            if other is not session:
                self.qm.session_timers.stop(other, TimerName.PING_RESPONSE)


@fault("initiator-refusal-of-first-ping-kept-for-all", breaks="MQQB-3.1.7.6-13", blind=True)
class InitiatorRefusalOfFirstPingKeptForAll(Ping):
    """After one Ping Response with RF set, the initiator treats the responses of all destinations as refusals."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.refused = 0

    def response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        self.refused |= response.RF
        flags = PingPacket.flags(RC=response.RC, RF=self.refused)
        super().response_processed(session, PingPacket(flags, response.Cookie, response.QMGuid), now)


@fault("initiator-consent-of-first-ping-kept-for-address", breaks="MQQB-3.1.7.6-12", blind=True)
class InitiatorConsentOfFirstPingKeptForAddress(Ping):
    """After one Ping Response with RF clear, the initiator ignores RF of later Ping Responses."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.allowed = False

    def response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        self.allowed |= not response.RF
        rf = 0 if self.allowed else response.RF
        flags = PingPacket.flags(RC=response.RC, RF=rf)
        super().response_processed(session, PingPacket(flags, response.Cookie, response.QMGuid), now)


@fault("initiator-reserved-bit-of-ping-response-as-refusal", breaks="MQQB-3.1.7.6-13", blind=True)
class InitiatorReservedBitOfPingResponseAsRefusal(Ping):
    """The initiator opens no session if any bit of Flags of the Ping Response except RC is set."""

    def response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        flags = PingPacket.flags(RC=response.RC, RF=int(response.Flags > 1))
        super().response_processed(session, PingPacket(flags, response.Cookie, response.QMGuid), now)


@fault("initiator-ping-timer-of-second-session-not-stopped", breaks="MQQB-3.1.7.6-14", blind=True)
class InitiatorPingTimerOfSecondSessionNotStopped(Ping):
    """The initiator stops the Ping Response Timer only in its first session; in a later session, the expiry of the
    timer closes the session.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.answered = 0

    def response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        super().response_processed(session, response, now)
        self.answered += 1
        if self.answered > 1 and not response.RF:
            self.qm.session_timers.start(session, TimerName.PING_RESPONSE, self.qm.settings.ping_response_ms, now)

    def on_response_timer(self, session: Session, now: Now) -> None:
        if self.answered > 1 and session.opening is not Opening.PING_RESPONSE:
            self.qm.closing.close(session, "a fault", now)
        else:
            super().on_response_timer(session, now)


@fault("initiator-connects-at-once-while-other-ping-is-pending", breaks="MQQB-3.1.7.6-10", blind=True)
class InitiatorConnectsAtOnceWhileOtherPingIsPending(Ping):
    """The initiator does not wait for a Ping Response of one destination while it waits for the Ping Response of
    another destination.
    """

    def send_request(self, session: Session, now: Now) -> None:
        others = [one for one in self.qm.sessions.values() if one.opening is Opening.PING_RESPONSE]
        super().send_request(session, now)
        if any(one is not session for one in others):
            self.qm.session_timers.stop(session, TimerName.PING_RESPONSE)
            self.qm.connecting.connect_transport(session)
