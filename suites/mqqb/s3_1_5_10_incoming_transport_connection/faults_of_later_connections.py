"""Faults that break rules of MS-MQQB 3.1.5.10 for a later connection or one kind of request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID, EstablishConnectionPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


def _treat_requests_as_responses(applies: Callable[[Any, Session, EstablishConnectionPacket], bool]) -> Install:
    """Return an installer of a fault: when a selected request arrives on a new connection, the acceptor treats it as an
    unexpected response, and closes the connection.
    """

    def receive(self: Any, original: Any, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        if applies(self.qm, session, packet):
            self.qm.session_closing.close_session_after_unexpected_packet(session, packet, now)
        else:
            original(session, packet, now)

    return change_step(SessionOpening.receive_establish_request, receive)


def _has_session_of_client(qm: Any, session: Session, packet: EstablishConnectionPacket) -> bool:
    client = packet.EstablishConnectionHeader.ClientGuid
    return any(
        one is not session and one.RemoteQMGuid == client and one.SessionState is SessionState.OPEN
        for one in qm.sessions.values()
    )


def _has_null_server_guid(qm: Any, session: Session, packet: EstablishConnectionPacket) -> bool:
    return bool(packet.EstablishConnectionHeader.ServerGuid == NULL_GUID)


for _name, _says, _applies in (
    (
        "acceptor-request-of-connected-client-taken-as-response",
        "The acceptor treats an EstablishConnection request on a new connection as a response if a session with the "
        "same client is open.",
        _has_session_of_client,
    ),
    (
        "acceptor-request-without-server-guid-taken-as-response",
        "The acceptor treats an EstablishConnection request with ServerGuid 0 on a new connection as a response.",
        _has_null_server_guid,
    ),
):
    add(_name, "MQQB-3.1.5.10-02", _says, _treat_requests_as_responses(_applies), blind=True)
