"""Faults that break rules of MS-MQQB 3.1.5.4.1 Request Packet only for one cause or kind of session."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_packets import (
    change_sent_packet,
    clear_internal_flag,
    has_other_session,
    is_destination_direct_name,
    is_destination_guid,
    set_packet_type,
    set_refusal_flag,
)
from reference_qm.codec import ConnectionParametersHeader, ConnectionParametersPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


def has_maximum_timeout(qm: QueueManager, session: Session, packet: ConnectionParametersPacket) -> bool:
    """Return whether AckTimeout of a ConnectionParameters packet is the highest valid value."""
    return packet.ConnectionParametersHeader.AckTimeout == 120_000


add(
    "acceptor-parameters-response-in-clear-beside-other-session",
    "MQQB-3.1.5.4.1-06",
    "The acceptor sends a ConnectionParameters response with IN clear while another session is open.",
    change_sent_packet(ConnectionParametersPacket, clear_internal_flag, has_other_session),
    blind=True,
)

add(
    "acceptor-parameters-response-in-clear-of-guid-session",
    "MQQB-3.1.5.4.1-06",
    "The acceptor sends a ConnectionParameters response with IN clear if ServerGuid of the request was not zero.",
    change_sent_packet(ConnectionParametersPacket, clear_internal_flag, is_destination_guid),
    blind=True,
)

add(
    "acceptor-parameters-response-in-clear-of-maximum-timeout",
    "MQQB-3.1.5.4.1-06",
    "The acceptor sends a ConnectionParameters response with IN clear if AckTimeout is 120,000 ms.",
    change_sent_packet(ConnectionParametersPacket, clear_internal_flag, has_maximum_timeout),
    blind=True,
)

add(
    "acceptor-parameters-response-type-2-beside-other-session",
    "MQQB-3.1.5.4.1-07",
    "The acceptor sends a ConnectionParameters response with PT 2 while another session is open.",
    change_sent_packet(ConnectionParametersPacket, set_packet_type(2), has_other_session),
    blind=True,
)

add(
    "acceptor-parameters-response-type-2-of-guid-session",
    "MQQB-3.1.5.4.1-07",
    "The acceptor sends a ConnectionParameters response with PT 2 if ServerGuid of the request was not zero.",
    change_sent_packet(ConnectionParametersPacket, set_packet_type(2), is_destination_guid),
    blind=True,
)

add(
    "acceptor-parameters-response-type-2-of-direct-session",
    "MQQB-3.1.5.4.1-07",
    "The acceptor sends a ConnectionParameters response with PT 2 if ServerGuid of the request was zero.",
    change_sent_packet(ConnectionParametersPacket, set_packet_type(2), is_destination_direct_name),
    blind=True,
)

add(
    "acceptor-parameters-response-cs-set-beside-other-session",
    "MQQB-3.1.5.4.1-08",
    "The acceptor sends a ConnectionParameters response with CS set while another session is open.",
    change_sent_packet(ConnectionParametersPacket, set_refusal_flag, has_other_session),
    blind=True,
)

add(
    "acceptor-parameters-response-cs-set-of-guid-session",
    "MQQB-3.1.5.4.1-08",
    "The acceptor sends a ConnectionParameters response with CS set if ServerGuid of the request was not zero.",
    change_sent_packet(ConnectionParametersPacket, set_refusal_flag, is_destination_guid),
    blind=True,
)

add(
    "acceptor-parameters-response-cs-set-of-maximum-timeout",
    "MQQB-3.1.5.4.1-08",
    "The acceptor sends a ConnectionParameters response with CS set if AckTimeout is 120,000 ms.",
    change_sent_packet(ConnectionParametersPacket, set_refusal_flag, has_maximum_timeout),
    blind=True,
)


class _ResponseAckTimeoutFault(SessionOpening):
    """The acceptor sends an AckTimeout that differs from the AckTimeout of the request."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        response = super().build_parameters_response(session, request)
        timeout = self.change_timeout(session, request.ConnectionParametersHeader)
        header = replace(response.ConnectionParametersHeader, AckTimeout=timeout)
        return replace(response, ConnectionParametersHeader=header)

    def change_timeout(self, session: Session, header: ConnectionParametersHeader) -> int:
        raise NotImplementedError


@fault("acceptor-ack-timeout-of-response-at-most-60-s", breaks="MQQB-3.1.5.4.1-10", blind=True)
class AcceptorAckTimeoutOfResponseAtMost60S(_ResponseAckTimeoutFault):
    """AckTimeout of the acceptor's response is at most 60,000 ms."""

    def change_timeout(self, session: Session, header: ConnectionParametersHeader) -> int:
        return min(header.AckTimeout, 60_000)


@fault("acceptor-response-has-ack-timeout-of-other-session", breaks="MQQB-3.1.5.4.1-10", blind=True)
class AcceptorResponseHasAckTimeoutOfOtherSession(_ResponseAckTimeoutFault):
    """AckTimeout of the acceptor's response is the value that the initiator of another open session sent."""

    def change_timeout(self, session: Session, header: ConnectionParametersHeader) -> int:
        others = list_open_sessions(self.qm, session)
        return others[0].AckWaitTimeout if others else header.AckTimeout


@fault("acceptor-own-ack-timeout-in-response-after-nonzero-server-guid", breaks="MQQB-3.1.5.4.1-10", blind=True)
class AcceptorOwnAckTimeoutInResponseAfterNonzeroServerGuid(_ResponseAckTimeoutFault):
    """If ServerGuid of the request was not zero, AckTimeout of the acceptor's response is the acceptor's own value."""

    def change_timeout(self, session: Session, header: ConnectionParametersHeader) -> int:
        return header.AckTimeout if session.is_destination_direct else self.qm.settings.ack_wait_timeout_ms


