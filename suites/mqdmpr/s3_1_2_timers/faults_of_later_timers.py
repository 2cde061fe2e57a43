"""Faults that break rules of MS-MQDMPR 3.1.2 Timers when a timer runs again, or for some messages and reads."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.model.adm import MessagePosition
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered

_HOUR_MS = 3_600_000


@fault("queue-manager-sites-update-timer-shorter-after-first-expiry", breaks="MQDMPR-3.1.2.1-01", blind=True)
class QueueManagerSitesUpdateTimerShorterAfterFirstExpiry(DirectoryClient):
    """The Directory Sites Update Timer runs for one hour when the queue manager restarts it after its expiry."""

    def on_directory_sites_update_timer(self, now: Now) -> None:
        super().on_directory_sites_update_timer(now)
        self.qm.timers.start(TimerKey(TimerName.DIRECTORY_SITES_UPDATE, 0), now.monotonic_ms, _HOUR_MS)


@fault("queue-manager-sites-update-timer-shorter-after-directory-was-offline", breaks="MQDMPR-3.1.2.1-01", blind=True)
class QueueManagerSitesUpdateTimerShorterAfterDirectoryWasOffline(DirectoryClient):
    """The Directory Sites Update Timer runs for one hour after the directory was offline."""

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize_with_directory(now)
        if self.qm.begun:
            self.qm.timers.start(TimerKey(TimerName.DIRECTORY_SITES_UPDATE, 0), now.monotonic_ms, _HOUR_MS)
        return status


@fault("queue-manager-site-gates-update-timer-longer-after-first-expiry", breaks="MQDMPR-3.1.2.2-01", blind=True)
class QueueManagerSiteGatesUpdateTimerLongerAfterFirstExpiry(DirectoryClient):
    """The Directory Site Gates Update Timer runs for 12 hours when the queue manager restarts it after its expiry."""

    def on_directory_site_gates_update_timer(self, now: Now) -> None:
        super().on_directory_site_gates_update_timer(now)
        self.qm.timers.start(TimerKey(TimerName.DIRECTORY_SITE_GATES_UPDATE, 0), now.monotonic_ms, 12 * _HOUR_MS)


@fault(
    "queue-manager-site-gates-update-timer-longer-after-directory-was-offline", breaks="MQDMPR-3.1.2.2-01", blind=True
)
class QueueManagerSiteGatesUpdateTimerLongerAfterDirectoryWasOffline(DirectoryClient):
    """The Directory Site Gates Update Timer runs for 12 hours after the directory was offline."""

    def synchronize_with_directory(self, now: Now) -> DirectoryOperationResult:
        status = super().synchronize_with_directory(now)
        if self.qm.begun:
            self.qm.timers.start(TimerKey(TimerName.DIRECTORY_SITE_GATES_UPDATE, 0), now.monotonic_ms, 12 * _HOUR_MS)
        return status


@fault("queue-manager-infinite-read-ended-by-timeout-of-other-read", breaks="MQDMPR-3.1.2.3-03", blind=True)
class QueueManagerInfiniteReadEndedByTimeoutOfOtherRead(WaitingReads):
    """When a pending read expires, the reads with an infinite timeout that wait with the same handle end as well."""

    def on_waiting_message_read_timer(self, number: int) -> None:
        descriptor = self.qm.readers[number].descriptor
        super().on_waiting_message_read_timer(number)
        for reader in list(descriptor.WaitingMessageReadOperationCollection):
            if not self.qm.timers.is_running(TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)):
                self.end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT)


@fault("queue-manager-infinite-read-ended-by-message-for-other-read", breaks="MQDMPR-3.1.2.3-03", blind=True)
class QueueManagerInfiniteReadEndedByMessageForOtherRead(WaitingReads):
    """When another read takes a message from the queue, a waiting read with an infinite timeout expires."""

    def pass_new_message_to_waiting_readers(self, position: MessagePosition) -> None:
        super().pass_new_message_to_waiting_readers(position)
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if not self.qm.timers.is_running(TimerKey(TimerName.WAITING_MESSAGE_READ, reader.number)):
                    self.end_wait_without_message(reader, Status.MQ_ERROR_IO_TIMEOUT)


@fault("receiver-transactional-message-with-time-to-be-received-zero-kept", breaks="MQDMPR-3.1.2.4-D02", blind=True)
class ReceiverTransactionalMessageWithTimeToBeReceivedZeroKept(MessageLifetimes):
    """The queue manager keeps a transactional message with TimeToBeReceived 0 in its queue."""

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.TimeToBeReceived or message.TransactionIdentifier is None:
            super().start_time_to_be_received_timer(position)


@fault("receiver-local-message-with-time-to-be-received-zero-kept", breaks="MQDMPR-3.1.2.4-D02", blind=True)
class ReceiverLocalMessageWithTimeToBeReceivedZeroKept(MessageLifetimes):
    """The queue manager keeps a message with TimeToBeReceived 0 that a local application has sent."""

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.TimeToBeReceived or message.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            super().start_time_to_be_received_timer(position)


@fault("queue-manager-directory-online-timer-doubled-after-expiry", breaks="MQDMPR-3.1.2.5-01", blind=True)
class QueueManagerDirectoryOnlineTimerDoubledAfterExpiry(DirectoryClient):
    """The Directory Online Timer runs for two minutes when the queue manager restarts it after its expiry."""

    def on_directory_online_timer(self, now: Now) -> None:
        super().on_directory_online_timer(now)
        self.qm.timers.start(TimerKey(TimerName.DIRECTORY_ONLINE, 0), now.monotonic_ms, 120_000)


@fault("queue-manager-directory-online-timer-longer-in-second-outage", breaks="MQDMPR-3.1.2.5-01", blind=True)
class QueueManagerDirectoryOnlineTimerLongerInSecondOutage(DirectoryClient):
    """The Directory Online Timer runs for five minutes when the directory is offline for the second time."""

    directory_outage_count = 0

    def start_online_timer_if_offline(self, now: Now) -> None:
        key = TimerKey(TimerName.DIRECTORY_ONLINE, 0)
        running = self.qm.timers.is_running(key)
        super().start_online_timer_if_offline(now)
        if not running and self.qm.timers.is_running(key):
            self.directory_outage_count += 1
            if self.directory_outage_count > 1:
                self.qm.timers.start(key, now.monotonic_ms, 300_000)

    def on_directory_online_timer(self, now: Now) -> None:
        self.directory_outage_count -= 1
        super().on_directory_online_timer(now)


@fault("queue-manager-online-timer-contacts-directory-only-once", breaks="MQDMPR-3.1.2.5-D01", blind=True)
class QueueManagerOnlineTimerContactsDirectoryOnlyOnce(DirectoryClient):
    """The queue manager contacts the directory only when the Directory Online Timer expires for the first time."""

    was_directory_contacted = False

    def on_directory_online_timer(self, now: Now) -> None:
        if self.was_directory_contacted:
            self.start_online_timer_if_offline(now)
            return
        self.was_directory_contacted = True
        super().on_directory_online_timer(now)


@fault("queue-manager-directory-not-used-again-after-second-outage", breaks="MQDMPR-3.1.2.5-D01", blind=True)
class QueueManagerDirectoryNotUsedAgainAfterSecondOutage(DirectoryClient):
    """When the directory answers after a second outage, the queue manager does not use it again."""

    directory_outage_count = 0

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        before = self.qm.enterprise.state.DirectoryOffline
        super().on_directory_answered(event, now)
        state = self.qm.enterprise.state
        if before and not state.DirectoryOffline and self.qm.begun:
            self.directory_outage_count += 1
            state.DirectoryOffline = self.directory_outage_count > 1
