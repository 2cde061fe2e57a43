"""Faults of MS-MQQB 3.1.5.8.1 Duplicate Detection: in some kinds of messages and in later messages."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import (
    MessageIDHistoryEntry,
    RecoverableReceipt,
    Session,
)
from reference_qm.surface.clock import Now

LARGE_BODY_BYTES = 0x1000


@fault("receiver-duplicate-with-large-body-accepted", breaks=("MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04"))
class ReceiverDuplicateWithLargeBodyAccepted(MessageHistory):
    """The receiver accepts a duplicate whose body has more than 4,096 bytes."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        large = len(packet.MessagePropertiesHeader.MessageBody) > LARGE_BODY_BYTES
        return None if large else super().find_duplicate(packet)


@fault("receiver-third-copy-of-message-accepted", breaks=("MQQB-3.1.5.8.1-04", "MQQB-3.1.5.8.1-01"))
class ReceiverThirdCopyOfMessageAccepted(MessageHistory):
    """The receiver removes the history entry of a message when it discards the first duplicate."""

    def disregard_duplicate(
        self, session: Session, entry: MessageIDHistoryEntry, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().disregard_duplicate(session, entry, receipt, now)
        for kept in list(self.qm.adm.MessageIDHistoryTable):
            if kept.MessageIdentifier == entry.MessageIdentifier:
                self.qm.adm.MessageIDHistoryTable.remove(kept)


@fault("receiver-puts-duplicate-with-jn-into-dead-letter-queue", breaks="MQQB-3.1.5.8.1-04")
class ReceiverPutsDuplicateWithJnIntoDeadLetterQueue(MessageReceiving):
    """The receiver puts a duplicate with JN into the dead-letter queue."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        here = self.is_for_this_queue_manager(packet) and packet.TransactionHeader is None
        if here and self.qm.message_history.find_duplicate(packet) is not None:
            self.qm.message_admission.journal_refused_message(self.qm.message_admission.build_message(packet, now))
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("receiver-time-of-oldest-entry-renewed-by-duplicate", breaks="MQQB-3.1.5.8.1-02")
class ReceiverTimeOfOldestEntryRenewedByDuplicate(MessageHistory):
    """The receiver renews TimeStamp of the oldest history entry instead of the entry of the duplicate."""

    def disregard_duplicate(
        self, session: Session, entry: MessageIDHistoryEntry, receipt: RecoverableReceipt, now: Now
    ) -> None:
        oldest = next(iter(self.qm.adm.MessageIDHistoryTable))
        super().disregard_duplicate(session, oldest, receipt, now)


@fault("receiver-transactional-message-on-second-session-accepted-in-any-order", breaks="MQQB-3.1.5.8.1-D01")
class ReceiverTransactionalMessageOnSecondSessionAcceptedInAnyOrder(TransactionalReceiving):
    """The receiver forgets the position of a sequence when the sequence continues on another session."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._session = 0

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        other, self._session = self._session not in {0, session.number}, session.number
        return other or super().is_in_sequence(session, packet)
