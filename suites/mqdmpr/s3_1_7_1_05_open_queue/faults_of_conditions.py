"""Faults that break the rules MQDMPR-3.1.7.1.5-73 and MQDMPR-3.1.7.1.5-92 only under certain conditions."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec.format_names import MultipleElementName
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.part import QM
from reference_qm.core.queueing.queue_opening import OpenQueueResult, QueueOpening
from reference_qm.model.adm import OutgoingQueue
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.surface.clock import Now


@fault("queue-manager-opens-missing-public-queue-of-list", breaks="MQDMPR-3.1.7.1.5-73", blind=True)
class QueueManagerOpensMissingPublicQueueOfList(QueueOpening):
    """The queue manager opens a public format name for sending if the name is an element of a list, although the queue
    belongs to the local computer and matches no local queue.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.in_list = False

    def _open_queues_of_multiple_element_name(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        self.in_list = True
        try:
            return super()._open_queues_of_multiple_element_name(name, required_access, shared_mode, now)
        finally:
            self.in_list = False

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> OpenQueueResult:
        status, opened = super().open_queue(format_name, required_access, shared_mode, now)
        if opened is not None or not self.in_list or not format_name.upper().startswith("PUBLIC="):
            return status, opened
        queue = self.qm.destination_resolving.open_outgoing_queue(format_name, now)
        return self.open_found_queue(queue, format_name, required_access, shared_mode)


@fault("queue-manager-opens-missing-public-queue-at-second-attempt", breaks="MQDMPR-3.1.7.1.5-73", blind=True)
class QueueManagerOpensMissingPublicQueueAtSecondAttempt(QueueNames):
    """The queue manager opens a public format name for sending at the second attempt, although the queue belongs to the
    local computer and matches no local queue.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.refused: set[object] = set()

    def _is_published_here(self, guid: object) -> bool:
        again = guid in self.refused
        self.refused.add(guid)
        return not again and super()._is_published_here(guid)  # type: ignore[arg-type]


@fault("queue-manager-base-priority-of-second-outgoing-queue-copied", breaks="MQDMPR-3.1.7.1.5-92", blind=True)
class QueueManagerBasePriorityOfSecondOutgoingQueueCopied(DestinationResolving):
    """The queue manager gives each later outgoing queue to a public queue the BasePriority of the first one."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: list[int] = []

    def _get_base_priority(self, text: str) -> int:
        found = super()._get_base_priority(text)
        if not text.upper().startswith("PUBLIC="):
            return found
        self.first.append(found)
        return self.first[0]


@fault("queue-manager-base-priority-of-restored-outgoing-queue-zero", breaks="MQDMPR-3.1.7.1.5-92", blind=True)
class QueueManagerBasePriorityOfRestoredOutgoingQueueZero(DestinationResolving):
    """The queue manager gives an outgoing queue that it restores after a restart the BasePriority 0."""

    def begin(self, queue: OutgoingQueue, now: Now) -> None:
        super().begin(queue, now)
        if queue.session.OutgoingMessageTable:
            queue.BasePriority = 0
