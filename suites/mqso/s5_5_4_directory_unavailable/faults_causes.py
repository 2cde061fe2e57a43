"""Faults of MS-MQSO 5.5.4 Directory Unavailable: single operations, later losses, and single queues."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.errors import CommandError
from reference_qm.core.queueing.public_queue_publishing import PublicQueuePublishing, StatusCallback
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change
from reference_qm.directory.enums import DirectoryOperationResult, QueueType
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.inputs import DirectoryAnswered, TransportAccepted


@fault("start-without-directory-with-public-queues-stays-integrated", breaks="MQSO-5.5.4-02", blind=True)
class StartWithoutDirectoryWithPublicQueuesStaysIntegrated(DirectoryClient):
    """A queue manager that has public queues keeps DirectoryIntegrated TRUE when it starts without the directory."""

    def _on_first_read(self, answer: DirectoryAnswered, now: Now) -> None:
        super()._on_first_read(answer, now)
        kinds = [queue.QueueType for queue in self.qm.adm.QueueCollection.values()]
        if QueueType.PUBLIC in kinds and answer.status is DirectoryOperationResult.DIRECTORY_NOT_CONNECTED:
            self.qm.enterprise.state.DirectoryIntegrated = True


@fault("directory-integrated-set-at-first-command-after-offline-start", breaks="MQSO-5.5.4-02", blind=True)
class DirectoryIntegratedSetAtFirstCommandAfterOfflineStart(HigherLayerCommands):
    """A queue manager that started without the directory sets DirectoryIntegrated to TRUE at its first command."""

    def list_queues(self, request: commands.ListQueues, token: int, now: Now) -> Result:
        self._restore_directory_integration()
        return super().list_queues(request, token, now)

    def inspect_adm(self, request: commands.Inspect, token: int, now: Now) -> Result:
        result = super().inspect_adm(request, token, now)
        self._restore_directory_integration()
        return result

    def _restore_directory_integration(self) -> None:
        self.qm.enterprise.state.DirectoryIntegrated = self.qm.config.directory_integrated


@fault("queue-manager-in-workgroup-mode-refuses-new-private-queue", breaks="MQSO-5.5.4-03", blind=True)
class QueueManagerInWorkgroupModeRefusesNewPrivateQueue(QueueCommands):
    """A queue manager that started without the directory creates no private queue."""

    def create_queue(self, request: commands.CreateQueue, token: int, now: Now) -> None:
        if self.qm.config.directory_integrated and not self.qm.enterprise.state.DirectoryIntegrated:
            raise CommandError("the queue manager has no directory")
        super().create_queue(request, token, now)


@fault("queue-manager-in-workgroup-mode-creates-public-queue", breaks="MQSO-5.5.4-03", blind=True)
class QueueManagerInWorkgroupModeCreatesPublicQueue(PublicQueuePublishing):
    """A queue manager that started without the directory creates a public queue that exists only locally."""

    def publish(self, queue: Queue, published: StatusCallback) -> None:
        if self.qm.config.directory_integrated and not self.qm.enterprise.state.DirectoryIntegrated:
            published(Status.MQ_OK)
        else:
            super().publish(queue, published)


@fault("queue-manager-in-workgroup-mode-sends-no-transactional-message", breaks="MQSO-5.5.4-03", blind=True)
class QueueManagerInWorkgroupModeSendsNoTransactionalMessage(HigherLayerCommands):
    """A queue manager that started without the directory sends no transactional message."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        lost = self.qm.config.directory_integrated and not self.qm.enterprise.state.DirectoryIntegrated
        if lost and request.transactional:
            raise CommandError("the queue manager has no directory")
        return super().send_message(request, token, now)


