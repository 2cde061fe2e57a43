"""Faults of MS-MQQB 3.1.5.8.6 Transactional Message Processing, written without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.model.adm import Session


@fault("receiver-message-after-gap-accepted-after-rejection", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class ReceiverMessageAfterGapAcceptedAfterRejection(InSequence):
    """While TxMessageRejectCount is not zero, the receiver accepts a message of the current sequence although its
    PreviousTxSequenceNumber is greater than the last accepted number.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID == session.IncomingTxSequenceID and session.TxMessageRejectCount:
            return header.TxSequenceNumber > session.IncomingTxSequenceNumber
        return super().is_in_sequence(session, packet)
