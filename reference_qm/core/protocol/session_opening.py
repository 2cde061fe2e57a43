"""Accepting a session, and the packets that set one up. Spec: MS-MQQB 3.1.5.3, 3.1.5.4, 3.1.5.10."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

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
from reference_qm.core.protocol.establishing import (
    OPERATING_SYSTEM_RE,
    internal_base_header,
    outgoing_queue,
)
from reference_qm.core.protocol.resolving import format_next_hop
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import Completed

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.surface.clock import Now
    from reference_qm.surface.inputs import TransportAccepted

RECOVERABLE_ACK_TIMEOUT_MS = (0x000001F4, 0x0001D4C0)
ACK_TIMEOUT_MS = (0x00004E20, 0x0001D4C0)
"""Valid ranges. Spec: MS-MQQB 2.2.2.1."""
ROUND_TRIPS = 8


def accept_transport(qm: QueueManager, event: TransportAccepted, now: Now) -> None:
    """Begin a session on an accepted connection. Spec: MS-MQQB 3.1.5.10."""
    session = Session(qm.next_session_number(), initiator=False)
    session.transport = event.transport
    session.RemoteQMAddress = event.remote.host
    qm.sessions[session.number] = session
    qm.transports[event.transport] = session
    qm.procedures.initialize_session(qm, session, now)
    session.SessionState = SessionState.WAITING_EC_MSG
    qm.procedures.start_timer(qm, session, TimerName.SESSION_INITIALIZATION, qm.settings.session_initialization_ms, now)


def receive_establish_request(qm: QueueManager, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
    """Answer a request for a session. Spec: MS-MQQB 3.1.5.3.1, 2.2.1 (CS), notes <12>, <57>.

    A request beyond the limit is answered with CS set (2.2.1) and the session closed (3.1.5.3.1). One that is meant for
    another queue manager leaves closing to the initiator, whose response handling demands it, or to the Session
    Initialization Timer: 3.1.5.3.1 goes on to WAITING_CP_MSG.
    """
    header = packet.EstablishConnectionHeader
    session.RemoteQMGuid = header.ClientGuid
    session.direct = header.ServerGuid == NULL_GUID
    acceptable = qm.procedures.is_session_acceptable(qm)
    session.refused = not (acceptable and qm.procedures.is_establish_request_valid(qm, packet))
    response = qm.procedures.build_establish_response(qm, session, packet)
    qm.procedures.send(qm, session, response.build())
    if not acceptable:
        limit = qm.config.max_sessions
        reason = f"{limit} sessions are open already, or the queue manager is offline (MS-MQQB 3.1.5.3.1)"
        qm.procedures.close_session(qm, session, reason, now)
        return
    session.SessionState = SessionState.WAITING_CP_MSG
    qm.procedures.start_timer(qm, session, TimerName.SESSION_INITIALIZATION, qm.settings.session_initialization_ms, now)


def is_session_acceptable(qm: QueueManager) -> bool:
    """Would a session be accepted now? Spec: MS-MQQB 3.1.5.3.1, 3.1.7.7; notes <12>, <70>."""
    accepted = sum(
        not session.initiator and not session.refused and session.SessionState is not SessionState.WAITING_EC_MSG
        for session in qm.sessions.values()
    )
    return qm.procedures.may_connect(qm) and accepted < qm.config.max_sessions


def is_establish_request_valid(qm: QueueManager, packet: EstablishConnectionPacket) -> bool:
    """Is the request for this queue manager? Spec: MS-MQQB 3.1.5.3.1. A zero ServerGuid is (2.2.1 contradicts it)."""
    return packet.EstablishConnectionHeader.ServerGuid in (qm.adm.Identifier, NULL_GUID)


def build_establish_response(
    qm: QueueManager, session: Session, request: EstablishConnectionPacket
) -> EstablishConnectionPacket:
    """Build an EstablishConnection response. Spec: MS-MQQB 3.1.5.3.1, 2.2.3.1.

    ServerGuid is the own Identifier also in a refusal. OS is the initiator's, as 2.2.3.1 defines it.
    """
    header = request.EstablishConnectionHeader
    return EstablishConnectionPacket(
        internal_base_header(),
        InternalHeader(Flags=InternalHeader.flags(PT=PT_ESTABLISH_CONNECTION, CS=int(session.refused))),
        EstablishConnectionHeader(
            ClientGuid=header.ClientGuid,
            ServerGuid=qm.adm.Identifier,
            TimeStamp=header.TimeStamp,
            OperatingSystem=EstablishConnectionHeader.flags(RE=OPERATING_SYSTEM_RE, SE=header.SE, OS=header.OS, QS=0),
            Padding=b"\x5a" * 512,
        ),
    )


def receive_establish_response(qm: QueueManager, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
    """Go on with the parameters, or close. Spec: MS-MQQB 3.1.5.3.2."""
    if not qm.procedures.is_establish_response_valid(qm, session, packet):
        status = ConnectionStatus.CONNECTION_REFUSED if packet.InternalHeader.CS else ConnectionStatus.UNKNOWN_FAILURE
        reason = (
            "the acceptor refuses the connection (MS-MQQB 3.1.5.3.2)"
            if packet.InternalHeader.CS
            else "the EstablishConnection response names other queue managers (MS-MQQB 3.1.5.3.2)"
        )
        qm.procedures.fail_to_establish(qm, session, status, reason, now)
        return
    session.RemoteQMGuid = packet.EstablishConnectionHeader.ServerGuid
    qm.procedures.set_recoverable_ack_timeout(qm, session, packet, now)
    request = qm.procedures.build_parameters_request(qm, session)
    qm.procedures.send(qm, session, request.build())
    session.SessionState = SessionState.WAITING_CPR_MSG
    qm.procedures.add_connection_history(qm, session, ConnectionStatus.ESTABLISH_PACKET_RECEIVED, now)


def is_establish_response_valid(qm: QueueManager, session: Session, packet: EstablishConnectionPacket) -> bool:
    """Is the response ours and from whom we meant? Spec: MS-MQQB 3.1.5.3.2.

    For a direct format name RemoteQMGuid is unknown until the response tells it: then any but the null GUID is right.
    """
    header = packet.EstablishConnectionHeader
    remote_is_right = header.ServerGuid != NULL_GUID if session.direct else header.ServerGuid == session.RemoteQMGuid
    return header.ClientGuid == qm.adm.Identifier and remote_is_right and not packet.InternalHeader.CS


def set_recoverable_ack_timeout(
    qm: QueueManager, session: Session, packet: EstablishConnectionPacket, now: Now
) -> None:
    """Set RecoverableAckSendTimeout to 8 round trips, within its range. Spec: MS-MQQB 3.1.5.3.2."""
    round_trip_ms = now.monotonic_ms - packet.EstablishConnectionHeader.TimeStamp & 0xFFFFFFFF
    lowest, highest = RECOVERABLE_ACK_TIMEOUT_MS
    session.RecoverableAckSendTimeout = min(max(round_trip_ms * ROUND_TRIPS, lowest), highest)


def build_parameters_request(qm: QueueManager, session: Session) -> ConnectionParametersPacket:
    """Build a ConnectionParameters request. Spec: MS-MQQB 3.1.5.3.2."""
    return _parameters(
        ConnectionParametersHeader(
            RecoverableAckTimeout=session.RecoverableAckSendTimeout,
            AckTimeout=session.AckWaitTimeout,
            WindowSize=session.WindowSize,
        )
    )


def receive_parameters_request(
    qm: QueueManager, session: Session, packet: ConnectionParametersPacket, now: Now
) -> None:
    """Take the initiator's parameters and open the session. Spec: MS-MQQB 3.1.5.4.1."""
    if session.refused or packet.InternalHeader.CS:
        reason = "the connection was refused (InternalHeader.Flags.CS, MS-MQQB 2.2.1)"
        qm.procedures.close_session(qm, session, reason, now)
        return
    header = packet.ConnectionParametersHeader
    session.ReceivedWindowSize = header.WindowSize
    session.AckWaitTimeout = header.AckTimeout
    session.RecoverableAckSendTimeout = header.RecoverableAckTimeout
    response = qm.procedures.build_parameters_response(qm, session, packet)
    qm.procedures.send(qm, session, response.build())
    qm.procedures.stop_timer(qm, session, TimerName.SESSION_INITIALIZATION)
    session.SessionState = SessionState.OPEN


