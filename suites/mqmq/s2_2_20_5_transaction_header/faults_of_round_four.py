"""Faults that break rules of MS-MQMQ 2.2.20.5 TransactionHeader, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import FormatError, Packet, TransactionHeader, UserMessagePacket
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import IncomingTransactionalTransferInfo, RecoverableReceipt, Session
from reference_qm.surface.clock import Now


@fault("receiver-refuses-later-message-of-sequence-with-x4-set", breaks="MQMQ-2.2.20.5-11", blind=True)
class ReceiverRefusesLaterMessageOfSequenceWithX4Set(TransactionalReceiving):
    """The receiver refuses a message in which X4 of TransactionHeader.Flags is set, unless it is the first message
    of its sequence.
    """

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        header = packet.TransactionHeader
        if header is not None and header.X4 and header.PreviousTxSequenceNumber:
            self.qm.session_closing.close_session_after_malformed_packet(
                session, FormatError("TransactionHeader.Flags", 0, "a fault", "X4 is set"), now
            )
            return
        super().receive_transactional_message(session, packet, receipt, now)


@fault("receiver-does-not-advance-sequence-for-message-with-x6-set", breaks="MQMQ-2.2.20.5-13", blind=True)
class ReceiverDoesNotAdvanceSequenceForMessageWithX6Set(TransactionalReceiving):
    """The receiver puts a message in which X6 of TransactionHeader.Flags is set into its queue, but does not
    advance the sequence of the message.
    """

    def accept_in_sequence_message(
        self, session: Session, transfer: IncomingTransactionalTransferInfo, packet: UserMessagePacket, now: Now
    ) -> None:
        if packet.TransactionHeader is None or not packet.TransactionHeader.X6:
            super().accept_in_sequence_message(session, transfer, packet, now)


@fault("receiver-sends-final-ack-for-message-with-x7-set", breaks="MQMQ-2.2.20.5-14", blind=True)
class ReceiverSendsFinalAckForMessageWithX7Set(Identifying):
    """The receiver treats a message in which X7 of TransactionHeader.Flags is set as if FA were set, and sends a
    FinalAck.
    """

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        header = packet.TransactionHeader if isinstance(packet, UserMessagePacket) else None
        if header is None or not header.X7:
            return packet
        return set_fields(packet, {"TransactionHeader.Flags": header.Flags | TransactionHeader.flags(FA=1)})
