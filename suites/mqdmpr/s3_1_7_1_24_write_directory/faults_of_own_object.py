"""Faults in the change notifications about the directory object of the queue manager itself."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change, QueueManager
from reference_qm.directory.interface import DirectoryWriteRequest
from reference_qm.directory.state import ChangeNotification, ChangeOperation
from reference_qm.surface.inputs import DirectoryAnswered


class OwnObjectNotificationChanger(DirectoryLink):
    """A part of the queue manager that drops or changes some notifications about the written object of a queue manager;
    a subclass selects which.
    """

    REPLACEMENT_OPERATION: ChangeOperation | None = None

    def is_changed(self, change: DirectoryWriteRequest) -> bool:
        raise NotImplementedError

    def write(self, change: Change, answered: Callable[[DirectoryAnswered], None]) -> None:
        changed = isinstance(change, DirectoryWriteRequest) and isinstance(change.element, QueueManager)
        changed = changed and isinstance(change, DirectoryWriteRequest) and self.is_changed(change)

        def change_notification(answer: DirectoryAnswered) -> None:
            raised = self.qm.enterprise.state.notifications
            if changed and raised and raised[-1].iOperation is ChangeOperation.QUEUE_MANAGER_UPDATE:
                last = raised.pop()
                if self.REPLACEMENT_OPERATION is not None:
                    raised.append(ChangeNotification(self.REPLACEMENT_OPERATION, last.iDirectoryObject))
            answered(answer)

        super().write(change, change_notification)


@fault("queue-manager-own-object-write-of-one-attribute-not-notified", breaks="MQDMPR-3.1.7.1.24-15", blind=True)
class QueueManagerOwnObjectWriteOfOneAttributeNotNotified(OwnObjectNotificationChanger):
    """The queue manager raises no change notification when it writes only one attribute of its own object."""

    def is_changed(self, change: DirectoryWriteRequest) -> bool:
        return len(change.attributes or ()) == 1


@fault("queue-manager-own-object-write-notified-as-queue-update", breaks="MQDMPR-3.1.7.1.24-16", blind=True)
class QueueManagerOwnObjectWriteNotifiedAsQueueUpdate(OwnObjectNotificationChanger):
    """The change notification about the write of one attribute of the queue manager's own object contains the
    operation QueueUpdate.
    """

    REPLACEMENT_OPERATION = ChangeOperation.QUEUE_UPDATE

    def is_changed(self, change: DirectoryWriteRequest) -> bool:
        return len(change.attributes or ()) == 1
