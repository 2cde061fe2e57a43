"""Faults that break the rule MQDMPR-3.1.7.1.18-02 only under certain conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.store.directory_link import DirectoryLink
from reference_qm.directory import Change, Queue
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import DirectoryCreateRequest
from reference_qm.surface.inputs import DirectoryAnswered

DirectoryAnswerCallback = Callable[[DirectoryAnswered], None]


class _CreatedDirectoryObjectChanger(DirectoryLink):
    """Change the objects that the queue manager creates in the directory."""

    def change_created_directory_object(self, element: Queue) -> Queue:
        """Return the changed object that the queue manager creates in the directory."""
        return element

    def write(self, change: Change, answered: DirectoryAnswerCallback) -> None:
        if isinstance(change, DirectoryCreateRequest) and isinstance(change.element, Queue):
            change = replace(change, element=self.change_created_directory_object(change.element))
        super().write(change, answered)


@fault("queue-manager-publishes-transactional-queue-as-nontransactional", breaks="MQDMPR-3.1.7.1.18-02", blind=True)
class QueueManagerPublishesTransactionalQueueAsNontransactional(_CreatedDirectoryObjectChanger):
    """The queue manager creates the directory object of a transactional queue as that of a nontransactional queue."""

    def change_created_directory_object(self, element: Queue) -> Queue:
        return replace(element, Transactional=False)


@fault("queue-manager-creates-directory-object-with-base-priority-0", breaks="MQDMPR-3.1.7.1.18-02", blind=True)
class QueueManagerCreatesDirectoryObjectWithBasePriority0(_CreatedDirectoryObjectChanger):
    """The queue manager creates each directory object with the BasePriority 0, even if the queue has a different
    BasePriority.
    """

    def change_created_directory_object(self, element: Queue) -> Queue:
        return replace(element, BasePriority=0)


@fault("queue-manager-creates-no-directory-object-for-second-public-queue", breaks="MQDMPR-3.1.7.1.18-02", blind=True)
class QueueManagerCreatesNoDirectoryObjectForSecondPublicQueue(DirectoryLink):
    """The queue manager creates no directory object for its second public queue, and continues as if the directory had
    created it.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.created = 0

    def write(self, change: Change, answered: DirectoryAnswerCallback) -> None:
        self.created += isinstance(change, DirectoryCreateRequest)
        if isinstance(change, DirectoryCreateRequest) and self.created == 2:
            answered(DirectoryAnswered(0, Result.SUCCESS, MADE_UP_GUID))
        else:
            super().write(change, answered)
