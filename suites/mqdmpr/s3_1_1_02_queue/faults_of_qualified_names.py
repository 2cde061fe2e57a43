"""Faults that break rules of MS-MQDMPR 3.1.1.2 Queue in the QualifiedPathname of some queues."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-qualified-pathname-shortened-by-changed-property", breaks="MQDMPR-3.1.1.2-03", blind=True)
class QueueManagerQualifiedPathnameShortenedByChangedProperty(QueueCommands):
    """When a property of a queue is changed, its QualifiedPathname begins with the NetBIOS name of the computer."""

    def set_queue(self, request: commands.SetQueue, token: int, now: Now) -> Result | None:
        queue = self.qm.queue_names.find_queue(request.name)
        queue.QualifiedPathname = f"{self.qm.config.host_name.partition('.')[0]}\\{queue.Pathname}"
        return super().set_queue(request, token, now)


@fault("queue-manager-qualified-pathname-of-public-queue-shortened", breaks="MQDMPR-3.1.1.2-03", blind=True)
class QueueManagerQualifiedPathnameOfPublicQueueShortened(QueueLifecycle):
    """The QualifiedPathname of a public queue begins with the NetBIOS name of the computer."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        status, created = super().create_without_directory(queue, utc_s)
        if created is not None and created.QueueType is QueueType.PUBLIC:
            created.QualifiedPathname = f"{self.qm.config.host_name.partition('.')[0]}\\{created.Pathname}"
        return status, created
