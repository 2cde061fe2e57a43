"""Faults of MS-MQQB 3.1.5.6 Receiving an OrderAck Packet, written without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.transactional_sending import TransactionalSending, outgoing_sequence
from reference_qm.model.adm import Session


@fault("sender-resend-interval-index-unchanged-by-order-ack-of-some", breaks="MQQB-3.1.5.6-04", blind=True)
class SenderResendIntervalIndexUnchangedByOrderAckOfSome(TransactionalSending):
    """When an OrderAck leaves messages in UnackedSequence, the sender neither increments nor resets
    ResendIntervalIndex: the index and ResendInterval keep the values that they have after the expiries of the timer.
    """

    def reset_resend_interval(self, session: Session) -> None:
        if not outgoing_sequence(session).UnackedSequence:
            super().reset_resend_interval(session)
