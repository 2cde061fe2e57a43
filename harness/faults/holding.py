"""Faults of pausing and resuming outgoing queues. Spec: MS-MQQB 3.1.7.13, 3.1.7.14."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import Method
from harness.faults.primitives import afterwards, during, procedure, set_fields, skip
from harness.faults.registry import Install, add
from reference_qm.core.protocol.administering import Administering
from reference_qm.core.protocol.establishing import Establishing
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.states import OutgoingQueueState
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

Original = Callable[..., Any]

LATER_MS = 500


def _header(name: str, change: Callable[[int], int]) -> Install:
    """Let the acknowledgment of a pause have another field of SessionHeader."""
    changes = {f"SessionHeader.{name}": change}
    return procedure(
        Administering.build_pause_ack, lambda original: lambda *given: set_fields(original(*given), changes)
    )


def _element(procedure_name: Method, name: str, value: object) -> Install:
    """Set an element of the session when its queue was paused or resumed."""
    return afterwards(procedure_name, lambda qm, queue, now: setattr(queue.session, name, value))


def _timer_runs(qm: QueueManager, queue: OutgoingQueue, now: Now) -> None:
    qm.session_timers.start(queue.session, TimerName.SESSION_ACK_SEND, LATER_MS, now)


def _still_connected(qm: QueueManager, queue: OutgoingQueue, now: Now) -> None:
    queue.State = OutgoingQueueState.CONNECTED


def _nothing(*_: Any) -> None:
    return None


def _without(name: Method) -> Install:
    """Leave a procedure out while a queue is resumed."""
    return during(Administering.resume_queue, name, lambda original, *_: _nothing)


for _name, _rules, _says, _install in (
    ("timer-runs-on", "01", "the Session Ack Send Timer runs on", afterwards(Administering.pause_queue, _timer_runs)),
    (
        "ack-of-fewer",
        "03",
        "the acknowledgment leaves a message out",
        _header("AckSequenceNumber", lambda old: old - 1),
    ),
    (
        "ack-of-another-recoverable",
        "04",
        "the acknowledgment names the recoverable message after the lowest",
        _header("RecoverableMsgAckSeqNumber", lambda old: old + 1),
    ),
    (
        "ack-counts-none-sent",
        "05",
        "the acknowledgment counts no message",
        _header("UserMsgSequenceNumber", lambda _: 0),
    ),
    (
        "ack-counts-no-recoverable-sent",
        "06",
        "the acknowledgment counts no recoverable message",
        _header("RecoverableMsgSeqNumber", lambda _: 0),
    ),
    (
        "ack-of-one-flag",
        "07",
        "only bit 0 of the flags is sent",
        _header("RecoverableMsgAckFlags", lambda old: old & 1),
    ),
    ("ack-keeps-window", "08", "the acknowledgment has the usual window", _header("WindowSize", lambda _: 64)),
    (
        "flags-kept",
        "10",
        "the flags stay as they are",
        _element(Administering.pause_queue, "RecoverableMsgAckFlags", 0b11),
    ),
    (
        "unacknowledged-kept",
        "11",
        "messages stay unacknowledged",
        _element(Administering.pause_queue, "UnackedReceivedMsgCount", 3),
    ),
    (
        "last-recoverable-forgotten",
        "11",
        "the last acknowledged recoverable message is forgotten",
        _element(Administering.pause_queue, "LastAckedRecoverableMsgSeqNumber", 0),
    ),
    (
        "session-stays-active",
        "12",
        "the session stays active",
        _element(Administering.pause_queue, "SessionActive", True),
    ),
    ("queue-still-connected", "13", "State is not OnHold", afterwards(Administering.pause_queue, _still_connected)),
    ("does-nothing", "03 08 13", "nothing happens", skip(Administering.pause_queue)),
):
    add(
        f"pause-{_name}",
        [f"MQQB-3.1.7.13-{rule}" for rule in _rules.split()],
        f"When a queue is paused, {_says}.",
        _install,
    )

for _name, _rules, _says, _install in (
    ("connects-not", "01 03", "no session is established", _without(Establishing.establish)),
    ("dispatches-not", "02 04", "messages that wait are not sent", _without(Sending.dispatch_messages)),
    (
        "session-not-active",
        "07",
        "the session is not active",
        _element(Administering.resume_queue, "SessionActive", False),
    ),
):
    add(
        f"resume-{_name}",
        [f"MQQB-3.1.7.14-{rule}" for rule in _rules.split()],
        f"When a queue is resumed, {_says}.",
        _install,
    )
