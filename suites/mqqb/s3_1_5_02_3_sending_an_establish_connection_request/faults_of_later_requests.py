"""Faults in later EstablishConnection requests. MS-MQQB 3.1.5.2.3 Sending an EstablishConnection Request Packet."""

from __future__ import annotations

from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from harness.faults.session_packets import has_earlier_request
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault("initiator-client-guid-changed-when-request-is-repeated", breaks="MQQB-3.1.5.2.3-07", blind=True)
class InitiatorClientGuidChangedWhenRequestIsRepeated(SessionEstablishing):
    """When the initiator connects again because its timer expired, ClientGuid of the request differs from that of the
    first request.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        changed: EstablishConnectionPacket = set_fields(request, {"EstablishConnectionHeader.ClientGuid": MADE_UP_GUID})
        return changed if session.is_retrying_connection else request


@fault("initiator-client-guid-is-guid-of-acceptor-in-request-to-guid", breaks="MQQB-3.1.5.2.3-07", blind=True)
class InitiatorClientGuidIsGuidOfAcceptorInRequestToGuid(SessionEstablishing):
    """ClientGuid of a request to a destination that is not a direct format name is the GUID of the acceptor."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        changed: EstablishConnectionPacket = set_fields(
            request, {"EstablishConnectionHeader.ClientGuid": session.RemoteQMGuid}
        )
        return request if session.is_destination_direct else changed


@fault("initiator-repeated-request-has-time-stamp-of-first-request", breaks="MQQB-3.1.5.2.3-10", blind=True)
class InitiatorRepeatedRequestHasTimeStampOfFirstRequest(SessionEstablishing):
    """When the initiator connects again, TimeStamp of the request is the TimeStamp of the first request."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first_times: dict[int, int] = {}

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        path = "EstablishConnectionHeader.TimeStamp"
        if not has_earlier_request(self.qm, session, request):
            self.first_times[session.number] = request.EstablishConnectionHeader.TimeStamp
        changed: EstablishConnectionPacket = set_fields(
            request, {path: self.first_times.get(session.number, request.EstablishConnectionHeader.TimeStamp)}
        )
        return changed


@fault("initiator-time-stamp-in-units-of-10-ms-in-request-to-guid", breaks="MQQB-3.1.5.2.3-10", blind=True)
class InitiatorTimeStampInUnitsOf10MsInRequestToGuid(SessionEstablishing):
    """TimeStamp of a request to a destination that is not a direct format name is a number of intervals of 10 ms."""

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        request = super().build_establish_request(session, now)
        changed: EstablishConnectionPacket = set_fields(
            request, {"EstablishConnectionHeader.TimeStamp": lambda stamp: stamp // 10}
        )
        return request if session.is_destination_direct else changed


@fault("initiator-session-initialization-timer-of-reopened-session-not-started", breaks="MQQB-3.1.5.2.3-15", blind=True)
class InitiatorSessionInitializationTimerOfReopenedSessionNotStarted(SessionEstablishing):
    """The initiator does not start the Session Initialization Timer for a destination that it connects to again."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        again = has_earlier_request(self.qm, session, None)
        super().send_establish_request(session, now)
        if again:
            self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)


@fault("initiator-initialization-timer-not-started-for-guid-destination", breaks="MQQB-3.1.5.2.3-15", blind=True)
class InitiatorInitializationTimerNotStartedForGuidDestination(SessionEstablishing):
    """The initiator does not start the Session Initialization Timer if the destination is not a direct format name."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        if not session.is_destination_direct:
            self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)
