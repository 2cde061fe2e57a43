"""Faults that break the rules MQQB-3.1.5.4.1-05 to MQQB-3.1.5.4.1-12."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import add_to_field, clear_bits, limit_to_sender_role, set_bits, set_field_value
from harness.faults.parts import fault
from harness.faults.primitives import omit_step_during, set_fields
from harness.faults.registry import add
from reference_qm.codec import (
    PT_ESTABLISH_CONNECTION,
    ConnectionParametersPacket,
    FormatError,
    Packet,
)
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from suites.mqqb.s3_1_5_04_1_request_packet.fault_steps import find_oldest_open_session

add(
    "acceptor-connection-parameters-response-not-sent",
    "MQQB-3.1.5.4.1-05",
    "The acceptor sends no ConnectionParameters response.",
    omit_step_during(SessionOpening.receive_parameters_request, SessionConnecting.send),
)


@fault("acceptor-parameters-request-with-window-0xffff-not-answered", breaks="MQQB-3.1.5.4.1-05", blind=True)
class AcceptorParametersRequestWithWindow0xffffNotAnswered(SessionOpening):
    """The acceptor does not answer a ConnectionParameters request whose WindowSize is 0xFFFF."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if packet.ConnectionParametersHeader.WindowSize != 0xFFFF:
            super().receive_parameters_request(session, packet, now)


class _ParametersRequestRefusal(Identifying):
    def is_refused(self, packet: ConnectionParametersPacket) -> bool:
        raise NotImplementedError

    def check_field_values(self, packet: Packet) -> None:
        super().check_field_values(packet)
        if isinstance(packet, ConnectionParametersPacket) and self.is_refused(packet):
            raise FormatError("ConnectionParametersHeader", 0, "a fault", "a value is at the limit of its range")


@fault("acceptor-refuses-parameters-request-with-ack-timeout-120-s", breaks="MQQB-3.1.5.4.1-05", blind=True)
class AcceptorRefusesParametersRequestWithAckTimeout120S(_ParametersRequestRefusal):
    """The acceptor refuses a ConnectionParameters request whose AckTimeout is 120,000 ms, the highest allowed value."""

    def is_refused(self, packet: ConnectionParametersPacket) -> bool:
        return packet.ConnectionParametersHeader.AckTimeout == 0x0001D4C0


@fault("acceptor-refuses-request-with-recoverable-ack-timeout-500-ms", breaks="MQQB-3.1.5.4.1-05", blind=True)
class AcceptorRefusesRequestWithRecoverableAckTimeout500Ms(_ParametersRequestRefusal):
    """The acceptor refuses a ConnectionParameters request whose RecoverableAckTimeout is 500 ms, the lowest allowed
    value.
    """

    def is_refused(self, packet: ConnectionParametersPacket) -> bool:
        return packet.ConnectionParametersHeader.RecoverableAckTimeout == 0x1F4


@fault("acceptor-refuses-parameters-request-with-window-size-65535", breaks="MQQB-3.1.5.4.1-05", blind=True)
class AcceptorRefusesParametersRequestWithWindowSize65535(_ParametersRequestRefusal):
    """The acceptor refuses a ConnectionParameters request whose WindowSize is 65,535."""

    def is_refused(self, packet: ConnectionParametersPacket) -> bool:
        return packet.ConnectionParametersHeader.WindowSize == 0xFFFF


for _name, _rules, _says, _install in (
    (
        "acceptor-connection-parameters-in-bit-clear",
        "MQQB-3.1.5.4.1-06",
        "The acceptor's ConnectionParameters response has BaseHeader.Flags.IN clear.",
        clear_bits(ConnectionParametersPacket, "BaseHeader.IN"),
    ),
    (
        "acceptor-connection-parameters-pt-2",
        "MQQB-3.1.5.4.1-07",
        "The acceptor's ConnectionParameters response has PT 2.",
        set_field_value(ConnectionParametersPacket, "InternalHeader.PT", PT_ESTABLISH_CONNECTION),
    ),
    (
        "acceptor-connection-parameters-cs-set",
        "MQQB-3.1.5.4.1-08",
        "The acceptor's ConnectionParameters response has CS set.",
        set_bits(ConnectionParametersPacket, "InternalHeader.CS"),
    ),
    (
        "acceptor-connection-parameters-recoverable-timeout-one-more",
        "MQQB-3.1.5.4.1-09",
        "The acceptor's ConnectionParameters response has a RecoverableAckTimeout one higher than the request.",
        add_to_field(ConnectionParametersPacket, "ConnectionParametersHeader.RecoverableAckTimeout", +1),
    ),
    (
        "acceptor-connection-parameters-ack-timeout-one-more",
        "MQQB-3.1.5.4.1-10",
        "The acceptor's ConnectionParameters response has an AckTimeout one higher than the request.",
        add_to_field(ConnectionParametersPacket, "ConnectionParametersHeader.AckTimeout", +1),
    ),
):
    add(_name, _rules, _says, limit_to_sender_role("acceptor", _install))


