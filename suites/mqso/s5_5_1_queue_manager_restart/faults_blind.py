"""Faults of MS-MQSO 5.5.1 Queue Manager Restart, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.store.entries import build_relocation
from reference_qm.model.adm import Message, Queue


def _forget_entries(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in () if queue.Transactional else queue.MessagePositionList:
            position.key = 0


add(
    "queue-manager-restored-message-returns-after-receive",
    "MQSO-5.5.1-05",
    "A recoverable message that an application receives after a restart is in its queue again after the next restart.",
    at_restart(_forget_entries),
    blind=True,
)


@fault("queue-manager-journal-keeps-express-message-over-restart", breaks="MQSO-5.5.1-06", blind=True)
class QueueManagerJournalKeepsExpressMessageOverRestart(Journaling):
    """The queue manager saves journal copies of express messages, so these copies survive a restart."""

    def keep_message(self, queue: Queue, message: Message) -> None:
        position = self.qm.positions.insert_message(queue, message)
        position.key = self.qm.next_persist_token()
        self.qm.disk.save(build_relocation(position))
        self.qm.positions.message_available(position)


def _forget_later_senders(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        transfers = queue.IncomingTransactionalTransferInfoCollection
        for key in list(transfers)[1:]:
            del transfers[key]


add(
    "queue-manager-sequence-of-second-sender-lost-at-restart",
    "MQSO-5.5.1-01",
    "After a restart, the queue manager remembers the sequence of only one sender for each queue.",
    at_restart(_forget_later_senders),
    blind=True,
)
