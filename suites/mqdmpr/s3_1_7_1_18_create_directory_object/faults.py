"""Faults of MS-MQDMPR 3.1.7.1.18 Create Directory Object."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.directory_changes import (
    OnAnswered,
    change_directory_answers,
    change_notification,
    omit_directory_changes,
    stay_online_after,
)
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

CREATION_RULE = "MQDMPR-3.1.7.1.18-D02"
add(
    "public-queue-created-without-object",
    ("MQDMPR-3.1.7.1.18-02", CREATION_RULE),
    "The queue manager creates a public queue without a directory object.",
    omit_directory_changes(Create),
)


@fault("directory-object-without-attributes", breaks=CREATION_RULE)
class DirectoryObjectWithoutAttributes(DirectoryLink):
    """The queue manager creates the directory object of a public queue with only the name of the queue."""

    def write(self, change: Change, answered: OnAnswered) -> None:
        if isinstance(change, Create) and isinstance(change.element, Queue):
            change = Create(Queue(Pathname=change.element.Pathname))
        super().write(change, answered)


@fault("public-queue-identifier-not-from-directory", breaks="MQDMPR-3.1.7.1.18-D04")
class PublicQueueIdentifierNotFromDirectory(Publishing):
    """The queue manager assigns a generated GUID to a public queue instead of the GUID that the directory assigned."""

    def publish(self, queue: LocalQueue, published: OnStatus) -> None:
        def keep_own_identifier(status: Status) -> None:
            queue.Identifier = OTHER_GUID
            published(status)

        super().publish(queue, keep_own_identifier)


add(
    "public-queue-created-without-directory",
    "MQDMPR-3.1.7.1.18-D03",
    "The queue manager creates a public queue although the directory cannot be reached.",
    change_directory_answers(
        Create,
        lambda answer: (
            replace(answer, status=Result.SUCCESS, identifier=OTHER_GUID)
            if answer.status is Result.DIRECTORY_NOT_CONNECTED
            else answer
        ),
    ),
)
add(
    "failed-creation-leaves-directory-offline-false",
    "MQDMPR-3.1.7.1.18-D03",
    "When a creation does not reach the directory, the queue manager leaves DirectoryOffline False.",
    stay_online_after(Create),
)


add(
    "queue-creation-not-notified",
    "MQDMPR-3.1.7.1.18-D01",
    "The queue manager raises no change notification when it creates a public queue.",
    change_notification(ChangeOperation.QUEUE_CREATION, None),
)
add(
    "queue-creation-notified-as-other-operation",
    "MQDMPR-3.1.7.1.18-D01",
    "The queue manager raises a change notification about a created queue with an operation other than QueueCreation.",
    change_notification(ChangeOperation.QUEUE_CREATION, ChangeOperation.QUEUE_UPDATE),
)