@fault("acceptor-recoverable-ack-timeout-truncated-to-16-bits", breaks="MQQB-3.1.5.4.1-09", blind=True)
class AcceptorRecoverableAckTimeoutTruncatedTo16Bits(SessionOpening):
    """The acceptor answers with only the lower 16 bits of the RecoverableAckTimeout of the request."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        response = super().build_parameters_response(session, request)
        path = "ConnectionParametersHeader.RecoverableAckTimeout"
        return set_fields(response, {path: lambda timeout: timeout & 0xFFFF})


PARAMETERS_HEADER_NAME = "ConnectionParametersHeader"


@fault("acceptor-recoverable-ack-timeout-rounded-in-response", breaks="MQQB-3.1.5.4.1-09", blind=True)
class AcceptorRecoverableAckTimeoutRoundedInResponse(SessionOpening):
    """The acceptor sends a ConnectionParameters response whose RecoverableAckTimeout is rounded down to a multiple of
    100 ms.
    """

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        packet = super().build_parameters_response(session, request)
        return set_fields(
            packet, {f"{PARAMETERS_HEADER_NAME}.RecoverableAckTimeout": lambda old: max(500, old // 100 * 100)}
        )


@fault("acceptor-response-recoverable-ack-timeout-limited-by-ack-timeout", breaks="MQQB-3.1.5.4.1-09", blind=True)
class AcceptorResponseRecoverableAckTimeoutLimitedByAckTimeout(SessionOpening):
    """The acceptor sends a ConnectionParameters response whose RecoverableAckTimeout is at most AckTimeout of the
    request.
    """

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        packet = super().build_parameters_response(session, request)
        limit = request.ConnectionParametersHeader.AckTimeout
        return set_fields(packet, {"ConnectionParametersHeader.RecoverableAckTimeout": lambda old: min(old, limit)})


@fault("acceptor-response-has-ack-timeout-of-oldest-open-session", breaks="MQQB-3.1.5.4.1-10", blind=True)
class AcceptorResponseHasAckTimeoutOfOldestOpenSession(SessionOpening):
    """The acceptor sends a ConnectionParameters response with the AckTimeout of the oldest open session."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        packet = super().build_parameters_response(session, request)
        return set_fields(
            packet, {f"{PARAMETERS_HEADER_NAME}.AckTimeout": find_oldest_open_session(self, session).AckWaitTimeout}
        )


@fault("acceptor-window-size-of-request-repeated-in-response", breaks="MQQB-3.1.5.4.1-11")
class AcceptorWindowSizeOfRequestRepeatedInResponse(SessionOpening):
    """The acceptor's ConnectionParameters response repeats the WindowSize of the request."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        response = super().build_parameters_response(session, request)
        window = request.ConnectionParametersHeader.WindowSize
        header = replace(response.ConnectionParametersHeader, WindowSize=window)
        return replace(response, ConnectionParametersHeader=header)


@fault("acceptor-window-size-of-response-is-lower-of-both-windows", breaks="MQQB-3.1.5.4.1-11", blind=True)
class AcceptorWindowSizeOfResponseIsLowerOfBothWindows(SessionOpening):
    """The acceptor sends a ConnectionParameters response whose WindowSize is the smaller of the acceptor's WindowSize
    and the WindowSize of the request.
    """

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        response = super().build_parameters_response(session, request)
        asked = request.ConnectionParametersHeader.WindowSize
        changed: ConnectionParametersPacket = set_fields(
            response, {"ConnectionParametersHeader.WindowSize": lambda own: min(own, asked)}
        )
        return changed


@fault("acceptor-window-size-of-response-at-least-that-of-request", breaks="MQQB-3.1.5.4.1-11", blind=True)
class AcceptorWindowSizeOfResponseAtLeastThatOfRequest(SessionOpening):
    """The acceptor sends the WindowSize of the request as WindowSize of its response, if the WindowSize of the request
    is greater.
    """

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        asked = request.ConnectionParametersHeader.WindowSize
        packet = super().build_parameters_response(session, request)
        return set_fields(packet, {f"{PARAMETERS_HEADER_NAME}.WindowSize": lambda own: max(own, asked)})


@fault("acceptor-response-window-size-limited-by-request", breaks="MQQB-3.1.5.4.1-11", blind=True)
class AcceptorResponseWindowSizeLimitedByRequest(SessionOpening):
    """The acceptor sends a ConnectionParameters response whose WindowSize is the smaller of the acceptor's WindowSize
    and the WindowSize of the request.
    """

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        packet = super().build_parameters_response(session, request)
        limit = request.ConnectionParametersHeader.WindowSize
        return set_fields(packet, {"ConnectionParametersHeader.WindowSize": lambda old: min(old, limit)})


@fault("acceptor-initialization-timer-runs-in-open-session", breaks=("MQQB-3.1.5.4.1-12", "MQQB-3.1.2.1-D01"))
class AcceptorInitializationTimerRunsInOpenSession(SessionTimers):
    """The acceptor does not stop its Session Initialization Timer when the session is open."""

    def stop(self, session: Session, name: TimerName) -> None:
        opens = session.SessionState is SessionState.WAITING_CP_MSG
        if not (name is TimerName.SESSION_INITIALIZATION and opens):
            super().stop(session, name)


@fault("acceptor-initialization-timer-of-second-session-not-stopped", breaks="MQQB-3.1.5.4.1-12", blind=True)
class AcceptorInitializationTimerOfSecondSessionNotStopped(SessionOpening):
    """The acceptor does not stop the Session Initialization Timer of a second session of the same initiator."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        same = [one for one in self.qm.sessions.values() if one.RemoteQMGuid == session.RemoteQMGuid]
        if len(same) > 1 and session.SessionState is SessionState.OPEN:
            name = TimerName.SESSION_INITIALIZATION
            self.qm.session_timers.start(session, name, self.qm.settings.session_initialization_ms, now)
