"""Faults that break the rule MQDMPR-3.1.7.3.4-03 only under certain conditions."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


class _ReadTimerOmitter(WaitingReads):
    """Start no timer for some pending reads; a subclass selects which."""

    def is_read_timer_omitted(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, destructive_read: bool
    ) -> bool:
        """Return whether a new pending read gets no timer."""
        return False

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: OnReadAnswered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        known = set(self.qm.readers)
        omitted = self.is_read_timer_omitted(queue_desc, cursor, destructive_read)
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)
        for number in set(self.qm.readers) - known if omitted else ():
            self.qm.timers.stop(TimerKey(TimerName.WAITING_MESSAGE_READ, number))


@fault("queue-manager-second-pending-read-of-handle-without-timer", breaks="MQDMPR-3.1.7.3.4-03", blind=True)
class QueueManagerSecondPendingReadOfHandleWithoutTimer(_ReadTimerOmitter):
    """The queue manager starts no timer for a read if another read of the same handle is pending."""

    def is_read_timer_omitted(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, destructive_read: bool
    ) -> bool:
        return bool(queue_desc.WaitingMessageReadOperationCollection)


@fault("queue-manager-starts-no-read-timer-beside-read-of-other-queue", breaks="MQDMPR-3.1.7.3.4-03", blind=True)
class QueueManagerStartsNoReadTimerBesideReadOfOtherQueue(_ReadTimerOmitter):
    """The queue manager starts no timer for a read if a read of another queue is pending."""

    def is_read_timer_omitted(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, destructive_read: bool
    ) -> bool:
        others = (reader.descriptor.QueueReference for reader in self.qm.readers.values())
        return any(one is not queue_desc.QueueReference for one in others)


@fault("queue-manager-pending-receive-by-cursor-without-timer", breaks="MQDMPR-3.1.7.3.4-03", blind=True)
class QueueManagerPendingReceiveByCursorWithoutTimer(_ReadTimerOmitter):
    """The queue manager starts no timer for a receive by a cursor."""

    def is_read_timer_omitted(
        self, queue_desc: OpenQueueDescriptor, cursor: Cursor | None, destructive_read: bool
    ) -> bool:
        return cursor is not None and destructive_read
