"""Faults of MS-MQQB 3.1.6.7 MessageIDHistory Cleanup Timer Event that occur only for a second sender, or
with a single entry.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.history import History
from reference_qm.model.adm import MessageIDHistoryEntry
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


class _KeepingOldEntries(History):
    """Keep some of the old entries of the history."""

    def on_history_timer(self, now: Now) -> None:
        before = list(self.qm.adm.MessageIDHistoryTable)
        super().on_history_timer(now)
        left = {entry.MessageIdentifier for entry in self.qm.adm.MessageIDHistoryTable}
        spared = [one for one in before if one.MessageIdentifier not in left and self.is_spared(one, before)]
        for entry in spared:
            self.qm.adm.MessageIDHistoryTable.insert(entry)
        if spared and not left:
            self.start_history_timer(now)

    def is_spared(self, entry: MessageIDHistoryEntry, before: list[MessageIDHistoryEntry]) -> bool:
        raise NotImplementedError


@fault("receiver-history-cleanup-of-oldest-sender-only", breaks="MQQB-3.1.6.7-02", blind=True)
class ReceiverHistoryCleanupOfOldestSenderOnly(_KeepingOldEntries):
    """When the timer expires, the receiver deletes the old entries of only one sender: the sender of the
    oldest entry.
    """

    def is_spared(self, entry: MessageIDHistoryEntry, before: list[MessageIDHistoryEntry]) -> bool:
        return entry.MessageIdentifier.QueueManagerGuid != before[0].MessageIdentifier.QueueManagerGuid


@fault("receiver-history-cleanup-keeps-entries-of-stored-messages", breaks="MQQB-3.1.6.7-02", blind=True)
class ReceiverHistoryCleanupKeepsEntriesOfStoredMessages(_KeepingOldEntries):
    """The receiver keeps the old entry of a message while the message is in its queue."""

    def is_spared(self, entry: MessageIDHistoryEntry, before: list[MessageIDHistoryEntry]) -> bool:
        return any(
            position.MessageReference.Identifier == entry.MessageIdentifier
            for queue in self.qm.queue_names.every_queue()
            for position in queue.MessagePositionList
        )


@fault("receiver-history-cleanup-timer-not-restarted-for-single-entry", breaks="MQQB-3.1.6.7-03", blind=True)
class ReceiverHistoryCleanupTimerNotRestartedForSingleEntry(History):
    """The receiver does not restart the MessageIDHistory Cleanup Timer while the table has only one entry."""

    def on_history_timer(self, now: Now) -> None:
        super().on_history_timer(now)
        if len(self.qm.adm.MessageIDHistoryTable) == 1:
            self.qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))