@fault("acceptor-ack-wait-timer-at-most-a-minute", breaks="MQQB-3.1.5.4.1-03", blind=True)
class AcceptorAckWaitTimerAtMostAMinute(SessionAcks):
    """The acceptor's Session Ack Wait Timer uses an AckTimeout of at most 60,000 ms."""

    def start_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        asked = session.AckWaitTimeout
        session.AckWaitTimeout = asked if session.initiator else min(asked, 60_000)
        super().start_session_ack_wait_timer(session, now)
        session.AckWaitTimeout = asked


@fault("acceptor-ack-wait-timer-uses-ack-timeout-of-other-session", breaks="MQQB-3.1.5.4.1-03", blind=True)
class AcceptorAckWaitTimerUsesAckTimeoutOfOtherSession(SessionAcks):
    """The acceptor's Session Ack Wait Timer uses the AckTimeout of another open session."""

    def start_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        asked, others = session.AckWaitTimeout, list_open_sessions(self.qm, session)
        if others and not session.initiator:
            session.AckWaitTimeout = others[0].AckWaitTimeout
        super().start_session_ack_wait_timer(session, now)
        session.AckWaitTimeout = asked


@fault("acceptor-restarts-ack-wait-timer-with-own-ack-timeout", breaks="MQQB-3.1.5.4.1-03", blind=True)
class AcceptorRestartsAckWaitTimerWithOwnAckTimeout(SessionAcks):
    """When the acceptor restarts its Session Ack Wait Timer, the timer uses the acceptor's own AckTimeout."""

    def start_session_ack_wait_timer(self, session: Session, now: Now) -> None:
        asked, started = session.AckWaitTimeout, vars(self).setdefault("started", set())
        if session.number in started and not session.initiator:
            session.AckWaitTimeout = self.qm.settings.ack_wait_timeout_ms
        started.add(session.number)
        super().start_session_ack_wait_timer(session, now)
        session.AckWaitTimeout = asked


class _KeptInitializationTimerFault(SessionOpening):
    """The acceptor does not stop its Session Initialization Timer if a condition holds."""

    def is_kept(self, session: Session, remaining_ms: int) -> bool:
        raise NotImplementedError

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        key = TimerKey(TimerName.SESSION_INITIALIZATION, session.number)
        remaining = self.qm.timers.get_remaining_ms(key, now.monotonic_ms) or 0
        kept = self.is_kept(session, remaining)
        super().receive_parameters_request(session, packet, now)
        if kept and session.SessionState is SessionState.OPEN:
            self.qm.timers.start(key, now.monotonic_ms, remaining)


@fault("acceptor-initialization-timer-kept-while-other-session-is-open", breaks="MQQB-3.1.5.4.1-12", blind=True)
class AcceptorInitializationTimerKeptWhileOtherSessionIsOpen(_KeptInitializationTimerFault):
    """While another session is open, the acceptor does not stop its Session Initialization Timer."""

    def is_kept(self, session: Session, remaining_ms: int) -> bool:
        return has_other_session(self.qm, session, None)


@fault("acceptor-initialization-timer-not-stopped-after-nonzero-guid", breaks="MQQB-3.1.5.4.1-12", blind=True)
class AcceptorInitializationTimerNotStoppedAfterNonzeroGuid(_KeptInitializationTimerFault):
    """The acceptor does not stop its Session Initialization Timer if ServerGuid of the request was not zero."""

    def is_kept(self, session: Session, remaining_ms: int) -> bool:
        return not session.is_destination_direct


@fault("acceptor-initialization-timer-not-stopped-after-1000-ms", breaks="MQQB-3.1.5.4.1-12", blind=True)
class AcceptorInitializationTimerNotStoppedAfter1000Ms(_KeptInitializationTimerFault):
    """The acceptor does not stop its Session Initialization Timer if ConnectionParameters arrive more than a second
    after its EstablishConnection response.
    """

    def is_kept(self, session: Session, remaining_ms: int) -> bool:
        return self.qm.settings.session_initialization_ms // self.qm.settings.scale - remaining_ms > 1000


@fault("acceptor-parameters-request-opens-oldest-waiting-session", breaks="MQQB-3.1.5.4.1-D01", blind=True)
class AcceptorParametersRequestOpensOldestWaitingSession(SessionOpening):
    """While two sessions wait for ConnectionParameters, the acceptor opens the oldest of them, even if the packet
    belongs to the other session.
    """

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        waiting = [one for one in self.qm.sessions.values() if one.SessionState is SessionState.WAITING_CP_MSG]
        super().receive_parameters_request(waiting[0], packet, now)


@fault("acceptor-ignores-parameters-while-it-has-initiated-session", breaks="MQQB-3.1.5.4.1-D01", blind=True)
class AcceptorIgnoresParametersWhileItHasInitiatedSession(SessionOpening):
    """The acceptor ignores ConnectionParameters while the queue manager has a session as initiator."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if not any(one.initiator for one in self.qm.sessions.values()):
            super().receive_parameters_request(session, packet, now)


@fault("acceptor-second-session-answers-parameters-but-stays-closed", breaks="MQQB-3.1.5.4.1-D01", blind=True)
class AcceptorSecondSessionAnswersParametersButStaysClosed(SessionOpening):
    """While another session is open, the acceptor answers ConnectionParameters, but does not open the session."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        if session.SessionState is SessionState.OPEN and has_other_session(self.qm, session, packet):
            session.SessionState = SessionState.WAITING_CP_MSG
