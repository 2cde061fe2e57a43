"""Faults of MS-MQSO 5.5.4 Directory Unavailable."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.publishing import Publishing
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface import commands
from reference_qm.surface.clock import Now


@fault("directory-offline-never-true", breaks=("MQSO-5.1.1.1-D06", "MQSO-5.5.4-05"))
class DirectoryOfflineNeverTrue(DirectoryClient):
    """The queue manager never sets DirectoryOffline to TRUE."""

    def watch(self, now: Now) -> None:
        self.qm.enterprise.state.DirectoryOffline = False
        super().watch(now)


@fault("public-queue-created-while-directory-offline", breaks=("MQSO-5.5.4-03", "MQSO-5.5.4-06"))
class PublicQueueCreatedWhileDirectoryOffline(Publishing):
    """The queue manager creates a public queue although it cannot reach the directory."""

    def publish(self, queue: Queue, published: Callable[[Status], None]) -> None:
        published(Status.MQ_OK)


@fault("private-queue-refused-while-directory-offline", breaks=("MQSO-5.5.4-03", "MQSO-5.5.4-07"))
class PrivateQueueRefusedWhileDirectoryOffline(QueueCommands):
    """While the queue manager cannot reach the directory, it refuses to create any queue, even a private one."""

    def create_queue(self, request: commands.CreateQueue, token: int, now: Now) -> None:
        state = self.qm.enterprise.state
        if state.DirectoryOffline or not state.DirectoryIntegrated:
            raise CommandError("no queue is created while the directory is unavailable")
        super().create_queue(request, token, now)


add(
    "returned-directory-ignored",
    ("MQSO-5.5.4-01", "MQSO-5.5.4-08", "MQSO-5.5.6-03"),
    "The queue manager never contacts the directory again after the directory was unavailable once.",
    skip(DirectoryClient.on_directory_online_timer),
)
