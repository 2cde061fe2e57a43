from __future__ import annotations

from reference_qm.codec import (
    NULL_GUID,
    PT_ESTABLISH_CONNECTION,
    BaseHeader,
    EstablishConnectionHeader,
    EstablishConnectionPacket,
    InternalHeader,
)
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.sessions.session_connecting import OFFLINE_REFUSAL_REASON, get_outgoing_queue
from reference_qm.model.adm import Session
from reference_qm.model.states import AwaitedOpeningEvent, ConnectionStatus, OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

OPERATING_SYSTEM_RE_FLAG = 0x10


class SessionEstablishing(QueueManagerPart):
    """Establishes sessions in the role of the initiator. Spec: MS-MQQB 3.1.5.2."""

    __slots__ = ()

    def establish(self, session: Session, now: Now, *, again: bool = False) -> None:
        """Begin to establish a session. The steps are to resolve the destination, ping, connect, and send a
        request. Spec: MS-MQQB 3.1.5.2.

        ``again`` states whether the Session Retry Connect Timer expired.
        """
        if not self.qm.session_connecting.may_connect():
            if self.qm.adm.HardenedSecurity and session.OutgoingQueueReference is not None:
                session.OutgoingQueueReference.State = OutgoingQueueState.LOCKED
            self.qm.session_closing.report_session_end_to_waiting_commands(session, OFFLINE_REFUSAL_REASON)
            return
        session.is_retrying_connection = again
        self.qm.sessions[session.number] = session
        if session in self.qm.closed_sessions:
            self.qm.closed_sessions.remove(session)
        self.qm.session_initialization.initialize_session(session, now)
        self.qm.session_address_resolving.resolve_host_address(session, now)

    def send_establish_request(self, session: Session, now: Now) -> None:
        """Send the EstablishConnection request on a new connection. Spec: MS-MQQB 3.1.5.2.3."""
        session.awaited_opening_event = AwaitedOpeningEvent.NOTHING
        self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)
        request = self.build_establish_request(session, now)
        self.qm.session_connecting.send(session, request.build())
        session.SessionState = SessionState.WAITING_ECR_MSG
        self.qm.session_connecting.add_connection_history(session, ConnectionStatus.IN_PROCESS, now)
        self.qm.session_timers.start(
            session, TimerName.SESSION_INITIALIZATION, self.qm.settings.session_initialization_ms, now
        )
        queue = get_outgoing_queue(session)
        if queue.State is not OutgoingQueueState.ON_HOLD:
            queue.State = OutgoingQueueState.WAITING

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        """Build an EstablishConnection request. Spec: MS-MQQB 3.1.5.2.3, 2.2.3.1."""
        return EstablishConnectionPacket(
            build_internal_base_header(),
            InternalHeader(Flags=InternalHeader.flags(PT=PT_ESTABLISH_CONNECTION, CS=0)),
            EstablishConnectionHeader(
                ClientGuid=self.qm.adm.Identifier,
                ServerGuid=NULL_GUID if session.is_destination_direct else session.RemoteQMGuid,
                TimeStamp=now.monotonic_ms & 0xFFFFFFFF,
                OperatingSystem=EstablishConnectionHeader.flags(
                    RE=OPERATING_SYSTEM_RE_FLAG,
                    SE=int(not session.is_ping_sent_before_session),
                    OS=int(self.qm.config.operating_system.is_server),
                    QS=0,
                ),
            ),
        )

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        """Retry the connection with the next entry in the list of next hops. After the last entry, build a new list.
        Spec: MS-MQQB 3.1.6.1.

        The timer may also expire while a session with messages is being established (3.1.3.2). In this case no retry is
        needed, because the messages in the table are sent when the session is open. If acknowledgments on other
        sessions have completed all messages, the session is closed, and the next message establishes it again.
        """
        if session.SessionState is not SessionState.WAITING_RECONNECT or not self.qm.session_connecting.may_connect():
            return
        if not len(session.OutgoingMessageTable):
            session.SessionState = SessionState.CLOSED
            self.qm.session_closing.report_session_end_to_waiting_commands(
                session, "no message is left to send (MS-MQQB 3.1.6.1)"
            )
            return
        if session.NextHopIndexer + 1 >= len(session.NextHopCollection):
            self.establish(session, now, again=True)
            return
        session.is_retrying_connection = True
        session.NextHopIndexer += 1
        self.qm.session_initialization.initialize_session(session, now)
        self.qm.session_address_resolving.select_next_hop(session)
        self.qm.ping_handling.ping_before_session(session, now)


def build_internal_base_header() -> BaseHeader:
    """Build the BaseHeader of an internal packet. The priority is 3, as in packets from Windows (MS-MQQB section 4),
    and TimeToReachQueue has no limit.

    Spec: MS-MQMQ 2.2.19.1.
    """
    return BaseHeader(Flags=BaseHeader.flags(IN=1, PR=3))
