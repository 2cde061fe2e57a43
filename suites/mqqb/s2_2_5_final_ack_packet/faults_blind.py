"""Faults of MS-MQQB 2.2.5, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import (
    MessageClass,
    UserMessagePacket,
)
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-negative-final-ack-previous-number-computed", breaks="MQQB-2.2.5.1-03", blind=True)
class ReceiverNegativeFinalAckPreviousNumberComputed(FinalAcks):
    """In the FinalAck of a refused message, the receiver sends TxSequenceNumber - 1 as TxPreviousSequenceNumber, even
    if the message bridges a gap.
    """

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header = packet.TransactionHeader
        assert header is not None
        header = replace(header, PreviousTxSequenceNumber=header.TxSequenceNumber - 1)
        super().refuse_transactional(session, replace(packet, TransactionHeader=header), message_class, now)
