"""Faults of MS-MQQB 3.1.7.14 Resume Queue Event."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import during, skip_during
from harness.faults.registry import add
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.transfer.administering import Administering
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingQueue
from reference_qm.surface.clock import Now

add(
    "initiator-resumed-queue-not-connected",
    ("MQQB-3.1.7.14-01", "MQQB-3.1.7.14-03", "MQDMPR-3.1.4.15-03"),
    "The initiator establishes no session when an outgoing queue with messages is resumed.",
    skip_during(Administering.resume_queue, Establishing.establish),
)
add(
    "any-resumed-queue-not-dispatched",
    ("MQQB-3.1.7.14-02", "MQQB-3.1.7.14-04", "MQDMPR-3.1.4.15-03"),
    "The queue manager does not send the waiting messages of a resumed outgoing queue.",
    skip_during(Administering.resume_queue, Sending.dispatch_messages),
)


@fault("resume-of-queue-leaves-session-active-false", breaks="MQQB-3.1.7.14-07")
class ResumeOfQueueLeavesSessionActiveFalse(Administering):
    """The queue manager sets SessionActive to FALSE when an outgoing queue is resumed."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().resume_queue(queue, now)
        queue.session.SessionActive = False


add(
    "any-resumed-queue-express-messages-not-dispatched",
    "MQQB-3.1.7.14-04",
    "The queue manager sends only the recoverable messages of a resumed outgoing queue.",
    during(
        Administering.resume_queue,
        DispatchCollection.add,
        lambda original, *_: (
            lambda qm, session, position: original(qm, session, position) if position.recoverable else None
        ),
    ),
    blind=True,
)
