"""Faults that break rules of MS-MQDMPR 3.1.2 Timers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from harness.faults.parts import fault, faulty_only_if, replace_part
from harness.faults.primitives import omit_step
from harness.faults.registry import Install, add
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.events import MessageDeadlinesChanged
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import INFINITE_TIMEOUT, Message, MessagePosition, Queue
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("queue-manager-waiting-read-restarts-timers-of-other-reads", breaks="MQDMPR-3.1.2.3-01")
class QueueManagerWaitingReadRestartsTimersOfOtherReads(WaitingReads):
    """When a read begins to wait, the timers of all other reads of the same OpenQueueDescriptor restart with the
    timeout of the new read.
    """

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
        others = list(queue_desc.WaitingMessageReadOperationCollection)
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)
        for reader in others:
            if timeout_ms is not None and reader.number in self.qm.readers:
                key = TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)
                self.qm.timers.start(key, now.monotonic_ms, timeout_ms)


@fault("queue-manager-timeout-of-read-rounded-up-to-seconds", breaks="MQDMPR-3.1.2.3-02")
class QueueManagerTimeoutOfReadRoundedUpToSeconds(WaitingReads):
    """The queue manager rounds the timeout of a pending read up to a whole number of seconds."""

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
        timeout_ms = None if timeout_ms is None else -(-timeout_ms // 1_000) * 1_000
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-expired-read-stops-timers-of-other-reads", breaks="MQDMPR-3.1.2.3-02", blind=True)
class QueueManagerExpiredReadStopsTimersOfOtherReads(WaitingReads):
    """When the timer of one pending read expires, the timers of the other pending reads of the queue stop."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        others = list(self.qm.readers.values())
        super().on_waiting_message_read_timer(number)
        for reader in others:
            self.qm.timers.stop(TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number))


@fault("queue-manager-pending-peek-by-cursor-never-expires", breaks="MQDMPR-3.1.2.3-02", blind=True)
class QueueManagerPendingPeekByCursorNeverExpires(WaitingReads):
    """A pending peek by a cursor never expires."""

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
        if timeout_ms and cursor is not None and not destructive_read:
            timeout_ms = None
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("queue-manager-infinite-reads-end-when-other-read-expires", breaks="MQDMPR-3.1.2.3-03", blind=True)
class QueueManagerInfiniteReadsEndWhenOtherReadExpires(WaitingReads):
    """When the timer of a pending read expires, the reads of the same queue with an infinite timeout expire as well."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        queue = self.qm.readers[number].descriptor.QueueReference
        super().on_waiting_message_read_timer(number)
        for reader in list(self.qm.readers.values()):
            infinite = not self.qm.timers.is_running(TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number))
            if infinite and reader.descriptor.QueueReference is queue:
                self.end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT)


@fault("queue-manager-expired-receive-removes-next-message", breaks="MQDMPR-3.1.2.3-D01", blind=True)
class QueueManagerExpiredReceiveRemovesNextMessage(WaitingReads):
    """A receive whose timeout has expired still removes the next message that arrives."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        reader = self.qm.readers[number]
        super().on_waiting_message_read_timer(number)
        if reader.DestructiveRead and reader.CursorReference is None and reader.descriptor.QueueReference is not None:
            queue = reader.descriptor.QueueReference
            ghost = replace(reader.descriptor, Handle=self.qm.assign_handle(), WaitingMessageReadOperationCollection={})
            queue.OpenQueueDescriptorCollection[ghost.Handle] = ghost
            self.qm.message_reading.dequeue_message(ghost, lambda status, position: None, Now(0, 0), None)


@fault("message-expired-while-locked-by-reader-not-removed-when-returned", breaks="MQDMPR-3.1.2.4-01")
class MessageExpiredWhileLockedByReaderNotRemovedWhenReturned(MessageLifetimes):
    """A message whose TimeToBeReceived expired while a reader had locked it stays in the queue when the reader returns
    it.
    """

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        known: set[MessagePosition] = getattr(self, "known", set())
        if position not in known:
            super().start_time_to_be_received_timer(position)
        self.known = known | {position}


SECONDS_PER_HOUR = 3_600


