"""Faults of MS-MQDMPR 3.1.7.3.1 Wait For New Message that only special cases reveal: several waiting reads, and other
events at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from harness.faults.parts import fault, only_if
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import Queue
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor, WaitingMessageReadOperation
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-peek-by-cursor-with-timeout-zero-waits-a-second", breaks="MQDMPR-3.1.7.3.1-07")
class ZeroIsASecond(Waiting):
    """A peek by a cursor with timeout zero waits for one second if there is no message."""

    @only_if(lambda part, *arguments, cursor=None, **named: cursor is not None or len(arguments) > 6)
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
        timeout_ms = 1_000 if timeout_ms == 0 and cursor is not None else timeout_ms
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-waiting-receive-by-cursor-not-destructive", breaks="MQDMPR-3.1.7.3.1-10")
class CursorNeverDestructive(Waiting):
    """The WaitingMessageReadOperation of a receive by a cursor has DestructiveRead False."""

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
        destructive_read = destructive_read and cursor is None
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-waiting-read-added-to-first-open-descriptor", breaks="MQDMPR-3.1.7.3.1-14")
class FirstDescriptorWaits(Waiting):
    """The queue manager adds every WaitingMessageReadOperation to the first OpenQueueDescriptor of the queue, even if
    the read uses a different descriptor.
    """

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
        queue = queue_desc.QueueReference
        if queue is not None and queue.OpenQueueDescriptorCollection:
            queue_desc = next(iter(queue.OpenQueueDescriptorCollection.values()))
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-timer-of-second-waiting-read-not-started", breaks="MQDMPR-3.1.7.3.1-15")
class OneTimerPerDescriptor(Waiting):
    """The queue manager starts no timer for a read that begins to wait while another read of the same
    OpenQueueDescriptor waits.
    """

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
        others = list(queue_desc.WaitingMessageReadOperationCollection)
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)
        for reader in list(queue_desc.WaitingMessageReadOperationCollection) if others else ():
            if reader not in others:
                self.qm.timers.stop(TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number))


@fault("queue-manager-purge-ends-waiting-reads", breaks="MQDMPR-3.1.7.3.1-18")
class PurgeEndsReads(Queues):
    """A purge of a queue ends the reads that wait for a message of this queue."""

    def purge(
        self,
        queue: Queue,
        token: int | None,
        done: Callable[[int], Result],
        failed: Callable[[], None] | None = None,
    ) -> Result | None:
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                self.qm.waiting.stop_reader(reader, Status.MQ_ERROR_IO_TIMEOUT)
        return super().purge(queue, token, done, failed)


@fault("queue-manager-cancelled-read-stays-in-collection", breaks="MQDMPR-3.1.7.3.1-25")
class EndedReadKept(Waiting):
    """The queue manager keeps the WaitingMessageReadOperation of a cancelled read."""

    @only_if(lambda part, reader, status: status is not Status.MQ_ERROR_IO_TIMEOUT)
    def stop_reader(self, reader: WaitingMessageReadOperation, status: Status) -> None:
        super().stop_reader(reader, status)
        reader.descriptor.WaitingMessageReadOperationCollection[reader] = None


@fault("queue-manager-cancel-by-tag-ends-every-waiting-read", breaks="MQDMPR-3.1.7.3.1-18")
class CancelEndsAll(Waiting):
    """A cancellation by tag ends every read that waits at the queue, regardless of its tag."""

    def cancel_waiting_read(self, queue: Queue, tag: Hashable, status: Status) -> Status:
        found = super().cancel_waiting_read(queue, tag, status)
        for descriptor in list(queue.OpenQueueDescriptorCollection.values()) if found is Status.MQ_OK else ():
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                self.stop_reader(reader, status)
        return found
