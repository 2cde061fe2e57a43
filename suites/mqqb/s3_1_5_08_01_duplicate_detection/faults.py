"""Faults of MS-MQQB 3.1.5.8.1 Duplicate Detection."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.protocol.in_sequence import InSequence
from reference_qm.core.protocol.receiving import Receiving
from reference_qm.model.adm import MessageIDHistoryEntry, RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("transactional-duplicates-discarded", breaks="MQQB-3.1.5.8.1-01")
class TransactionalDuplicatesDiscarded(InSequence):
    """A transactional message with an identifier that came before is discarded."""

    def take_transactional(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if self.qm.receiving.find_duplicate(packet) is None:
            super().take_transactional(session, packet, receipt, now)
        else:
            receipt.done = True


@fault("duplicate-keeps-time", breaks="MQQB-3.1.5.8.1-02")
class DuplicateKeepsTime(Receiving):
    """A duplicate leaves the TimeStamp of its entry as it was."""

    def disregard_duplicate(
        self, session: Session, entry: MessageIDHistoryEntry, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().disregard_duplicate(session, entry, receipt, now)
        self.qm.adm.MessageIDHistoryTable.insert(entry)


@fault("duplicate-time-of-another-epoch", breaks="MQQB-3.1.5.8.1-03")
class DuplicateTimeOfAnotherEpoch(Receiving):
    """A duplicate sets the TimeStamp to the monotonic clock."""

    def disregard_duplicate(
        self, session: Session, entry: MessageIDHistoryEntry, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().disregard_duplicate(session, entry, receipt, now)
        self.qm.adm.MessageIDHistoryTable.insert(replace(entry, TimeStamp=now.monotonic_ms // 1000))


BROKEN_ELSEWHERE = {
    "MQQB-3.1.5.8.1-04": ("duplicates-taken",),
}
"""Faults of other sections that break rules of this one."""
