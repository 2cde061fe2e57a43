"""Faults that break rules of MS-MQQB 3.1.7.13 Pause Queue Event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, fault, replace_part
from harness.faults.primitives import omit_step, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import ConnectionParametersPacket, SessionAckPacket, SessionHeader
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import OutgoingQueue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

_RESTARTED_ACK_SEND_TIMER_MS = 500


@fault("pause-session-ack-leaves-send-timer-running", breaks="MQQB-3.1.7.13-01")
class PauseSessionAckLeavesSendTimerRunning(TransferAdministering):
    """The queue manager does not stop the Session Ack Send Timer when an outgoing queue is paused."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().pause_queue(queue, now)
        self.qm.session_timers.start(queue.session, TimerName.SESSION_ACK_SEND, _RESTARTED_ACK_SEND_TIMER_MS, now)


def _change_pause_ack_header(change: Callable[[Any, Any, SessionHeader], SessionHeader]) -> Install:
    def run(self: Any, original: Any, session: Any) -> Any:
        packet = original(session)
        return replace(packet, SessionHeader=change(self, session, packet.SessionHeader))

    return change_step(TransferAdministering.build_pause_ack, run)


def _change_queue_after_pause(change: Callable[[Any, Any, Any], None]) -> Install:
    def run(self: Any, original: Any, queue: Any, now: Any) -> None:
        original(queue, now)
        change(self, queue, now)

    return change_step(TransferAdministering.pause_queue, run)


def _clear_ack_state_of_other_sessions(self: Any, queue: Any, now: Any) -> None:
    for session in self.qm.sessions.values():
        if session is not queue.session:
            session.UnackedReceivedMsgCount = 0
            session.RecoverableMsgAckFlags = 0
            self.qm.timers.stop(TimerKey(TimerName.SESSION_ACK_SEND, session.number))


def _send_recoverable_from_paused_queue(self: Any, original: Any, session: Any, position: Any, now: Any) -> None:
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
        _change_queue_after_pause(_clear_ack_state_of_other_sessions),
    ),
    (
        "sender-pause-session-ack-counts-only-recoverable",
        "MQQB-3.1.7.13-03",
        "The SessionAck of a pause acknowledges only as many messages as recoverable messages were received.",
        _change_pause_ack_header(
            lambda self, session, header: replace(header, AckSequenceNumber=session.RecoverableMessageReceivedCount)
        ),
    ),
    (
        "sender-pause-session-ack-without-flags-acknowledges-0",
        "MQQB-3.1.7.13-03",
        "The SessionAck of a pause has AckSequenceNumber 0 when no recoverable message was received.",
        _change_pause_ack_header(
            lambda self, session, header: (
                header if header.RecoverableMsgAckFlags else replace(header, AckSequenceNumber=0)
            )
        ),
    ),
    (
        "sender-pause-session-ack-recoverable-number-1",
        "MQQB-3.1.7.13-04",
        "The SessionAck of a pause has RecoverableMsgAckSeqNumber 1 even if message 1 was acknowledged before.",
        _change_pause_ack_header(
            lambda self, session, header: (
                replace(header, RecoverableMsgAckSeqNumber=1) if header.RecoverableMsgAckFlags else header
            )
        ),
    ),
    (
        "sender-pause-session-ack-sent-count-of-unacknowledged",
        "MQQB-3.1.7.13-05",
        "UserMsgSequenceNumber of the SessionAck of a pause counts only unacknowledged messages.",
        _change_pause_ack_header(
            lambda self, session, header: replace(header, UserMsgSequenceNumber=session.UnAckedMessageCount)
        ),
    ),
    (
        "sender-pause-session-ack-recoverable-count-of-all",
        "MQQB-3.1.7.13-06",
        "RecoverableMsgSeqNumber of the SessionAck of a pause counts also express messages.",
        _change_pause_ack_header(
            lambda self, session, header: replace(header, RecoverableMsgSeqNumber=header.UserMsgSequenceNumber)
        ),
    ),
    (
        "sender-pause-session-ack-sent-count-of-recoverable",
        "MQQB-3.1.7.13-05",
        "UserMsgSequenceNumber of the SessionAck of a pause counts only recoverable messages.",
        _change_pause_ack_header(
            lambda self, session, header: replace(header, UserMsgSequenceNumber=header.RecoverableMsgSeqNumber)
        ),
    ),
    (
        "sender-pause-session-ack-flags-of-first-message",
        "MQQB-3.1.7.13-07",
        "RecoverableMsgAckFlags of the SessionAck of a pause has at most the lowest bit.",
        _change_pause_ack_header(
            lambda self, session, header: replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 1)
        ),
    ),
    (
        "sender-pause-session-ack-flags-of-four-messages",
        "MQQB-3.1.7.13-07",
        "RecoverableMsgAckFlags of the SessionAck of a pause has at most four bits.",
        _change_pause_ack_header(
            lambda self, session, header: replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 15)
        ),
    ),
    (
        "sender-pause-session-ack-window-2-with-flags",
        "MQQB-3.1.7.13-08",
        "WindowSize of the SessionAck of a pause is 2 when recoverable messages are acknowledged.",
        _change_pause_ack_header(
            lambda self, session, header: replace(header, WindowSize=2) if header.RecoverableMsgAckFlags else header
        ),
    ),
    (
        "sender-pause-session-ack-window-normal-for-second-pause",
        "MQQB-3.1.7.13-08",
        "WindowSize of the SessionAck of a pause is 1 only at the first pause of a session.",
        _change_pause_ack_header(
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
        change_step(MessageSending.add_message_to_session_table, _send_recoverable_from_paused_queue),
    ),
    (
        "sender-pause-leaves-session-active-after-flags",
        "MQQB-3.1.7.13-12",
        "The queue manager leaves SessionActive TRUE when it pauses a queue whose session awaits acknowledgments.",
        _change_queue_after_pause(
            lambda self, queue, now: setattr(queue.session, "SessionActive", queue.session.UnAckedMessageCount > 0)
        ),
    ),
):
    add(_name, _breaks, _says, _install, blind=True)


