"""Faults in the use cases of an application while an outgoing queue is paused."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.data_model_inspection import DataModelInspection
from reference_qm.core.errors import CommandError
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import Message, OutgoingMessagePosition, OutgoingQueue, Queue, Session
from reference_qm.model.states import OutgoingQueueState
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-query-of-outgoing-queue-resumes-queue", breaks="MQSO-3.3.4.2-D01", blind=True)
class QueueManagerQueryOfOutgoingQueueResumesQueue(DataModelInspection):
    """A query of an outgoing queue resumes the queue if it is paused."""

    def get_outgoing_queue(self, request: commands.GetOutgoingQueue, token: int, now: Now) -> Result:
        found = super().get_outgoing_queue(request, token, now)
        for queue in list(self.qm.adm.OutgoingQueues.values()):
            if queue.DestinationFormatName.lower() == request.to.lower():
                self.qm.transfer_administering.resume_queue(queue, now)
        return found


@fault("queue-manager-send-to-paused-outgoing-queue-refused", breaks="MQSO-3.3.4.3-D01", blind=True)
class QueueManagerSendToPausedOutgoingQueueRefused(MessageEnqueueing):
    """The queue manager returns an error for a message whose outgoing queue is paused."""

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Result, now: Now) -> Result | None:
        if isinstance(queue, OutgoingQueue) and queue.State is OutgoingQueueState.ON_HOLD:
            raise CommandError("the outgoing queue is paused")
        return super().put_message(queue, message, token, result, now)


@fault("queue-manager-sends-message-of-paused-outgoing-queue", breaks="MQSO-3.3.4.3-D03", blind=True)
class QueueManagerSendsMessageOfPausedOutgoingQueue(MessageSending):
    """The queue manager transfers a message at once although its outgoing queue is paused."""

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        queue = session.OutgoingQueueReference
        if queue is None or queue.State is not OutgoingQueueState.ON_HOLD:
            super().add_message_to_session_table(session, position, now)
            return
        queue.State = OutgoingQueueState.CONNECTED
        super().add_message_to_session_table(session, position, now)
        queue.State = OutgoingQueueState.ON_HOLD
