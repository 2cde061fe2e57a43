"""Faults of MS-MQDMPR 3.1.7.1.18 Create Directory Object."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.directory_changes import OnAnswered, answered_as, change_notification, left_out, stays_online
from harness.faults.made_up import OTHER_GUID
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change, Queue
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import Create
from reference_qm.directory.state import ChangeOperation
from reference_qm.model.adm import Queue as LocalQueue
from reference_qm.model.statuses import Status

CREATED = "MQDMPR-3.1.7.1.18-D02"
add(
    "public-queue-not-published",
    ("MQDMPR-3.1.7.1.18-02", CREATED),
    "A public queue is made, and no object of it in the directory.",
    left_out(Create),
)


@fault("published-without-properties", breaks=CREATED)
class PublishedWithoutProperties(DirectoryLink):
    """The object of a public queue has the name alone."""

    def write(self, change: Change, answered: OnAnswered) -> None:
        if isinstance(change, Create) and isinstance(change.element, Queue):
            change = Create(Queue(Pathname=change.element.Pathname))
        super().write(change, answered)


@fault("identifier-of-its-own", breaks="MQDMPR-3.1.7.1.18-D04")
class IdentifierOfItsOwn(Publishing):
    """A public queue keeps a GUID of the queue manager's instead of the one that the directory gave."""

    def publish(self, queue: LocalQueue, published: OnStatus) -> None:
        def keeps(status: Status) -> None:
            queue.Identifier = OTHER_GUID
            published(status)

        super().publish(queue, keeps)


add(
    "made-without-the-directory",
    "MQDMPR-3.1.7.1.18-D03",
    "A public queue is made although the directory cannot be reached.",
    answered_as(
        Create,
        lambda answer: (
            replace(answer, status=Result.SUCCESS, identifier=OTHER_GUID)
            if answer.status is Result.DIRECTORY_NOT_CONNECTED
            else answer
        ),
    ),
)
add(
    "creation-does-not-notice-the-outage",
    "MQDMPR-3.1.7.1.18-D03",
    "A creation that finds no directory leaves DirectoryOffline False.",
    stays_online(Create),
)


add(
    "creation-not-notified",
    "MQDMPR-3.1.7.1.18-D01",
    "There is no change notification of a creation.",
    change_notification(ChangeOperation.QUEUE_CREATION, None),
)
add(
    "creation-notified-as-another",
    "MQDMPR-3.1.7.1.18-D01",
    "The change notification of a creation says something else.",
    change_notification(ChangeOperation.QUEUE_CREATION, ChangeOperation.QUEUE_UPDATE),
)
