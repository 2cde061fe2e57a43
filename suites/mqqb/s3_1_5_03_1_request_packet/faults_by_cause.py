"""Faults that break rules of MS-MQQB 3.1.5.3.1 Request Packet only for one cause or kind of session."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_packets import (
    change_sent_packet,
    clear_internal_flag,
    double_packet_bytes,
    has_other_session,
    is_ping_announced,
    set_packet_type,
    was_session_refused,
    withhold_packet,
)
from reference_qm.codec import (
    NULL_GUID,
    ConnectionParametersPacket,
    EstablishConnectionPacket,
)
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

add(
    "acceptor-establish-response-in-clear-of-refusal",
    ("MQQB-3.1.5.3.1-03", "MQMQ-2.2.19.1-05"),
    "The acceptor sends an EstablishConnection response with IN clear if the acceptor refuses the session.",
    change_sent_packet(EstablishConnectionPacket, clear_internal_flag, was_session_refused),
    blind=True,
)

add(
    "acceptor-establish-response-in-clear-beside-other-session",
    "MQQB-3.1.5.3.1-03",
    "The acceptor sends an EstablishConnection response with IN clear while another session is open.",
    change_sent_packet(EstablishConnectionPacket, clear_internal_flag, has_other_session),
    blind=True,
)

add(
    "acceptor-establish-response-in-clear-of-se-clear",
    "MQQB-3.1.5.3.1-03",
    "The acceptor sends an EstablishConnection response with IN clear if SE of the request is 0.",
    change_sent_packet(EstablishConnectionPacket, clear_internal_flag, is_ping_announced),
    blind=True,
)

add(
    "acceptor-establish-response-type-3-of-refusal",
    "MQQB-3.1.5.3.1-04",
    "The acceptor sends an EstablishConnection response with PT 3 if the acceptor refuses the session.",
    change_sent_packet(EstablishConnectionPacket, set_packet_type(3), was_session_refused),
    blind=True,
)

add(
    "acceptor-establish-response-type-3-beside-other-session",
    "MQQB-3.1.5.3.1-04",
    "The acceptor sends an EstablishConnection response with PT 3 while another session is open.",
    change_sent_packet(EstablishConnectionPacket, set_packet_type(3), has_other_session),
    blind=True,
)

add(
    "acceptor-establish-response-type-3-of-se-clear",
    "MQQB-3.1.5.3.1-04",
    "The acceptor sends an EstablishConnection response with PT 3 if SE of the request is 0.",
    change_sent_packet(EstablishConnectionPacket, set_packet_type(3), is_ping_announced),
    blind=True,
)

add(
    "acceptor-establish-response-missing-of-refusal",
    "MQQB-3.1.5.3.1-02",
    "The acceptor does not send an EstablishConnection response if the acceptor refuses the session.",
    change_sent_packet(EstablishConnectionPacket, withhold_packet, was_session_refused),
    blind=True,
)

add(
    "acceptor-establish-response-missing-of-se-clear",
    "MQQB-3.1.5.3.1-02",
    "The acceptor does not send an EstablishConnection response if SE of the request is 0.",
    change_sent_packet(EstablishConnectionPacket, withhold_packet, is_ping_announced),
    blind=True,
)

add(
    "acceptor-establish-response-twice-beside-other-session",
    "MQQB-3.1.5.3.1-02",
    "The acceptor sends an EstablishConnection response twice while another session is open.",
    change_sent_packet(EstablishConnectionPacket, double_packet_bytes, has_other_session),
    blind=True,
)


@fault("acceptor-response-of-refusal-has-zero-guid", breaks="MQQB-3.1.5.3.1-09", blind=True)
class AcceptorResponseOfRefusalHasZeroGuid(SessionOpening):
    """When the acceptor refuses a session because of its limit, ServerGuid of the response is zero."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        if self.qm.session_connecting.is_session_acceptable():
            return response
        header = replace(response.EstablishConnectionHeader, ServerGuid=NULL_GUID)
        return replace(response, EstablishConnectionHeader=header)


