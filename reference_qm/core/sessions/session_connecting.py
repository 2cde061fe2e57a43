from __future__ import annotations

from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import ConnectionHistoryEntry, OutgoingQueue, Session
from reference_qm.model.states import AwaitedOpeningEvent, ConnectionStatus, SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Connect, SendPacket
from reference_qm.surface.inputs import Endpoint

HRESULT_BY_CONNECTION_STATUS = {
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
"""For each Status of an attempt to connect: the HRESULT that ConnectionHistory.Error contains. If the attempt did not
fail, the HRESULT is zero.
"""


def get_outgoing_queue(session: Session) -> OutgoingQueue:
    """Return the outgoing queue of an initiator's session."""
    assert session.OutgoingQueueReference is not None
    return session.OutgoingQueueReference


OFFLINE_REFUSAL_REASON = "the queue manager is offline (MS-MQDMPR 3.1.4.12): bring it online"


class SessionConnecting(QueueManagerPart):
    """Manages the connections of sessions: permits them, sends packets, and records their history.

    Spec: MS-MQQB 2.1.1, 3.1.5.2, 3.1.5.3.1.
    """

    __slots__ = ()

    def may_connect(self) -> bool:
        """Return whether sessions may be established and accepted.

        Spec: MS-MQSO 5.1.1.1 (ConnectionActive), MS-MQDMPR 3.1.1.1 (HardenedSecurity). HardenedSecurity forbids
        sessions, because sessions do not use HTTP.
        """
        return self.qm.adm.ConnectionActive and not self.qm.adm.HardenedSecurity

    def is_session_acceptable(self) -> bool:
        """Return whether a request for a session would be accepted now. Spec: MS-MQQB 3.1.5.3.1, 3.1.7.7; notes
        <12>, <70>.
        """
        accepted = sum(
            not session.initiator
            and not session.was_session_refused
            and session.SessionState is not SessionState.WAITING_EC_MSG
            for session in self.qm.sessions.values()
        )
        return self.may_connect() and accepted < self.qm.config.max_sessions

    def connect_transport(self, session: Session) -> None:
        """Connect to the acceptor's TCP port. Spec: MS-MQQB 2.1.1, 3.1.5.2.3."""
        session.transport = self.qm.assign_transport_name()
        session.awaited_opening_event = AwaitedOpeningEvent.TRANSPORT
        self.qm.transports[session.transport] = session
        self.qm.emit_effect(
            Connect(session.transport, Endpoint(session.RemoteQMAddress, self.qm.config.remote_tcp_port))
        )

    def send(self, session: Session, packet: bytes) -> None:
        """Send a packet on the connection of a session."""
        assert session.transport is not None
        self.qm.emit_effect(SendPacket(session.transport, packet))

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        """Append an entry to ConnectionHistory. Spec: MS-MQQB 3.1.5.2, 3.1.5.2.3, 3.1.5.3.2, 3.1.5.4.2."""
        get_outgoing_queue(session).ConnectionHistory.append(
            ConnectionHistoryEntry(status, now.utc_s, HRESULT_BY_CONNECTION_STATUS[status], session.RemoteQMAddress)
        )
