from __future__ import annotations

from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.entries import build_removal_change, build_transfer_entry
from reference_qm.core.store.messages import deserialize_message
from reference_qm.core.transfer.message_arrival import UnsavedArrival
from reference_qm.model.adm import (
    NO_INCOMING_SEQUENCE,
    AcceptedMessage,
    IncomingTransactionalTransferInfo,
    IncomingTransferKey,
    Queue,
    RecoverableReceipt,
    Session,
)
from reference_qm.model.states import MessagePositionState, SessionState
from reference_qm.surface.clock import Now


class TransactionalReceiving(QueueManagerPart):
    """Receives transactional messages in order, and each message exactly once. Spec: MS-MQQB 3.1.5.8.6, 3.1.5.8.8."""

    __slots__ = ()

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        """Put a transactional message into its queue if it is the next message in its sequence.

        Spec: MS-MQQB 3.1.5.8.2, 3.1.5.8.6, 3.1.5.8.8.

        A message that is refused or out of sequence is counted on the session, but does not advance its sequence. In
        the document, the elements of the sequence belong to the session. Here they belong to a sender and a destination
        format name (MS-MQDMPR 3.1.1.5), for two reasons. First, they must survive the session; otherwise a message that
        is repeated on the next session would be accepted again. Second, a sender has one sequence for each format name;
        with a single record for all names, the messages of all sequences but the newest would be refused.
        """
        receipt.is_on_disk = True
        entry = self.qm.message_history.remember_message(packet, now)
        queue = self.qm.message_arrival.find_destination(packet)
        admitted = self.qm.message_admission.admit(session, packet, queue, now)
        if queue is None or admitted is None:
            return
        packet = admitted
        message = deserialize_message(packet, self.qm.adm.Identifier, now.utc_s)
        key = (packet.UserHeader.SourceQueueManager, message.DestinationQueueFormatName.lower())
        transfer = queue.IncomingTransactionalTransferInfoCollection.get(key)
        session.IncomingTxSequenceID = NO_INCOMING_SEQUENCE if transfer is None else transfer.SequenceIdentifier
        session.IncomingTxSequenceNumber = 0 if transfer is None else transfer.SequenceNumber
        if transfer is not None:
            session.TxMessageRejectCount = transfer.RejectCount
            session.order_acks_due[transfer] = None
        self.qm.order_acks.start_order_ack_timer(session, now)
        if not self.is_in_sequence(session, packet):
            self.reject_out_of_sequence_message(session, transfer, now)
            return
        if not self.qm.message_admission.has_queue_room_for_message(session, packet, queue, message, now):
            return
        transfer = transfer or _create_transfer(queue, key, message.DestinationQueueFormatName)
        follows = (transfer.SequenceIdentifier, transfer.SequenceNumber)
        self.accept_in_sequence_message(session, transfer, packet, now)
        position = self.qm.message_positions.insert_message(queue, message)
        if message.PositiveJournalingRequested or message.NegativeJournalingRequested or message.FinalAckRequired:
            position.order_queue = self.qm.order_acks.build_order_queue_name(
                session, packet.UserHeader.SourceQueueManager
            )
        acceptance = AcceptedMessage(transfer, position, transfer.SequenceIdentifier, transfer.SequenceNumber, follows)
        transfer.unsaved_messages.append(acceptance)
        receipt.is_on_disk = False
        self.qm.message_arrival.save_message(UnsavedArrival(position, entry, [(session, receipt)], acceptance), packet)

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        """Return whether a message is the next message in its sequence, or the first message of a newer sequence.

        Spec: MS-MQQB 3.1.5.8.6.
        """
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID == session.IncomingTxSequenceID:
            return header.PreviousTxSequenceNumber <= session.IncomingTxSequenceNumber < header.TxSequenceNumber
        return int(header.TxSequenceID) > int(session.IncomingTxSequenceID) and header.PreviousTxSequenceNumber == 0

    def reject_out_of_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo | None, now: Now
    ) -> None:
        """Increase RejectCount for a message that is not the next message in its sequence. The position of the sequence
        is not changed.

        Spec: MS-MQQB 3.1.5.8.6. The last step of 3.1.5.8.6 stores the identifier and number of any message. If this
        method carried out that step, a message that was just refused would count as accepted.
        """
        session.TxMessageRejectCount += 1
        if transfer is not None:
            transfer.RejectCount = session.TxMessageRejectCount
            transfer.LastAccessTime = now.utc_s
            self.qm.disk.save(build_transfer_entry(transfer))

    def accept_in_sequence_message(
        self,
        session: Session,
        transfer: IncomingTransactionalTransferInfo,
        packet: UserMessagePacket,
        now: Now,
    ) -> None:
        """Advance a sequence to a message that was accepted. Spec: MS-MQQB 3.1.5.8.6, 3.1.5.8.8."""
        header = packet.TransactionHeader
        assert header is not None
        session.TxMessageRejectCount = transfer.RejectCount = 0
        session.IncomingTxSequenceID = transfer.SequenceIdentifier = header.TxSequenceID
        session.IncomingTxSequenceNumber = transfer.SequenceNumber = header.TxSequenceNumber
        transfer.LastAccessTime = now.utc_s

    def confirm_message_saved(self, acceptance: AcceptedMessage, sessions: list[Session], now: Now) -> None:
        """Allow a message to be acknowledged when the message and its predecessors are on disk. Spec: MS-MQQB
        3.1.1.6.2.
        """
        acceptance.is_saved = True
        transfer = acceptance.transfer
        while transfer.unsaved_messages and transfer.unsaved_messages[0].is_saved:
            first = transfer.unsaved_messages.popleft()
            transfer.saved_sequence_identifier, transfer.saved_sequence_number = (
                first.SequenceIdentifier,
                first.SequenceNumber,
            )
            if first.position.State is MessagePositionState.LOCKED:
                self.qm.message_arrival.message_arrived(first.position, now)
        for session in sessions:
            if session.SessionState is SessionState.OPEN and transfer not in session.order_acks_due:
                session.order_acks_due[transfer] = None
                self.qm.order_acks.start_order_ack_timer(session, now)

    def withdraw_unsaved_message(self, transfer: IncomingTransactionalTransferInfo) -> None:
        """Set a sequence back to the last message that is on disk together with all earlier messages. The sender
        repeats the later messages, because they were not acknowledged.

        Spec: MS-MQQB 3.1.1.6.2. Later messages that are on disk are removed as well, because they would be out of
        order.
        """
        for acceptance in transfer.unsaved_messages:
            acceptance.position.QueueReference.MessagePositionList.remove(acceptance.position)
        self.qm.disk.save(build_removal_change(acceptance.position for acceptance in transfer.unsaved_messages))
        transfer.unsaved_messages.clear()
        transfer.SequenceIdentifier, transfer.SequenceNumber = (
            transfer.saved_sequence_identifier,
            transfer.saved_sequence_number,
        )


def _create_transfer(queue: Queue, key: IncomingTransferKey, format_name: str) -> IncomingTransactionalTransferInfo:
    transfer = IncomingTransactionalTransferInfo(queue, format_name, key[0])
    queue.IncomingTransactionalTransferInfoCollection[key] = transfer
    return transfer
