"""Faults of MS-MQDMPR 3.1.2 Timers that only special cases reveal: two reads with different timeouts, and limits of
times.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, only_if
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.events import LifetimesChanged
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Answered, Cursor, OpenQueueDescriptor
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("queue-manager-waiting-read-restarts-timers-of-other-reads", breaks="MQDMPR-3.1.2.3-01")
class QueueManagerWaitingReadRestartsTimersOfOtherReads(Waiting):
    """When a read begins to wait, the timers of all other reads of the same OpenQueueDescriptor restart with the
    timeout of the new read.
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
        for reader in others:
            if timeout_ms is not None and reader.number in self.qm.readers:
                key = TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)
                self.qm.timers.start(key, now.monotonic_ms, timeout_ms)


@fault("queue-manager-message-of-long-lifetime-removed-at-once", breaks="MQDMPR-3.1.2.4-D01")
class QueueManagerMessageOfLongLifetimeRemovedAtOnce(Lifetimes):
    """The queue manager removes at once a message whose TimeToBeReceived has the highest bit set but is not
    0xFFFFFFFF.
    """

    @only_if(lambda part, position: 0x80000000 <= position.MessageReference.TimeToBeReceived < 0xFFFFFFFF)
    def watch_received(self, position: MessagePosition) -> None:
        self.qm.to_be_received.add(position, 0)
        self.qm.post(LifetimesChanged())


@fault("queue-manager-transactional-message-of-lifetime-0-kept", breaks="MQDMPR-3.1.2.4-D02")
class QueueManagerTransactionalMessageOfLifetime0Kept(Lifetimes):
    """The queue manager keeps a transactional message with TimeToBeReceived 0 forever."""

    @only_if(
        lambda part, position: (
            not position.MessageReference.TimeToBeReceived
            and position.MessageReference.TransactionIdentifier is not None
        )
    )
    def watch_received(self, position: MessagePosition) -> None:
        return


@fault("queue-manager-timeout-of-read-rounded-up-to-seconds", breaks="MQDMPR-3.1.2.3-02")
class QueueManagerTimeoutOfReadRoundedUpToSeconds(Waiting):
    """The queue manager rounds the timeout of a pending read up to a whole number of seconds."""

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
        timeout_ms = None if timeout_ms is None else -(-timeout_ms // 1_000) * 1_000
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-expired-read-takes-next-message", breaks="MQDMPR-3.1.2.3-D01", blind=True)
class QueueManagerExpiredReadTakesNextMessage(Waiting):
    """A receive whose timeout has expired still removes the next message that arrives."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        reader = self.qm.readers[number]
        super().on_waiting_message_read_timer(number)
        if reader.DestructiveRead and reader.CursorReference is None and reader.descriptor.QueueReference is not None:
            queue = reader.descriptor.QueueReference
            ghost = replace(reader.descriptor, Handle=self.qm.next_handle(), WaitingMessageReadOperationCollection={})
            queue.OpenQueueDescriptorCollection[ghost.Handle] = ghost
            self.qm.reading.dequeue_message(ghost, lambda status, position: None, Now(0, 0), None)


@fault("queue-manager-waiting-read-ends-timers-of-others-at-expiry", breaks="MQDMPR-3.1.2.3-02", blind=True)
class QueueManagerWaitingReadEndsTimersOfOthersAtExpiry(Waiting):
    """When the timer of one pending read expires, the timers of the other pending reads of the queue stop."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        others = list(self.qm.readers.values())
        super().on_waiting_message_read_timer(number)
        for reader in others:
            self.qm.timers.stop(TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number))


