"""Faults that break rules of MS-MQQB 3.1.5.8.1 Duplicate Detection."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import MessageIDHistoryEntry, RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("receiver-transactional-message-with-known-id-discarded", breaks=("MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-D01"))
class ReceiverTransactionalMessageWithKnownIdDiscarded(TransactionalReceiving):
    """The receiver discards a transactional message whose identifier is in the history."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if self.qm.message_history.find_duplicate(packet) is None:
            super().receive_transactional_message(session, packet, receipt, now)
        else:
            receipt.is_on_disk = True


@fault(
    "receiver-detects-duplicate-only-of-last-message",
    breaks=("MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04", "MQQB-3.1.5.8-03"),
)
class ReceiverDetectsDuplicateOnlyOfLastMessage(MessageHistory):
    """The receiver discards a duplicate only if it repeats the last message that arrived."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        found = super().find_duplicate(packet)
        return found if found is not None and found == list(self.qm.adm.MessageIDHistoryTable)[-1] else None


class _SeparateHistoryOfEachSession(MessageHistory):
    """The receiver keeps a separate message history for each session."""

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


class _ReceivingThatPassesSessionToHistory(MessageReceiving):
    """The receiver passes the session of each message to the message history."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        assert isinstance(self.qm.message_history, _SeparateHistoryOfEachSession)
        self.qm.message_history.session = session
        super().receive_user_message(session, packet, now)


add(
    "receiver-duplicate-on-other-session-accepted",
    "MQQB-3.1.5.8.1-01",
    "The receiver accepts a message again if the message arrived earlier on a different session.",
    combine_installers(replace_part(_SeparateHistoryOfEachSession), replace_part(_ReceivingThatPassesSessionToHistory)),
    blind=True,
)


@fault("receiver-duplicate-detected-by-low-16-bits-of-message-id", breaks="MQQB-3.1.5.8.1-01", blind=True)
class ReceiverDuplicateDetectedByLow16BitsOfMessageId(MessageHistory):
    """The receiver treats a message as a duplicate if the low 16 bits of its identifier equal those of an identifier in
    the history.
    """

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        user = packet.UserHeader
        for entry in self.qm.adm.MessageIDHistoryTable:
            known = entry.MessageIdentifier
            if known.QueueManagerGuid == user.SourceQueueManager and (known.Ordinal ^ user.MessageID) & 0xFFFF == 0:
                return entry
        return None


@fault("receiver-duplicate-accepted-if-addressed-to-other-queue", breaks="MQQB-3.1.5.8.1-01", blind=True)
class ReceiverDuplicateAcceptedIfAddressedToOtherQueue(MessageHistory):
    """If a message whose identifier is in the history is addressed to a different queue, the receiver accepts the
    message.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.queues: dict[tuple[object, int], object] = {}

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        user = packet.UserHeader
        name = self.queues.setdefault((user.SourceQueueManager, user.MessageID), user.DestinationQueue)
        return super().find_duplicate(packet) if name == user.DestinationQueue else None


@fault("receiver-message-to-missing-queue-not-added-to-history", breaks="MQQB-3.1.5.8.1-01", blind=True)
class ReceiverMessageToMissingQueueNotAddedToHistory(MessageReceiving):
    """If the receiver refuses a message because its queue is missing, it does not add the message to the history."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().put_received_message_into_queue(session, packet, receipt, now)
        entry = self.qm.message_history.find_duplicate(packet)
        missing = packet.TransactionHeader is None and self.qm.message_arrival.find_destination(packet) is None
        if entry is not None and missing and self.is_for_this_queue_manager(packet):
            self.qm.adm.MessageIDHistoryTable.remove(entry)


