"""Faults of MS-MQSO 3.2.1 that only special cases show: other ways to receive, other sources of messages, and sequences
after a purge.
"""

from __future__ import annotations

from harness.faults.calls import with_arguments
from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.transfer.history import History
from reference_qm.model.adm import MessageIDHistoryEntry, Queue
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


def empty_dead_letter_queue(qm: QueueManager) -> None:
    """Remove all messages of the nontransactional dead-letter queue."""
    positions = qm.adm.SystemDeadletterQueue.MessagePositionList
    for position in positions:
        positions.remove(position)


add(
    "queue-manager-receive-by-lookup-identifier-in-transaction-deletes-at-once",
    "MQSO-3.2.1-01",
    "A message that is received by its LookupIdentifier in a transaction is deleted before the commit.",
    with_arguments(Reading.read_by_lookup_identifier, transaction=lambda given: None),
)
add(
    "queue-manager-recoverable-dead-letter-lost-at-restart",
    "MQSO-3.2.1-D02",
    "A recoverable message in the dead-letter queue is lost at a restart.",
    at_restart(empty_dead_letter_queue),
)


@fault("receiver-repeated-express-message-delivered-again", breaks="MQSO-3.2.1-D01")
class ExpressMessageForgotten(History):
    """If a sender repeats an express message on a later session, the receiver delivers the message again."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        entry = super().remember_message(packet, now)
        if not packet.UserHeader.DM:
            self.qm.adm.MessageIDHistoryTable.remove(entry)
        return entry


@fault("receiver-sequence-forgotten-by-purge", breaks="MQSO-3.2.1-D03")
class SequenceForgottenByPurge(Queues):
    """A purge makes the receiver forget the sequences of the queue, so the receiver delivers a
    repeated message again.
    """

    def purge(self, queue: Queue, *arguments: object, **named: object) -> Result | None:
        queue.IncomingTransactionalTransferInfoCollection.clear()
        return super().purge(queue, *arguments, **named)  # type: ignore[arg-type]
