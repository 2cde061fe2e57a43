"""Faults that break rules of MS-MQQB 3.1.7.14 Resume Queue Event."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import omit_step_during, replace_method_during
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.sessions.dispatch_collection import DispatchCollection
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now

add(
    "initiator-resumed-queue-not-connected",
    ("MQQB-3.1.7.14-01", "MQQB-3.1.7.14-03", "MQDMPR-3.1.4.15-03"),
    "The initiator establishes no session when an outgoing queue with messages is resumed.",
    omit_step_during(TransferAdministering.resume_queue, SessionEstablishing.establish),
)


@fault(
    "initiator-resumed-queue-of-lost-session-not-connected", breaks=("MQQB-3.1.7.14-01", "MQQB-3.1.7.14-03"), blind=True
)
class InitiatorResumedQueueOfLostSessionNotConnected(TransferAdministering):
    """The initiator does not connect for a resumed queue whose session was lost while the queue was paused."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        held = queue.State is OutgoingQueueState.ON_HOLD
        if held and queue.session.SessionState is SessionState.CLOSED and queue.ConnectionHistory:
            queue.State = OutgoingQueueState.INACTIVE
            return
        super().resume_queue(queue, now)


add(
    "any-resumed-queue-not-dispatched",
    ("MQQB-3.1.7.14-02", "MQQB-3.1.7.14-04", "MQDMPR-3.1.4.15-03"),
    "The queue manager does not send the waiting messages of a resumed outgoing queue.",
    omit_step_during(TransferAdministering.resume_queue, MessageSending.dispatch_messages),
)


@fault("sender-resume-omits-messages-put-while-queue-was-paused", breaks="MQQB-3.1.7.14-02", blind=True)
class SenderResumeOmitsMessagesPutWhileQueueWasPaused(TransferAdministering):
    """The sender does not dispatch the recoverable messages that an application put into the queue while the queue was
    paused.
    """

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        table = queue.session.OutgoingMessageTable
        held = [one for one in table if not one.AwaitingAck and one.recoverable]
        if queue.State is OutgoingQueueState.ON_HOLD:
            for position in held:
                table.keep_message_until_order_ack(position)
                position.ReceivedSessionAck = True
        super().resume_queue(queue, now)


@fault("sender-second-resume-dispatches-nothing", breaks=("MQQB-3.1.7.14-02", "MQQB-3.1.7.14-04"), blind=True)
class SenderSecondResumeDispatchesNothing(TransferAdministering):
    """The sender dispatches the waiting messages only when a queue is resumed for the first time."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.resumed: set[int] = set()

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        held = queue.State is OutgoingQueueState.ON_HOLD
        if held and queue.session.number in self.resumed and queue.session.SessionState is SessionState.OPEN:
            queue.State = OutgoingQueueState.CONNECTED
            return
        super().resume_queue(queue, now)
        if held:
            self.resumed.add(queue.session.number)


add(
    "any-resumed-queue-express-messages-not-dispatched",
    "MQQB-3.1.7.14-04",
    "The queue manager sends only the recoverable messages of a resumed outgoing queue.",
    replace_method_during(
        TransferAdministering.resume_queue,
        DispatchCollection.add,
        lambda original, *_: (
            lambda qm, session, position: original(qm, session, position) if position.recoverable else None
        ),
    ),
    blind=True,
)


@fault("sender-resumed-queue-sends-first-message-only", breaks="MQQB-3.1.7.14-04", blind=True)
class SenderResumedQueueSendsFirstMessageOnly(TransferAdministering):
    """The sender dispatches only the first waiting message of a resumed queue."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        waiting = [one for one in queue.session.OutgoingMessageTable if not one.AwaitingAck]
        held = queue.State is OutgoingQueueState.ON_HOLD
        super().resume_queue(queue, now)
        if held and queue.session.SessionState is not SessionState.OPEN:
            queue.session.OutgoingMessageTable.withhold_all_positions()
            for position in waiting[:1]:
                self.qm.dispatch_collection.add(queue.session, position)


@fault("sender-resume-omits-transactional-messages", breaks="MQQB-3.1.7.14-04", blind=True)
class SenderResumeOmitsTransactionalMessages(TransferAdministering):
    """The sender does not dispatch the transactional messages when a queue is resumed."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        table = queue.session.OutgoingMessageTable
        if queue.State is OutgoingQueueState.ON_HOLD:
            for position in [one for one in table if one.TxSequenceNumber and not one.AwaitingAck]:
                table.keep_message_until_order_ack(position)
                position.ReceivedSessionAck = True
        super().resume_queue(queue, now)


@fault("resume-of-queue-leaves-session-active-false", breaks="MQQB-3.1.7.14-07")
class ResumeOfQueueLeavesSessionActiveFalse(TransferAdministering):
    """The queue manager sets SessionActive to FALSE when an outgoing queue is resumed."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        super().resume_queue(queue, now)
        queue.session.SessionActive = False


@fault("session-active-of-open-session-not-set-by-resume", breaks="MQQB-3.1.7.14-07", blind=True)
class SessionActiveOfOpenSessionNotSetByResume(TransferAdministering):
    """The queue manager does not set SessionActive when it resumes a queue whose session is open."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        was_open = queue.session.SessionState is SessionState.OPEN
        active = queue.session.SessionActive
        super().resume_queue(queue, now)
        if was_open:
            queue.session.SessionActive = active