def _change_pause_ack_field(field: str, change: Callable[[int], int]) -> Install:
    class ChangedPauseAck(TransferAdministering):
        def build_pause_ack(self, session: Session) -> SessionAckPacket:
            packet: SessionAckPacket = set_fields(super().build_pause_ack(session), {field: change})
            return packet

    return replace_part(ChangedPauseAck)


_PAUSE_SESSION_ACK_FIELD_FAULTS: tuple[tuple[str, str, str, str, Callable[[int], int]], ...] = (
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


for _name, _rule, _says, _field, _change in _PAUSE_SESSION_ACK_FIELD_FAULTS:
    add(_name, _rule, _says, _change_pause_ack_field(_field, _change))


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
    omit_step(TransferAdministering.pause_queue),
)


@fault("sender-pause-session-ack-omitted-without-new-received-message", breaks="MQQB-3.1.7.13-03", blind=True)
class SenderPauseSessionAckOmittedWithoutNewReceivedMessage(TransferAdministering):
    """The queue manager sends no SessionAck when it pauses a queue whose session received no new message."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        session = queue.session
        if session.MessageReceivedCount and not session.UnackedReceivedMsgCount:
            queue.State = type(queue.State).ON_HOLD
            session.SessionActive = False
            self.qm.dispatch_collection.remove_queue(queue)
            return
        super().pause_queue(queue, now)


@fault(
    "sender-second-pause-session-ack-repeats-counts-of-first",
    breaks=("MQQB-3.1.7.13-04", "MQQB-3.1.7.13-05", "MQQB-3.1.7.13-06", "MQQB-3.1.7.13-07"),
    blind=True,
)
class SenderSecondPauseSessionAckRepeatsCountsOfFirst(TransferAdministering):
    """In the SessionAck that the queue manager sends for the second and each later pause of a queue, it repeats the
    counts and flags of the first such SessionAck, except AckSequenceNumber.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[int, SessionHeader] = {}

    def build_pause_ack(self, session: Session) -> SessionAckPacket:
        packet = super().build_pause_ack(session)
        first = self.first.setdefault(session.number, packet.SessionHeader)
        number = packet.SessionHeader.AckSequenceNumber
        return replace(packet, SessionHeader=replace(first, AckSequenceNumber=number))


@fault("pause-session-ack-of-empty-queue-has-normal-window-size", breaks="MQQB-3.1.7.13-08", blind=True)
class PauseSessionAckOfEmptyQueueHasNormalWindowSize(TransferAdministering):
    """When a queue without messages is paused, WindowSize of the SessionAck for this pause is the usual WindowSize of
    the session.
    """

    def build_pause_ack(self, session: Session) -> SessionAckPacket:
        if len(session.OutgoingMessageTable):
            return super().build_pause_ack(session)
        return self.qm.session_acks.build(session)


def _set_session_element_after_pause(element: str, value: object) -> Install:
    class SessionElementSetAfterPause(TransferAdministering):
        def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
            super().pause_queue(queue, now)
            setattr(queue.session, element, value)

    return replace_part(SessionElementSetAfterPause)


