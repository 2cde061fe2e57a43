"""Faults that break the rule MQDMPR-3.1.7.1.18-02 only under certain conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.made_up import OTHER_GUID
from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change, Queue
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import Create
from reference_qm.surface.inputs import DirectoryAnswered

DirectoryAnswerCallback = Callable[[DirectoryAnswered], None]


class _CreatedObjectChanger(DirectoryLink):
    """Changes the objects that the queue manager creates in the directory."""

    def change_created_object(self, element: Queue) -> Queue:
        """Return the object that is created."""
        return element

    def write(self, change: Change, answered: DirectoryAnswerCallback) -> None:
        if isinstance(change, Create) and isinstance(change.element, Queue):
            change = replace(change, element=self.change_created_object(change.element))
        super().write(change, answered)


@fault("queue-manager-transactional-queue-published-as-plain-queue", breaks="MQDMPR-3.1.7.1.18-02", blind=True)
class QueueManagerTransactionalQueuePublishedAsPlainQueue(_CreatedObjectChanger):
    """The queue manager creates the directory object of a transactional queue as that of a nontransactional queue."""

    def change_created_object(self, element: Queue) -> Queue:
        return replace(element, Transactional=False)


@fault("queue-manager-object-with-base-priority-created-without-it", breaks="MQDMPR-3.1.7.1.18-02", blind=True)
class QueueManagerObjectWithBasePriorityCreatedWithoutIt(_CreatedObjectChanger):
    """The queue manager creates each directory object with the BasePriority 0, also for a queue with another
    BasePriority.
    """

    def change_created_object(self, element: Queue) -> Queue:
        return replace(element, BasePriority=0)


@fault("queue-manager-second-object-not-created", breaks="MQDMPR-3.1.7.1.18-02", blind=True)
class QueueManagerSecondObjectNotCreated(DirectoryLink):
    """The queue manager creates no directory object for its second public queue, and continues as if the directory had
    created it.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.created = 0

    def write(self, change: Change, answered: DirectoryAnswerCallback) -> None:
        self.created += isinstance(change, Create)
        if isinstance(change, Create) and self.created == 2:
            answered(DirectoryAnswered(0, Result.SUCCESS, OTHER_GUID))
        else:
            super().write(change, answered)