@fault("message-with-infinite-lifetime-expires-after-an-hour", breaks="MQDMPR-3.1.2.4-D01")
class MessageWithInfiniteLifetimeExpiresAfterAnHour(MessagePositions):
    """A message with TimeToBeReceived 0xFFFFFFFF expires after one hour."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        endless = message.TimeToBeReceived == INFINITE_TIMEOUT
        return super().insert_message(
            queue, replace(message, TimeToBeReceived=SECONDS_PER_HOUR) if endless else message
        )


@fault("queue-manager-message-with-long-time-to-be-received-removed-at-once", breaks="MQDMPR-3.1.2.4-D01")
class QueueManagerMessageWithLongTimeToBeReceivedRemovedAtOnce(MessageLifetimes):
    """The queue manager removes at once a message whose TimeToBeReceived has the highest bit set but is not
    0xFFFFFFFF.
    """

    @faulty_only_if(lambda part, position: 0x80000000 <= position.MessageReference.TimeToBeReceived < 0xFFFFFFFF)
    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        self.qm.to_be_received.add(position, 0)
        self.qm.post_event(MessageDeadlinesChanged())


@fault("queue-manager-messages-no-longer-expire-after-restart", breaks="MQDMPR-3.1.2.4-D01", blind=True)
class QueueManagerMessagesNoLongerExpireAfterRestart(MessageLifetimes):
    """After a restart, messages with a TimeToBeReceived no longer expire."""

    def recover_message_deadlines(self) -> None:
        self.qm.post_event(MessageDeadlinesChanged())


@fault("queue-manager-express-message-does-not-expire", breaks="MQDMPR-3.1.2.4-D01", blind=True)
class QueueManagerExpressMessageDoesNotExpire(MessageLifetimes):
    """An express message stays in its queue although its TimeToBeReceived is over."""

    @faulty_only_if(lambda part, position: position.MessageReference.DeliveryGuarantee is DeliveryGuarantee.EXPRESS)
    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        return


@fault("queue-manager-message-expires-no-earlier-than-earlier-messages", breaks="MQDMPR-3.1.2.4-D01", blind=True)
class QueueManagerMessageExpiresNoEarlierThanEarlierMessages(MessageLifetimes):
    """A message expires no earlier than the messages that arrived before it in the same queue."""

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        earlier = [
            one.MessageReference.SentTime + one.MessageReference.TimeToBeReceived
            for one in position.QueueReference.MessagePositionList
            if one is not position and one.MessageReference.TimeToBeReceived != 0xFFFFFFFF
        ]
        message = position.MessageReference
        if message.TimeToBeReceived != 0xFFFFFFFF and earlier:
            self.qm.to_be_received.add(position, max(*earlier, message.SentTime + message.TimeToBeReceived))
            self.qm.post_event(MessageDeadlinesChanged())
        else:
            super().start_time_to_be_received_timer(position)


@fault("messages-expire-only-in-first-queue-after-restart", breaks="MQDMPR-3.1.2.4-D01")
class MessagesExpireOnlyInFirstQueueAfterRestart(MessageLifetimes):
    """After a restart, the queue manager removes expired messages only from the first queue that contains messages."""

    def recover_message_deadlines(self) -> None:
        self.recovering = True
        self.place: str | None = None
        super().recover_message_deadlines()
        self.recovering = False

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        if getattr(self, "recovering", False):
            self.place = self.place or position.QueueReference.Pathname
            if position.QueueReference.Pathname != self.place:
                return
        super().start_time_to_be_received_timer(position)


@fault("queue-manager-transactional-message-with-time-to-be-received-0-kept", breaks="MQDMPR-3.1.2.4-D02")
class QueueManagerTransactionalMessageWithTimeToBeReceived0Kept(MessageLifetimes):
    """The queue manager keeps a transactional message with TimeToBeReceived 0 forever."""

    @faulty_only_if(
        lambda part, position: (
            not position.MessageReference.TimeToBeReceived
            and position.MessageReference.TransactionIdentifier is not None
        )
    )
    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        return


@fault("queue-manager-local-message-with-time-to-be-received-0-kept", breaks="MQDMPR-3.1.2.4-D02", blind=True)
class QueueManagerLocalMessageWithTimeToBeReceived0Kept(MessageLifetimes):
    """The queue manager keeps a message of a local application with TimeToBeReceived 0 in its local queue."""

    @faulty_only_if(
        lambda part, position: (
            not position.MessageReference.TimeToBeReceived
            and position.MessageReference.Identifier.QueueManagerGuid == part.qm.adm.Identifier
        )
    )
    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        return


MINUTE_MS = 60000


HOUR_MS = 3600000


def _change_directory_timer_duration(durations: Mapping[TimerName, int]) -> Install:
    """Build a fault in which the queue manager runs the timers of the directory with wrong durations."""

    class WrongDurationTimerStarter(DirectoryClient):
        def _start_timer(self, name: TimerName, now: Now) -> None:
            super()._start_timer(name, now)
            if name in durations:
                duration_ms = durations[name] // self.qm.settings.scale
                self.qm.timers.start(TimerKey(name, 0), now.monotonic_ms, duration_ms)

    return replace_part(WrongDurationTimerStarter)


for _name, _breaks, _says, _timer, _ms in (
    (
        "sites-update-timer-one-hour",
        "MQDMPR-3.1.2.1-01",
        "The queue manager runs the Directory Sites Update Timer for one hour.",
        TimerName.DIRECTORY_SITES_UPDATE,
        HOUR_MS,
    ),
    (
        "gates-update-timer-12-hours",
        "MQDMPR-3.1.2.2-01",
        "The queue manager runs the Directory Site Gates Update Timer for 12 hours.",
        TimerName.DIRECTORY_SITE_GATES_UPDATE,
        12 * HOUR_MS,
    ),
    (
        "directory-online-timer-five-minutes",
        ("MQDMPR-3.1.2.5-01", "MQDMPR-3.1.2.5-D01"),
        "The queue manager runs the Directory Online Timer for five minutes.",
        TimerName.DIRECTORY_ONLINE,
        5 * MINUTE_MS,
    ),
    (
        "directory-online-timer-one-second",
        "MQDMPR-3.1.2.5-01",
        "The queue manager runs the Directory Online Timer for one second.",
        TimerName.DIRECTORY_ONLINE,
        1_000,
    ),
):
    add(_name, _breaks, _says, _change_directory_timer_duration(MappingProxyType({_timer: _ms})))


@fault("directory-online-timer-doubled-after-failed-contact", breaks="MQDMPR-3.1.2.5-01", blind=True)
class DirectoryOnlineTimerDoubledAfterFailedContact(DirectoryClient):
    """After a request that the directory does not answer, the Directory Online Timer runs for two minutes."""

    def on_directory_online_timer(self, now: Now) -> None:
        super().on_directory_online_timer(now)
        duration_ms = 2 * self.qm.settings.directory_online_ms // self.qm.settings.scale
        self.qm.timers.start(TimerKey(TimerName.DIRECTORY_ONLINE, 0), now.monotonic_ms, duration_ms)


add(
    "directory-never-contacted-again",
    "MQDMPR-3.1.2.5-D01",
    "After the directory was unavailable once, the queue manager never contacts it again.",
    omit_step(DirectoryClient.on_directory_online_timer),
)


@fault("directory-contacted-again-only-in-first-outage", breaks="MQDMPR-3.1.2.5-D01", blind=True)
class DirectoryContactedAgainOnlyInFirstOutage(DirectoryClient):
    """The queue manager contacts the directory again during its first outage, but not during later outages."""

    def on_directory_online_timer(self, now: Now) -> None:
        if self.qm.adm.QueueManagerVersion == "second outage":
            self.start_online_timer_if_offline(now)
            return
        super().on_directory_online_timer(now)

    def _check_directory_online(self, answer: Any, now: Now) -> None:
        super()._check_directory_online(answer, now)
        if not self.qm.enterprise.state.DirectoryOffline:
            self.qm.adm.QueueManagerVersion = "second outage"


@fault("queue-manager-new-read-restarts-timers-of-reads-with-same-handle", breaks="MQDMPR-3.1.2.3-02", blind=True)
class QueueManagerNewReadRestartsTimersOfReadsWithSameHandle(WaitingReads):
    """A read that begins to wait on a descriptor restarts the timers of the reads that already wait on it."""

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
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)
        for reader in queue_desc.WaitingMessageReadOperationCollection if timeout_ms else ():
            key = TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)
            if timeout_ms is not None and self.qm.timers.is_running(key):
                self.qm.timers.start(key, now.monotonic_ms, timeout_ms)
