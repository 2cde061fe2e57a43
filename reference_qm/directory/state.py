"""What a queue manager keeps for its directory events. Spec: MS-MQDMPR 3.1.1.1."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from reference_qm.clock import Now
from reference_qm.directory.intervals import DIRECTORY_ONLINE_MS
from reference_qm.directory.objects import DirectoryObject, Enterprise, Queue, QueueManager, Site


class ChangeOperation(Enum):
    """iOperation of Send Change Notification. Spec: MS-MQDMPR 3.1.7.1.18, .19, .24."""

    QUEUE_CREATION = "QueueCreation"
    QUEUE_DELETION = "QueueDeletion"
    QUEUE_UPDATE = "QueueUpdate"
    QUEUE_MANAGER_UPDATE = "QueueManagerUpdate"


@dataclass(frozen=True, slots=True)
class ChangeNotification:
    """A Send Change Notification event (MS-MQCN 3.3.4.1) that was generated."""

    iOperation: ChangeOperation
    iDirectoryObject: DirectoryObject


@dataclass(slots=True, kw_only=True)
class DirectoryState:
    """The directory's part of LocalQueueManager. Spec: MS-MQDMPR 3.1.1.1.

    ``LocalQueueManager`` holds the directory attributes, the other printed names those that are not published.
    ``online_due_ms`` int ms: when the Directory Online Timer expires (3.1.2.5), None while it is not active.
    ``notifications`` are left to whoever sends them.
    """

    LocalQueueManager: QueueManager
    DirectoryIntegrated: bool = field(default=True, metadata={"durable": True})
    DirectoryOffline: bool = False
    QueueCollection: tuple[Queue, ...] = ()
    SiteCollection: tuple[Site, ...] = ()
    EnterpriseReference: Enterprise | None = None
    online_due_ms: int | None = None
    notifications: list[ChangeNotification] = field(default_factory=list)

    def notify(self, operation: ChangeOperation, element: DirectoryObject) -> None:
        """Generate a Send Change Notification event."""
        self.notifications.append(ChangeNotification(operation, element))

    def go_offline(self, now: Now) -> None:
        """Note that the directory cannot be reached; the timer goes on if it is active. Spec: MS-MQDMPR 3.1.7.1.18.

        Not in workgroup mode: there DirectoryOffline MUST be False (3.1.1.1), and nothing is waited for.
        """
        if self.DirectoryIntegrated:
            self.DirectoryOffline = True
            if self.online_due_ms is None:
                self.start_online_timer(now)

    def start_online_timer(self, now: Now) -> None:
        """Start the Directory Online Timer. Spec: MS-MQDMPR 3.1.2.5."""
        if self.DirectoryIntegrated:
            self.online_due_ms = now.monotonic_ms + DIRECTORY_ONLINE_MS
