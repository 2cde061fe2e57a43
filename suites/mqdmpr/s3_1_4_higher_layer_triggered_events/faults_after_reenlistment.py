"""Faults that break MQDMPR-3.1.4.11-D02."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.surface.clock import Now


@fault("application-requests-served-after-reenlistment-timeout", breaks="MQDMPR-3.1.4.11-D02", blind=True)
class ApplicationRequestsServedAfterReenlistmentTimeout(TransactionCoordinating):
    """After the Reenlistment Timeout, the queue manager goes offline, but carries out the requests of applications."""

    def on_reenlistment_timeout(self, now: Now) -> None:
        super().on_reenlistment_timeout(now)
        self.qm.halted = None
