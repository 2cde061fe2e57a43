"""Faults of MS-MQQB 3.1.5.6 of the probe, written without reading the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.transactional_sending import TransactionalSending, outgoing_sequence
from reference_qm.model.adm import Session


@fault("sender-resend-interval-index-unchanged-by-order-ack-of-some", breaks="MQQB-3.1.5.6-04", blind=True)
class IndexUnchanged(TransactionalSending):
    """The sender neither increments nor resets ResendIntervalIndex when it receives an OrderAck that leaves messages in
    UnackedSequence: the index and ResendInterval stay as the time-outs left them.
    """

    def reset_resend_interval(self, session: Session) -> None:
        if not outgoing_sequence(session).UnackedSequence:
            super().reset_resend_interval(session)
