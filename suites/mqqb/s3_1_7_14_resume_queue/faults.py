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
    "resume-connects-not",
    ("MQQB-3.1.7.14-01", "MQQB-3.1.7.14-03", "MQDMPR-3.1.4.15-03"),
    "When a queue is resumed, no session is established.",
    skip_during(Administering.resume_queue, Establishing.establish),
)
add(
    "resume-dispatches-not",
    ("MQQB-3.1.7.14-02", "MQQB-3.1.7.14-04", "MQDMPR-3.1.4.15-03"),
    "When a queue is resumed, messages that wait are not sent.",
    skip_during(Administering.resume_queue, Sending.dispatch_messages),
)


@fault("resume-session-not-active", breaks="MQQB-3.1.7.14-07")
class SessionNotActive(Administering):
    """When a queue is resumed, the session is not active."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().resume_queue(queue, now)
        queue.session.SessionActive = False


add(
    "resumed-queue-keeps-express-messages",
    "MQQB-3.1.7.14-04",
    "After the resumption of a queue only its recoverable messages are sent.",
    during(
        Administering.resume_queue,
        DispatchCollection.add,
        lambda original, *_: (
            lambda qm, session, position: original(qm, session, position) if position.recoverable else None
        ),
    ),
    blind=True,
)
