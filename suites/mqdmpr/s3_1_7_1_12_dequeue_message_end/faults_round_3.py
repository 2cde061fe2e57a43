"""Faults that break rules of MS-MQDMPR 3.1.7.1.12 Dequeue Message End."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status


@fault("queue-manager-returned-message-wakes-no-reader", breaks="MQDMPR-3.1.7.1.12-18", blind=True)
class QueueManagerReturnedMessageWakesNoReader(TwoPhaseReading):
    """Dequeue Message End does not pass a message that it makes available again to the reads that wait."""

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        queue, locked = queue_desc.QueueReference, position.State is MessagePositionState.LOCKED
        if queue is not None and locked and not (delete_message or transactional):
            position.State = MessagePositionState.AVAILABLE
            queue.MessagePositionList.reset_search_start(position)
            ended(Status.MQ_OK)
        else:
            super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)
