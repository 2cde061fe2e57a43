"""Faults of MS-MQSO 6.6.1 and 6.6.2: the stored state after a restart, and LastDomain after leaving a domain."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.enterprise.membership import Membership
from reference_qm.core.queue_manager import QueueManager


@fault("workgroup-queue-manager-keeps-last-domain", breaks="MQSO-6.6.2-D03")
class WorkgroupQueueManagerKeepsLastDomain(Membership):
    """A queue manager that left its domain keeps LastDomain."""

    def save_domain(self) -> None:
        if self.qm.adm.MachineDomainId is not None:
            super().save_domain()


def _lose_journals(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.QueueCollection.values():
        if queue.JournalQueueReference is not None:
            for position in list(queue.JournalQueueReference.MessagePositionList):
                queue.JournalQueueReference.MessagePositionList.remove(position)


add(
    "restarted-queue-manager-journals-empty",
    ("MQSO-6.6.2-02", "MQSO-3.2.1-D02", "MQSO-4.3.1-01", "MQSO-5.5.1-01", "MQSO-5.5.1-03", "MQSO-5.5.1-05"),
    "A restarted queue manager has lost the messages in the journals of its queues.",
    at_restart(_lose_journals),
)


def _lose_outgoing(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.OutgoingQueues.values():
        for position in list(queue.session.OutgoingMessageTable):
            queue.session.OutgoingMessageTable.remove(position)


add(
    "restarted-queue-manager-outgoing-queues-empty",
    ("MQSO-6.6.2-02", "MQSO-5.5.1-02", "MQSO-5.5.1-04", "MQSO-5.5.1-D01"),
    "A restarted queue manager has lost the messages of its outgoing queues.",
    at_restart(_lose_outgoing),
)


def _lose_attributes(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.QueueCollection.values():
        queue.Label = ""


add(
    "restarted-queue-manager-labels-empty",
    ("MQSO-6.6.2-02", "MQSO-4.3.1-01", "MQSO-5.5.1-01"),
    "A restarted queue manager has lost the labels of its queues.",
    at_restart(_lose_attributes),
)