@fault("receiver-duplicate-timestamp-not-updated", breaks="MQQB-3.1.5.8.1-02")
class ReceiverDuplicateTimestampNotUpdated(MessageHistory):
    """The receiver does not update TimeStamp of the history entry of a duplicate."""

    def disregard_duplicate(
        self, session: Session, entry: MessageIDHistoryEntry, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().disregard_duplicate(session, entry, receipt, now)
        self.qm.adm.MessageIDHistoryTable.insert(entry)


@fault("receiver-time-of-second-duplicate-not-renewed", breaks="MQQB-3.1.5.8.1-02", blind=True)
class ReceiverTimeOfSecondDuplicateNotRenewed(MessageHistory):
    """The receiver renews TimeStamp of a history entry only for the first duplicate of a message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.renewed: set[object] = set()

    def disregard_duplicate(
        self, session: Session, entry: MessageIDHistoryEntry, receipt: RecoverableReceipt, now: Now
    ) -> None:
        key = (entry.MessageIdentifier.QueueManagerGuid, entry.MessageIdentifier.Ordinal)
        if key in self.renewed:
            now = replace(now, utc_s=entry.TimeStamp)
        self.renewed.add(key)
        super().disregard_duplicate(session, entry, receipt, now)


@fault("receiver-time-of-express-duplicate-not-renewed", breaks="MQQB-3.1.5.8.1-02", blind=True)
class ReceiverTimeOfExpressDuplicateNotRenewed(MessageReceiving):
    """The receiver does not renew TimeStamp of a history entry if the duplicate is an express message."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        known = self.qm.message_history.find_duplicate(packet) if packet.TransactionHeader is None else None
        super().put_received_message_into_queue(session, packet, receipt, now)
        if known is not None and not packet.UserHeader.DM:
            self.qm.adm.MessageIDHistoryTable.insert(known)


@fault("receiver-duplicate-time-stamp-taken-from-monotonic-clock", breaks="MQQB-3.1.5.8.1-03")
class ReceiverDuplicateTimeStampTakenFromMonotonicClock(MessageHistory):
    """The receiver sets TimeStamp of the history entry of a duplicate from its monotonic clock."""

    def disregard_duplicate(
        self, session: Session, entry: MessageIDHistoryEntry, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().disregard_duplicate(session, entry, receipt, now)
        self.qm.adm.MessageIDHistoryTable.insert(replace(entry, TimeStamp=now.monotonic_ms // 1000))


@fault("receiver-refused-message-not-in-history", breaks=("MQQB-3.1.5.8.1-04", "MQQB-3.1.5.8.2-10"))
class ReceiverRefusedMessageNotInHistory(MessageAdmission):
    """The receiver does not add a refused message to the history."""

    def refuse_message(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        super().refuse_message(session, packet, message_class, now)
        entry = self.qm.message_history.find_duplicate(packet)
        if entry is not None:
            self.qm.adm.MessageIDHistoryTable.remove(entry)


@fault("receiver-recoverable-duplicate-accepted", breaks="MQQB-3.1.5.8.1-04", blind=True)
class ReceiverRecoverableDuplicateAccepted(MessageHistory):
    """The receiver accepts recoverable duplicates."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return None if packet.UserHeader.DM else super().find_duplicate(packet)


@fault("receiver-express-duplicate-accepted", breaks="MQQB-3.1.5.8.1-04", blind=True)
class ReceiverExpressDuplicateAccepted(MessageHistory):
    """The receiver accepts express duplicates."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        return super().find_duplicate(packet) if packet.UserHeader.DM else None


@fault("receiver-duplicate-acknowledged-again", breaks="MQQB-3.1.5.8.1-04", blind=True)
class ReceiverDuplicateAcknowledgedAgain(MessageReceiving):
    """For a duplicate, the receiver sends the acknowledgment to the administration queue again."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        known = packet.TransactionHeader is None and self.qm.message_history.find_duplicate(packet) is not None
        super().put_received_message_into_queue(session, packet, receipt, now)
        if known and packet.MessagePropertiesHeader.PA:
            message = self.qm.message_admission.build_message(packet, now)
            self.qm.admin_acks.send(message, MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE, now)


@fault("receiver-duplicate-reported-again", breaks="MQQB-3.1.5.8.1-04", blind=True)
class ReceiverDuplicateReportedAgain(MessageReceiving):
    """For a duplicate, the receiver sends the report on a traced message again."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        known = packet.TransactionHeader is None and self.qm.message_history.find_duplicate(packet) is not None
        super().put_received_message_into_queue(session, packet, receipt, now)
        if known and self.is_for_this_queue_manager(packet):
            self.qm.message_tracing.trace_received_message(self.qm.message_admission.build_message(packet, now), now)


@fault("receiver-repeated-transactional-message-accepted", breaks="MQQB-3.1.5.8.1-D01")
class ReceiverRepeatedTransactionalMessageAccepted(TransactionalReceiving):
    """The receiver accepts a transactional message that has the sequence number of the last accepted message, if the
    identifier of the message is new.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        stands = (session.IncomingTxSequenceID, session.IncomingTxSequenceNumber)
        return (header.TxSequenceID, header.TxSequenceNumber) == stands or super().is_in_sequence(session, packet)


@fault("receiver-transactional-message-of-known-identifier-discarded", breaks="MQQB-3.1.5.8.1-D01", blind=True)
class ReceiverTransactionalMessageOfKnownIdentifierDiscarded(MessageReceiving):
    """If an earlier message had the same identifier, the receiver discards the message that is next in its sequence."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if packet.TransactionHeader is not None and self.qm.message_history.find_duplicate(packet) is not None:
            receipt.is_on_disk = True
            return
        super().put_received_message_into_queue(session, packet, receipt, now)