@fault("queue-manager-infinite-read-expires-with-other-read", breaks="MQDMPR-3.1.2.3-03", blind=True)
class QueueManagerInfiniteReadExpiresWithOtherRead(Waiting):
    """When the timer of a pending read expires, the reads of the same queue with an infinite timeout expire as well."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        queue = self.qm.readers[number].descriptor.QueueReference
        super().on_waiting_message_read_timer(number)
        for reader in list(self.qm.readers.values()):
            infinite = not self.qm.timers.is_running(TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number))
            if infinite and reader.descriptor.QueueReference is queue:
                self.stop_reader(reader, Status.MQ_ERROR_IO_TIMEOUT)


@fault("queue-manager-pending-peek-does-not-expire", breaks="MQDMPR-3.1.2.3-02", blind=True)
class QueueManagerPendingPeekDoesNotExpire(Waiting):
    """A pending peek by a cursor never expires."""

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
        if timeout_ms and cursor is not None and not destructive_read:
            timeout_ms = None
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-lifetime-counts-from-arrival-after-restart", breaks="MQDMPR-3.1.2.4-D01", blind=True)
class QueueManagerLifetimeCountsFromArrivalAfterRestart(Lifetimes):
    """After a restart, messages with a TimeToBeReceived no longer expire."""

    def recover_deadlines(self) -> None:
        self.qm.post(LifetimesChanged())


@fault("queue-manager-express-message-does-not-expire", breaks="MQDMPR-3.1.2.4-D01", blind=True)
class QueueManagerExpressMessageDoesNotExpire(Lifetimes):
    """An express message stays in its queue although its TimeToBeReceived is over."""

    @only_if(lambda part, position: position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS)
    def watch_received(self, position: MessagePosition) -> None:
        return


@fault("queue-manager-later-message-with-shorter-lifetime-waits-for-earlier", breaks="MQDMPR-3.1.2.4-D01", blind=True)
class QueueManagerLaterMessageWithShorterLifetimeWaitsForEarlier(Lifetimes):
    """A message expires no earlier than the messages that arrived before it in the same queue."""

    def watch_received(self, position: MessagePosition) -> None:
        earlier = [
            one.MessageReference.SentTime + one.MessageReference.TimeToBeReceived
            for one in position.QueueReference.MessagePositionList
            if one is not position and one.MessageReference.TimeToBeReceived != 0xFFFFFFFF
        ]
        message = position.MessageReference
        if message.TimeToBeReceived != 0xFFFFFFFF and earlier:
            self.qm.to_be_received.add(position, max(*earlier, message.SentTime + message.TimeToBeReceived))
            self.qm.post(LifetimesChanged())
        else:
            super().watch_received(position)


@fault("queue-manager-own-message-of-lifetime-0-kept", breaks="MQDMPR-3.1.2.4-D02", blind=True)
class QueueManagerOwnMessageOfLifetime0Kept(Lifetimes):
    """The queue manager keeps a message of a local application with TimeToBeReceived 0 in its local queue."""

    @only_if(
        lambda part, position: (
            not position.MessageReference.TimeToBeReceived
            and position.MessageReference.Identifier.QueueManagerGuid == part.qm.adm.Identifier
        )
    )
    def watch_received(self, position: MessagePosition) -> None:
        return


@fault("directory-online-timer-expires-once", breaks="MQDMPR-3.1.2.5-D01", blind=True)
class DirectoryOnlineTimerExpiresOnce(DirectoryClient):
    """The queue manager contacts the directory again only during the first of several outages."""

    def on_directory_online_timer(self, now: Now) -> None:
        if self.qm.adm.QueueManagerVersion == "second outage":
            self.watch(now)
            return
        super().on_directory_online_timer(now)

    def _check_online(self, answer: Any, now: Now) -> None:
        super()._check_online(answer, now)
        if not self.qm.enterprise.state.DirectoryOffline:
            self.qm.adm.QueueManagerVersion = "second outage"


@fault("lifetimes-after-restart-watched-in-first-queue-only", breaks="MQDMPR-3.1.2.4-D01")
class LifetimesAfterRestartWatchedInFirstQueueOnly(Lifetimes):
    """After a restart, the queue manager removes expired messages only from the first queue that contains messages."""

    def recover_deadlines(self) -> None:
        self.recovering = True
        self.place: str | None = None
        super().recover_deadlines()
        self.recovering = False

    def watch_received(self, position: MessagePosition) -> None:
        if getattr(self, "recovering", False):
            self.place = self.place or position.QueueReference.Pathname
            if position.QueueReference.Pathname != self.place:
                return
        super().watch_received(position)


@fault("lifetime-of-message-given-back-not-watched", breaks="MQDMPR-3.1.2.4-01")
class LifetimeOfMessageGivenBackNotWatched(Lifetimes):
    """A message that a reader has locked while its TimeToBeReceived expired stays when the reader returns it."""

    def watch_received(self, position: MessagePosition) -> None:
        known: set[MessagePosition] = getattr(self, "known", set())
        if position not in known:
            super().watch_received(position)
        self.known = known | {position}
