from __future__ import annotations

from reference_qm.codec import (
    NULL_GUID,
    PT_ESTABLISH_CONNECTION,
    BaseHeader,
    EstablishConnectionHeader,
    EstablishConnectionPacket,
    InternalHeader,
)
from reference_qm.core.part import Part
from reference_qm.core.protocol.administering import OFFLINE
from reference_qm.model.adm import ConnectionHistoryEntry, OutgoingQueue, Session
from reference_qm.model.states import ConnectionStatus, Opening, OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Connect, SendPacket
from reference_qm.surface.inputs import Endpoint

OPERATING_SYSTEM_RE = 0x10

HRESULTS = {
    ConnectionStatus.IN_PROCESS: 0,
    ConnectionStatus.ESTABLISH_PACKET_RECEIVED: 0,
    ConnectionStatus.ESTABLISHED: 0,
    ConnectionStatus.UNKNOWN_FAILURE: 0x80004005,  # E_FAIL
    ConnectionStatus.PING_FAILURE: 0x8007274C,  # WSAETIMEDOUT
    ConnectionStatus.SOCKET_CONNECT_FAILURE: 0x8007274D,  # WSAECONNREFUSED
    ConnectionStatus.DNS_FAILURE: 0x80072AF9,  # WSAHOST_NOT_FOUND
    ConnectionStatus.CONNECTION_REFUSED: 0x80070005,  # E_ACCESSDENIED
    ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE: 0xC00E0013,  # MQ_ERROR_NO_DS
    ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE: 0x80090016,  # NTE_BAD_KEYSET
}
"""ConnectionHistory.Error of each Status: an HRESULT, zero where nothing failed."""


class Establishing(Part):
    """Establishing a session as initiator. Spec: MS-MQQB 3.1.5.2."""

    __slots__ = ()

    def establish(self, session: Session, now: Now, *, again: bool = False) -> None:
        """Begin to establish a session: resolve, ping, connect, send a request. Spec: MS-MQQB 3.1.5.2.

        ``again``: because the Session Retry Connect Timer expired.
        """
        if not self.qm.administering.may_connect():
            if self.qm.adm.HardenedSecurity and session.OutgoingQueueReference is not None:
                session.OutgoingQueueReference.State = OutgoingQueueState.LOCKED
            self.qm.closing.session_ended(session, OFFLINE)
            return
        session.retrying = again
        self.qm.sessions[session.number] = session
        if session in self.qm.closed_sessions:
            self.qm.closed_sessions.remove(session)
        self.qm.initialization.initialize_session(session, now)
        self.qm.resolving.resolve_host_address(session, now)

    def connect_transport(self, session: Session) -> None:
        """Connect to the acceptor's TCP port. Spec: MS-MQQB 2.1.1, 3.1.5.2.3."""
        session.transport = self.qm.next_transport()
        session.opening = Opening.TRANSPORT
        self.qm.transports[session.transport] = session
        self.qm.emit(Connect(session.transport, Endpoint(session.RemoteQMAddress, self.qm.config.remote_tcp_port)))

    def send_establish_request(self, session: Session, now: Now) -> None:
        """Send the request of a session on its new connection. Spec: MS-MQQB 3.1.5.2.3."""
        session.opening = Opening.NOTHING
        self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)
        request = self.build_establish_request(session, now)
        self.send(session, request.build())
        session.SessionState = SessionState.WAITING_ECR_MSG
        self.add_connection_history(session, ConnectionStatus.IN_PROCESS, now)
        self.qm.session_timers.start(
            session, TimerName.SESSION_INITIALIZATION, self.qm.settings.session_initialization_ms, now
        )
        queue = outgoing_queue(session)
        if queue.State is not OutgoingQueueState.ON_HOLD:
            queue.State = OutgoingQueueState.WAITING

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        """Build an EstablishConnection request. Spec: MS-MQQB 3.1.5.2.3, 2.2.3.1."""
        return EstablishConnectionPacket(
            internal_base_header(),
            InternalHeader(Flags=InternalHeader.flags(PT=PT_ESTABLISH_CONNECTION, CS=0)),
            EstablishConnectionHeader(
                ClientGuid=self.qm.adm.Identifier,
                ServerGuid=NULL_GUID if session.direct else session.RemoteQMGuid,
                TimeStamp=now.monotonic_ms & 0xFFFFFFFF,
                OperatingSystem=EstablishConnectionHeader.flags(
                    RE=OPERATING_SYSTEM_RE,
                    SE=int(not session.pinged),
                    OS=int(self.qm.config.operating_system.is_server),
                    QS=0,
                ),
            ),
        )

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        """Append an entry to ConnectionHistory. Spec: MS-MQQB 3.1.5.2, 3.1.5.2.3, 3.1.5.3.2, 3.1.5.4.2."""
        outgoing_queue(session).ConnectionHistory.append(
            ConnectionHistoryEntry(status, now.utc_s, HRESULTS[status], session.RemoteQMAddress)
        )

    def fail_to_establish(self, session: Session, status: ConnectionStatus, reason: str, now: Now) -> None:
        """Record why a session cannot be established, and end the attempt. Spec: MS-MQQB 3.1.5.2, 3.1.5.2.2."""
        self.add_connection_history(session, status, now)
        self.qm.closing.close(session, reason, now)

    def send(self, session: Session, packet: bytes) -> None:
        """Send one packet on a session's connection."""
        assert session.transport is not None
        self.qm.emit(SendPacket(session.transport, packet))


def internal_base_header() -> BaseHeader:
    """Make the BaseHeader of an internal packet: priority 3 as Windows has it (MS-MQQB section 4), infinite time.

    Spec: MS-MQMQ 2.2.19.1.
    """
    return BaseHeader(Flags=BaseHeader.flags(IN=1, PR=3))


def outgoing_queue(session: Session) -> OutgoingQueue:
    """Return the outgoing queue of an initiator's session."""
    assert session.OutgoingQueueReference is not None
    return session.OutgoingQueueReference
