"""Faults of MS-MQQB 3.1.5.2.3 Sending an EstablishConnection Request Packet, with several sessions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.model.adm import Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


def _list_other_sessions_being_opened(qm: QueueManager, session: Session) -> list[Session]:
    opening = (SessionState.WAITING_ECR_MSG, SessionState.WAITING_CPR_MSG)
    return [one for one in qm.sessions.values() if one is not session and one.SessionState in opening]


class _EstablishRequestChanger(SessionEstablishing):
    def change_request(self, session: Session, request: EstablishConnectionPacket) -> EstablishConnectionPacket:
        raise NotImplementedError

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        return self.change_request(session, super().build_establish_request(session, now))


@fault("initiator-client-guid-of-second-session-changed", breaks="MQQB-3.1.5.2.3-07")
class InitiatorClientGuidOfSecondSessionChanged(_EstablishRequestChanger):
    """While another session is open, the initiator sends a request whose ClientGuid is not its own GUID."""

    def change_request(self, session: Session, request: EstablishConnectionPacket) -> EstablishConnectionPacket:
        header = request.EstablishConnectionHeader
        others = [one for one in self.qm.sessions.values() if one is not session and one.initiator]
        if not any(one.SessionState is SessionState.OPEN for one in others):
            return request
        guid = type(header.ClientGuid)(int=header.ClientGuid.int ^ 1)
        return replace(request, EstablishConnectionHeader=replace(header, ClientGuid=guid))


@fault("initiator-request-has-server-guid-of-other-open-session", breaks="MQQB-3.1.5.2.3-08")
class InitiatorRequestHasServerGuidOfOtherOpenSession(_EstablishRequestChanger):
    """The initiator sends the GUID of the remote queue manager of another session as ServerGuid."""

    def change_request(self, session: Session, request: EstablishConnectionPacket) -> EstablishConnectionPacket:
        header = request.EstablishConnectionHeader
        others = [one.RemoteQMGuid for one in self.qm.sessions.values() if one is not session and one.initiator]
        if session.is_destination_direct or not others:
            return request
        return replace(request, EstablishConnectionHeader=replace(header, ServerGuid=others[0]))


@fault("initiator-direct-request-has-server-guid-from-other-session", breaks="MQQB-3.1.5.2.3-09")
class InitiatorDirectRequestHasServerGuidFromOtherSession(_EstablishRequestChanger):
    """The initiator sends the GUID of a queue manager as ServerGuid for a direct name if another session to the same
    address is open.
    """

    def change_request(self, session: Session, request: EstablishConnectionPacket) -> EstablishConnectionPacket:
        header = request.EstablishConnectionHeader
        known = [
            one.RemoteQMGuid
            for one in self.qm.sessions.values()
            if one is not session
            and one.SessionState is SessionState.OPEN
            and one.RemoteQMAddress == session.RemoteQMAddress
        ]
        if not session.is_destination_direct or not known:
            return request
        return replace(request, EstablishConnectionHeader=replace(header, ServerGuid=known[0]))


@fault("initiator-se-clear-after-ping-of-any-session", breaks="MQQB-3.1.5.2.3-11")
class InitiatorSeClearAfterPingOfAnySession(_EstablishRequestChanger):
    """The initiator clears SE in each request after it has sent a Ping Request for any session."""

    def change_request(self, session: Session, request: EstablishConnectionPacket) -> EstablishConnectionPacket:
        header = request.EstablishConnectionHeader
        if not self.qm.adm.PingCookie:
            return request
        flags = header.OperatingSystem & ~type(header).flags(SE=1)
        return replace(request, EstablishConnectionHeader=replace(header, OperatingSystem=flags))


@fault("initiator-opens-one-session-at-a-time", breaks="MQQB-3.1.5.2.3-13")
class InitiatorOpensOneSessionAtATime(SessionEstablishing):
    """When the initiator sends a request on one session, it no longer accepts the response to a request that it sent on
    another session.
    """

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        for one in _list_other_sessions_being_opened(self.qm, session):
            if one.initiator:
                one.SessionState = SessionState.WAITING_EC_MSG


@fault("initiator-initialization-timer-shared-by-sessions", breaks=("MQQB-3.1.5.2.3-15", "MQQB-3.1.6.6-01"))
class InitiatorInitializationTimerSharedBySessions(SessionEstablishing):
    """The initiator stops the Session Initialization Timer of other sessions when it sends a request."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        for one in _list_other_sessions_being_opened(self.qm, session):
            self.qm.session_timers.stop(one, TimerName.SESSION_INITIALIZATION)


@fault("initiator-history-entry-of-request-added-to-first-queue", breaks="MQQB-3.1.5.2.3-14")
class InitiatorHistoryEntryOfRequestAddedToFirstQueue(SessionEstablishing):
    """The initiator adds the entry for a request to ConnectionHistory of the outgoing queue that was created first."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        super().send_establish_request(session, now)
        queue = session.OutgoingQueueReference
        first = next(iter(self.qm.adm.OutgoingQueues.values()))
        if queue is not None and first is not queue:
            first.ConnectionHistory.append(queue.ConnectionHistory.pop())


@fault("initiator-queue-state-not-waiting-while-other-queue-connected", breaks="MQQB-3.1.5.2.3-16")
class InitiatorQueueStateNotWaitingWhileOtherQueueConnected(SessionEstablishing):
    """The initiator does not set State of an outgoing queue to Waiting while another outgoing queue is Connected."""

    def send_establish_request(self, session: Session, now: Now) -> None:
        queue = session.OutgoingQueueReference
        before = None if queue is None else queue.State
        super().send_establish_request(session, now)
        connected = any(one.State is OutgoingQueueState.CONNECTED for one in self.qm.adm.OutgoingQueues.values())
        if queue is not None and before is not None and connected:
            queue.State = before
