"""Faults of MS-MQQB 3.1.7.6 Send Ping Request that need two sessions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.adm import Session
from reference_qm.model.states import Opening
from reference_qm.surface.clock import Now


def _list_waiting_sessions(part: Ping) -> list[Session]:
    """Return the sessions that wait for a Ping Response, the oldest first."""
    return [one for one in part.qm.sessions.values() if one.opening is Opening.PING_RESPONSE]


@fault("initiator-ping-response-opens-sessions-with-all-pinged-destinations", breaks="MQQB-3.1.7.6-10")
class InitiatorPingResponseOpensSessionsWithAllPingedDestinations(Ping):
    """A Ping Response lets the initiator connect to every destination that it has pinged."""

    def response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        for other in _list_waiting_sessions(self):
            super().response_processed(other, response, now)


@fault("initiator-ping-response-opens-session-with-first-pinged-destination", breaks="MQQB-3.1.7.6-12")
class InitiatorPingResponseOpensSessionWithFirstPingedDestination(Ping):
    """A Ping Response lets the initiator connect to the destination that it has pinged first."""

    def response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        super().response_processed(_list_waiting_sessions(self)[0], response, now)


@fault("initiator-ping-request-sent-to-first-pinged-address", breaks="MQQB-3.1.7.6-08")
class InitiatorPingRequestSentToFirstPingedAddress(Ping):
    """While the initiator waits for a Ping Response, it sends further Ping Requests to the first pinged address."""

    def send_request(self, session: Session, now: Now) -> None:
        waiting, own = _list_waiting_sessions(self), session.RemoteQMAddress
        session.RemoteQMAddress = (waiting or [session])[0].RemoteQMAddress
        super().send_request(session, now)
        session.RemoteQMAddress = own


@fault("initiator-ping-response-with-rf-clear-handled-as-refusal", breaks="MQQB-3.1.7.6-12")
class InitiatorPingResponseWithRfClearHandledAsRefusal(Ping):
    """The initiator handles every Ping Response as a refusal, and opens no session until the retry time."""

    def response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        refused = replace(response, Flags=PingPacket.flags(RC=response.RC, RF=1))
        super().response_processed(session, refused, now)
