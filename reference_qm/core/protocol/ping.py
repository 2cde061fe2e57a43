"""Ping, both sides. Spec: MS-MQQB 2.1.2, 3.1.5.2.2, 3.1.6.8, 3.1.7.6 to 3.1.7.9."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_qm.codec import FormatError, PingPacket, parse_ping
from reference_qm.model.states import ConnectionStatus, Opening
from reference_qm.model.timers import TimerName
from reference_qm.surface.effects import SendDatagram
from reference_qm.surface.inputs import Endpoint, PingSocket

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import Session
    from reference_qm.surface.clock import Now


def ping_before_session(qm: QueueManager, session: Session, now: Now) -> None:
    """Ask whether a connection is likely to be accepted, unless this is a retry. Spec: MS-MQQB 3.1.5.2.2."""
    session.pinged = qm.config.send_ping and not session.retrying
    if session.pinged:
        qm.procedures.send_ping_request(qm, session, now)
    else:
        qm.procedures.connect_transport(qm, session)


def send_ping_request(qm: QueueManager, session: Session, now: Now) -> None:
    """Send a Ping Request and wait for its response or one second. Spec: MS-MQQB 3.1.7.6."""
    qm.adm.PingCookie = qm.adm.PingCookie + 1 & 0xFFFFFFFF
    session.ping_cookie = qm.adm.PingCookie
    session.opening = Opening.PING_RESPONSE
    request = qm.procedures.build_ping_request(qm)
    remote = Endpoint(session.RemoteQMAddress, qm.config.remote_ping_port)
    qm.emit(SendDatagram(PingSocket.SOURCE, remote, request.build()))
    qm.procedures.start_timer(qm, session, TimerName.PING_RESPONSE, qm.settings.ping_response_ms, now)


def build_ping_request(qm: QueueManager) -> PingPacket:
    """Build a Ping Request. Spec: MS-MQQB 3.1.7.6, 2.2.7 (RC: not a server-class system)."""
    return PingPacket(
        Flags=PingPacket.flags(RC=int(not qm.config.operating_system.is_server), RF=0),
        Cookie=qm.adm.PingCookie,
        QMGuid=qm.adm.Identifier,
    )


def receive_ping_request(qm: QueueManager, remote: Endpoint, data: bytes) -> None:
    """Answer a Ping Request; ignore what is none. Spec: MS-MQQB 3.1.7.7."""
    request = _parse(data)
    if request is not None:
        response = qm.procedures.build_ping_response(qm, request)
        qm.emit(SendDatagram(PingSocket.LISTENER, remote, response.build()))


def build_ping_response(qm: QueueManager, request: PingPacket) -> PingPacket:
    """Build a Ping Response. Spec: MS-MQQB 3.1.7.7, 2.2.7 (RF: a session would be refused now)."""
    return PingPacket(
        Flags=PingPacket.flags(RC=request.RC, RF=int(not qm.procedures.is_session_acceptable(qm))),
        Cookie=request.Cookie,
        QMGuid=qm.adm.Identifier,
    )


def receive_ping_response(qm: QueueManager, data: bytes, now: Now) -> None:
    """Take the response to the most recent Ping Request; ignore any other. Spec: MS-MQQB 3.1.7.8, 2.2.7."""
    response = _parse(data)
    if response is None or response.Cookie != qm.adm.PingCookie:
        return
    for session in list(qm.sessions.values()):
        if session.opening is Opening.PING_RESPONSE and session.ping_cookie == response.Cookie:
            qm.procedures.ping_response_processed(qm, session, response, now)
            return


def ping_response_processed(qm: QueueManager, session: Session, response: PingPacket, now: Now) -> None:
    """Go on with the session, or not. Spec: MS-MQQB 3.1.7.9, 3.1.7.6 step 10."""
    qm.procedures.stop_timer(qm, session, TimerName.PING_RESPONSE)
    if response.RF:
        reason = "the Ping Response says that a session would be refused (MS-MQQB 3.1.7.6)"
        qm.procedures.fail_to_establish(qm, session, ConnectionStatus.PING_FAILURE, reason, now)
    else:
        qm.procedures.connect_transport(qm, session)


def on_ping_response_timer(qm: QueueManager, session: Session, now: Now) -> None:
    """Give up on a Ping Response. Spec: MS-MQQB 3.1.6.8, 3.1.7.6 step 9."""
    if session.opening is Opening.PING_RESPONSE:
        reason = "no Ping Response came (MS-MQQB 3.1.6.8)"
        qm.procedures.fail_to_establish(qm, session, ConnectionStatus.PING_FAILURE, reason, now)


def _parse(data: bytes) -> PingPacket | None:
    try:
        return parse_ping(data)
    except FormatError:
        return None  # 2.2.7: to be ignored
