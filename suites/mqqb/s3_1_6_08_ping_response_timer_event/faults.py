"""Faults that break rules of MS-MQQB 3.1.6.8 Ping Response Timer Event."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.model.states import AwaitedOpeningEvent
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("initiator-ping-timeout-fails-every-pending-ping", breaks="MQQB-3.1.6.8-01", blind=True)
class InitiatorPingTimeoutFailsEveryPendingPing(PingHandling):
    """When one Ping Response Timer expires, the initiator abandons the pings of all destinations."""

    def on_response_timer(self, session: Session, now: Now) -> None:
        for other in list(self.qm.sessions.values()):
            if other.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE:
                super().on_response_timer(other, now)


@fault("initiator-second-ping-timeout-opens-session", breaks="MQQB-3.1.6.8-01", blind=True)
class InitiatorSecondPingTimeoutOpensSession(PingHandling):
    """The initiator opens a session without a Ping Response at the second expiry of a Ping Response Timer."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.expired = 0

    def on_response_timer(self, session: Session, now: Now) -> None:
        self.expired += 1
        if self.expired > 1 and session.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE:
            self.qm.session_connecting.connect_transport(session)
        else:
            super().on_response_timer(session, now)


@fault("initiator-retries-only-one-destination-after-ping-timeout", breaks="MQQB-3.1.6.8-01", blind=True)
class InitiatorRetriesOnlyOneDestinationAfterPingTimeout(PingHandling):
    """After a Ping Response Timer has expired, the initiator tries again for only one destination."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: Session | None = None

    def on_response_timer(self, session: Session, now: Now) -> None:
        super().on_response_timer(session, now)
        self.first = self.first or session
        if session is not self.first:
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("initiator-ping-timeout-loses-express-messages", breaks="MQQB-3.1.6.8-01", blind=True)
class InitiatorPingTimeoutLosesExpressMessages(PingHandling):
    """The initiator deletes the express messages of a destination when the Ping Response Timer expires."""

    def on_response_timer(self, session: Session, now: Now) -> None:
        super().on_response_timer(session, now)
        for position in session.OutgoingMessageTable:
            if not position.recoverable:
                session.OutgoingMessageTable.remove(position)
