"""Faults of MS-MQQB 3.1.6.7 MessageIDHistory Cleanup Timer Event that only special cases reveal: second occurrences,
other causes, boundary values.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.transfer.history import History
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("receiver-history-cleanup-deletes-first-old-entry-only", breaks="MQQB-3.1.6.7-02", blind=True)
class ReceiverHistoryCleanupDeletesFirstOldEntryOnly(History):
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


@fault("receiver-history-cleanup-timer-restarted-once", breaks="MQQB-3.1.6.7-03", blind=True)
class ReceiverHistoryCleanupTimerRestartedOnce(History):
    """The receiver restarts the MessageIDHistory Cleanup Timer only after its first expiry."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.expired = 0

    def on_history_timer(self, now: Now) -> None:
        super().on_history_timer(now)
        self.expired += 1
        if self.expired > 1:
            self.qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))


@fault("receiver-history-cleanup-keeps-refused-messages", breaks="MQQB-3.1.6.7-02", blind=True)
class ReceiverHistoryCleanupKeepsRefusedMessages(History):
    """The receiver deletes entries that are older than half of the duration of the MessageIDHistory Cleanup Timer."""

    def on_history_timer(self, now: Now) -> None:
        half_s = self.qm.settings.message_id_history_cleanup_ms // self.qm.settings.scale // 2000
        for entry in self.qm.adm.MessageIDHistoryTable:
            if entry.TimeStamp < now.utc_s - half_s:
                self.qm.adm.MessageIDHistoryTable.remove(entry)
        super().on_history_timer(now)
