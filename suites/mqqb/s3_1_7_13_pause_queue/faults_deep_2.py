"""Faults of MS-MQQB 3.1.7.13 Pause Queue Event with a condition: earlier acknowledgments, other sessions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.codec import SessionHeader
from reference_qm.core.transfer.administering import Administering
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.states import OutgoingQueueState
from reference_qm.model.timers import TimerKey, TimerName


def _change_header(change: Callable[[Any, Any, SessionHeader], SessionHeader]) -> Install:
    def run(self: Any, original: Any, session: Any) -> Any:
        packet = original(session)
        return replace(packet, SessionHeader=change(self, session, packet.SessionHeader))

    return change_step(Administering.build_pause_ack, run)


def _after_pause(change: Callable[[Any, Any, Any], None]) -> Install:
    def run(self: Any, original: Any, queue: Any, now: Any) -> None:
        original(queue, now)
        change(self, queue, now)

    return change_step(Administering.pause_queue, run)


def _clear_other_sessions(self: Any, queue: Any, now: Any) -> None:
    for session in self.qm.sessions.values():
        if session is not queue.session:
            session.UnackedReceivedMsgCount = 0
            session.RecoverableMsgAckFlags = 0
            self.qm.timers.stop(TimerKey(TimerName.SESSION_ACK_SEND, session.number))


def _keep_window(self: Any, original: Any, session: Any) -> Any:
    session.WindowSize = 1
    return original(session)


def _send_recoverable(self: Any, original: Any, session: Any, position: Any, now: Any) -> None:
    queue = session.OutgoingQueueReference
    held = queue is not None and queue.State is OutgoingQueueState.ON_HOLD
    if held and position.recoverable and session.SessionState.name == "OPEN":
        queue.State = OutgoingQueueState.CONNECTED
        original(session, position, now)
        queue.State = OutgoingQueueState.ON_HOLD
    else:
        original(session, position, now)


for _name, _breaks, _says, _install in (
    (
        "sender-pause-stops-timers-of-all-sessions",
        ("MQQB-3.1.7.13-01", "MQQB-3.1.7.13-11"),
        "The queue manager stops the acknowledgments of all other sessions when it pauses a queue.",
        _after_pause(_clear_other_sessions),
    ),
    (
        "sender-pause-session-ack-counts-only-recoverable",
        "MQQB-3.1.7.13-03",
        "The SessionAck of a pause acknowledges only as many messages as recoverable messages were received.",
        _change_header(
            lambda self, session, header: replace(header, AckSequenceNumber=session.RecoverableMessageReceivedCount)
        ),
    ),
    (
        "sender-pause-session-ack-without-flags-acknowledges-0",
        "MQQB-3.1.7.13-03",
        "The SessionAck of a pause has AckSequenceNumber 0 when no recoverable message was received.",
        _change_header(
            lambda self, session, header: (
                header if header.RecoverableMsgAckFlags else replace(header, AckSequenceNumber=0)
            )
        ),
    ),
    (
        "sender-pause-session-ack-recoverable-number-1",
        "MQQB-3.1.7.13-04",
        "The SessionAck of a pause has RecoverableMsgAckSeqNumber 1 even if message 1 was acknowledged before.",
        _change_header(
            lambda self, session, header: (
                replace(header, RecoverableMsgAckSeqNumber=1) if header.RecoverableMsgAckFlags else header
            )
        ),
    ),
    (
        "sender-pause-session-ack-sent-count-of-unacknowledged",
        "MQQB-3.1.7.13-05",
        "UserMsgSequenceNumber of the SessionAck of a pause counts only unacknowledged messages.",
        _change_header(
            lambda self, session, header: replace(header, UserMsgSequenceNumber=session.UnAckedMessageCount)
        ),
    ),
    (
        "sender-pause-session-ack-recoverable-count-of-all",
        "MQQB-3.1.7.13-06",
        "RecoverableMsgSeqNumber of the SessionAck of a pause counts also express messages.",
        _change_header(
            lambda self, session, header: replace(header, RecoverableMsgSeqNumber=header.UserMsgSequenceNumber)
        ),
    ),
    (
        "sender-pause-session-ack-sent-count-of-recoverable",
        "MQQB-3.1.7.13-05",
        "UserMsgSequenceNumber of the SessionAck of a pause counts only recoverable messages.",
        _change_header(
            lambda self, session, header: replace(header, UserMsgSequenceNumber=header.RecoverableMsgSeqNumber)
        ),
    ),
    (
        "sender-pause-session-ack-flags-of-first-message",
        "MQQB-3.1.7.13-07",
        "RecoverableMsgAckFlags of the SessionAck of a pause has at most the lowest bit.",
        _change_header(
            lambda self, session, header: replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 1)
        ),
    ),
    (
        "sender-pause-session-ack-flags-of-four-messages",
        "MQQB-3.1.7.13-07",
        "RecoverableMsgAckFlags of the SessionAck of a pause has at most four bits.",
        _change_header(
            lambda self, session, header: replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 15)
        ),
    ),
    (
        "sender-pause-session-ack-window-2-with-flags",
        "MQQB-3.1.7.13-08",
        "WindowSize of the SessionAck of a pause is 2 when recoverable messages are acknowledged.",
        _change_header(
            lambda self, session, header: replace(header, WindowSize=2) if header.RecoverableMsgAckFlags else header
        ),
    ),
    (
        "sender-pause-session-ack-window-normal-for-second-pause",
        "MQQB-3.1.7.13-08",
        "WindowSize of the SessionAck of a pause is 1 only at the first pause of a session.",
        _change_header(
            lambda self, session, header: (
                replace(header, WindowSize=session.WindowSize)
                if session.number in self.__dict__.setdefault("paused", set())
                else (self.__dict__["paused"].add(session.number), header)[1]
            )
        ),
    ),
    (
        "sender-recoverable-message-to-paused-queue-sent",
        "MQQB-3.1.7.13-13",
        "The queue manager sends a recoverable message that an application sends to a paused queue.",
        change_step(Sending.put_outgoing, _send_recoverable),
    ),
    (
        "sender-pause-leaves-session-active-after-flags",
        "MQQB-3.1.7.13-12",
        "The queue manager leaves SessionActive TRUE when it pauses a queue whose session awaits acknowledgments.",
        _after_pause(
            lambda self, queue, now: setattr(queue.session, "SessionActive", queue.session.UnAckedMessageCount > 0)
        ),
    ),
):
    add(_name, _breaks, _says, _install, blind=True)
