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

# -- what is taken from the request --------------------------------------------------------------------------------


@fault("received-window-of-acceptor", breaks="MQQB-3.1.5.4.1-01")
class ReceivedWindowOfAcceptor(SessionOpening):
    """ReceivedWindowSize of an accepted session is the own WindowSize."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.ReceivedWindowSize = 64


@fault("parameters-ack-timeout-not-taken", breaks="MQQB-3.1.5.4.1-02")
class ParametersAckTimeoutNotTaken(SessionOpening):
    """An acceptor keeps an AckWaitTimeout of 20 s."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.AckWaitTimeout = 20_000


@fault("parameters-recoverable-timeout-not-taken", breaks="MQQB-3.1.5.4.1-04")
class ParametersRecoverableTimeoutNotTaken(SessionOpening):
    """An acceptor keeps a RecoverableAckSendTimeout of 500 ms."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.RecoverableAckSendTimeout = 500


@fault("initialization-timer-goes-on-in-accepted-session", breaks=("MQQB-3.1.5.4.1-12", "MQQB-3.1.2.1-D01"))
class InitializationTimerGoesOnInAcceptedSession(SessionTimers):
    """The acceptor does not stop the timer when the session is open."""

    def stop(self, session: Session, name: TimerName) -> None:
        opens = session.SessionState is SessionState.WAITING_CP_MSG
        if not (name is TimerName.SESSION_INITIALIZATION and opens):
            super().stop(session, name)


@fault("state-of-accepted-session-waiting-cp-msg", breaks=("MQQB-3.1.5.4.1-13", "MQQB-3.1.5.4.1-D01"))
class StateOfAcceptedSession(SessionOpening):
    """SessionState is WAITING_CP_MSG where it is to be OPEN."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        if session.SessionState is SessionState.OPEN:
            session.SessionState = SessionState.WAITING_CP_MSG


# -- the response --------------------------------------------------------------------------------------------------

for _name, _rules, _says, _install in (
    (
        "parameters-response-not-internal",
        "MQQB-3.1.5.4.1-06",
        "The response has BaseHeader.Flags.IN clear.",
        bit_clear(ConnectionParametersPacket, "BaseHeader.IN"),
    ),
    (
        "parameters-response-other-type",
        "MQQB-3.1.5.4.1-07",
        "The response has the PT of another packet.",
        field_is(ConnectionParametersPacket, "InternalHeader.PT", PT_ESTABLISH_CONNECTION),
    ),
    (
        "parameters-response-refused",
        "MQQB-3.1.5.4.1-08",
        "CS is set.",
        bit_set(ConnectionParametersPacket, "InternalHeader.CS"),
    ),
    (
        "parameters-response-other-recoverable-timeout",
        "MQQB-3.1.5.4.1-09",
        "RecoverableAckTimeout is one more than asked.",
        off_by(ConnectionParametersPacket, "ConnectionParametersHeader.RecoverableAckTimeout", +1),
    ),
    (
        "parameters-response-other-ack-timeout",
        "MQQB-3.1.5.4.1-10",
        "AckTimeout is one more than asked.",
        off_by(ConnectionParametersPacket, "ConnectionParametersHeader.AckTimeout", +1),
    ),
):
    add(_name, _rules, _says, sent_as("acceptor", _install))
add(
    "parameters-response-unsent",
    "MQQB-3.1.5.4.1-05",
    "It is never sent.",
    skip_during(SessionOpening.receive_parameters_request, Connecting.send),
)


@fault("parameters-response-window-of-the-request", breaks="MQQB-3.1.5.4.1-11")
class ParametersResponseWindowOfTheRequest(SessionOpening):
    """The response repeats the WindowSize of the request."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        response = super().build_parameters_response(session, request)
        window = request.ConnectionParametersHeader.WindowSize
        header = replace(response.ConnectionParametersHeader, WindowSize=window)
        return replace(response, ConnectionParametersHeader=header)


@fault("acceptor-waits-by-a-timeout-of-its-own", breaks="MQQB-3.1.5.4.1-03")
class AcceptorWaitsByATimeoutOfItsOwn(SessionAcks):
    """What an acceptor sends is waited for by 20 s, whatever the request says."""

    def start_wait_timer(self, session: Session, now: Now) -> None:
        agreed = session.AckWaitTimeout
        session.AckWaitTimeout = agreed if session.initiator else 20_000
        super().start_wait_timer(session, now)
        session.AckWaitTimeout = agreed


@fault("window-of-the-response-shrinks-to-the-request", breaks="MQQB-3.1.5.4.1-11", blind=True)
class WindowOfTheResponseShrinksToTheRequest(SessionOpening):
    """WindowSize of the response is the smaller of the two windows."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        response = super().build_parameters_response(session, request)
        asked = request.ConnectionParametersHeader.WindowSize
        changed: ConnectionParametersPacket = set_fields(
            response, {"ConnectionParametersHeader.WindowSize": lambda own: min(own, asked)}
        )
        return changed


@fault("ack-timeout-in-force-only-when-shorter", breaks="MQQB-3.1.5.4.1-02", blind=True)
class AckTimeoutInForceOnlyWhenShorter(SessionOpening):
    """AckTimeout of a request is in force only when it is shorter than the acceptor's own."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        own = session.AckWaitTimeout
        super().receive_parameters_request(session, packet, now)
        session.AckWaitTimeout = min(own, session.AckWaitTimeout)


@fault("recoverable-ack-timeout-in-force-up-to-ten-seconds", breaks="MQQB-3.1.5.4.1-04", blind=True)
class RecoverableAckTimeoutInForceUpToTenSeconds(SessionOpening):
    """RecoverableAckTimeout of a request is in force up to ten seconds, longer ones are cut."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        session.RecoverableAckSendTimeout = min(session.RecoverableAckSendTimeout, 10_000)
