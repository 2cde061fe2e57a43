"""Faults that break rules of MS-MQQB 3.1.5.8.2 General Processing, written without knowledge of the checks."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-second-final-ack-for-nontransactional-queue-missing", breaks="MQQB-3.1.5.8.2-29", blind=True)
class ReceiverSecondFinalAckForNontransactionalQueueMissing(FinalAcks):
    """The receiver sends a FinalAck of class NOT_TRANSACTIONAL_Q only for the first message of each sequence that it
    refuses.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.refused_sequences: set[tuple[UUID, int]] = set()

    def send_negative_final_ack(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header = packet.TransactionHeader
        if message_class is MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q and header is not None:
            sequence = (packet.UserHeader.SourceQueueManager, int(header.TxSequenceID))
            if sequence in self.refused_sequences:
                return
            self.refused_sequences.add(sequence)
        super().send_negative_final_ack(session, packet, message_class, now)
