"""Faults that break rules of MS-MQQB 3.1.7.9 Ping Response Processed."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.model.states import AwaitedOpeningEvent
from reference_qm.surface.clock import Now


@fault("initiator-ping-response-ends-every-pending-ping", breaks="MQQB-3.1.7.9-01", blind=True)
class InitiatorPingResponseEndsEveryPendingPing(PingHandling):
    """The initiator uses one Ping Response as the result of the pings of all destinations."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        for other in list(self.qm.sessions.values()):
            if other.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE:
                super().on_ping_response_processed(other, response, now)


@fault("initiator-ping-response-ends-oldest-pending-ping", breaks="MQQB-3.1.7.9-01", blind=True)
class InitiatorPingResponseEndsOldestPendingPing(PingHandling):
    """When a Ping Response arrives, the initiator ends the oldest pending ping instead of the ping with
    the Cookie of the response.
    """

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        pending = [
            one for one in self.qm.sessions.values() if one.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE
        ]
        super().on_ping_response_processed(min(pending, key=lambda one: one.ping_cookie), response, now)
