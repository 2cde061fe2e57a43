"""Faults of MS-MQDMPR 3.1.7.3.1 Wait For New Message."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("time-out-of-zero-waits", breaks="MQDMPR-3.1.7.3.1-07")
class ZeroWaits(Waiting):
    """A time-out of zero is none: the read waits for ever."""

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        super().wait_for_new_message(
            queue_desc, timeout_ms or None, destructive_read, answered, now, tag, cursor, transaction
        )


@fault("waiting-read-kept-as-peek", breaks="MQDMPR-3.1.7.3.1-10")
class KeptAsPeek(Waiting):
    """A receive that waits is kept as a read that does not take its message."""

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        super().wait_for_new_message(queue_desc, timeout_ms, False, answered, now, tag, cursor, transaction)


@fault("time-out-does-not-run", breaks=("MQDMPR-3.1.7.3.1-15", "MQDMPR-3.1.7.3.1-19", "MQDMPR-3.1.7.3.4-03"))
class DoesNotRun(Waiting):
    """A read that waits waits for ever, whatever its time-out."""

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: Answered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        endless = None if timeout_ms else timeout_ms
        super().wait_for_new_message(queue_desc, endless, destructive_read, answered, now, tag, cursor, transaction)


@fault("waiting-read-given-the-first-message", breaks="MQDMPR-3.1.7.3.1-23")
class GivenTheFirst(Waiting):
    """A read that waited is given the first message of the queue, not the one that came."""

    def satisfy_reader(self, reader: WaitingMessageReadOperation, position: MessagePosition) -> None:
        first = position.QueueReference.MessagePositionList.Head
        super().satisfy_reader(reader, first if isinstance(first, MessagePosition) else position)


@fault("time-out-of-a-read-goes-on", breaks="MQDMPR-3.1.7.3.1-24")
class GoesOn(Waiting):
    """The time-out of a read that got its message goes on, and ends whatever read waits then."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        reader = self.qm.readers.get(number) or next(iter(self.qm.readers.values()), None)
        if reader is not None:
            self.stop_reader(reader, Status.MQ_ERROR_IO_TIMEOUT)

    def _forget(self, reader: WaitingMessageReadOperation) -> None:
        del self.qm.readers[reader.number]
        del reader.descriptor.WaitingMessageReadOperationCollection[reader]


@fault("read-kept-after-its-wait", breaks="MQDMPR-3.1.7.3.1-25")
class KeptAfterItsWait(Waiting):
    """A read that waits no longer is still kept as one that does."""

    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        if reader.number in self.qm.readers:
            super().stop_reader(reader, status)
            reader.descriptor.WaitingMessageReadOperationCollection[reader] = None


@fault(
    "wait-ends-as-cancelled",
    breaks=(
        "MQDMPR-3.1.7.1.10-35",
        "MQDMPR-3.1.7.1.10-D02",
        "MQDMPR-3.1.7.1.14-33",
        "MQDMPR-3.1.7.1.15-35",
        "MQDMPR-3.1.7.1.15-55",
        "MQDMPR-3.1.7.3.1-19",
        "MQDMPR-3.1.7.3.1-20",
        "MQDMPR-3.1.7.3.5-03",
    ),
)
class EndsAsCancelled(Waiting):
    """A read whose time is over returns what one returns that was cancelled."""

    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        super().stop_reader(reader, Status.MQ_ERROR_OPERATION_CANCELLED)
