"""Faults of MS-MQQB 3.1.5.8.1 Duplicate Detection: TimeStamp in the history entry of a duplicate."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.model.adm import MessageIDHistoryEntry, RecoverableReceipt, Session
from reference_qm.surface.clock import Now

SECONDS_FROM_1970_TO_1980 = 315_532_800
HOUR_S = 3_600


class WrongDuplicateTimeStampFault(MessageHistory):
    """Changes TimeStamp of the history entry of each duplicate."""

    def disregard_duplicate(
        self, session: Session, entry: MessageIDHistoryEntry, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().disregard_duplicate(session, entry, receipt, now)
        table = self.qm.adm.MessageIDHistoryTable
        found = table.find(entry.MessageIdentifier.QueueManagerGuid, entry.MessageIdentifier.Ordinal)
        if found is not None:
            table.insert(replace(found, TimeStamp=self.compute_wrong_time_stamp(session, entry, found.TimeStamp)))

    def compute_wrong_time_stamp(self, session: Session, entry: MessageIDHistoryEntry, time_s: int) -> int:
        """Return the wrong time stamp. ``entry`` is the history entry before the duplicate arrived."""
        return time_s


@fault("receiver-duplicate-time-stamp-counted-since-1980", breaks="MQQB-3.1.5.8.1-03", blind=True)
class ReceiverDuplicateTimeStampCountedSince1980(WrongDuplicateTimeStampFault):
    """The receiver sets TimeStamp of the history entry of a duplicate to the seconds since 1980."""

    def compute_wrong_time_stamp(self, session: Session, entry: MessageIDHistoryEntry, time_s: int) -> int:
        return time_s - SECONDS_FROM_1970_TO_1980


@fault("receiver-sets-history-time-stamp-of-duplicate-to-local-time", breaks="MQQB-3.1.5.8.1-03", blind=True)
class ReceiverSetsHistoryTimeStampOfDuplicateToLocalTime(WrongDuplicateTimeStampFault):
    """The receiver sets TimeStamp of the history entry of a duplicate to local time, which is one hour ahead of UTC."""

    def compute_wrong_time_stamp(self, session: Session, entry: MessageIDHistoryEntry, time_s: int) -> int:
        return time_s + HOUR_S


@fault("receiver-history-time-of-duplicate-in-ms-with-two-sessions", breaks="MQQB-3.1.5.8.1-03", blind=True)
class ReceiverHistoryTimeOfDuplicateInMsWithTwoSessions(WrongDuplicateTimeStampFault):
    """The receiver sets TimeStamp of the history entry of a duplicate to milliseconds while two sessions are open."""

    def compute_wrong_time_stamp(self, session: Session, entry: MessageIDHistoryEntry, time_s: int) -> int:
        return time_s * 1_000 & 0xFFFFFFFF if len(self.qm.sessions) > 1 else time_s


@fault("receiver-history-time-in-ms-from-second-duplicate-on", breaks="MQQB-3.1.5.8.1-03", blind=True)
class ReceiverHistoryTimeInMsFromSecondDuplicateOn(WrongDuplicateTimeStampFault):
    """The receiver sets TimeStamp of the history entry of a message to milliseconds from the second duplicate on."""

    def compute_wrong_time_stamp(self, session: Session, entry: MessageIDHistoryEntry, time_s: int) -> int:
        seen = self.__dict__.setdefault("duplicated", set())
        again = entry.MessageIdentifier in seen
        seen.add(entry.MessageIdentifier)
        return time_s * 1_000 & 0xFFFFFFFF if again else time_s
