"""Faults of MS-MQDMPR 3.1.1.2 Queue that only special cases show: attributes after a restart, and the computer name."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.queues import Queues
from reference_qm.directory.enums import PrivacyLevel
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status


def _forget_privacy(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        queue.PrivacyLevel = PrivacyLevel.OPTIONAL


add(
    "queue-manager-privacy-level-of-queue-lost-at-restart",
    "MQDMPR-3.1.1.2-01",
    "After a restart, the PrivacyLevel of a queue is Optional.",
    at_restart(_forget_privacy),
)


@fault("queue-manager-qualified-path-name-with-short-computer-name", breaks="MQDMPR-3.1.1.2-03")
class ShortComputerName(Queues):
    """The QualifiedPathname of a queue begins with the name of the computer without the domain."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        status, created = super().create_here(queue, utc_s)
        if created is not None:
            computer = self.qm.config.host_name.partition(".")[0]
            created.QualifiedPathname = f"{computer}\\{created.Pathname}"
        return status, created
