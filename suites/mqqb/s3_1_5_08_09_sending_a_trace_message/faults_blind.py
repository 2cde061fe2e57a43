"""Faults of MS-MQQB 3.1.5.8.9, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.tracing import Tracing
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now


@fault("receiver-transactional-message-traced-without-report", breaks="MQQB-3.1.5.8.9-01", blind=True)
class ReceiverTransactionalMessageTracedWithoutReport(Tracing):
    """The receiver sends no report when a traced transactional message arrives."""

    def trace_received(self, message: Message, now: Now) -> None:
        if message.TransactionIdentifier is None:
            super().trace_received(message, now)
