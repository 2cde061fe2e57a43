from __future__ import annotations

from dataclasses import replace

from reference_qm.codec import MessageIdentifier, UserMessagePacket
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.disk import Change
from reference_qm.core.store.entries import build_message_id_history_entry, format_history_name
from reference_qm.model.adm import MessageIDHistoryEntry, RecoverableReceipt, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


class MessageHistory(QueueManagerPart):
    """Manages the history of received messages, with which duplicates are found.

    Spec: MS-MQQB 3.1.1.3 (MessageIDHistoryTable), 3.1.2.8, 3.1.5.8.1, 3.1.6.7.
    """

    __slots__ = ()

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        """Return the history entry of an earlier message with the same identifier, or None. Spec: MS-MQQB
        3.1.5.8.1.

        The whole MessageIdentifier is compared, because ordinals are unique only within a queue manager.
        """
        return self.qm.adm.MessageIDHistoryTable.find(packet.UserHeader.SourceQueueManager, packet.UserHeader.MessageID)

    def disregard_duplicate(
        self, session: Session, entry: MessageIDHistoryEntry, receipt: RecoverableReceipt, now: Now
    ) -> None:
        """Discard a duplicate, and update the time in the history entry. Spec: MS-MQQB 3.1.5.8.1.

        The duplicate is acknowledged, but not before the original message is on disk.
        """
        entry = replace(entry, TimeStamp=now.utc_s)
        self.qm.adm.MessageIDHistoryTable.insert(entry)
        for saving in self.qm.savings.values():
            if saving.entry.MessageIdentifier == entry.MessageIdentifier:
                saving.receipts_of_sessions.append((session, receipt))
                return
        receipt.is_on_disk = True
        self.qm.disk.save(build_message_id_history_entry(entry))

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        """Add a message to the MessageIDHistoryTable. Spec: MS-MQQB 3.1.5.8.2."""
        header = packet.UserHeader
        entry = MessageIDHistoryEntry(MessageIdentifier(header.SourceQueueManager, header.MessageID), now.utc_s)
        evicted = self.qm.adm.MessageIDHistoryTable.insert(entry)
        if evicted is not None:
            self.qm.disk.save({format_history_name(evicted): None})
        if not self.qm.timers.is_running(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0)):
            self.start_history_timer(now)
        return entry

    def start_history_timer(self, now: Now) -> None:
        """Start the MessageIDHistory Cleanup Timer. Spec: MS-MQQB 3.1.2.8."""
        duration_ms = self.qm.settings.message_id_history_cleanup_ms // self.qm.settings.scale
        self.qm.timers.start(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0), now.monotonic_ms, duration_ms)

    def on_history_timer(self, now: Now) -> None:
        """Remove old messages from the history. Spec: MS-MQQB 3.1.6.7."""
        table = self.qm.adm.MessageIDHistoryTable
        oldest_s = now.utc_s - self.qm.settings.message_id_history_cleanup_ms // self.qm.settings.scale // 1000
        forgotten: Change = {}
        for entry in table:
            if entry.TimeStamp < oldest_s:  # if the clock was set back, older entries follow
                table.remove(entry)
                forgotten[format_history_name(entry)] = None
        self.qm.disk.save(forgotten)
        if len(table):
            self.start_history_timer(now)
