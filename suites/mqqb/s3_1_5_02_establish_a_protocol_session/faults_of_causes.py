"""Faults that break rules of MS-MQQB 3.1.5.2 Establish a Protocol Session: the causes of failures, and other pings."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import EstablishConnectionPacket, PingPacket
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.core.sessions.session_connecting import SessionConnecting, get_outgoing_queue
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, SessionState
from reference_qm.surface.clock import Now


@fault("initiator-history-status-of-unknown-failure-is-earlier-status", breaks="MQQB-3.1.5.2-03", blind=True)
class InitiatorHistoryStatusOfUnknownFailureIsEarlierStatus(SessionConnecting):
    """If an attempt fails for an unknown reason, the initiator records the Status of an earlier failure instead of
    UnknownFailure.
    """

    def add_connection_history(self, session: Session, status: ConnectionStatus, now: Now) -> None:
        failures = (
            ConnectionStatus.PING_FAILURE,
            ConnectionStatus.SOCKET_CONNECT_FAILURE,
            ConnectionStatus.DNS_FAILURE,
            ConnectionStatus.CONNECTION_REFUSED,
        )
        known = [one.Status for one in get_outgoing_queue(session).ConnectionHistory if one.Status in failures]
        if status is ConnectionStatus.UNKNOWN_FAILURE and known:
            status = known[-1]
        super().add_connection_history(session, status, now)


@fault("initiator-positive-ping-response-after-failed-ping-ignored", breaks="MQQB-3.1.5.2.2-04", blind=True)
class InitiatorPositivePingResponseAfterFailedPingIgnored(PingHandling):
    """After a Ping Response with RF set, the initiator ignores every positive Ping Response, and so connects to no
    destination.
    """

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if response.RF:
            self.__dict__["failed"] = True
        if response.RF or not self.__dict__.get("failed"):
            super().on_ping_response_processed(session, response, now)


@fault("initiator-positive-ping-response-with-rc-not-accepted", breaks="MQQB-3.1.5.2.2-04", blind=True)
class InitiatorPositivePingResponseWithRcNotAccepted(PingHandling):
    """The initiator does not connect after a positive Ping Response in which RC differs from RC of its request."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if response.RF or response.RC == self.build_request().RC:
            super().on_ping_response_processed(session, response, now)


@fault("initiator-positive-ping-response-while-session-is-open-ignored", breaks="MQQB-3.1.5.2.2-04", blind=True)
class InitiatorPositivePingResponseWhileSessionIsOpenIgnored(PingHandling):
    """While another session is open, the initiator does not connect after a positive Ping Response."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if response.RF or not any(one.SessionState is SessionState.OPEN for one in self.qm.sessions.values()):
            super().on_ping_response_processed(session, response, now)


@fault("initiator-history-status-refused-for-wrong-server-guid", breaks="MQQB-3.1.5.2-03")
class InitiatorHistoryStatusRefusedForWrongServerGuid(SessionOpening):
    """If ServerGuid of the EstablishConnection response is not the GUID of the destination, the initiator adds a
    ConnectionHistory entry with Status ConnectionRefused instead of UnknownFailure.
    """

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        other = (
            packet.EstablishConnectionHeader.ServerGuid != session.RemoteQMGuid and not session.is_destination_direct
        )
        super().receive_establish_response(session, packet, now)
        history = get_outgoing_queue(session).ConnectionHistory
        if other and history[-1].Status is ConnectionStatus.UNKNOWN_FAILURE:
            history[-1] = replace(history[-1], Status=ConnectionStatus.CONNECTION_REFUSED)
