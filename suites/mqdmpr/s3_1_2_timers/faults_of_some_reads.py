"""Faults that break rules of MS-MQDMPR 3.1.2 Timers for some of the pending reads or some of the messages."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.transfer.message_expiring import MessageExpiring
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


class _ReadTimeoutChanger(WaitingReads):
    """Start the timers of some reads with another duration; a subclass selects which."""

    def change_read_timeout(
        self, queue_desc: OpenQueueDescriptor, timeout_ms: int, destructive_read: bool, cursor: Cursor | None
    ) -> int:
        """Return the duration of the timer of a read."""
        return timeout_ms

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
        if timeout_ms:
            timeout_ms = self.change_read_timeout(queue_desc, timeout_ms, destructive_read, cursor)
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("server-second-read-of-handle-has-timeout-of-first", breaks="MQDMPR-3.1.2.3-01", blind=True)
class ServerSecondReadOfHandleHasTimeoutOfFirst(_ReadTimeoutChanger):
    """A second pending read with the same handle waits for the timeout of the first read."""

    def change_read_timeout(
        self, queue_desc: OpenQueueDescriptor, timeout_ms: int, destructive_read: bool, cursor: Cursor | None
    ) -> int:
        if not queue_desc.WaitingMessageReadOperationCollection:
            self.first_ms = timeout_ms
        return self.first_ms


@fault("server-pending-peek-by-cursor-waits-half-of-its-timeout", breaks="MQDMPR-3.1.2.3-01", blind=True)
class ServerPendingPeekByCursorWaitsHalfOfItsTimeout(_ReadTimeoutChanger):
    """A pending peek by a cursor waits for half of its timeout."""

    def change_read_timeout(
        self, queue_desc: OpenQueueDescriptor, timeout_ms: int, destructive_read: bool, cursor: Cursor | None
    ) -> int:
        return timeout_ms if destructive_read or cursor is None else timeout_ms // 2


@fault("server-expired-peek-by-cursor-returns-first-message", breaks="MQDMPR-3.1.2.3-D01", blind=True)
class ServerExpiredPeekByCursorReturnsFirstMessage(WaitingReads):
    """A pending peek by a cursor whose timer expires returns the first message of the queue."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        reader = self.qm.readers[number]
        queue = reader.descriptor.QueueReference
        messages = [] if queue is None else list(queue.MessagePositionList)
        if reader.DestructiveRead or reader.CursorReference is None or not messages:
            super().on_waiting_message_read_timer(number)
            return
        self._remove_waiting_reader(reader)
        reader.answered(Status.MQ_OK, messages[0])


@fault("server-expired-peek-returns-locked-message", breaks="MQDMPR-3.1.2.3-D01", blind=True)
class ServerExpiredPeekReturnsLockedMessage(WaitingReads):
    """A pending peek without a cursor whose timer expires returns a message that another reader has locked."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        reader = self.qm.readers[number]
        queue = reader.descriptor.QueueReference
        messages = [] if queue is None else list(queue.MessagePositionList)
        if reader.DestructiveRead or reader.CursorReference is not None or not messages:
            super().on_waiting_message_read_timer(number)
            return
        self._remove_waiting_reader(reader)
        reader.answered(Status.MQ_OK, messages[0])


@fault("server-expired-read-waits-while-earlier-read-waits", breaks="MQDMPR-3.1.2.3-D01", blind=True)
class ServerExpiredReadWaitsWhileEarlierReadWaits(WaitingReads):
    """A pending read whose timer expires continues to wait if an earlier read with the same handle waits."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        reader = self.qm.readers[number]
        first = next(iter(reader.descriptor.WaitingMessageReadOperationCollection))
        if first is reader:
            super().on_waiting_message_read_timer(number)


@fault(
    "receiver-only-first-of-simultaneously-expired-messages-removed",
    breaks=("MQDMPR-3.1.2.4-01", "MQSO-5.1.1.3-D02"),
    blind=True,
)
class ReceiverOnlyFirstOfSimultaneouslyExpiredMessagesRemoved(MessageExpiring):
    """When the TimeToBeReceived of several messages expires at the same time, the queue manager removes only the
    first of them.
    """

    def delete_messages_not_received_in_time(self, positions: list[MessagePosition], now: Now) -> None:
        super().delete_messages_not_received_in_time(positions[:1], now)


@fault("receiver-expired-message-returned-by-abort-not-removed", breaks="MQDMPR-3.1.2.4-01")
class ReceiverExpiredMessageReturnedByAbortNotRemoved(MessageLifetimes):
    """In a transactional queue, a message stays after the abort of the transaction that had received it, although its
    TimeToBeReceived expired before the abort.
    """

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        watched: set[MessagePosition] = getattr(self, "watched", set())
        if position not in watched or position.MessageReference.TransactionIdentifier is None:
            super().start_time_to_be_received_timer(position)
        self.watched = watched | {position}


@fault("receiver-messages-of-local-applications-never-expire", breaks=("MQDMPR-3.1.2.4-01", "MQDMPR-3.1.7.1.9-15"))
class ReceiverMessagesOfLocalApplicationsNeverExpire(MessageLifetimes):
    """The queue manager does not remove an expired message that one of its own applications sent to a local queue."""

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        if position.MessageReference.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            super().start_time_to_be_received_timer(position)
