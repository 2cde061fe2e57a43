"""Faults of what a session begins with. Spec: MS-MQQB 3.1.3.2."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.primitives import afterwards, always, beforehand, during, procedure, skip, wrong_fields
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import NULL_GUID, ConnectionParametersPacket, SequenceInfo, SessionHeader
from reference_qm.core.protocol.initialization import Initialization
from reference_qm.core.protocol.session_acks import SessionAcks
from reference_qm.core.protocol.session_opening import SessionOpening
from reference_qm.core.protocol.session_timers import SessionTimers
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import TransportAccepted

HOUR_MS = 3_600_000


def _dashed(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


# -- counts ------------------------------------------------------------------------------------------------------


def _kept(element: str) -> Install:
    """Let a session keep the value of an element that the one before left."""

    def make(original: Callable[..., None]) -> Callable[..., None]:
        def initialize(qm: QueueManager, session: Session) -> None:
            value = getattr(session, element)
            original(qm, session)
            setattr(session, element, value)

        return initialize

    return procedure(Initialization.initialize_counts, make)


for _rule, _element in (
    ("02", "MessageSentCount"),
    ("03", "RecoverableMessageSentCount"),
    ("04", "MessageReceivedCount"),
    ("05", "RecoverableMessageReceivedCount"),
):
    add(
        f"session-keeps-{_dashed(_element)}",
        f"MQQB-3.1.3.2-{_rule}",
        f"A session begins with the {_element} that the one before it ended with.",
        _kept(_element),
    )


def _acknowledges_on(faulty: FaultyCore) -> None:
    left: dict[int, int] = {}

    def note(qm: QueueManager, session: Session) -> None:
        left[session.number] = session.LastAckedRecoverableMsgSeqNumber

    def make(original: Callable[..., SessionHeader]) -> Callable[..., SessionHeader]:
        def build(qm: QueueManager, session: Session) -> SessionHeader:
            header = original(qm, session)
            number = header.RecoverableMsgAckSeqNumber + left[session.number] & 0xFFFF
            return replace(header, RecoverableMsgAckSeqNumber=number)

        return build

    beforehand(Initialization.initialize_counts, note)(faulty)
    procedure(SessionAcks.build_header, make)(faulty)


add(
    "session-keeps-last-acked-recoverable-msg-seq-number",
    "MQQB-3.1.3.2-07",
    "Recoverable messages are acknowledged with numbers that go on from the session before.",
    _acknowledges_on,
)

# -- elements ----------------------------------------------------------------------------------------------------


def _set(element: str, value: Any) -> Callable[..., None]:
    def spoil(qm: QueueManager, session: Session, *_: Any) -> None:
        setattr(session, element, value)

    return spoil


for _rule, _step, _element, _value in (
    ("08", Initialization.initialize_counts, "UnackedReceivedMsgCount", 5),
    ("23", Initialization.initialize_messages, "UnAckedMessageCount", 0xFFFF),
    ("25", Initialization.initialize_parameters, "SessionActive", True),
    ("26", Initialization.initialize_parameters, "ReceivedAck", True),
    ("27", Initialization.initialize_parameters, "AckWaitTimeout", 30_000),
    ("28", Initialization.initialize_parameters, "OrderAckTimeout", 5_000),
    ("29", Initialization.initialize_parameters, "DirectFormatSession", True),
    ("30", Initialization.initialize_parameters, "MaximumOrderAckDelay", 60),
    ("31", Initialization.initialize_parameters, "LastOrderAckSendTime", 0),
    ("32", Initialization.initialize_parameters, "RecoverableAckSendTimeout", 500),
    ("33", Initialization.initialize_parameters, "RemoteQMPublicKey", b"\x01\x00\x00\x00"),
):
    add(
        f"session-begins-with-{_dashed(_element)}",
        f"MQQB-3.1.3.2-{_rule}",
        f"A session begins with {_element} {_value!r}.",
        afterwards(_step, _set(_element, _value)),
    )


def _flag_too_many(qm: QueueManager, session: Session, packet: Any, now: Now) -> None:
    session.RecoverableMsgAckFlags = 0b100
    qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.RecoverableAckSendTimeout, now)


add(
    "session-begins-with-recoverable-msg-ack-flags",
    "MQQB-3.1.3.2-06",
    "A session is opened with a flag set in RecoverableMsgAckFlags, and with the timer that goes with it.",
    afterwards(SessionOpening.receive_parameters_response, _flag_too_many),
)


def _sequence(element: str, value: Any) -> Install:
    def spoil(qm: QueueManager, session: Session, *_: Any) -> None:
        setattr(session.TxOutgoingSequence, element, value)

    return afterwards(Initialization.initialize_transfer_sequence, spoil)


_SEQUENCE: tuple[tuple[str, str, Any], ...] = (
    ("16", "LastAck", SequenceInfo(SeqNo=7)),
    ("17", "TimeOfLastAck", 0),
    ("18", "LastAckCount", 1),
    ("19", "ResendIntervalIndex", 3),
    ("20", "ResendInterval", 300),
    ("21", "ResendTime", 30),
)
for _rule, _element, _first in _SEQUENCE:
    add(
        f"sequence-begins-with-{_dashed(_element)}",
        f"MQQB-3.1.3.2-{_rule}",
        f"TxOutgoingSequence of a session begins with {_element} {_first!r}.",
        _sequence(_element, _first),
    )

add(
    "session-without-outgoing-sequence",
    "MQQB-3.1.3.2-15",
    "A session begins without a TxOutgoingSequence.",
    skip(Initialization.initialize_transfer_sequence),
)

# -- timers ------------------------------------------------------------------------------------------------------


def _running(name: TimerName) -> Callable[..., None]:
    def start(qm: QueueManager, session: Session, now: Now) -> None:
        qm.session_timers.start(session, name, HOUR_MS, now)

    return start


def _unstarted(name: TimerName) -> Callable[..., Callable[..., None]]:
    def make(original: Callable[..., None], *_: Any) -> Callable[..., None]:
        def start(qm: QueueManager, session: Session, started: TimerName, duration_ms: int, now: Now) -> None:
            if started is not name:
                original(qm, session, started, duration_ms, now)

        return start

    return make


for _rule, _name in (
    ("09", TimerName.SESSION_ACK_WAIT),
    ("10", TimerName.SESSION_ACK_SEND),
    ("11", TimerName.TRANSACTIONAL_ACK_WAIT),
    ("12", TimerName.ORDER_ACK_SEND),
):
    add(
        f"session-begins-with-{_dashed(_name.value)}-timer",
        f"MQQB-3.1.3.2-{_rule}",
        f"A session begins with its {_name.value} timer running.",
        afterwards(Initialization.initialize_timers, _running(_name)),
    )

for _rule, _name in (("13", TimerName.SESSION_CLEANUP), ("14", TimerName.SESSION_RETRY_CONNECT)):
    add(
        f"session-begins-without-{_dashed(_name.value)}-timer",
        f"MQQB-3.1.3.2-{_rule}",
        f"A session begins without its {_name.value} timer running.",
        during(Initialization.initialize_timers, SessionTimers.start, _unstarted(_name)),
    )

# -- the rest ----------------------------------------------------------------------------------------------------


def _nothing_again(original: Callable[..., None]) -> Callable[..., None]:
    return _set("UnAckedMessageCount", 0)


add(
    "session-keeps-what-was-transmitted",
    "MQQB-3.1.3.2-22",
    "A message that was transmitted on one session is not transmitted again on the next.",
    procedure(Initialization.initialize_messages, _nothing_again),
)
add(
    "session-window-of-32",
    "MQQB-3.1.3.2-24",
    "WindowSize is 32.",
    wrong_fields(ConnectionParametersPacket, {"ConnectionParametersHeader.WindowSize": 32}),
)


def _no_identifier(qm: QueueManager) -> None:
    qm.adm.Identifier = NULL_GUID


def _identifier_of_the_session(qm: QueueManager, event: TransportAccepted, now: Now) -> None:
    qm.adm.Identifier = UUID(int=qm.transports[event.transport].number)


def _far_cookie(qm: QueueManager, now: Now) -> None:
    qm.adm.PingCookie = 1_000


def _waits_for_parameters(qm: QueueManager, event: TransportAccepted, now: Now) -> None:
    qm.transports[event.transport].SessionState = SessionState.WAITING_CP_MSG


add("identifier-null", "MQQB-3.1.3.2-34", "QueueManager.Identifier is the null GUID.", always(_no_identifier))
add(
    "identifier-of-each-session",
    "MQQB-3.1.3.2-34",
    "QueueManager.Identifier changes with each session.",
    afterwards(SessionOpening.accept_transport, _identifier_of_the_session),
)
add(
    "ping-cookie-begins-far",
    "MQQB-3.1.3.2-35",
    "PingCookie begins with 1000.",
    afterwards(Initialization.initialize_globally, _far_cookie),
)
add(
    "session-begins-in-another-state",
    "MQQB-3.1.3.2-36",
    "An accepted session begins in WAITING_CP_MSG.",
    afterwards(SessionOpening.accept_transport, _waits_for_parameters),
)
