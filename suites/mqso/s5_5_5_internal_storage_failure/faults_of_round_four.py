"""Faults that break rules of MS-MQSO 5.5.5 for one of several inconsistencies."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.state_restoring import StateRestoring


@fault("queue-manager-too-low-queue-number-counter-not-repaired", breaks="MQSO-5.5.5-02", blind=True)
class QueueManagerTooLowQueueNumberCounterNotRepaired(StateRestoring):
    """The queue manager repairs a missing counter of private queue numbers in its store, but does not repair a counter
    that is lower than the number of an existing queue.
    """

    def repair_queue_numbers(self) -> None:
        if not self.qm.adm.last_private_queue_number:
            super().repair_queue_numbers()
