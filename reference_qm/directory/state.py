"""Defines the state that a queue manager keeps for its directory events. Spec: MS-MQDMPR 3.1.1.1."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from reference_qm.directory.objects import DirectoryObject, Enterprise, Queue, QueueManager, Site

MAX_KEPT_NOTIFICATIONS = 64
"""The maximum number of change notifications that are kept for inspection. MS-MQCN, the protocol that sends such
notifications, is not implemented.
"""


class ChangeOperation(Enum):
    """The values of iOperation of Send Change Notification. Spec: MS-MQDMPR 3.1.7.1.18, 3.1.7.1.19, 3.1.7.1.24."""

    QUEUE_CREATION = "QueueCreation"
    QUEUE_DELETION = "QueueDeletion"
    QUEUE_UPDATE = "QueueUpdate"
    QUEUE_MANAGER_UPDATE = "QueueManagerUpdate"


@dataclass(frozen=True, slots=True)
class ChangeNotification:
    """The data of a generated event Send Change Notification (MS-MQCN 3.3.4.1)."""

    iOperation: ChangeOperation
    iDirectoryObject: DirectoryObject


@dataclass(slots=True, kw_only=True)
class DirectoryState:
    """The part of LocalQueueManager that concerns the directory. Spec: MS-MQDMPR 3.1.1.1.

    ``LocalQueueManager`` contains the directory attributes; the fields with the other printed names are attributes that
    are not published. The Directory Online Timer (3.1.2.5) is active while DirectoryOffline is True;
    ``on_directory_lost`` is called when DirectoryOffline becomes True. ``notifications`` contains the newest
    notifications, for inspection; it is empty unless ``sends_notifications`` is True.
    """

    LocalQueueManager: QueueManager
    DirectoryIntegrated: bool = True
    DirectoryOffline: bool = False
    QueueCollection: tuple[Queue, ...] = ()
    SiteCollection: tuple[Site, ...] = ()
    EnterpriseReference: Enterprise | None = None
    notifications: deque[ChangeNotification] = field(default_factory=lambda: deque(maxlen=MAX_KEPT_NOTIFICATIONS))
    sends_notifications: bool = True
    on_directory_lost: Callable[[], None] = field(default=lambda: None)

    def send_change_notification(self, operation: ChangeOperation, element: DirectoryObject) -> None:
        """Generate a Send Change Notification event."""
        if self.sends_notifications:
            self.notifications.append(ChangeNotification(operation, element))

    def go_offline(self) -> None:
        """Set DirectoryOffline, because the directory is unavailable. Spec: MS-MQDMPR 3.1.7.1.18.

        In workgroup mode this method does nothing, because DirectoryOffline MUST be False there (3.1.1.1).
        """
        if self.DirectoryIntegrated and not self.DirectoryOffline:
            self.on_directory_lost()
        self.DirectoryOffline = self.DirectoryIntegrated
