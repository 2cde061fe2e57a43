"""Faults of MS-MQQB 3.1.6.7 MessageIDHistory Cleanup Timer Event, written without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageIdentifier, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.store.entries import history_name
from reference_qm.core.transfer.history import History
from reference_qm.model.adm import MessageIDHistoryEntry
from reference_qm.surface.clock import Now


@fault("receiver-history-cleanup-uses-time-of-first-receipt", breaks="MQQB-3.1.6.7-02", blind=True)
class ReceiverHistoryCleanupUsesTimeOfFirstReceipt(History):
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
                self.qm.disk.save({history_name(entry): None})
        super().on_history_timer(now)
