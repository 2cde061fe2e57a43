"""Faults that break rules of MS-MQSO 5.1.1.1 Queue Manager States."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.enterprise.restoring import Restoring
from reference_qm.core.names.queue_names import JOURNAL_SUFFIX
from reference_qm.model.adm import MessagePosition


@fault("queue-manager-stop-loses-queue-journals", breaks="MQSO-5.1.1.1-D01", blind=True)
class QueueManagerStopLosesQueueJournals(Restoring):
    """A queue manager that is stopped and started again has lost the recoverable messages in the journals of its
    queues.
    """

    def _insert_message(self, position: MessagePosition, lookup_identifier: int) -> None:
        if not position.QueueReference.Pathname.lower().endswith(f";{JOURNAL_SUFFIX}"):
            super()._insert_message(position, lookup_identifier)
