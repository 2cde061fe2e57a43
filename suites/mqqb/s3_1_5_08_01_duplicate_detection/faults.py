"""Faults of MS-MQQB 3.1.5.8.1 Duplicate Detection."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.history import History
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import MessageIDHistoryEntry, RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("transactional-duplicates-discarded", breaks=("MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-D01"))
class TransactionalDuplicatesDiscarded(InSequence):
    """A transactional message with an identifier that came before is discarded."""

    def take_transactional(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if self.qm.history.find_duplicate(packet) is None:
            super().take_transactional(session, packet, receipt, now)
        else:
            receipt.done = True


@fault("duplicate-of-last-only", breaks=("MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04", "MQQB-3.1.5.8-03"))
class DuplicateOfLastOnly(History):
    """Only a message that repeats the one before it is a duplicate."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        found = super().find_duplicate(packet)
        return found if found is not None and found == list(self.qm.adm.MessageIDHistoryTable)[-1] else None


@fault("refused-not-remembered", breaks=("MQQB-3.1.5.8.1-04", "MQQB-3.1.5.8.2-10"))
class RefusedNotRemembered(Admission):
    """A message that is refused is not entered into the history."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        entry = self.qm.history.find_duplicate(packet)
        if entry is not None:
            self.qm.adm.MessageIDHistoryTable.remove(entry)


@fault("transactional-duplicates-taken", breaks="MQQB-3.1.5.8.1-D01")
class TransactionalDuplicatesTaken(InSequence):
    """A transactional message with the number where its sequence stands is taken, when its identifier is new."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        stands = (session.IncomingTxSequenceID, session.IncomingTxSequenceNumber)
        return (header.TxSequenceID, header.TxSequenceNumber) == stands or super().is_in_sequence(session, packet)


@fault("duplicate-keeps-time", breaks="MQQB-3.1.5.8.1-02")
class DuplicateKeepsTime(History):
    """A duplicate leaves the TimeStamp of its entry as it was."""

    def disregard_duplicate(
        self, session: Session, entry: MessageIDHistoryEntry, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().disregard_duplicate(session, entry, receipt, now)
        self.qm.adm.MessageIDHistoryTable.insert(entry)


@fault("duplicate-time-of-another-epoch", breaks="MQQB-3.1.5.8.1-03")
class DuplicateTimeOfAnotherEpoch(History):
    """A duplicate sets the TimeStamp to the monotonic clock."""

    def disregard_duplicate(
        self, session: Session, entry: MessageIDHistoryEntry, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().disregard_duplicate(session, entry, receipt, now)
        self.qm.adm.MessageIDHistoryTable.insert(replace(entry, TimeStamp=now.monotonic_ms // 1000))


class _HistoryOfEachSession(History):
    """A history for each session."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.session: Session | None = None
        self._came: set[tuple[int, UUID, int]] = set()

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        number = 0 if self.session is None else self.session.number
        place = (number, packet.UserHeader.SourceQueueManager, packet.UserHeader.MessageID)
        known = place in self._came
        self._came.add(place)
        return super().find_duplicate(packet) if known else None


class _SessionNoted(Receiving):
    """The session that a message comes on."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        assert isinstance(self.qm.history, _HistoryOfEachSession)
        self.qm.history.session = session
        super().receive_user_message(session, packet, now)


add(
    "duplicate-not-found-on-another-session",
    "MQQB-3.1.5.8.1-01",
    "A message that came on an earlier session is no duplicate on the next.",
    both(replace_part(_HistoryOfEachSession), replace_part(_SessionNoted)),
    blind=True,
)


@fault("recoverable-duplicate-accepted", breaks="MQQB-3.1.5.8.1-04", blind=True)
class RecoverableDuplicateAccepted(History):
    """Only express messages are looked for among those that came before."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return None if packet.UserHeader.DM else super().find_duplicate(packet)


@fault("express-duplicate-accepted", breaks="MQQB-3.1.5.8.1-04", blind=True)
class ExpressDuplicateAccepted(History):
    """Only recoverable messages are looked for among those that came before."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return super().find_duplicate(packet) if packet.UserHeader.DM else None
