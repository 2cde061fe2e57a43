"""Faults that break rules of MS-MQQB 3.1.1.5 Transactional Message Sequence."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.transactional_sending import TransactionalSending, get_outgoing_sequence
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("sender-sequence-info-seq-no-without-gap", breaks="MQQB-3.1.1.5-D02", blind=True)
class SenderSequenceInfoSeqNoWithoutGap(TransactionalSending):
    """The sender sets SeqNo in the SEQUENCE_INFO of a message that follows an expired message to the number of the
    expired message.
    """

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        before = len(get_outgoing_sequence(session).UnackedSequence)
        packet = super().update_transaction_header(session, position, now)
        unacked = get_outgoing_sequence(session).UnackedSequence
        if len(unacked) > before:
            unacked[-1] = replace(unacked[-1], SeqNo=unacked[-1].PrevNo + 1)
        return packet
