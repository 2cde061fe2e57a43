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

_LATER_MS = 500


@fault("pause-timer-runs-on", breaks="MQQB-3.1.7.13-01")
class TimerRunsOn(Administering):
    """When a queue is paused, the Session Ack Send Timer runs on."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().pause_queue(queue, now)
        self.qm.session_timers.start(queue.session, TimerName.SESSION_ACK_SEND, _LATER_MS, now)


# -- the acknowledgment that it sends ------------------------------------------------------------------------------


def _acknowledged(field: str, change: Callable[[int], int]) -> Install:
    class Acknowledged(Administering):
        def build_pause_ack(self, session: Session) -> SessionAckPacket:
            packet: SessionAckPacket = set_fields(super().build_pause_ack(session), {field: change})
            return packet

    return replace_part(Acknowledged)


_FIELDS: tuple[tuple[str, str, str, str, Callable[[int], int]], ...] = (
    (
        "pause-ack-of-fewer",
        "MQQB-3.1.7.13-03",
        "When a queue is paused, the acknowledgment leaves a message out.",
        "SessionHeader.AckSequenceNumber",
        lambda old: old - 1 & 0xFFFF,
    ),
    (
        "pause-ack-of-another-recoverable",
        "MQQB-3.1.7.13-04",
        "When a queue is paused, the acknowledgment names the recoverable message after the lowest.",
        "SessionHeader.RecoverableMsgAckSeqNumber",
        lambda old: old + 1 & 0xFFFF,
    ),
    (
        "pause-ack-counts-none-sent",
        "MQQB-3.1.7.13-05",
        "When a queue is paused, the acknowledgment counts no message.",
        "SessionHeader.UserMsgSequenceNumber",
        lambda old: 0,
    ),
    (
        "pause-ack-counts-no-recoverable-sent",
        "MQQB-3.1.7.13-06",
        "When a queue is paused, the acknowledgment counts no recoverable message.",
        "SessionHeader.RecoverableMsgSeqNumber",
        lambda old: 0,
    ),
    (
        "pause-ack-of-one-flag",
        "MQQB-3.1.7.13-07",
        "When a queue is paused, only bit 0 of the flags is sent.",
        "SessionHeader.RecoverableMsgAckFlags",
        lambda old: old & 1,
    ),
    (
        "pause-ack-keeps-window",
        "MQQB-3.1.7.13-08",
        "When a queue is paused, the acknowledgment has the usual window.",
        "SessionHeader.WindowSize",
        lambda old: 64,
    ),
)
for _name, _rule, _says, _field, _change in _FIELDS:
    add(_name, _rule, _says, _acknowledged(_field, _change))


# -- the state that it leaves --------------------------------------------------------------------------------------


def _left(element: str, value: object) -> Install:
    class Left(Administering):
        def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
            super().pause_queue(queue, now)
            setattr(queue.session, element, value)

    return replace_part(Left)


_ELEMENTS: tuple[tuple[str, str, str, str, object], ...] = (
    (
        "pause-flags-kept",
        "MQQB-3.1.7.13-10",
        "When a queue is paused, the flags stay as they are.",
        "RecoverableMsgAckFlags",
        0b11,
    ),
    (
        "pause-unacknowledged-kept",
        "MQQB-3.1.7.13-11",
        "When a queue is paused, messages stay unacknowledged.",
        "UnackedReceivedMsgCount",
        3,
    ),
    (
        "pause-last-recoverable-forgotten",
        "MQQB-3.1.7.13-11",
        "When a queue is paused, the last acknowledged recoverable message is forgotten.",
        "LastAckedRecoverableMsgSeqNumber",
        0,
    ),
    (
        "pause-session-stays-active",
        "MQQB-3.1.7.13-12",
        "When a queue is paused, the session stays active.",
        "SessionActive",
        True,
    ),
)
for _name, _rule, _says, _element, _value in _ELEMENTS:
    add(_name, _rule, _says, _left(_element, _value))


@fault(
    "pause-queue-still-connected",
    breaks=("MQQB-3.1.7.13-13", "MQDMPR-3.1.7.1.34-03", "MQDMPR-3.1.4.14-03", "MQDMPR-3.1.7.2.3-03"),
)
class QueueStillConnected(Administering):
    """When a queue is paused, State is not OnHold."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().pause_queue(queue, now)
        queue.State = OutgoingQueueState.CONNECTED


add(
    "pause-does-nothing",
    (
        "MQQB-3.1.7.13-03",
        "MQQB-3.1.7.13-08",
        "MQQB-3.1.7.13-13",
        "MQDMPR-3.1.7.1.34-03",
        "MQDMPR-3.1.4.14-03",
        "MQDMPR-3.1.7.2.3-03",
    ),
    "When a queue is paused, nothing happens.",
    skip(Administering.pause_queue),
)
