"""Faults of MS-MQQB 3.1.5.3.1 Request Packet, with several sessions and in later requests."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import NULL_GUID, EstablishConnectionPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


def _count_open_accepted_sessions(qm: QueueManager) -> int:
    return sum(not one.initiator and one.SessionState is SessionState.OPEN for one in qm.sessions.values())


@fault("acceptor-sets-remote-qm-guid-of-all-sessions-to-new-client-guid", breaks="MQQB-3.1.5.3.1-01")
class AcceptorSetsRemoteQmGuidOfAllSessionsToNewClientGuid(SessionOpening):
    """The acceptor sets RemoteQMGuid of every accepted session to the ClientGuid of the latest request."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        for one in self.qm.sessions.values():
            if not one.initiator:
                one.RemoteQMGuid = packet.EstablishConnectionHeader.ClientGuid


@fault("acceptor-refuses-client-after-refused-request", breaks=("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-06"))
class AcceptorRefusesClientAfterRefusedRequest(SessionOpening):
    """The acceptor refuses every request of a client after an invalid request of this client."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._refused: set[object] = set()

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        valid = super().is_establish_request_valid(packet)
        client = packet.EstablishConnectionHeader.ClientGuid
        if not valid:
            self._refused.add(client)
        return valid and client not in self._refused


@fault("acceptor-any-server-guid-valid-for-known-client", breaks=("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-07"))
class AcceptorAnyServerGuidValidForKnownClient(SessionOpening):
    """The acceptor accepts any ServerGuid in the request of a client that has an open session."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        client = packet.EstablishConnectionHeader.ClientGuid
        known = any(
            one.RemoteQMGuid == client and one.SessionState is SessionState.OPEN for one in self.qm.sessions.values()
        )
        return known or super().is_establish_request_valid(packet)


@fault("acceptor-zero-server-guid-refused-while-session-is-open", breaks=("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-06"))
class AcceptorZeroServerGuidRefusedWhileSessionIsOpen(SessionOpening):
    """The acceptor refuses a request with a ServerGuid of zero while another session is open."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        zero = packet.EstablishConnectionHeader.ServerGuid == NULL_GUID
        return super().is_establish_request_valid(packet) and not (zero and _count_open_accepted_sessions(self.qm))


@fault(
    "acceptor-accepts-request-whose-server-guid-is-its-client-guid",
    breaks=("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-07", "MQQB-2.2.1-05"),
)
class AcceptorAcceptsRequestWhoseServerGuidIsItsClientGuid(SessionOpening):
    """The acceptor accepts a request whose ServerGuid is the ClientGuid."""

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        header = packet.EstablishConnectionHeader
        return header.ServerGuid == header.ClientGuid or super().is_establish_request_valid(packet)


class _EstablishResponseFault(SessionOpening):
    def change_response(self, session: Session, response: EstablishConnectionPacket) -> EstablishConnectionPacket:
        raise NotImplementedError

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        return self.change_response(session, super().build_establish_response(session, request))


@fault("acceptor-response-has-client-guid-of-previous-request", breaks="MQQB-3.1.5.3.1-08")
class AcceptorResponseHasClientGuidOfPreviousRequest(_EstablishResponseFault):
    """The acceptor sends the ClientGuid of the previous request in each response."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._last: UUID | None = None

    def change_response(self, session: Session, response: EstablishConnectionPacket) -> EstablishConnectionPacket:
        header = response.EstablishConnectionHeader
        last, self._last = self._last or header.ClientGuid, header.ClientGuid
        return replace(response, EstablishConnectionHeader=replace(header, ClientGuid=last))


@fault("acceptor-response-repeats-highest-time-stamp-of-all-requests", breaks="MQQB-3.1.5.3.1-10")
class AcceptorResponseRepeatsHighestTimeStampOfAllRequests(_EstablishResponseFault):
    """The acceptor sends the highest TimeStamp of all requests in each response."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._highest = 0

    def change_response(self, session: Session, response: EstablishConnectionPacket) -> EstablishConnectionPacket:
        header = response.EstablishConnectionHeader
        self._highest = max(self._highest, header.TimeStamp)
        return replace(response, EstablishConnectionHeader=replace(header, TimeStamp=self._highest))


@fault("acceptor-response-se-set-in-refusal", breaks="MQQB-3.1.5.3.1-11")
class AcceptorResponseSeSetInRefusal(_EstablishResponseFault):
    """The acceptor sets SE in the response to an invalid request."""

    def change_response(self, session: Session, response: EstablishConnectionPacket) -> EstablishConnectionPacket:
        header = response.EstablishConnectionHeader
        if not response.InternalHeader.CS:
            return response
        flags = header.OperatingSystem | type(header).flags(SE=1)
        return replace(response, EstablishConnectionHeader=replace(header, OperatingSystem=flags))


@fault("acceptor-ignores-request-while-other-handshake-is-unfinished", breaks="MQQB-3.1.5.3.1-D02")
class AcceptorIgnoresRequestWhileOtherHandshakeIsUnfinished(SessionOpening):
    """The acceptor does not answer a request while another session waits for its ConnectionParameters packet."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        waiting = any(
            one.SessionState is SessionState.WAITING_CP_MSG for one in self.qm.sessions.values() if one is not session
        )
        if not waiting:
            super().receive_establish_request(session, packet, now)


@fault("acceptor-closes-only-first-connection-over-session-limit", breaks="MQQB-3.1.5.3.1-D01")
class AcceptorClosesOnlyFirstConnectionOverSessionLimit(SessionClosing):
    """The acceptor closes only the first connection with a request beyond the limit of sessions."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._closed = False

    def close(self, session: Session, reason: str, now: Now) -> None:
        beyond = "sessions are already open" in reason
        if beyond and self._closed:
            return
        self._closed = self._closed or beyond
        super().close(session, reason, now)