@fault("queue-manager-in-workgroup-mode-accepts-no-session", breaks="MQSO-5.5.4-03", blind=True)
class QueueManagerInWorkgroupModeAcceptsNoSession(SessionOpening):
    """A queue manager that started without the directory accepts no session."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        if self.qm.enterprise.state.DirectoryIntegrated or not self.qm.config.directory_integrated:
            super().accept_transport(event, now)


@fault("queue-manager-failed-write-does-not-set-directory-offline", breaks="MQSO-5.5.4-05", blind=True)
class QueueManagerFailedWriteDoesNotSetDirectoryOffline(DirectoryLink):
    """The queue manager sets DirectoryOffline when a read fails, but not when a change of the directory fails."""

    def write(self, change: Change, answered: Callable[[DirectoryAnswered], None]) -> None:
        state = self.qm.enterprise.state

        def clear_directory_offline(answer: DirectoryAnswered) -> None:
            answered(answer)
            state.DirectoryOffline = False

        super().write(change, clear_directory_offline)


@fault("queue-manager-second-loss-does-not-set-directory-offline", breaks="MQSO-5.5.4-05", blind=True)
class QueueManagerSecondLossDoesNotSetDirectoryOffline(DirectoryClient):
    """The queue manager sets DirectoryOffline when it loses the directory, but not at a second loss."""

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        state = self.qm.enterprise.state
        before = state.DirectoryOffline
        super().on_directory_answered(event, now)
        if before and not state.DirectoryOffline:
            self.__dict__["returned"] = True
        elif not before and state.DirectoryOffline and self.__dict__.get("returned"):
            state.DirectoryOffline = False


class _SuccessReportingPublishing(PublicQueuePublishing):
    def _make_success_reporter(self, reported: StatusCallback) -> StatusCallback:
        """Return a function that reports success instead of an unavailable directory."""
        return lambda status: reported(Status.MQ_OK if status is Status.MQ_ERROR_NO_DS else status)


@fault("queue-manager-public-queue-created-while-directory-is-lost", breaks="MQSO-5.5.4-06", blind=True)
class QueueManagerPublicQueueCreatedWhileDirectoryIsLost(_SuccessReportingPublishing):
    """The queue manager creates a public queue although the directory is lost, if this is not the first request after
    the loss.
    """

    def publish(self, queue: Queue, published: StatusCallback) -> None:
        offline = self.qm.enterprise.state.DirectoryOffline
        super().publish(queue, self._make_success_reporter(published) if offline else published)


@fault("queue-manager-public-queue-changed-while-directory-is-lost", breaks="MQSO-5.5.4-06", blind=True)
class QueueManagerPublicQueueChangedWhileDirectoryIsLost(_SuccessReportingPublishing):
    """The queue manager changes the properties of a public queue locally although the directory is lost."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        super().write(queue, values, self._make_success_reporter(written))


@fault("queue-manager-public-queue-deleted-while-directory-is-lost", breaks="MQSO-5.5.4-06", blind=True)
class QueueManagerPublicQueueDeletedWhileDirectoryIsLost(_SuccessReportingPublishing):
    """The queue manager deletes a public queue locally although the directory is lost."""

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        super().delete_published_queue(queue, self._make_success_reporter(withdrawn))


@fault("queue-manager-refused-change-of-public-queue-takes-effect", breaks="MQSO-5.5.4-06", blind=True)
class QueueManagerRefusedChangeOfPublicQueueTakesEffect(PublicQueuePublishing):
    """The queue manager refuses a change of a public queue while the directory is lost, but changes the label."""

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        def change_label_of_queue(status: Status) -> None:
            if status is Status.MQ_ERROR_NO_DS and "Label" in values:
                queue.Label = values["Label"]
            written(status)

        super().write(queue, values, change_label_of_queue)


@fault("queue-manager-without-directory-changes-no-private-queue", breaks="MQSO-5.5.4-07", blind=True)
class QueueManagerWithoutDirectoryChangesNoPrivateQueue(QueueCommands):
    """The queue manager refuses to change the properties of a private queue while DirectoryOffline is TRUE."""

    def set_queue(self, request: commands.SetQueue, token: int, now: Now) -> Result | None:
        if self.qm.enterprise.state.DirectoryOffline:
            raise CommandError("the directory is not available")
        return super().set_queue(request, token, now)


@fault("queue-manager-without-directory-deletes-no-private-queue", breaks="MQSO-5.5.4-07", blind=True)
class QueueManagerWithoutDirectoryDeletesNoPrivateQueue(QueueCommands):
    """The queue manager refuses to delete a private queue while DirectoryOffline is TRUE."""

    def delete_queue(self, request: commands.DeleteQueue, token: int, now: Now) -> Result | None:
        if self.qm.enterprise.state.DirectoryOffline:
            raise CommandError("the directory is not available")
        return super().delete_queue(request, token, now)


