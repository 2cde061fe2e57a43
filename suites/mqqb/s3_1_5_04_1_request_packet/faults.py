"""Faults of MS-MQQB 3.1.5.4.1 Request Packet (of ConnectionParameters)."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import bit_clear, bit_set, field_is, off_by, sent_as
from harness.faults.parts import fault
from harness.faults.primitives import set_fields, skip_during
from harness.faults.registry import add
from reference_qm.codec import PT_ESTABLISH_CONNECTION, ConnectionParametersPacket
from reference_qm.core.sessions.connecting import Connecting
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

# -- elements from the request --------------------------------------------------------------------------------------


@fault("acceptor-received-window-size-set-to-own-value", breaks="MQQB-3.1.5.4.1-01")
class AcceptorReceivedWindowSizeSetToOwnValue(SessionOpening):
    """The acceptor sets ReceivedWindowSize to its own WindowSize."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.ReceivedWindowSize = 64


@fault("acceptor-ack-timeout-of-request-ignored", breaks="MQQB-3.1.5.4.1-02")
class AcceptorAckTimeoutOfRequestIgnored(SessionOpening):
    """The acceptor keeps an AckWaitTimeout of 20 s, regardless of AckTimeout in the request."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.AckWaitTimeout = 20_000


@fault("acceptor-recoverable-ack-timeout-of-request-ignored", breaks="MQQB-3.1.5.4.1-04")
class AcceptorRecoverableAckTimeoutOfRequestIgnored(SessionOpening):
    """The acceptor keeps a RecoverableAckSendTimeout of 500 ms, regardless of the request."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.RecoverableAckSendTimeout = 500


@fault("acceptor-initialization-timer-runs-in-open-session", breaks=("MQQB-3.1.5.4.1-12", "MQQB-3.1.2.1-D01"))
class AcceptorInitializationTimerRunsInOpenSession(SessionTimers):
    """The acceptor does not stop its Session Initialization Timer when the session is open."""

    def stop(self, session: Session, name: TimerName) -> None:
        opens = session.SessionState is SessionState.WAITING_CP_MSG
        if not (name is TimerName.SESSION_INITIALIZATION and opens):
            super().stop(session, name)


@fault("acceptor-state-waiting-cp-msg-after-parameters", breaks=("MQQB-3.1.5.4.1-13", "MQQB-3.1.5.4.1-D01"))
class AcceptorStateWaitingCpMsgAfterParameters(SessionOpening):
    """The acceptor sets the state of its session to WAITING_CP_MSG instead of OPEN after ConnectionParameters."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        if session.SessionState is SessionState.OPEN:
            session.SessionState = SessionState.WAITING_CP_MSG


# -- the response --------------------------------------------------------------------------------------------------

for _name, _rules, _says, _install in (
    (
        "acceptor-connection-parameters-in-bit-clear",
        "MQQB-3.1.5.4.1-06",
        "The acceptor's ConnectionParameters response has BaseHeader.Flags.IN clear.",
        bit_clear(ConnectionParametersPacket, "BaseHeader.IN"),
    ),
    (
        "acceptor-connection-parameters-pt-2",
        "MQQB-3.1.5.4.1-07",
        "The acceptor's ConnectionParameters response has PT 2.",
        field_is(ConnectionParametersPacket, "InternalHeader.PT", PT_ESTABLISH_CONNECTION),
    ),
    (
        "acceptor-connection-parameters-cs-set",
        "MQQB-3.1.5.4.1-08",
        "The acceptor's ConnectionParameters response has CS set.",
        bit_set(ConnectionParametersPacket, "InternalHeader.CS"),
    ),
    (
        "acceptor-connection-parameters-recoverable-timeout-one-more",
        "MQQB-3.1.5.4.1-09",
        "The acceptor's ConnectionParameters response has a RecoverableAckTimeout one higher than the request.",
        off_by(ConnectionParametersPacket, "ConnectionParametersHeader.RecoverableAckTimeout", +1),
    ),
    (
        "acceptor-connection-parameters-ack-timeout-one-more",
        "MQQB-3.1.5.4.1-10",
        "The acceptor's ConnectionParameters response has an AckTimeout one higher than the request.",
        off_by(ConnectionParametersPacket, "ConnectionParametersHeader.AckTimeout", +1),
    ),
):
    add(_name, _rules, _says, sent_as("acceptor", _install))
add(
    "acceptor-connection-parameters-response-not-sent",
    "MQQB-3.1.5.4.1-05",
    "The acceptor sends no ConnectionParameters response.",
    skip_during(SessionOpening.receive_parameters_request, Connecting.send),
)


@fault("acceptor-connection-parameters-window-size-of-request", breaks="MQQB-3.1.5.4.1-11")
class AcceptorConnectionParametersWindowSizeOfRequest(SessionOpening):
    """The acceptor's ConnectionParameters response repeats the WindowSize of the request."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        response = super().build_parameters_response(session, request)
        window = request.ConnectionParametersHeader.WindowSize
        header = replace(response.ConnectionParametersHeader, WindowSize=window)
        return replace(response, ConnectionParametersHeader=header)


@fault("acceptor-session-ack-wait-timer-20-s", breaks="MQQB-3.1.5.4.1-03")
class AcceptorSessionAckWaitTimer20S(SessionAcks):
    """The acceptor's Session Ack Wait Timer runs for 20 s, regardless of AckTimeout in the request."""

    def start_wait_timer(self, session: Session, now: Now) -> None:
        agreed = session.AckWaitTimeout
        session.AckWaitTimeout = agreed if session.initiator else 20_000
        super().start_wait_timer(session, now)
        session.AckWaitTimeout = agreed


@fault("acceptor-connection-parameters-window-size-minimum", breaks="MQQB-3.1.5.4.1-11", blind=True)
class AcceptorConnectionParametersWindowSizeMinimum(SessionOpening):
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


@fault("acceptor-longer-ack-timeout-of-request-ignored", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AcceptorLongerAckTimeoutOfRequestIgnored(SessionOpening):
    """The acceptor uses AckTimeout of a request only if this AckTimeout is shorter than the acceptor's own timeout."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        own = session.AckWaitTimeout
        super().receive_parameters_request(session, packet, now)
        session.AckWaitTimeout = min(own, session.AckWaitTimeout)


@fault("acceptor-recoverable-ack-timeout-at-most-10-s", breaks="MQQB-3.1.5.4.1-04", blind=True)
class AcceptorRecoverableAckTimeoutAtMost10S(SessionOpening):
    """The acceptor limits RecoverableAckTimeout of a request to ten seconds."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.RecoverableAckSendTimeout = min(session.RecoverableAckSendTimeout, 10_000)


@fault("acceptor-recoverable-ack-timeout-at-most-60-s", breaks="MQQB-3.1.5.4.1-04")
class AcceptorRecoverableAckTimeoutAtMost60S(SessionOpening):
    """The acceptor uses 60 s instead of a RecoverableAckTimeout of the ConnectionParameters request that is greater
    than 60 s.
    """

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.RecoverableAckSendTimeout = min(session.RecoverableAckSendTimeout, 60_000)


@fault("acceptor-ack-timeout-at-most-60-s", breaks="MQQB-3.1.5.4.1-02")
class AcceptorAckTimeoutAtMost60S(SessionOpening):
    """The acceptor uses 60 s instead of an AckTimeout of the ConnectionParameters request that is greater than 60 s."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.AckWaitTimeout = min(session.AckWaitTimeout, 60_000)
