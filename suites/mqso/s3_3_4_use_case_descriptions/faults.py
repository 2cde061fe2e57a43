"""Faults of MS-MQSO 3.3.4 Use Case Descriptions."""

from __future__ import annotations

from harness.faults.calls import replace_step_if
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.queueing.reading import Reading
from reference_qm.model.adm import Message, Queue
from reference_qm.model.statuses import EnqueueStatus, Status
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("refused-creation-changes-existing-queue", breaks="MQSO-3.3.4.1-D01")
class RefusedCreationChangesExistingQueue(QueueCommands):
    """An attempt to create an existing queue is refused, but changes the queue's label."""

    def create_queue(self, request: commands.CreateQueue, token: int, now: Now) -> None:
        known = self.qm.adm.QueueCollection.get(request.name.lower())
        if known is not None:
            known.Label = request.label
        super().create_queue(request, token, now)


@fault("queue-change-sets-only-the-label", breaks="MQSO-3.3.4.1-D01")
class QueueChangeSetsOnlyTheLabel(QueueCommands):
    """When an application changes several properties of a queue, only the label changes."""

    def set_queue(self, request: commands.SetQueue, token: int, now: Now) -> Result | None:
        return super().set_queue(commands.SetQueue(request.name, request.label), token, now)


@fault("queue-query-removes-first-message", breaks="MQSO-3.3.4.2-D01")
class QueueQueryRemovesFirstMessage(QueueCommands):
    """A query of a queue's properties removes the first message of the queue."""

    def get_queue(self, request: commands.GetQueue, token: int, now: Now) -> Result:
        queue = self.qm.queue_names.find_queue(request.name)
        answer = super().get_queue(request, token, now)
        for position in list(queue.MessagePositionList)[:1]:
            queue.MessagePositionList.remove(position)
        return answer


@fault("local-message-stored-in-dead-letter-queue", breaks="MQSO-3.3.4.3-D02")
class LocalMessageStoredInDeadLetterQueue(Destinations):
    """The queue manager stores a message for one of its own queues in the dead-letter queue."""

    def find_local(self, text: str) -> Queue | None:
        return None if super().find_local(text) is None else self.qm.adm.SystemDeadletterQueue


add(
    "received-message-not-deleted",
    ("MQSO-3.3.4.6-D02", "MQSO-5.1.1.3-D06"),
    "The queue manager leaves a message that is received outside a transaction in its queue.",
    replace_step_if(
        Reading.take_message_out,
        lambda given: given.transaction is None and not given.two_phase_read,
        lambda given: given.answered(Status.MQ_OK, given.position),
    ),
)


@fault("message-over-quota-accepted", breaks=("MQSO-3.3.4.3-D01", "MQSO-5.1.1.3-01"))
class MessageOverQuotaAccepted(Quotas):
    """The queue manager returns success for a message that exceeds the quota of its queue and is not stored."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        super().check(queue, message)
        return EnqueueStatus.NO_ERROR
