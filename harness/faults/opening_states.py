"""Faults of states and times in a session's opening. Spec: MS-MQQB 3.1.5.2.3, 3.1.5.3, 3.1.5.4, 3.1.5.10, 3.1.6.6."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import Method
from harness.faults.primitives import afterwards, beforehand, both, procedure, set_fields
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    Packet,
)
from reference_qm.core.protocol.closing import Closing
from reference_qm.core.protocol.establishing import Establishing
from reference_qm.core.protocol.identifying import Identifying
from reference_qm.core.protocol.initialization import Initialization
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.protocol.session_opening import RECOVERABLE_ACK_TIMEOUT_MS, SessionOpening
from reference_qm.core.protocol.session_timers import SessionTimers
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

Original = Callable[..., Any]


def _element(name: Method, **elements: Any) -> Install:
    """Set elements of the session after a procedure."""

    def spoil(qm: QueueManager, session: Session, *_: Any) -> None:
        for element, value in elements.items():
            setattr(session, element, value)

    return afterwards(name, spoil)


def _when(state: SessionState, name: Method, become: SessionState) -> Install:
    """Let a procedure end in another state than it should."""

    def spoil(qm: QueueManager, session: Session, *_: Any) -> None:
        if session.SessionState is state:
            session.SessionState = become

    return afterwards(name, spoil)


# -- states --------------------------------------------------------------------------------------------------------


def _tolerated(kind: type[Packet]) -> Install:
    """Ignore packets of a kind that come out of turn."""

    def make(original: Original) -> Original:
        def refuse(qm: QueueManager, session: Session, packet: Packet, now: Now) -> None:
            if not isinstance(packet, kind):
                original(qm, session, packet, now)

        return refuse

    return procedure(Identifying.refuse_out_of_state, make)


add(
    "establish-out-of-turn-tolerated",
    "MQQB-3.1.5.3-01",
    "An EstablishConnection out of turn is ignored.",
    _tolerated(EstablishConnectionPacket),
)
add(
    "parameters-out-of-turn-tolerated",
    "MQQB-3.1.5.4-01",
    "ConnectionParameters out of turn are ignored.",
    _tolerated(ConnectionParametersPacket),
)

_S = SessionState
for _name, _rule, _state, _after, _become in (
    ("state-after-request", "3.1.5.2.3-13", _S.WAITING_ECR_MSG, Establishing.send_establish_request, _S.WAITING_EC_MSG),
    (
        "state-after-response",
        "3.1.5.3.1-13",
        _S.WAITING_CP_MSG,
        SessionOpening.receive_establish_request,
        _S.WAITING_EC_MSG,
    ),
    (
        "state-after-parameters-request",
        "3.1.5.3.2-14",
        _S.WAITING_CPR_MSG,
        SessionOpening.receive_establish_response,
        _S.WAITING_CP_MSG,
    ),
    (
        "state-of-accepted-session",
        "3.1.5.4.1-13",
        _S.OPEN,
        SessionOpening.receive_parameters_request,
        _S.WAITING_CP_MSG,
    ),
):
    add(
        f"{_name}-{_become.value.lower().replace('_', '-')}",
        f"MQQB-{_rule}",
        f"SessionState is {_become.value} where it is to be {_state.value}.",
        _when(_state, _after, _become),
    )


add(
    "session-open-but-nothing-sent",
    "MQQB-3.1.5.4.2-07",
    "The initiator's session is open, but its messages stay.",
    procedure(Sending.may_send, lambda original: lambda qm, session: False),
)
add(
    "establish-response-never-invalid",
    "MQQB-3.1.5.3.2-01",
    "Any response is taken as valid.",
    procedure(SessionOpening.is_establish_response_valid, lambda original: lambda qm, session, packet: True),
)


# -- round trip ----------------------------------------------------------------------------------------------------


def _round_trip(
    change: Callable[[EstablishConnectionPacket, Now, Now], tuple[EstablishConnectionPacket, Now]],
) -> Install:
    """Measure the round trip otherwise; ``change`` gets the response, when the request was sent, and the time."""

    def install(faulty: FaultyCore) -> None:
        sent: dict[int, Now] = {}

        def note(qm: QueueManager, session: Session, now: Now) -> None:
            sent[session.number] = now

        def make(original: Original) -> Original:
            def measure(qm: QueueManager, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
                original(qm, session, *change(packet, sent[session.number], now))

            return measure

        both(
            beforehand(Establishing.send_establish_request, note),
            procedure(SessionOpening.set_recoverable_ack_timeout, make),
        )(faulty)

    return install


def _own_time(packet: EstablishConnectionPacket, sent: Now, now: Now) -> tuple[EstablishConnectionPacket, Now]:
    return set_fields(packet, {"EstablishConnectionHeader.TimeStamp": sent.monotonic_ms & 0xFFFFFFFF}), now


add(
    "round-trip-without-the-way-back",
    "MQQB-3.1.5.3.2-03",
    "The round trip ends when the request is sent.",
    _round_trip(lambda packet, sent, now: (packet, sent)),
)
add(
    "round-trip-ignores-the-time-stamp",
    "MQQB-3.1.5.3.2-04",
    "The round trip is measured by the own clock alone.",
    _round_trip(_own_time),
)


def _four_round_trips(qm: QueueManager, session: Session, *_: Any) -> None:
    session.RecoverableAckSendTimeout = max(session.RecoverableAckSendTimeout // 2, RECOVERABLE_ACK_TIMEOUT_MS[0])


def _unlimited(qm: QueueManager, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
    session.RecoverableAckSendTimeout = 8 * (now.monotonic_ms - packet.EstablishConnectionHeader.TimeStamp & 0xFFFFFFFF)


add(
    "round-trip-times-four",
    "MQQB-3.1.5.3.2-05",
    "RecoverableAckSendTimeout is four round trips.",
    afterwards(SessionOpening.set_recoverable_ack_timeout, _four_round_trips),
)
add(
    "round-trip-without-limits",
    "MQQB-3.1.5.3.2-06",
    "RecoverableAckSendTimeout may be out of its range.",
    afterwards(SessionOpening.set_recoverable_ack_timeout, _unlimited),
)
add(
    "parameters-ack-timeout-not-taken",
    "MQQB-3.1.5.4.1-02",
    "An acceptor keeps an AckWaitTimeout of 20 s.",
    _element(SessionOpening.receive_parameters_request, AckWaitTimeout=20_000),
)
add(
    "parameters-recoverable-timeout-not-taken",
    "MQQB-3.1.5.4.1-04",
    "An acceptor keeps a RecoverableAckSendTimeout of 500 ms.",
    _element(SessionOpening.receive_parameters_request, RecoverableAckSendTimeout=500),
)


# -- the Session Initialization Timer ------------------------------------------------------------------------------


def _key(session: Session) -> TimerKey:
    return TimerKey(TimerName.SESSION_INITIALIZATION, session.number)


def _goes_on(name: Method) -> Install:
    """Let the timer go on as it ran before a procedure that stops it or starts it anew."""

    def make(original: Original) -> Original:
        def run(qm: QueueManager, session: Session, *arguments: Any) -> None:
            now: Now = arguments[-1]
            left_ms = qm.timers.remaining_ms(_key(session), now.monotonic_ms)
            original(qm, session, *arguments)
            if left_ms is not None and session.number in qm.sessions:
                qm.timers.start(_key(session), now.monotonic_ms, left_ms)

        return run

    return procedure(name, make)


def _never_started(*states: SessionState) -> Install:
    """Do not start the timer in some states."""

    def make(original: Original) -> Original:
        def start(qm: QueueManager, session: Session, name: TimerName, *rest: Any) -> None:
            if name is not TimerName.SESSION_INITIALIZATION or session.SessionState not in states:
                original(qm, session, name, *rest)

        return start

    return procedure(SessionTimers.start, make)


add(
    "initialization-timer-outlives-a-failed-attempt",
    "MQQB-3.1.5.2.3-01",
    "The timer of an attempt that failed goes on and ends the next one.",
    both(
        _goes_on(Closing.close),
        _goes_on(Initialization.initialize_session),
        _goes_on(Establishing.send_establish_request),
    ),
)
add(
    "initialization-timer-not-started-with-request",
    "MQQB-3.1.5.2.3-15",
    "The initiator starts no Session Initialization Timer.",
    _never_started(SessionState.WAITING_ECR_MSG),
)
add(
    "initialization-timer-goes-on-in-accepted-session",
    "MQQB-3.1.5.4.1-12",
    "The acceptor does not stop the timer when the session is open.",
    _goes_on(SessionOpening.receive_parameters_request),
)
add(
    "initialization-timer-goes-on-in-initiated-session",
    "MQQB-3.1.5.4.2-06",
    "The initiator does not stop the timer when the session is open.",
    _goes_on(SessionOpening.receive_parameters_response),
)
