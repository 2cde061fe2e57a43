"""Faults of MS-MQQB 3.1.7.13 Pause Queue Event."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields, skip
from harness.faults.registry import Install, add
from reference_qm.codec import SessionAckPacket
from reference_qm.core.transfer.administering import Administering
from reference_qm.model.adm import OutgoingQueue, Session
from reference_qm.model.states import OutgoingQueueState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

_LATER_TIMER_MS = 500


@fault("pause-session-ack-leaves-send-timer-running", breaks="MQQB-3.1.7.13-01")
class PauseSessionAckLeavesSendTimerRunning(Administering):
    """The queue manager does not stop the Session Ack Send Timer when an outgoing queue is paused."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().pause_queue(queue, now)
        self.qm.session_timers.start(queue.session, TimerName.SESSION_ACK_SEND, _LATER_TIMER_MS, now)


# -- the SessionAck of a pause ---------------------------------------------------------------------------------------


def _change_pause_ack(field: str, change: Callable[[int], int]) -> Install:
    class Acknowledged(Administering):
        def build_pause_ack(self, session: Session) -> SessionAckPacket:
            packet: SessionAckPacket = set_fields(super().build_pause_ack(session), {field: change})
            return packet

    return replace_part(Acknowledged)


_ACK_FIELD_FAULTS: tuple[tuple[str, str, str, str, Callable[[int], int]], ...] = (
    (
        "pause-session-ack-sequence-number-too-low",
        "MQQB-3.1.7.13-03",
        "At a pause, the queue manager's SessionAck has an AckSequenceNumber that is one too low.",
        "SessionHeader.AckSequenceNumber",
        lambda old: old - 1 & 0xFFFF,
    ),
    (
        "pause-session-ack-recoverable-number-too-high",
        "MQQB-3.1.7.13-04",
        "At a pause, the queue manager's SessionAck has a RecoverableMsgAckSeqNumber that is one too high.",
        "SessionHeader.RecoverableMsgAckSeqNumber",
        lambda old: old + 1 & 0xFFFF,
    ),
    (
        "pause-session-ack-sent-count-0",
        "MQQB-3.1.7.13-05",
        "At a pause, the queue manager's SessionAck has UserMsgSequenceNumber 0.",
        "SessionHeader.UserMsgSequenceNumber",
        lambda old: 0,
    ),
    (
        "pause-session-ack-recoverable-sent-count-0",
        "MQQB-3.1.7.13-06",
        "At a pause, the queue manager's SessionAck has RecoverableMsgSeqNumber 0.",
        "SessionHeader.RecoverableMsgSeqNumber",
        lambda old: 0,
    ),
    (
        "pause-session-ack-recoverable-flags-only-bit-0-set",
        "MQQB-3.1.7.13-07",
        "At a pause, the queue manager's SessionAck has only bit 0 of RecoverableMsgAckFlags set.",
        "SessionHeader.RecoverableMsgAckFlags",
        lambda old: old & 1,
    ),
    (
        "pause-session-ack-window-size-not-1",
        "MQQB-3.1.7.13-08",
        "At a pause, the queue manager's SessionAck has the usual WindowSize instead of 1.",
        "SessionHeader.WindowSize",
        lambda old: 64,
    ),
)
for _name, _rule, _says, _field, _change in _ACK_FIELD_FAULTS:
    add(_name, _rule, _says, _change_pause_ack(_field, _change))


# -- the session after a pause ---------------------------------------------------------------------------------------


def _change_after_pause(element: str, value: object) -> Install:
    class Left(Administering):
        def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
            super().pause_queue(queue, now)
            setattr(queue.session, element, value)

    return replace_part(Left)


_ELEMENTS: tuple[tuple[str, str, str, str, object], ...] = (
    (
        "pause-session-ack-leaves-recoverable-flags-of-session-set",
        "MQQB-3.1.7.13-10",
        "The queue manager does not clear RecoverableMsgAckFlags at a pause.",
        "RecoverableMsgAckFlags",
        0b11,
    ),
    (
        "pause-of-queue-leaves-unacked-received-count",
        "MQQB-3.1.7.13-11",
        "The queue manager does not reset UnackedReceivedMsgCount at a pause.",
        "UnackedReceivedMsgCount",
        3,
    ),
    (
        "pause-of-queue-sets-last-acked-number-0",
        "MQQB-3.1.7.13-11",
        "The queue manager sets LastAckedRecoverableMsgSeqNumber to 0 at a pause.",
        "LastAckedRecoverableMsgSeqNumber",
        0,
    ),
    (
        "pause-of-queue-leaves-session-active-true",
        "MQQB-3.1.7.13-12",
        "The queue manager leaves SessionActive at TRUE at a pause.",
        "SessionActive",
        True,
    ),
)
for _name, _rule, _says, _element, _value in _ELEMENTS:
    add(_name, _rule, _says, _change_after_pause(_element, _value))


@fault(
    "paused-queue-state-stays-connected",
    breaks=("MQQB-3.1.7.13-13", "MQDMPR-3.1.7.1.34-03", "MQDMPR-3.1.4.14-03", "MQDMPR-3.1.7.2.3-03"),
)
class PausedQueueStateStaysConnected(Administering):
    """The queue manager leaves State of a paused outgoing queue at Connected."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().pause_queue(queue, now)
        queue.State = OutgoingQueueState.CONNECTED


add(
    "pause-of-queue-has-no-effect",
    (
        "MQQB-3.1.7.13-03",
        "MQQB-3.1.7.13-08",
        "MQQB-3.1.7.13-13",
        "MQDMPR-3.1.7.1.34-03",
        "MQDMPR-3.1.4.14-03",
        "MQDMPR-3.1.7.2.3-03",
    ),
    "The queue manager does nothing when an outgoing queue is paused.",
    skip(Administering.pause_queue),
)
