"""Faults of session acknowledgments, both sides. Spec: MS-MQQB 3.1.5.5, 3.1.6.3, 3.1.6.4."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import afterwards, beforehand, during, procedure, wrong_bytes, wrong_fields
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import SessionAckPacket
from reference_qm.core.protocol.closing import Closing
from reference_qm.core.protocol.receiving import Receiving
from reference_qm.core.protocol.session_acks import SessionAcks
from reference_qm.core.protocol.session_timers import SessionTimers
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

Original = Callable[..., Any]


# -- 3.1.6.3 Session Ack Wait Timer --------------------------------------------------------------------------------


def _wait_for_ever(original: Original, *_: Any) -> Original:
    def close(qm: QueueManager, session: Session, reason: str, now: Now) -> None:
        qm.session_acks.start_wait_timer(session, now)

    return close


def _heard(value: bool, *, awaiting: bool) -> Callable[..., None]:
    """Set ReceivedAck when messages do, or do not, await their acknowledgment."""

    def change(qm: QueueManager, session: Session, now: Now) -> None:
        if bool(session.OutgoingMessageTable.awaiting_ack) == awaiting:
            session.ReceivedAck = value

    return change


def _wait_for_nothing(qm: QueueManager, session: Session, now: Now) -> None:
    if not session.OutgoingMessageTable.awaiting_ack:
        qm.session_acks.start_wait_timer(session, now)


add(
    "unacknowledged-session-never-closed",
    ("MQQB-3.1.6.3-01", "MQQB-3.1.6.3-03"),
    "The Session Ack Wait Timer is started again where it should close the session.",
    during(SessionAcks.on_wait_timer, Closing.close, _wait_for_ever),
)
add(
    "ack-wait-restarted-for-nothing",
    "MQQB-3.1.6.3-02",
    "The Session Ack Wait Timer is restarted with nothing unacknowledged.",
    afterwards(SessionAcks.on_wait_timer, _wait_for_nothing),
)
add(
    "ack-wait-keeps-what-was-heard",
    "MQQB-3.1.6.3-02",
    "ReceivedAck stays TRUE when the Session Ack Wait Timer expires with nothing unacknowledged.",
    afterwards(SessionAcks.on_wait_timer, _heard(True, awaiting=False)),
)
add(
    "ack-wait-ignores-what-was-heard",
    "MQQB-3.1.6.3-04",
    "The Session Ack Wait Timer closes the session at its first expiry, whatever was received.",
    beforehand(SessionAcks.on_wait_timer, _heard(False, awaiting=True)),
)
add(
    "ack-wait-never-forgets-what-was-heard",
    "MQQB-3.1.6.3-04",
    "ReceivedAck stays TRUE when the Session Ack Wait Timer is restarted.",
    afterwards(SessionAcks.on_wait_timer, _heard(True, awaiting=True)),
)


# -- 3.1.6.4 Session Ack Send Timer --------------------------------------------------------------------------------


def _acknowledge_at_once(qm: QueueManager, session: Session, packet: Any, now: Now) -> None:
    qm.session_acks.send(session, now)


def _acknowledge_for_ever(qm: QueueManager, session: Session, now: Now) -> None:
    qm.session_acks.send(session, now)
    qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout // 2, now)


def _keep_flags(original: Original) -> Original:
    def note(qm: QueueManager, session: Session, now: Now) -> None:
        flags = session.RecoverableMsgAckFlags
        original(qm, session, now)
        session.RecoverableMsgAckFlags = flags

    return note


def _never_again(faulty: FaultyCore) -> None:
    """Start the Session Ack Send Timer of a session no more once it sent a SessionAck."""
    acknowledged: set[int] = set()
    afterwards(SessionAcks.send, lambda qm, session, now: acknowledged.add(session.number))(faulty)

    def make(original: Original) -> Original:
        def start(qm: QueueManager, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
            if name is not TimerName.SESSION_ACK_SEND or session.number not in acknowledged:
                original(qm, session, name, duration_ms, now)

        return start

    procedure(SessionTimers.start, make)(faulty)


def _without(bits: int, at: int) -> Callable[[bytes], bytes]:
    """Clear bits of one byte of a packet."""
    return lambda data: data[:at] + bytes([data[at] & ~bits]) + data[at + 1 :]


def _add(field: str, number: int) -> Install:
    return wrong_fields(SessionAckPacket, {f"SessionHeader.{field}": lambda old: old + number & 0xFFFF})


add(
    "session-ack-sent-at-once",
    "MQQB-3.1.6.4-01",
    "Every message is acknowledged at once.",
    afterwards(Receiving.note_activity, _acknowledge_at_once),
)
add(
    "session-ack-for-nothing",
    "MQQB-3.1.6.4-01",
    "The Session Ack Send Timer sends a SessionAck with nothing unacknowledged, too.",
    procedure(SessionAcks.on_send_timer, lambda original: _acknowledge_for_ever),
)
add(
    "session-ack-without-sh",
    "MQQB-3.1.6.4-02",
    "SessionAcks have BaseHeader.Flags.SH 0.",
    wrong_bytes(SessionAckPacket, _without(0x10, 2)),
)
add(
    "session-ack-without-type",
    "MQQB-3.1.6.4-03",
    "SessionAcks have InternalHeader.Flags.PT 0x0.",
    wrong_bytes(SessionAckPacket, _without(0x0F, 18)),
)
add(
    "session-ack-count-one-less",
    "MQQB-3.1.6.4-04",
    "AckSequenceNumber is one less than what was received.",
    _add("AckSequenceNumber", -1),
)
add(
    "session-ack-recoverable-number-one-more",
    "MQQB-3.1.6.4-05",
    "RecoverableMsgAckSeqNumber is one more than the first that is acknowledged.",
    _add("RecoverableMsgAckSeqNumber", +1),
)
add(
    "session-ack-sent-count-one-more",
    "MQQB-3.1.6.4-06",
    "UserMsgSequenceNumber is one more than what was sent.",
    _add("UserMsgSequenceNumber", +1),
)
add(
    "session-ack-recoverable-sent-count-one-more",
    "MQQB-3.1.6.4-07",
    "RecoverableMsgSeqNumber is one more than what was sent.",
    _add("RecoverableMsgSeqNumber", +1),
)
add(
    "session-ack-flags-only-first",
    "MQQB-3.1.6.4-08",
    "RecoverableMsgAckFlags has no bit but bit 0.",
    wrong_fields(SessionAckPacket, {"SessionHeader.RecoverableMsgAckFlags": lambda old: old & 1}),
)
add(
    "session-ack-window-one-more",
    "MQQB-3.1.6.4-09",
    "WindowSize of SessionAcks is one more than in ConnectionParameters.",
    _add("WindowSize", +1),
)
add(
    "session-ack-flags-not-cleared",
    "MQQB-3.1.6.4-10",
    "RecoverableMsgAckFlags keeps its bits after an acknowledgment.",
    procedure(SessionAcks.note_acknowledged, _keep_flags),
)
add(
    "session-ack-sent-only-once",
    "MQQB-3.1.6.4-11",
    "The Session Ack Send Timer does not run again after a SessionAck.",
    _never_again,
)
