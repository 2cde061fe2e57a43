"""Faults that break rules of MS-MQQB 3.1.6.7 MessageIDHistory Cleanup Timer Event: the entries that are checked."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.model.adm import MessageIDHistoryEntry
from reference_qm.surface.clock import Now


class _HistoryWithUncheckedEntries(MessageHistory):
    def on_history_timer(self, now: Now) -> None:
        table = self.qm.adm.MessageIDHistoryTable
        before = list(table)
        super().on_history_timer(now)
        after = {entry.MessageIdentifier for entry in table}
        deleted = [entry for entry in before if entry.MessageIdentifier not in after]
        for entry in self.choose_unchecked_history_entries(deleted):
            table.insert(entry)
        if len(table):
            self.start_history_timer(now)

    def choose_unchecked_history_entries(self, deleted: list[MessageIDHistoryEntry]) -> list[MessageIDHistoryEntry]:
        raise NotImplementedError


@fault("receiver-history-timer-checks-only-entries-of-one-source", breaks="MQQB-3.1.6.7-01", blind=True)
class ReceiverHistoryTimerChecksOnlyEntriesOfOneSource(_HistoryWithUncheckedEntries):
    """When the MessageIDHistory Cleanup Timer expires, the receiver checks only the entries of the queue manager whose
    entry is the oldest.
    """

    def choose_unchecked_history_entries(self, deleted: list[MessageIDHistoryEntry]) -> list[MessageIDHistoryEntry]:
        first = deleted[0].MessageIdentifier.QueueManagerGuid if deleted else None
        return [entry for entry in deleted if entry.MessageIdentifier.QueueManagerGuid != first]


@fault("receiver-history-timer-checks-no-entry-of-repeated-message", breaks="MQQB-3.1.6.7-01", blind=True)
class ReceiverHistoryTimerChecksNoEntryOfRepeatedMessage(_HistoryWithUncheckedEntries):
    """When the MessageIDHistory Cleanup Timer expires, the receiver does not check entries whose TimeStamp a duplicate
    has changed.
    """

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        entry = super().find_duplicate(packet)
        if entry is not None:
            self.__dict__.setdefault("repeated", set()).add(entry.MessageIdentifier)
        return entry

    def choose_unchecked_history_entries(self, deleted: list[MessageIDHistoryEntry]) -> list[MessageIDHistoryEntry]:
        repeated = self.__dict__.get("repeated", set())
        return [entry for entry in deleted if entry.MessageIdentifier in repeated]
