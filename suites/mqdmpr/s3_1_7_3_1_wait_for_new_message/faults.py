"""Faults of MS-MQDMPR 3.1.7.3.1 Wait For New Message."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.calls import with_arguments
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition, Queue
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName

add(
    "read-with-timeout-0-waits",
    "MQDMPR-3.1.7.3.1-07",
    "The queue manager lets a read with timeout zero wait without limit.",
    with_arguments(Waiting.wait_for_new_message, timeout_ms=lambda given: given.timeout_ms or None),
)
add(
    "pending-receive-stored-as-peek",
    "MQDMPR-3.1.7.3.1-10",
    "The queue manager stores a pending receive as a read that does not remove its message.",
    with_arguments(Waiting.wait_for_new_message, destructive_read=lambda given: False),
)
add(
    "pending-read-timer-not-started",
    ("MQDMPR-3.1.7.3.1-15", "MQDMPR-3.1.7.3.1-19", "MQDMPR-3.1.7.3.4-03"),
    "The queue manager does not start the timer of a pending read, so the read waits without limit.",
    with_arguments(
        Waiting.wait_for_new_message, timeout_ms=lambda given: None if given.timeout_ms else given.timeout_ms
    ),
)


@fault("pending-read-returns-first-message", breaks="MQDMPR-3.1.7.3.1-23")
class PendingReadReturnsFirstMessage(Waiting):
    """A pending read returns the first message of the queue instead of the message that arrived."""

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        first = position.QueueReference.MessagePositionList.Head
        super().satisfy_reader(reader, first if isinstance(first, MessagePosition) else position)


@fault("completed-read-timer-keeps-running", breaks="MQDMPR-3.1.7.3.1-24")
class CompletedReadTimerKeepsRunning(Waiting):
    """The timer of a read that got its message keeps running, and ends a later pending read."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        reader = self.qm.readers.get(number) or next(iter(self.qm.readers.values()), None)
        if reader is not None:
            self.stop_reader(reader, Status.MQ_ERROR_IO_TIMEOUT)

    def _forget_reader(self, reader: WaitingMessageReadOperation) -> None:
        del self.qm.readers[reader.number]
        del reader.descriptor.WaitingMessageReadOperationCollection[reader]


@fault("ended-read-stays-pending-in-model", breaks="MQDMPR-3.1.7.3.1-25")
class EndedReadStaysPendingInModel(Waiting):
    """The queue manager keeps the WaitingMessageReadOperation of a read that has ended."""

    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        if reader.number in self.qm.readers:
            super().stop_reader(reader, status)
            reader.descriptor.WaitingMessageReadOperationCollection[reader] = None


add(
    "expired-read-returns-status-cancelled",
    (
        "MQDMPR-3.1.7.1.10-35",
        "MQDMPR-3.1.7.1.10-D02",
        "MQDMPR-3.1.7.1.14-33",
        "MQDMPR-3.1.7.1.15-35",
        "MQDMPR-3.1.7.1.15-55",
        "MQDMPR-3.1.7.3.1-19",
        "MQDMPR-3.1.7.3.1-20",
        "MQDMPR-3.1.7.3.5-03",
    ),
    "A pending read whose timer expires returns the status of a cancelled read.",
    with_arguments(Waiting.stop_reader, status=lambda given: Status.MQ_ERROR_OPERATION_CANCELLED),
)


@fault("cancelled-read-kept-in-collection", breaks="MQDMPR-3.1.7.3.1-25")
class CancelledReadKeptInCollection(Waiting):
    """A cancelled read stays in WaitingMessageReadOperationCollection."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        descriptors = queue.OpenQueueDescriptorCollection.values()
        readers = [one for each in descriptors for one in each.WaitingMessageReadOperationCollection if one.Tag == tag]
        result: Status = super().cancel_waiting_read(queue, tag, status)
        for reader in readers:
            reader.Tag = reader.CursorReference = None
            reader.descriptor.WaitingMessageReadOperationCollection[reader] = None
        return result


@fault("arrival-stops-timers-of-all-reads", breaks="MQDMPR-3.1.7.3.1-24")
class ArrivalStopsTimersOfAllReads(Waiting):
    """A message that completes a read stops the timers of all reads that wait at its queue."""

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        for descriptor in position.QueueReference.OpenQueueDescriptorCollection.values():
            for one in descriptor.WaitingMessageReadOperationCollection:
                self.qm.timers.stop(TimerKey(TimerName.WAITING_MESSAGE_READ, one.number))
        super().satisfy_reader(reader, position)
