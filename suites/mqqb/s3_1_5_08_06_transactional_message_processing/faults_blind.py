"""Faults of MS-MQQB 3.1.5.8.6 Transactional Message Processing, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.model.adm import Session


@fault("receiver-tx-sequence-number-compared-as-signed", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class ReceiverTxSequenceNumberComparedAsSigned(InSequence):
    """The receiver compares the numbers of a sequence as signed 32-bit integers."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID != session.IncomingTxSequenceID:
            return super().is_in_sequence(session, packet)
        last = _has_signature(session.IncomingTxSequenceNumber)
        return _has_signature(header.PreviousTxSequenceNumber) <= last < _has_signature(header.TxSequenceNumber)


def _has_signature(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number