def build_parameters_response(
    qm: QueueManager, session: Session, request: ConnectionParametersPacket
) -> ConnectionParametersPacket:
    """Build a ConnectionParameters response. Spec: MS-MQQB 3.1.5.4.1."""
    return _parameters(replace(request.ConnectionParametersHeader, WindowSize=session.WindowSize, Reserved=0))


def receive_parameters_response(
    qm: QueueManager, session: Session, packet: ConnectionParametersPacket, now: Now
) -> None:
    """Open the session and send what waits. Spec: MS-MQQB 3.1.5.4.2."""
    if packet.InternalHeader.CS:
        reason = "the acceptor refuses the connection (InternalHeader.Flags.CS, MS-MQQB 2.2.1)"
        qm.procedures.fail_to_establish(qm, session, ConnectionStatus.CONNECTION_REFUSED, reason, now)
        return
    session.ReceivedWindowSize = packet.ConnectionParametersHeader.WindowSize
    queue = outgoing_queue(session)
    queue.NextHops.clear()
    queue.NextHops.append(format_next_hop(session.NextHopCollection[session.NextHopIndexer].Address))
    qm.procedures.stop_timer(qm, session, TimerName.SESSION_INITIALIZATION)
    session.SessionState = SessionState.OPEN
    qm.procedures.add_connection_history(qm, session, ConnectionStatus.ESTABLISHED, now)
    if queue.State is not OutgoingQueueState.ON_HOLD:
        queue.State = OutgoingQueueState.CONNECTED
    for token in session.awaited_by:
        qm.emit(Completed(token, Result()))
    session.awaited_by.clear()
    qm.procedures.dispatch_messages(qm, session, now)


def _parameters(header: ConnectionParametersHeader) -> ConnectionParametersPacket:
    flags = InternalHeader.flags(PT=PT_CONNECTION_PARAMETERS, CS=0)
    return ConnectionParametersPacket(internal_base_header(), InternalHeader(Flags=flags), header)