@fault("queue-manager-without-directory-purges-no-queue", breaks="MQSO-5.5.4-07", blind=True)
class QueueManagerWithoutDirectoryPurgesNoQueue(QueueCommands):
    """The queue manager refuses to purge a queue while DirectoryOffline is TRUE."""

    def purge_queue(self, request: commands.PurgeQueue, token: int, now: Now) -> Result | None:
        if self.qm.enterprise.state.DirectoryOffline:
            raise CommandError("the directory is not available")
        return super().purge_queue(request, token, now)


@fault("queue-manager-without-directory-accepts-no-session", breaks="MQSO-5.5.4-07", blind=True)
class QueueManagerWithoutDirectoryAcceptsNoSession(SessionOpening):
    """The queue manager accepts no new session while DirectoryOffline is TRUE."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        if not self.qm.enterprise.state.DirectoryOffline:
            super().accept_transport(event, now)


@fault("queue-manager-without-directory-sends-no-transactional-message", breaks="MQSO-5.5.4-07", blind=True)
class QueueManagerWithoutDirectorySendsNoTransactionalMessage(HigherLayerCommands):
    """The queue manager refuses a transactional message while DirectoryOffline is TRUE."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if self.qm.enterprise.state.DirectoryOffline and request.transactional:
            raise CommandError("the directory is not available")
        return super().send_message(request, token, now)


@fault("queue-manager-second-return-leaves-directory-offline", breaks=("MQSO-5.5.4-01", "MQSO-5.5.4-08"), blind=True)
class QueueManagerSecondReturnLeavesDirectoryOffline(DirectoryClient):
    """The queue manager sets DirectoryOffline to FALSE when the directory returns, but not after a second loss."""

    def _check_directory_online(self, answer: DirectoryAnswered, now: Now) -> None:
        if self.__dict__.get("returned"):
            return
        super()._check_directory_online(answer, now)
        if not self.qm.enterprise.state.DirectoryOffline:
            self.__dict__["returned"] = True


@fault(
    "queue-manager-directory-checked-once-after-loss",
    breaks=("MQSO-5.5.4-08", "MQSO-5.5.6-03", "MQSO-6.6.2.1-D02"),
    blind=True,
)
class QueueManagerDirectoryCheckedOnceAfterLoss(DirectoryClient):
    """The queue manager checks once after the loss whether the directory is available, and never again."""

    def on_directory_online_timer(self, now: Now) -> None:
        self.qm.directory_link.read(self._check_directory_online)


@fault("queue-manager-deletes-no-public-queue-after-directory-return", breaks="MQSO-5.5.4-08", blind=True)
class QueueManagerDeletesNoPublicQueueAfterDirectoryReturn(PublicQueuePublishing):
    """After the directory was lost, the queue manager deletes no public queue, even when the directory has
    returned.
    """

    def delete_published_queue(self, queue: Queue, withdrawn: StatusCallback) -> None:
        if self.__dict__.get("lost"):
            withdrawn(Status.MQ_ERROR_NO_DS)
            return

        def record_directory_loss(status: Status) -> None:
            self.__dict__["lost"] = status is Status.MQ_ERROR_NO_DS
            withdrawn(status)

        super().delete_published_queue(queue, record_directory_loss)


@fault("queue-manager-changes-no-public-queue-after-directory-return", breaks="MQSO-5.5.4-08", blind=True)
class QueueManagerChangesNoPublicQueueAfterDirectoryReturn(PublicQueuePublishing):
    """After a change of a public queue failed because the directory was lost, the queue manager changes no public
    queue, even when the directory has returned.
    """

    def write(self, queue: Queue, values: Mapping[str, Any], written: StatusCallback) -> None:
        if self.__dict__.get("lost"):
            written(Status.MQ_ERROR_NO_DS)
            return

        def record_directory_loss(status: Status) -> None:
            self.__dict__["lost"] = status is Status.MQ_ERROR_NO_DS
            written(status)

        super().write(queue, values, record_directory_loss)
