"""Faults of MS-MQDMPR 3.1.7.1.12 Dequeue Message End."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import Status

Ended = Callable[[Status], None]


@fault("receive-of-deleted-queue-ended", breaks="MQDMPR-3.1.7.1.12-04")
class OfDeletedQueueEnded(TwoPhaseReading):
    """A receive is ended with success although its queue was deleted meanwhile."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Ended,
        transactional: bool = False,
    ) -> None:
        if queue_desc.QueueReference is None:
            ended(Status.MQ_OK)
        else:
            super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)


@fault("receive-ended-always-deletes", breaks="MQDMPR-3.1.7.1.12-18")
class AlwaysDeletes(TwoPhaseReading):
    """However a receive is ended, its message is deleted."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Ended,
        transactional: bool = False,
    ) -> None:
        super().dequeue_message_end(queue_desc, position, True, ended, transactional)


@fault("receive-ended-never-deletes", breaks="MQDMPR-3.1.7.1.12-13")
class NeverDeletes(TwoPhaseReading):
    """However a receive is ended, its message is there again."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Ended,
        transactional: bool = False,
    ) -> None:
        super().dequeue_message_end(queue_desc, position, False, ended, transactional)


@fault("receive-ended-told-as-out-of-sequence", breaks="MQDMPR-3.1.7.1.12-21")
class ToldAsOutOfSequence(TwoPhaseReading):
    """To end a receive returns MQ_ERROR_TRANSACTION_SEQUENCE, though it is ended."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Ended,
        transactional: bool = False,
    ) -> None:
        def end(status: Status) -> None:
            ended(Status.MQ_ERROR_TRANSACTION_SEQUENCE if status is Status.MQ_OK else status)

        super().dequeue_message_end(queue_desc, position, delete_message, end, transactional)
