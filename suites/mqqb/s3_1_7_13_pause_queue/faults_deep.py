"""Faults of MS-MQQB 3.1.7.13 Pause Queue Event that only special cases reveal: second occurrences, other causes,
boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket, SessionHeader
from reference_qm.core.part import QM
from reference_qm.core.transfer.administering import Administering
from reference_qm.model.adm import OutgoingQueue, Session
from reference_qm.surface.clock import Now


@fault("sender-pause-pauses-every-queue", breaks="MQQB-3.1.7.13-13", blind=True)
class SenderPausePausesEveryQueue(Administering):
    """The queue manager pauses every outgoing queue when one outgoing queue is paused."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().pause_queue(queue, now)
        for other in self.qm.adm.OutgoingQueues.values():
            other.State = queue.State
            self.qm.dispatch_collection.remove_queue(other)


@fault("sender-second-pause-of-session-without-session-ack", breaks="MQQB-3.1.7.13-03", blind=True)
class SenderSecondPauseOfSessionWithoutSessionAck(Administering):
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
    "sender-second-pause-with-counts-of-first",
    breaks=("MQQB-3.1.7.13-04", "MQQB-3.1.7.13-05", "MQQB-3.1.7.13-06", "MQQB-3.1.7.13-07"),
    blind=True,
)
class SenderSecondPauseWithCountsOfFirst(Administering):
    """In the SessionAck of a second or later pause, the queue manager repeats the counts and flags of the first pause's
    SessionAck, except AckSequenceNumber.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[int, SessionHeader] = {}

    def build_pause_ack(self, session: Session) -> SessionAckPacket:
        packet = super().build_pause_ack(session)
        first = self.first.setdefault(session.number, packet.SessionHeader)
        number = packet.SessionHeader.AckSequenceNumber
        return replace(packet, SessionHeader=replace(first, AckSequenceNumber=number))


@fault("sender-pause-of-queue-with-waiting-messages-keeps-session-active", breaks="MQQB-3.1.7.13-12", blind=True)
class SenderPauseOfQueueWithWaitingMessagesKeepsSessionActive(Administering):
    """The queue manager leaves SessionActive TRUE when it pauses a queue that has messages."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        active = queue.session.SessionActive
        super().pause_queue(queue, now)
        if len(queue.session.OutgoingMessageTable):
            queue.session.SessionActive = active


@fault("sender-second-pause-leaves-flags", breaks="MQQB-3.1.7.13-10", blind=True)
class SenderSecondPauseLeavesFlags(Administering):
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


@fault("sender-second-pause-leaves-unacked-count", breaks="MQQB-3.1.7.13-11", blind=True)
class SenderSecondPauseLeavesUnackedCount(Administering):
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
