"""Faults of MS-MQQB 3.1.5.8.6 Transactional Message Processing that only special cases show: second occurrences, other
causes, boundary values.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.model.adm import Session


@fault("receiver-later-sequence-accepted-only-from-number-1", breaks="MQQB-3.1.5.8.6-D04", blind=True)
class OnlyFromNumber1(InSequence):
    """The receiver accepts the first message of a later sequence only if its TxSequenceNumber is 1."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        later = header is not None and header.TxSequenceID != session.IncomingTxSequenceID
        if later and header is not None and header.TxSequenceNumber != 1:
            return False
        return super().is_in_sequence(session, packet)


@fault("receiver-message-with-lower-previous-number-rejected", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class OnlyExactPrevious(InSequence):
    """The receiver rejects a message whose PreviousTxSequenceNumber is lower than the last accepted number."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        same = header is not None and header.TxSequenceID == session.IncomingTxSequenceID
        if same and header is not None and header.PreviousTxSequenceNumber != session.IncomingTxSequenceNumber:
            return False
        return super().is_in_sequence(session, packet)


@fault("receiver-number-of-sequence-compared-with-sign", breaks="MQQB-3.1.5.8.6-D03", blind=True)
class SignedNumbers(InSequence):
    """The receiver compares TxSequenceNumbers as signed numbers of 32 bits."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        if header.TxSequenceID == session.IncomingTxSequenceID:
            numbers = (header.PreviousTxSequenceNumber, session.IncomingTxSequenceNumber, header.TxSequenceNumber)
            before, last, number = ((one ^ 0x80000000) - 0x80000000 for one in numbers)
            return before <= last < number
        return super().is_in_sequence(session, packet)
