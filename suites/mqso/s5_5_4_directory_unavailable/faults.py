"""Faults that break rules of MS-MQSO 5.5.4 Directory Unavailable."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.inputs import DirectoryAnswered

add(
    "returned-directory-ignored",
    ("MQSO-5.5.4-01", "MQSO-5.5.4-08", "MQSO-5.5.6-03"),
    "The queue manager never contacts the directory again after the directory was unavailable once.",
    omit_step(DirectoryClient.on_directory_online_timer),
)


@fault("public-queue-created-while-directory-offline", breaks=("MQSO-5.5.4-03", "MQSO-5.5.4-06"))
class PublicQueueCreatedWhileDirectoryOffline(PublicQueuePublishing):
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


@fault("queue-manager-started-without-directory-deletes-public-queue", breaks="MQSO-5.5.4-03", blind=True)
class QueueManagerStartedWithoutDirectoryDeletesPublicQueue(QueueCommands):
    """A queue manager that was started without the directory deletes a public queue."""

    def delete_queue(self, request: commands.DeleteQueue, token: int, now: Now) -> Result | None:
        queue = self.qm.queue_names.find_queue(request.name)
        if not self.qm.enterprise.state.DirectoryIntegrated and "$" not in queue.Pathname:
            return self.qm.queue_lifecycle.delete(queue, token, Result)
        return super().delete_queue(request, token, now)


@fault("directory-offline-never-true", breaks=("MQSO-5.1.1.1-D06", "MQSO-5.5.4-05"))
class DirectoryOfflineNeverTrue(DirectoryClient):
    """The queue manager never sets DirectoryOffline to TRUE."""

    def start_online_timer_if_offline(self, now: Now) -> None:
        self.qm.enterprise.state.DirectoryOffline = False
        super().start_online_timer_if_offline(now)


@fault("queue-manager-public-queue-deleted-while-directory-offline", breaks="MQSO-5.5.4-06")
class QueueManagerPublicQueueDeletedWhileDirectoryOffline(QueueCommands):
    """The queue manager deletes a public queue although it cannot reach the directory."""

    def delete_queue(self, request: commands.DeleteQueue, token: int, now: Now) -> Result | None:
        queue = self.qm.queue_names.find_queue(request.name)
        if self.qm.enterprise.state.DirectoryOffline and "$" not in queue.Pathname:
            return self.qm.queue_lifecycle.delete(queue, token, Result)
        return super().delete_queue(request, token, now)


@fault("queue-manager-public-queue-changed-while-directory-offline", breaks="MQSO-5.5.4-06", blind=True)
class QueueManagerPublicQueueChangedWhileDirectoryOffline(QueueCommands):
    """The queue manager changes the properties of a public queue although it cannot reach the directory."""

    def set_queue(self, request: commands.SetQueue, token: int, now: Now) -> Result | None:
        queue = self.qm.queue_names.find_queue(request.name)
        if self.qm.enterprise.state.DirectoryOffline and "$" not in queue.Pathname:
            queue.Label = request.label or queue.Label
            return self.get_queue(commands.GetQueue(request.name), token, now)
        return super().set_queue(request, token, now)


@fault("offline-queue-manager-refuses-change-of-private-queue", breaks="MQSO-5.5.4-07", blind=True)
class OfflineQueueManagerRefusesChangeOfPrivateQueue(QueueCommands):
    """While DirectoryOffline is TRUE, a queue manager refuses to change the properties of a private queue."""

    def set_queue(self, request: commands.SetQueue, token: int, now: Now) -> Result | None:
        if self.qm.enterprise.state.DirectoryOffline:
            raise CommandError("the directory is not available (MQ_ERROR_NO_DS): try again later")
        return super().set_queue(request, token, now)


@fault("queue-manager-private-queue-not-deleted-while-directory-offline", breaks="MQSO-5.5.4-07")
class QueueManagerPrivateQueueNotDeletedWhileDirectoryOffline(QueueCommands):
    """While the directory is unavailable, the deletion of a private queue succeeds, but has no effect."""

    def delete_queue(self, request: commands.DeleteQueue, token: int, now: Now) -> Result | None:
        self.qm.queue_names.find_queue(request.name)
        if self.qm.enterprise.state.DirectoryOffline:
            return Result()
        return super().delete_queue(request, token, now)


@fault("queue-manager-begins-no-transaction-while-directory-is-offline", breaks="MQSO-5.5.4-07", blind=True)
class QueueManagerBeginsNoTransactionWhileDirectoryIsOffline(TransactionCommands):
    """While the queue manager cannot reach the directory, it begins no transaction."""

    def begin_transaction(self, request: commands.BeginTransaction, token: int, now: Now) -> Result:
        if self.qm.enterprise.state.DirectoryOffline:
            raise CommandError("the directory is not available (MQ_ERROR_NO_DS)")
        return super().begin_transaction(request, token, now)


@fault("queue-manager-second-return-of-directory-not-noticed", breaks="MQSO-5.5.4-08")
class QueueManagerSecondReturnOfDirectoryNotNoticed(DirectoryClient):
    """The queue manager does not try to reach the directory again after the directory became unavailable for the second
    time.
    """

    def start_online_timer_if_offline(self, now: Now) -> None:
        if not getattr(self, "returned", False):
            super().start_online_timer_if_offline(now)

    def on_directory_online_timer(self, now: Now) -> None:
        super().on_directory_online_timer(now)
        self.returned = True


@fault("queue-manager-refuses-public-queue-changes-after-directory-return", breaks="MQSO-5.5.4-08", blind=True)
class QueueManagerRefusesPublicQueueChangesAfterDirectoryReturn(QueueCommands):
    """After the directory returned, the queue manager creates public queues, but refuses to change them."""

    def set_queue(self, request: commands.SetQueue, token: int, now: Now) -> Result | None:
        queue = self.qm.queue_names.find_queue(request.name)
        self.lost = getattr(self, "lost", False) or self.qm.enterprise.state.DirectoryOffline
        if self.lost and "$" not in queue.Pathname:
            raise CommandError("the directory is not available (MQ_ERROR_NO_DS)")
        return super().set_queue(request, token, now)


@fault("queue-manager-directory-offline-not-reset", breaks="MQSO-5.5.4-08", blind=True)
class QueueManagerDirectoryOfflineNotReset(DirectoryClient):
    """The queue manager leaves DirectoryOffline at True when the directory is available again."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._check_directory_online(answer, now)
        self.qm.enterprise.state.go_offline()
