"""Faults of MS-MQQB 3.1.7.13 Pause Queue Event that only special cases show: second occurrences, other causes, boundary
values.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.administering import Administering
from reference_qm.model.adm import OutgoingQueue
from reference_qm.surface.clock import Now


@fault("sender-pause-pauses-every-queue", breaks="MQQB-3.1.7.13-13", blind=True)
class PausesAll(Administering):
    """The queue manager pauses every outgoing queue when one outgoing queue is paused."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().pause_queue(queue, now)
        for other in self.qm.adm.OutgoingQueues.values():
            other.State = queue.State
            self.qm.dispatch_collection.remove_queue(other)


@fault("sender-second-pause-of-session-without-session-ack", breaks="MQQB-3.1.7.13-03", blind=True)
class SecondWithoutAck(Administering):
    """The queue manager sends no SessionAck when it pauses a queue whose session received no new message."""

    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        session = queue.session
        if session.MessageReceivedCount and not session.UnackedReceivedMsgCount:
            queue.State = type(queue.State).ON_HOLD
            session.SessionActive = False
            self.qm.dispatch_collection.remove_queue(queue)
            return
        super().pause_queue(queue, now)