_ELEMENT_AFTER_PAUSE_FAULTS: tuple[tuple[str, str, str, str, object], ...] = (
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


for _name, _rule, _says, _element, _value in _ELEMENT_AFTER_PAUSE_FAULTS:
    add(_name, _rule, _says, _set_session_element_after_pause(_element, _value))


@fault("sender-second-pause-leaves-recoverable-msg-ack-flags", breaks="MQQB-3.1.7.13-10", blind=True)
class SenderSecondPauseLeavesRecoverableMsgAckFlags(TransferAdministering):
    """The queue manager does not clear RecoverableMsgAckFlags at the second or a later pause."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.paused: set[int] = set()

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        session = queue.session
        flags = session.RecoverableMsgAckFlags
        super().pause_queue(queue, now)
        if session.number in self.paused:
            session.RecoverableMsgAckFlags = flags
        self.paused.add(session.number)


@fault("sender-second-pause-leaves-unacked-received-msg-count", breaks="MQQB-3.1.7.13-11", blind=True)
class SenderSecondPauseLeavesUnackedReceivedMsgCount(TransferAdministering):
    """At the second or a later pause, the queue manager does not reset UnackedReceivedMsgCount, and does not stop the
    Session Ack Send Timer.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.paused: set[int] = set()

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        session = queue.session
        count, last = session.UnackedReceivedMsgCount, session.LastAckedRecoverableMsgSeqNumber
        super().pause_queue(queue, now)
        if session.number in self.paused:
            session.UnackedReceivedMsgCount, session.LastAckedRecoverableMsgSeqNumber = count, last
        self.paused.add(session.number)


@fault("sender-pause-of-queue-with-waiting-messages-keeps-session-active", breaks="MQQB-3.1.7.13-12", blind=True)
class SenderPauseOfQueueWithWaitingMessagesKeepsSessionActive(TransferAdministering):
    """The queue manager leaves SessionActive TRUE when it pauses a queue that has messages."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        active = queue.session.SessionActive
        super().pause_queue(queue, now)
        if len(queue.session.OutgoingMessageTable):
            queue.session.SessionActive = active


@fault(
    "paused-queue-state-stays-connected",
    breaks=("MQQB-3.1.7.13-13", "MQDMPR-3.1.7.1.34-03", "MQDMPR-3.1.4.14-03", "MQDMPR-3.1.7.2.3-03"),
)
class PausedQueueStateStaysConnected(TransferAdministering):
    """The queue manager leaves State of a paused outgoing queue at Connected."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().pause_queue(queue, now)
        queue.State = OutgoingQueueState.CONNECTED


@fault("sender-queue-paused-while-connecting-leaves-state-on-hold", breaks="MQQB-3.1.7.13-13", blind=True)
class SenderQueuePausedWhileConnectingLeavesStateOnHold(SessionOpening):
    """When a session opens, the queue manager changes State of the queue from OnHold to another value if the queue was
    paused while the session was being established.
    """

    def receive_parameters_response(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        super().receive_parameters_response(session, packet, now)
        if not packet.InternalHeader.CS:
            get_outgoing_queue(session).State = OutgoingQueueState.CONNECTED


@fault("sender-pauses-every-outgoing-queue-when-one-is-paused", breaks="MQQB-3.1.7.13-13", blind=True)
class SenderPausesEveryOutgoingQueueWhenOneIsPaused(TransferAdministering):
    """The queue manager pauses every outgoing queue when one outgoing queue is paused."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().pause_queue(queue, now)
        for other in self.qm.adm.OutgoingQueues.values():
            other.State = queue.State
            self.qm.dispatch_collection.remove_queue(other)


@fault("queue-manager-second-pause-sends-window-size-of-session", breaks="MQQB-3.1.7.13-08", blind=True)
class QueueManagerSecondPauseSendsWindowSizeOfSession(TransferAdministering):
    """When a queue is paused for the second time, WindowSize of the SessionAck is the WindowSize of the session."""

    paused: Any = frozenset()

    def build_pause_ack(self, session: Session) -> SessionAckPacket:
        if session.number in self.paused:
            return self.qm.session_acks.build(session)
        self.paused |= {session.number}
        return super().build_pause_ack(session)


@fault("sender-session-active-after-pause-that-acknowledges-messages", breaks="MQQB-3.1.7.13-12", blind=True)
class SenderSessionActiveAfterPauseThatAcknowledgesMessages(TransferAdministering):
    """When a queue is paused and the SessionAck for this pause acknowledges messages that have arrived on the session,
    the queue manager leaves SessionActive at TRUE.
    """

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        session = queue.session
        acknowledges = session.SessionState is SessionState.OPEN and session.UnackedReceivedMsgCount > 0
        super().pause_queue(queue, now)
        if acknowledges:
            session.SessionActive = True
