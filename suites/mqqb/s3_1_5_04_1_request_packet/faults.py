"""Faults of MS-MQQB 3.1.5.4.1 Request Packet (of ConnectionParameters)."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import built_with, set_fields, skip_during
from harness.faults.registry import add
from reference_qm.codec import BaseHeader, ConnectionParametersPacket, InternalHeader
from reference_qm.core.protocol.establishing import Establishing
from reference_qm.core.protocol.session_opening import SessionOpening
from reference_qm.core.protocol.session_timers import SessionTimers
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

_IN = BaseHeader.flags(IN=1)
_CS = InternalHeader.flags(CS=1)


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


@fault("initialization-timer-goes-on-in-accepted-session", breaks="MQQB-3.1.5.4.1-12")
class InitializationTimerGoesOnInAcceptedSession(SessionTimers):
    """The acceptor does not stop the timer when the session is open."""

    def stop(self, session: Session, name: TimerName) -> None:
        opens = session.SessionState is SessionState.WAITING_CP_MSG
        if not (name is TimerName.SESSION_INITIALIZATION and opens):
            super().stop(session, name)


@fault("state-of-accepted-session-waiting-cp-msg", breaks="MQQB-3.1.5.4.1-13")
class StateOfAcceptedSession(SessionOpening):
    """SessionState is WAITING_CP_MSG where it is to be OPEN."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_request(session, packet, now)
        if session.SessionState is SessionState.OPEN:
            session.SessionState = SessionState.WAITING_CP_MSG


# -- the response --------------------------------------------------------------------------------------------------

_FIELDS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    (
        "parameters-response-not-internal",
        "MQQB-3.1.5.4.1-06",
        "The response has BaseHeader.Flags.IN clear.",
        {"BaseHeader.Flags": lambda old: old & ~_IN},
    ),
    (
        "parameters-response-other-type",
        "MQQB-3.1.5.4.1-07",
        "The response has the PT of another packet.",
        {"InternalHeader.Flags": lambda old: old ^ 1},
    ),
    (
        "parameters-response-refused",
        "MQQB-3.1.5.4.1-08",
        "CS is set.",
        {"InternalHeader.Flags": lambda old: old | _CS},
    ),
    (
        "parameters-response-other-recoverable-timeout",
        "MQQB-3.1.5.4.1-09",
        "RecoverableAckTimeout is one more than asked.",
        {"ConnectionParametersHeader.RecoverableAckTimeout": lambda old: old + 1},
    ),
    (
        "parameters-response-other-ack-timeout",
        "MQQB-3.1.5.4.1-10",
        "AckTimeout is one more than asked.",
        {"ConnectionParametersHeader.AckTimeout": lambda old: old + 1},
    ),
)
for _name, _rule, _says, _changes in _FIELDS:
    add(_name, _rule, _says, built_with(SessionOpening.build_parameters_response, _changes))
add(
    "parameters-response-unsent",
    "MQQB-3.1.5.4.1-05",
    "It is never sent.",
    skip_during(SessionOpening.receive_parameters_request, Establishing.send),
)


@fault("parameters-response-window-of-the-request", breaks="MQQB-3.1.5.4.1-11")
class ParametersResponseWindowOfTheRequest(SessionOpening):
    """The response repeats the WindowSize of the request."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        window = request.ConnectionParametersHeader.WindowSize
        response = super().build_parameters_response(session, request)
        changed: ConnectionParametersPacket = set_fields(response, {"ConnectionParametersHeader.WindowSize": window})
        return changed
