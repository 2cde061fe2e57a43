"""Faults that break rules of MS-MQQB 3.1.5.8.6 Transactional Message Processing, written from this section of the
document. Each fault violates one entry of the table states.toml.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.model.adm import Session


@fault("receiver-repeated-message-after-expired-ones-accepted", breaks="MQQB-3.1.5.8.6-D02")
class ReceiverRepeatedMessageAfterExpiredOnesAccepted(InSequence):
    """The receiver accepts the last message of a sequence again if messages before it had expired."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        last = (session.IncomingTxSequenceID, session.IncomingTxSequenceNumber)
        again = (header.TxSequenceID, header.TxSequenceNumber) == last
        gap = 0 < header.PreviousTxSequenceNumber < header.TxSequenceNumber - 1
        return (again and gap) or bool(super().is_in_sequence(session, packet))
