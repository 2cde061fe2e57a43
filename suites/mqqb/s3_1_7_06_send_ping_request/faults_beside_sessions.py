"""Faults in Ping Requests to destinations of other kinds, and beside open sessions. Spec: MS-MQQB 3.1.7.6."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from reference_qm.codec import NULL_GUID, PingPacket
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("initiator-ping-request-for-private-name-has-guid-of-destination", breaks="MQQB-3.1.7.6-05", blind=True)
class InitiatorPingRequestForPrivateNameHasGuidOfDestination(PingHandling):
    """The initiator sets QMGuid of the Ping Request for a private or public format name to the GUID of the
    destination.
    """

    def send_request(self, session: Session, now: Now) -> None:
        self.__dict__["destination"] = session.destination
        super().send_request(session, now)

    def build_request(self) -> PingPacket:
        destination: UUID = self.__dict__.get("destination", NULL_GUID)
        request = super().build_request()
        return replace(request, QMGuid=destination) if destination != NULL_GUID else request


@fault("initiator-ping-request-has-guid-of-queue-manager-of-open-session", breaks="MQQB-3.1.7.6-05", blind=True)
class InitiatorPingRequestHasGuidOfQueueManagerOfOpenSession(PingHandling):
    """The initiator sets QMGuid of a Ping Request to the GUID of the queue manager of an open session."""

    def send_request(self, session: Session, now: Now) -> None:
        others = list_open_sessions(self.qm, session)
        self.__dict__["guid"] = others[-1].RemoteQMGuid if others else None
        super().send_request(session, now)

    def build_request(self) -> PingPacket:
        guid = self.__dict__.get("guid")
        return replace(super().build_request(), QMGuid=guid) if guid is not None else super().build_request()


class _ConnectingBeforePingResponse(PingHandling):
    """Connects without waiting for the Ping Response in the sessions that a subclass selects."""

    def must_connect_before_ping_response(self, session: Session) -> bool:
        raise NotImplementedError

    def send_request(self, session: Session, now: Now) -> None:
        impatient = self.must_connect_before_ping_response(session)
        super().send_request(session, now)
        if impatient:
            self.qm.session_timers.stop(session, TimerName.PING_RESPONSE)
            self.qm.session_connecting.connect_transport(session)


@fault("initiator-connects-before-ping-response-beside-open-session", breaks="MQQB-3.1.7.6-10", blind=True)
class InitiatorConnectsBeforePingResponseBesideOpenSession(_ConnectingBeforePingResponse):
    """After a Ping Request, the initiator connects at once if it has another session with the address."""

    def must_connect_before_ping_response(self, session: Session) -> bool:
        return any(one.RemoteQMAddress == session.RemoteQMAddress for one in list_open_sessions(self.qm, session))


@fault("initiator-connects-before-ping-response-to-known-address", breaks="MQQB-3.1.7.6-10", blind=True)
class InitiatorConnectsBeforePingResponseToKnownAddress(_ConnectingBeforePingResponse):
    """After a Ping Request to an address that it pinged before, the initiator connects at once."""

    def must_connect_before_ping_response(self, session: Session) -> bool:
        known = self.__dict__.setdefault("known", set())
        pinged = session.RemoteQMAddress in known
        known.add(session.RemoteQMAddress)
        return pinged
