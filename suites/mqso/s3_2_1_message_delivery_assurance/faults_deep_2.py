"""Faults of MS-MQSO 3.2.1: receives that waited, and messages that a transaction moved."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("queue-manager-waiting-receive-in-transaction-deletes-at-once", breaks=("MQSO-3.2.1-01", "MQSO-3.3.4.7-D02"))
class QueueManagerWaitingReceiveInTransactionDeletesAtOnce(Reading):
    """A receive in a transaction that waited for its message deletes the message at once."""

    def dequeue_message(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: Answered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        two_phase_read: bool = False,
        transaction: Transaction | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        if transaction is not None and queue is not None and not len(queue.MessagePositionList):
            self.loose = (*getattr(self, "loose", ()), transaction.Identifier)
        super().dequeue_message(queue_desc, answered, now, timeout_ms, cursor, tag, two_phase_read, transaction)

    def take_message_out(
        self,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: Answered,
    ) -> None:
        inside = (
            transaction if transaction is None or transaction.Identifier not in getattr(self, "loose", ()) else None
        )
        super().take_message_out(position, inside, two_phase_read, answered)


@fault("queue-manager-second-waiting-receive-gets-same-message", breaks=("MQSO-3.2.1-D03", "MQSO-5.1.1.2-D03"))
class QueueManagerSecondWaitingReceiveGetsSameMessage(Waiting):
    """Two receives that wait for a message of one queue get the same message."""

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        others = [
            one
            for one in list(self.qm.readers.values())
            if one is not reader
            and one.DestructiveRead
            and one.descriptor.QueueReference is position.QueueReference
            and position.State is MessagePositionState.AVAILABLE
        ]
        super().satisfy_reader(reader, position)
        if reader.DestructiveRead:
            for one in others:
                if one.number in self.qm.readers:
                    super().satisfy_reader(one, position)
