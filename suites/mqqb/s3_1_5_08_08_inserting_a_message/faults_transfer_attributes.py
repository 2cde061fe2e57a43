"""Faults in the attributes of a new IncomingTransactionalTransferInfo, and in EodNextSeq. MS-MQQB 3.1.5.8.8."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SequenceInfo, UserMessagePacket
from reference_qm.core.commands.data_model_inspection import DataModelInspection
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.core.transfer.transactional_sending import get_outgoing_sequence
from reference_qm.model.adm import (
    NO_INCOMING_SEQUENCE,
    IncomingTransactionalTransferInfo,
    Session,
)
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import GetTransfers, Result

U16_MASK = 0xFFFF


def is_sequence_new(transfer: IncomingTransactionalTransferInfo) -> bool:
    """Return whether a sequence has no accepted message yet."""
    return transfer.SequenceIdentifier == NO_INCOMING_SEQUENCE


def find_first_transfer(
    qm: QueueManager, when: Callable[[IncomingTransactionalTransferInfo], bool]
) -> IncomingTransactionalTransferInfo | None:
    """Return the first IncomingTransactionalTransferInfo of any queue for which a condition is true, or None."""
    for queue in qm.queue_names.list_every_queue():
        for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
            if when(transfer):
                return transfer
    return None


def find_transfer_of_other_queue(
    qm: QueueManager, transfer: IncomingTransactionalTransferInfo
) -> IncomingTransactionalTransferInfo | None:
    """Return the IncomingTransactionalTransferInfo of the same sender at another queue, or None."""
    return find_first_transfer(
        qm,
        lambda one: (
            one.QueueReference is not transfer.QueueReference and one.SenderIdentifier == transfer.SenderIdentifier
        ),
    )


def find_transfer_of_other_sender(
    qm: QueueManager, transfer: IncomingTransactionalTransferInfo
) -> IncomingTransactionalTransferInfo | None:
    """Return the IncomingTransactionalTransferInfo of another sender at the same queue, or None."""
    return find_first_transfer(
        qm,
        lambda one: one.QueueReference is transfer.QueueReference and one.SenderIdentifier != transfer.SenderIdentifier,
    )


class WrongNewTransferInfoFault(TransactionalReceiving):
    """Changes each IncomingTransactionalTransferInfo after its first message was accepted."""

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        new = is_sequence_new(transfer)
        super().accept_in_sequence_message(session, transfer, packet, now)
        if new:
            self.change_new_transfer(session, transfer, packet, now)

    def change_new_transfer(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        """Change the new IncomingTransactionalTransferInfo."""


@fault("receiver-transfer-info-of-second-queue-also-added-to-first", breaks="MQQB-3.1.5.8.8-21", blind=True)
class ReceiverTransferInfoOfSecondQueueAlsoAddedToFirst(WrongNewTransferInfoFault):
    """The receiver adds the IncomingTransactionalTransferInfo of a sender's sequence to a second queue also to the
    sender's first queue.
    """

    def change_new_transfer(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        other = find_transfer_of_other_queue(self.qm, transfer)
        if other is not None:
            key = (transfer.SenderIdentifier, transfer.FormatName.lower())
            other.QueueReference.IncomingTransactionalTransferInfoCollection[key] = transfer


@fault("receiver-transfer-info-not-kept-for-private-name", breaks="MQQB-3.1.5.8.8-21", blind=True)
class ReceiverTransferInfoNotKeptForPrivateName(DataModelInspection):
    """The receiver does not keep an IncomingTransactionalTransferInfo for a sequence that is addressed to a private
    format name.
    """

    def get_transfers(self, request: GetTransfers, token: int, now: Now) -> Result:
        found = super().get_transfers(request, token, now)
        kept = [one for one in found.values["transfers"] if not one["FormatName"].upper().startswith("PRIVATE=")]
        return Result({"transfers": kept})


@fault("receiver-transfer-info-kept-only-for-first-sender-of-queue", breaks="MQQB-3.1.5.8.8-21", blind=True)
class ReceiverTransferInfoKeptOnlyForFirstSenderOfQueue(DataModelInspection):
    """If several senders send sequences to a queue, the receiver keeps only the IncomingTransactionalTransferInfos of
    the first sender.
    """

    def get_transfers(self, request: GetTransfers, token: int, now: Now) -> Result:
        found = super().get_transfers(request, token, now)
        transfers = found.values["transfers"]
        return Result(
            {"transfers": [one for one in transfers if one["SenderIdentifier"] == transfers[0]["SenderIdentifier"]]}
        )


@fault("receiver-transfer-info-number-1-despite-higher-first-number", breaks="MQQB-3.1.5.8.8-25", blind=True)
class ReceiverTransferInfoNumber1DespiteHigherFirstNumber(WrongNewTransferInfoFault):
    """The receiver sets SequenceNumber of a new IncomingTransactionalTransferInfo to 1, although the first message of
    the sequence has a greater TxSequenceNumber.
    """

    def change_new_transfer(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        transfer.SequenceNumber = 1


@fault("receiver-transfer-info-of-second-queue-has-number-of-first", breaks="MQQB-3.1.5.8.8-25", blind=True)
class ReceiverTransferInfoOfSecondQueueHasNumberOfFirst(WrongNewTransferInfoFault):
    """The receiver sets SequenceNumber of a new IncomingTransactionalTransferInfo of a second queue to the
    SequenceNumber of the sender's sequence to the first queue.
    """

    def change_new_transfer(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        other = find_transfer_of_other_queue(self.qm, transfer)
        if other is not None:
            transfer.SequenceNumber = other.SequenceNumber


@fault("receiver-transfer-info-number-cut-to-16-bits", breaks="MQQB-3.1.5.8.8-25", blind=True)
class ReceiverTransferInfoNumberCutTo16Bits(WrongNewTransferInfoFault):
    """The receiver cuts SequenceNumber of a new IncomingTransactionalTransferInfo to 16 bits."""

    def change_new_transfer(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        transfer.SequenceNumber &= U16_MASK


@fault("receiver-transfer-info-of-second-queue-has-identifier-of-first", breaks="MQQB-3.1.5.8.8-24", blind=True)
class ReceiverTransferInfoOfSecondQueueHasIdentifierOfFirst(WrongNewTransferInfoFault):
    """The receiver sets SequenceIdentifier of a new IncomingTransactionalTransferInfo of a second queue to the
    SequenceIdentifier of the sender's sequence to the first queue.
    """

    def change_new_transfer(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        other = find_transfer_of_other_queue(self.qm, transfer)
        if other is not None:
            transfer.SequenceIdentifier = other.SequenceIdentifier


@fault("receiver-transfer-info-of-second-sender-has-identifier-of-first", breaks="MQQB-3.1.5.8.8-24", blind=True)
class ReceiverTransferInfoOfSecondSenderHasIdentifierOfFirst(WrongNewTransferInfoFault):
    """The receiver sets SequenceIdentifier of a new IncomingTransactionalTransferInfo of a second sender to the
    SequenceIdentifier of the first sender at the same queue.
    """

    def change_new_transfer(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        other = find_transfer_of_other_sender(self.qm, transfer)
        if other is not None:
            transfer.SequenceIdentifier = other.SequenceIdentifier


@fault("receiver-transfer-info-of-second-queue-has-access-time-of-first", breaks="MQQB-3.1.5.8.8-26", blind=True)
class ReceiverTransferInfoOfSecondQueueHasAccessTimeOfFirst(WrongNewTransferInfoFault):
    """The receiver sets LastAccessTime of a new IncomingTransactionalTransferInfo of a second queue to the
    LastAccessTime of the sender's sequence to the first queue.
    """

    def change_new_transfer(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        other = find_transfer_of_other_queue(self.qm, transfer)
        if other is not None:
            transfer.LastAccessTime = other.LastAccessTime


@fault("receiver-transfer-info-access-time-is-sent-time", breaks="MQQB-3.1.5.8.8-26", blind=True)
class ReceiverTransferInfoAccessTimeIsSentTime(WrongNewTransferInfoFault):
    """The receiver sets LastAccessTime of a new IncomingTransactionalTransferInfo to SentTime of the message."""

    def change_new_transfer(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        transfer.LastAccessTime = packet.UserHeader.SentTime


@fault("receiver-transfer-info-access-time-in-local-time", breaks="MQQB-3.1.5.8.8-26", blind=True)
class ReceiverTransferInfoAccessTimeInLocalTime(WrongNewTransferInfoFault):
    """The receiver sets LastAccessTime of a new IncomingTransactionalTransferInfo to local time, which is one hour
    ahead of UTC.
    """

    def change_new_transfer(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        transfer.LastAccessTime = now.utc_s + 3600


@fault("receiver-transfer-info-of-second-queue-has-reject-count-of-first", breaks="MQQB-3.1.5.8.8-27", blind=True)
class ReceiverTransferInfoOfSecondQueueHasRejectCountOfFirst(WrongNewTransferInfoFault):
    """The receiver sets RejectCount of a new IncomingTransactionalTransferInfo of a second queue to the RejectCount of
    the sender's sequence to the first queue.
    """

    def change_new_transfer(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        other = find_transfer_of_other_queue(self.qm, transfer)
        if other is not None:
            transfer.RejectCount = other.RejectCount


@fault("receiver-transfer-info-of-second-sender-has-reject-count-1", breaks="MQQB-3.1.5.8.8-27", blind=True)
class ReceiverTransferInfoOfSecondSenderHasRejectCount1(WrongNewTransferInfoFault):
    """The receiver sets RejectCount of a new IncomingTransactionalTransferInfo to 1 if the queue has a sequence of
    another sender.
    """

    def change_new_transfer(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        if find_transfer_of_other_sender(self.qm, transfer) is not None:
            transfer.RejectCount = 1


class WrongIncomingSequenceFault(TransactionalReceiving):
    """For a message to a queue that does not yet have the message's sequence, the receiver uses a different sequence of
    the queue.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        queue = self.qm.message_arrival.find_destination(packet)
        assert queue is not None  # a message to no queue was refused before
        if session.IncomingTxSequenceID == NO_INCOMING_SEQUENCE:
            for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
                if self.is_sequence_used_by_mistake(transfer, packet):
                    session.IncomingTxSequenceID = transfer.SequenceIdentifier
                    session.IncomingTxSequenceNumber = transfer.SequenceNumber
        return super().is_in_sequence(session, packet)

    def is_sequence_used_by_mistake(
        self, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket
    ) -> bool:
        """Return whether the sequence is used for the message by mistake."""
        return False


