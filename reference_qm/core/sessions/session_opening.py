from __future__ import annotations

from dataclasses import replace

from reference_qm.codec import (
    NULL_GUID,
    PT_CONNECTION_PARAMETERS,
    PT_ESTABLISH_CONNECTION,
    ConnectionParametersHeader,
    ConnectionParametersPacket,
    EstablishConnectionHeader,
    EstablishConnectionPacket,
    InternalHeader,
)
from reference_qm.core.events import SessionMaySend
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.sessions.session_address_resolving import format_next_hop
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.sessions.session_establishing import OPERATING_SYSTEM_RE_FLAG, build_internal_base_header
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import CommandCompleted
from reference_qm.surface.inputs import TransportAccepted

RECOVERABLE_ACK_TIMEOUT_RANGE_MS = (0x000001F4, 0x0001D4C0)
ACK_TIMEOUT_RANGE_MS = (0x00004E20, 0x0001D4C0)
"""The valid range of AckTimeout, in ms. Spec: MS-MQQB 2.2.2.1."""
ROUND_TRIPS_PER_ACK_TIMEOUT = 8


class SessionOpening(QueueManagerPart):
    """Accepts sessions, and handles the packets that establish them. Spec: MS-MQQB 3.1.5.3, 3.1.5.4, 3.1.5.10."""

    __slots__ = ()

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        """Begin a session on a connection that was accepted. Spec: MS-MQQB 3.1.5.10."""
        session = Session(self.qm.assign_session_number(), initiator=False)
        session.transport = event.transport
        session.RemoteQMAddress = event.remote.host
        self.qm.sessions[session.number] = session
        self.qm.transports[event.transport] = session
        self.qm.session_initialization.initialize_session(session, now)
        session.SessionState = SessionState.WAITING_EC_MSG
        self.qm.session_timers.start(
            session, TimerName.SESSION_INITIALIZATION, self.qm.settings.session_initialization_ms, now
        )

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        """Answer an EstablishConnection request. Spec: MS-MQQB 3.1.5.3.1, 2.2.1 (CS), notes <12>, <57>.

        If the maximum number of sessions is open, the response has CS set (2.2.1), and the session is closed
        (3.1.5.3.1). If the request is for another queue manager, the session stays open, because 3.1.5.3.1 continues
        with WAITING_CP_MSG. In this case, the initiator or the Session Initialization Timer closes the session.
        """
        header = packet.EstablishConnectionHeader
        session.RemoteQMGuid = header.ClientGuid
        session.is_destination_direct = header.ServerGuid == NULL_GUID
        acceptable = self.qm.session_connecting.is_session_acceptable()
        session.was_session_refused = not (acceptable and self.is_establish_request_valid(packet))
        response = self.build_establish_response(session, packet)
        self.qm.session_connecting.send(session, response.build())
        if not acceptable:
            limit = self.qm.config.max_sessions
            reason = f"{limit} sessions are already open, or the queue manager is offline (MS-MQQB 3.1.5.3.1)"
            self.qm.session_closing.close(session, reason, now)
            return
        session.SessionState = SessionState.WAITING_CP_MSG
        self.qm.session_timers.start(
            session, TimerName.SESSION_INITIALIZATION, self.qm.settings.session_initialization_ms, now
        )

    def is_establish_request_valid(self, packet: EstablishConnectionPacket) -> bool:
        """Return whether the request is for this queue manager.

        Spec: MS-MQQB 3.1.5.3.1. A ServerGuid of zero is valid, although 2.2.1 contradicts this.
        """
        return packet.EstablishConnectionHeader.ServerGuid in (self.qm.adm.Identifier, NULL_GUID)

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        """Build an EstablishConnection response. Spec: MS-MQQB 3.1.5.3.1, 2.2.3.1.

        ServerGuid is the Identifier of this queue manager, even if the session is refused. OS is the value of the
        initiator, as 2.2.3.1 specifies.
        """
        header = request.EstablishConnectionHeader
        return EstablishConnectionPacket(
            build_internal_base_header(),
            InternalHeader(Flags=InternalHeader.flags(PT=PT_ESTABLISH_CONNECTION, CS=int(session.was_session_refused))),
            EstablishConnectionHeader(
                ClientGuid=header.ClientGuid,
                ServerGuid=self.qm.adm.Identifier,
                TimeStamp=header.TimeStamp,
                OperatingSystem=EstablishConnectionHeader.flags(
                    RE=OPERATING_SYSTEM_RE_FLAG, SE=header.SE, OS=header.OS, QS=0
                ),
                Padding=b"\x5a" * 512,
            ),
        )

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        """Send the ConnectionParameters request, or close the session. Spec: MS-MQQB 3.1.5.3.2."""
        if not self.is_establish_response_valid(session, packet):
            status = (
                ConnectionStatus.CONNECTION_REFUSED if packet.InternalHeader.CS else ConnectionStatus.UNKNOWN_FAILURE
            )
            reason = (
                "the acceptor refuses the connection (MS-MQQB 3.1.5.3.2)"
                if packet.InternalHeader.CS
                else "the EstablishConnection response contains wrong queue manager identifiers (MS-MQQB 3.1.5.3.2)"
            )
            self.qm.session_closing.close_session_after_failed_establishment(session, status, reason, now)
            return
        session.RemoteQMGuid = packet.EstablishConnectionHeader.ServerGuid
        self.set_recoverable_ack_timeout(session, packet, now)
        request = self.build_parameters_request(session)
        self.qm.session_connecting.send(session, request.build())
        session.SessionState = SessionState.WAITING_CPR_MSG
        self.qm.session_connecting.add_connection_history(session, ConnectionStatus.ESTABLISH_PACKET_RECEIVED, now)

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        """Return whether the response contains the identifiers of this initiator and the intended acceptor. Spec:
        MS-MQQB 3.1.5.3.2.

        For a direct format name, RemoteQMGuid is unknown until the response arrives, so every acceptor GUID except NULL
        is valid.
        """
        header = packet.EstablishConnectionHeader
        remote_is_right = (
            header.ServerGuid != NULL_GUID
            if session.is_destination_direct
            else header.ServerGuid == session.RemoteQMGuid
        )
        return header.ClientGuid == self.qm.adm.Identifier and remote_is_right and not packet.InternalHeader.CS

    def set_recoverable_ack_timeout(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        """Set RecoverableAckSendTimeout to the duration of 8 round trips, or to the nearest value in its valid
        range. Spec: MS-MQQB 3.1.5.3.2.
        """
        round_trip_ms = now.monotonic_ms - packet.EstablishConnectionHeader.TimeStamp & 0xFFFFFFFF
        lowest, highest = RECOVERABLE_ACK_TIMEOUT_RANGE_MS
        session.RecoverableAckSendTimeout = min(max(round_trip_ms * ROUND_TRIPS_PER_ACK_TIMEOUT, lowest), highest)

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        """Build a ConnectionParameters request. Spec: MS-MQQB 3.1.5.3.2."""
        return _build_connection_parameters(
            ConnectionParametersHeader(
                RecoverableAckTimeout=session.RecoverableAckSendTimeout,
                AckTimeout=session.AckWaitTimeout,
                WindowSize=session.WindowSize,
            )
        )

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        """Store the initiator's parameters, and open the session. Spec: MS-MQQB 3.1.5.4.1."""
        if session.was_session_refused or packet.InternalHeader.CS:
            reason = "the connection was refused (InternalHeader.Flags.CS, MS-MQQB 2.2.1)"
            self.qm.session_closing.close(session, reason, now)
            return
        header = packet.ConnectionParametersHeader
        session.ReceivedWindowSize = header.WindowSize
        session.AckWaitTimeout = header.AckTimeout
        session.RecoverableAckSendTimeout = header.RecoverableAckTimeout
        response = self.build_parameters_response(session, packet)
        self.qm.session_connecting.send(session, response.build())
        self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)
        session.SessionState = SessionState.OPEN

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        """Build a ConnectionParameters response. Spec: MS-MQQB 3.1.5.4.1."""
        return _build_connection_parameters(
            replace(request.ConnectionParametersHeader, WindowSize=session.WindowSize, Reserved=0)
        )

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        """Open the session, and send the waiting messages. Spec: MS-MQQB 3.1.5.4.2."""
        if packet.InternalHeader.CS:
            reason = "the acceptor refuses the connection (InternalHeader.Flags.CS, MS-MQQB 2.2.1)"
            self.qm.session_closing.close_session_after_failed_establishment(
                session, ConnectionStatus.CONNECTION_REFUSED, reason, now
            )
            return
        session.ReceivedWindowSize = packet.ConnectionParametersHeader.WindowSize
        queue = get_outgoing_queue(session)
        queue.NextHops.clear()
        queue.NextHops.append(format_next_hop(session.NextHopCollection[session.NextHopIndexer].Address))
        self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)
        session.SessionState = SessionState.OPEN
        self.qm.session_connecting.add_connection_history(session, ConnectionStatus.ESTABLISHED, now)
        if queue.State is not OutgoingQueueState.ON_HOLD:
            queue.State = OutgoingQueueState.CONNECTED
        for token in session.awaiting_command_tokens:
            self.qm.emit_effect(CommandCompleted(token, Result()))
        session.awaiting_command_tokens.clear()
        self.qm.post_event(SessionMaySend(session))


def _build_connection_parameters(header: ConnectionParametersHeader) -> ConnectionParametersPacket:
    flags = InternalHeader.flags(PT=PT_CONNECTION_PARAMETERS, CS=0)
    return ConnectionParametersPacket(build_internal_base_header(), InternalHeader(Flags=flags), header)
