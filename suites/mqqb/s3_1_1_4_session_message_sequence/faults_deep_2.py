"""Faults of MS-MQQB 3.1.1.4 Session Message Sequence that occur only in one role of the receiver."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import Session


@fault("initiator-received-transactional-message-not-counted-as-recoverable", breaks="MQQB-3.1.1.4-D01")
class InitiatorReceivedTransactionalMessageNotCountedAsRecoverable(Receiving):
    """The initiator does not count a transactional message that it receives as a recoverable message."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        before = session.RecoverableMessageReceivedCount
        super().count_received(session, packet)
        if session.initiator and packet.TransactionHeader is not None:
            session.RecoverableMessageReceivedCount = before