@fault("acceptor-client-guid-as-server-guid-while-session-is-open", breaks="MQQB-3.1.5.3.1-09", blind=True)
class AcceptorClientGuidAsServerGuidWhileSessionIsOpen(SessionOpening):
    """While another session is open, ServerGuid of the response is the GUID of the initiator."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        if not has_other_session(self.qm, session, request):
            return response
        header = replace(response.EstablishConnectionHeader, ServerGuid=session.RemoteQMGuid)
        return replace(response, EstablishConnectionHeader=header)


@fault("acceptor-parameters-request-unanswered-while-session-is-open", breaks="MQQB-3.1.5.3.1-13", blind=True)
class AcceptorParametersRequestUnansweredWhileSessionIsOpen(SessionOpening):
    """While another session is open, the acceptor opens the session on ConnectionParameters, but does not answer."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if not has_other_session(self.qm, session, packet):
            super().receive_parameters_request(session, packet, now)
            return
        self.qm.session_timers.stop(session, TimerName.SESSION_INITIALIZATION)
        session.SessionState = SessionState.OPEN


@fault("acceptor-refuses-parameters-request-later-than-1000-ms", breaks="MQQB-3.1.5.3.1-13", blind=True)
class AcceptorRefusesParametersRequestLaterThan1000Ms(SessionOpening):
    """The acceptor closes the session if ConnectionParameters arrive more than a second after its response."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        key = TimerKey(TimerName.SESSION_INITIALIZATION, session.number)
        remaining = self.qm.timers.get_remaining_ms(key, now.monotonic_ms) or 0
        if self.qm.settings.session_initialization_ms // self.qm.settings.scale - remaining <= 1000:
            super().receive_parameters_request(session, packet, now)
        else:
            self.qm.session_closing.close(session, "a fault", now)


@fault("acceptor-ignores-parameters-request-after-nonzero-server-guid", breaks="MQQB-3.1.5.3.1-13", blind=True)
class AcceptorIgnoresParametersRequestAfterNonzeroServerGuid(SessionOpening):
    """The acceptor ignores ConnectionParameters if ServerGuid of the EstablishConnection request was not zero."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if session.is_destination_direct:
            super().receive_parameters_request(session, packet, now)


class _RefusedSessionKeepingFault(SessionOpening):
    """The acceptor refuses a connection because of its limit of sessions, but keeps the connection if a condition
    holds.
    """

    def is_kept(self, packet: EstablishConnectionPacket) -> bool:
        raise NotImplementedError

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        if self.qm.session_connecting.is_session_acceptable() or not self.is_kept(packet):
            super().receive_establish_request(session, packet, now)
            return
        session.RemoteQMGuid, session.was_session_refused = packet.EstablishConnectionHeader.ClientGuid, True
        self.qm.session_connecting.send(session, self.build_establish_response(session, packet).build())
        session.SessionState = SessionState.WAITING_CP_MSG


@fault("acceptor-connection-over-limit-kept-after-own-server-guid", breaks="MQQB-3.1.5.3.1-D01", blind=True)
class AcceptorConnectionOverLimitKeptAfterOwnServerGuid(_RefusedSessionKeepingFault):
    """If ServerGuid of the request is the acceptor's GUID, the acceptor keeps a connection that exceeds its limit."""

    def is_kept(self, packet: EstablishConnectionPacket) -> bool:
        return packet.EstablishConnectionHeader.ServerGuid == self.qm.adm.Identifier


@fault("acceptor-connection-over-limit-kept-after-zero-server-guid", breaks="MQQB-3.1.5.3.1-D01", blind=True)
class AcceptorConnectionOverLimitKeptAfterZeroServerGuid(_RefusedSessionKeepingFault):
    """If ServerGuid of the request is zero, the acceptor keeps a connection that exceeds its limit."""

    def is_kept(self, packet: EstablishConnectionPacket) -> bool:
        return packet.EstablishConnectionHeader.ServerGuid == NULL_GUID


@fault("acceptor-second-connection-over-limit-kept", breaks="MQQB-3.1.5.3.1-D01", blind=True)
class AcceptorSecondConnectionOverLimitKept(_RefusedSessionKeepingFault):
    """The acceptor closes only the first connection that exceeds its limit, and keeps the second connection."""

    def is_kept(self, packet: EstablishConnectionPacket) -> bool:
        refusals = vars(self).setdefault("refusals", [])
        refusals.append(packet)
        return len(refusals) > 1
