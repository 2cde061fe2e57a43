"""Faults that break rules of MS-MQQB 3.1.6.7 MessageIDHistory Cleanup Timer Event."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import omit_step, omit_step_during
from harness.faults.registry import add
from reference_qm.codec import MessageIdentifier, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.store.entries import format_history_name
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.model.adm import MessageIDHistoryEntry
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

add(
    "receiver-history-entries-never-deleted",
    ("MQQB-3.1.6.7-01", "MQQB-3.1.6.7-02"),
    "The receiver never deletes an entry of MessageIDHistoryTable.",
    omit_step(MessageHistory.on_history_timer),
)


@fault("receiver-history-entries-all-deleted-at-expiry", breaks="MQQB-3.1.6.7-02")
class ReceiverHistoryEntriesAllDeletedAtExpiry(MessageHistory):
    """The receiver deletes all entries of MessageIDHistoryTable when the MessageIDHistory Cleanup Timer expires."""

    def on_history_timer(self, now: Now) -> None:
        for entry in self.qm.adm.MessageIDHistoryTable:
            self.qm.adm.MessageIDHistoryTable.remove(entry)
        super().on_history_timer(now)


@fault("receiver-history-cleanup-deletes-first-old-entry-only", breaks="MQQB-3.1.6.7-02", blind=True)
class ReceiverHistoryCleanupDeletesFirstOldEntryOnly(MessageHistory):
    """The receiver deletes only the oldest entry when the MessageIDHistory Cleanup Timer expires."""

    def on_history_timer(self, now: Now) -> None:
        before = list(self.qm.adm.MessageIDHistoryTable)
        super().on_history_timer(now)
        left = {entry.MessageIdentifier for entry in self.qm.adm.MessageIDHistoryTable}
        gone = [entry for entry in before if entry.MessageIdentifier not in left]
        for entry in gone[1:]:
            self.qm.adm.MessageIDHistoryTable.insert(entry)
        if gone[1:] and not left:
            self.start_history_timer(now)


@fault("receiver-history-cleanup-deletes-entries-after-half-duration", breaks="MQQB-3.1.6.7-02", blind=True)
class ReceiverHistoryCleanupDeletesEntriesAfterHalfDuration(MessageHistory):
    """The receiver deletes entries that are older than half of the duration of the MessageIDHistory Cleanup Timer."""

    def on_history_timer(self, now: Now) -> None:
        half_s = self.qm.settings.message_id_history_cleanup_ms // self.qm.settings.scale // 2000
        for entry in self.qm.adm.MessageIDHistoryTable:
            if entry.TimeStamp < now.utc_s - half_s:
                self.qm.adm.MessageIDHistoryTable.remove(entry)
        super().on_history_timer(now)


class _OldHistoryEntryKeeper(MessageHistory):
    """Keep those old entries of the history that a subclass selects."""

    def on_history_timer(self, now: Now) -> None:
        before = list(self.qm.adm.MessageIDHistoryTable)
        super().on_history_timer(now)
        left = {entry.MessageIdentifier for entry in self.qm.adm.MessageIDHistoryTable}
        spared = [one for one in before if one.MessageIdentifier not in left and self.is_entry_kept(one, before)]
        for entry in spared:
            self.qm.adm.MessageIDHistoryTable.insert(entry)
        if spared and not left:
            self.start_history_timer(now)

    def is_entry_kept(self, entry: MessageIDHistoryEntry, before: list[MessageIDHistoryEntry]) -> bool:
        raise NotImplementedError


@fault("receiver-history-cleanup-deletes-entries-of-one-sender-only", breaks="MQQB-3.1.6.7-02", blind=True)
class ReceiverHistoryCleanupDeletesEntriesOfOneSenderOnly(_OldHistoryEntryKeeper):
    """When the MessageIDHistory Cleanup Timer expires, the receiver deletes the old entries of only one sender: the
    sender of the oldest entry.
    """

    def is_entry_kept(self, entry: MessageIDHistoryEntry, before: list[MessageIDHistoryEntry]) -> bool:
        return entry.MessageIdentifier.QueueManagerGuid != before[0].MessageIdentifier.QueueManagerGuid


@fault("receiver-history-cleanup-keeps-entries-of-stored-messages", breaks="MQQB-3.1.6.7-02", blind=True)
class ReceiverHistoryCleanupKeepsEntriesOfStoredMessages(_OldHistoryEntryKeeper):
    """The receiver keeps the old entry of a message while the message is in its queue."""

    def is_entry_kept(self, entry: MessageIDHistoryEntry, before: list[MessageIDHistoryEntry]) -> bool:
        return any(
            position.MessageReference.Identifier == entry.MessageIdentifier
            for queue in self.qm.queue_names.list_every_queue()
            for position in queue.MessagePositionList
        )


@fault("receiver-history-cleanup-uses-time-of-first-receipt", breaks="MQQB-3.1.6.7-02", blind=True)
class ReceiverHistoryCleanupUsesTimeOfFirstReceipt(MessageHistory):
    """The receiver deletes an entry of MessageIDHistoryTable when the time since the first arrival of its message
    exceeds the duration of the MessageIDHistory Cleanup Timer, even if a duplicate has set TimeStamp to a later time.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[MessageIdentifier, int] = {}

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        entry = super().remember_message(packet, now)
        self.first[entry.MessageIdentifier] = entry.TimeStamp
        return entry

    def on_history_timer(self, now: Now) -> None:
        oldest_s = now.utc_s - self.qm.settings.message_id_history_cleanup_ms // self.qm.settings.scale // 1000
        for entry in self.qm.adm.MessageIDHistoryTable:
            if self.first.get(entry.MessageIdentifier, entry.TimeStamp) < oldest_s:
                self.qm.adm.MessageIDHistoryTable.remove(entry)
                self.qm.disk.save({format_history_name(entry): None})
        super().on_history_timer(now)


add(
    "receiver-history-timer-not-restarted",
    "MQQB-3.1.6.7-03",
    "The receiver does not restart the MessageIDHistory Cleanup Timer after its first expiry.",
    omit_step_during(MessageHistory.on_history_timer, MessageHistory.start_history_timer),
)


@fault("receiver-history-cleanup-timer-restarted-once", breaks="MQQB-3.1.6.7-03", blind=True)
class ReceiverHistoryCleanupTimerRestartedOnce(MessageHistory):
    """The receiver restarts the MessageIDHistory Cleanup Timer only after its first expiry."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.expired = 0

    def on_history_timer(self, now: Now) -> None:
        super().on_history_timer(now)
        self.expired += 1
        if self.expired > 1:
            self.qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))


@fault("receiver-history-cleanup-timer-not-restarted-for-single-entry", breaks="MQQB-3.1.6.7-03", blind=True)
class ReceiverHistoryCleanupTimerNotRestartedForSingleEntry(MessageHistory):
    """The receiver does not restart the MessageIDHistory Cleanup Timer while the table has only one entry."""

    def on_history_timer(self, now: Now) -> None:
        super().on_history_timer(now)
        if len(self.qm.adm.MessageIDHistoryTable) == 1:
            self.qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))