@fault("receiver-transfer-info-found-by-queue-alone", breaks="MQQB-3.1.5.8.8-18", blind=True)
class ReceiverTransferInfoFoundByQueueAlone(WrongIncomingSequenceFault):
    """The receiver uses the IncomingTransactionalTransferInfo of another sender's sequence to the same queue for the
    first message of a second sender.
    """

    def is_sequence_used_by_mistake(
        self, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket
    ) -> bool:
        return transfer.SenderIdentifier != packet.UserHeader.SourceQueueManager


@fault("receiver-transfer-info-found-by-timestamp-alone", breaks="MQQB-3.1.5.8.8-18", blind=True)
class ReceiverTransferInfoFoundByTimestampAlone(TransactionalReceiving):
    """The receiver finds the IncomingTransactionalTransferInfo of a message by TimeStamp of TxSequenceID, and ignores
    Ordinal.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None  # only transactional messages are in a sequence
        if header.TxSequenceID.TimeStamp == session.IncomingTxSequenceID.TimeStamp:
            session.IncomingTxSequenceID = header.TxSequenceID
        return super().is_in_sequence(session, packet)


class WrongEodNextSeqFault(OrderAcks):
    """Changes EodNextSeq of each OutgoingTransferInfo."""

    def update_outgoing_transfer_info(self, session: Session) -> None:
        super().update_outgoing_transfer_info(session)
        queue = session.OutgoingQueueReference
        if queue is not None and queue.OutgoingTransferInfoReference is not None:
            info = queue.OutgoingTransferInfoReference
            queue.OutgoingTransferInfoReference = replace(
                info, EodNextSeq=self.change_next_sequence_info(session, info.EodNextSeq)
            )

    def change_next_sequence_info(self, session: Session, info: SequenceInfo) -> SequenceInfo:
        """Return the changed EodNextSeq."""
        return info

    def find_next_sequence_info_of_other_queue(self, session: Session) -> SequenceInfo | None:
        """Return EodNextSeq of the first other outgoing queue that has a transactional sequence, or None."""
        for queue in self.qm.adm.OutgoingQueues.values():
            info = queue.OutgoingTransferInfoReference
            if queue.session is not session and info is not None:
                return info.EodNextSeq
        return None


@fault("router-eod-next-seq-id-lacks-ordinal", breaks="MQQB-3.1.5.8.8-37", blind=True)
class RouterEodNextSeqIdLacksOrdinal(WrongEodNextSeqFault):
    """The queue manager that forwards a message sets SeqID of EodNextSeq to OutgoingTxSequenceID without Ordinal."""

    def change_next_sequence_info(self, session: Session, info: SequenceInfo) -> SequenceInfo:
        return replace(info, SeqID=info.SeqID >> 32 << 32)


@fault("router-eod-next-seq-id-of-second-destination-is-that-of-first", breaks="MQQB-3.1.5.8.8-37", blind=True)
class RouterEodNextSeqIdOfSecondDestinationIsThatOfFirst(WrongEodNextSeqFault):
    """The queue manager that forwards a message to a second destination sets SeqID of EodNextSeq to the
    OutgoingTxSequenceID of the first destination.
    """

    def change_next_sequence_info(self, session: Session, info: SequenceInfo) -> SequenceInfo:
        other = self.find_next_sequence_info_of_other_queue(session)
        return info if other is None else replace(info, SeqID=other.SeqID)


@fault("router-eod-next-seq-id-copied-from-last-ack", breaks="MQQB-3.1.5.8.8-37", blind=True)
class RouterEodNextSeqIdCopiedFromLastAck(WrongEodNextSeqFault):
    """The queue manager that forwards a message sets SeqID of EodNextSeq to the SeqID of LastAck."""

    def change_next_sequence_info(self, session: Session, info: SequenceInfo) -> SequenceInfo:
        return replace(info, SeqID=get_outgoing_sequence(session).LastAck.SeqID)


@fault("router-eod-next-seq-no-of-second-destination-is-that-of-first", breaks="MQQB-3.1.5.8.8-38", blind=True)
class RouterEodNextSeqNoOfSecondDestinationIsThatOfFirst(WrongEodNextSeqFault):
    """The queue manager that forwards a message to a second destination sets SeqNo of EodNextSeq to the
    OutgoingTxSequenceNumber of the first destination.
    """

    def change_next_sequence_info(self, session: Session, info: SequenceInfo) -> SequenceInfo:
        other = self.find_next_sequence_info_of_other_queue(session)
        return info if other is None else replace(info, SeqNo=other.SeqNo)


@fault("router-eod-next-seq-no-is-count-of-unacknowledged-messages", breaks="MQQB-3.1.5.8.8-38", blind=True)
class RouterEodNextSeqNoIsCountOfUnacknowledgedMessages(WrongEodNextSeqFault):
    """The queue manager that forwards a message sets SeqNo of EodNextSeq to the number of messages in the
    OutgoingMessageTable.
    """

    def change_next_sequence_info(self, session: Session, info: SequenceInfo) -> SequenceInfo:
        return replace(info, SeqNo=len(session.OutgoingMessageTable))


@fault("router-eod-next-seq-no-follows-number-of-forwarded-message", breaks="MQQB-3.1.5.8.8-38", blind=True)
class RouterEodNextSeqNoFollowsNumberOfForwardedMessage(WrongEodNextSeqFault):
    """The queue manager that forwards a message sets SeqNo of EodNextSeq to the number that follows TxSequenceNumber of
    the forwarded message.
    """

    def change_next_sequence_info(self, session: Session, info: SequenceInfo) -> SequenceInfo:
        numbers = [
            position.UserMessage.TransactionHeader.TxSequenceNumber
            for position in session.OutgoingMessageTable
            if position.UserMessage.TransactionHeader is not None
        ]
        return replace(info, SeqNo=numbers[-1] + 1) if numbers else info
