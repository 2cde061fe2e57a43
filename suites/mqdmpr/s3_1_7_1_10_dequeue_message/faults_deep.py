"""Faults of MS-MQDMPR 3.1.7.1.10 Dequeue Message that only special cases show: returned messages, and a remote reader
together with a transaction.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState


@fault("queue-manager-receive-does-not-find-returned-message", breaks="MQDMPR-3.1.7.1.10-38")
class ReturnedNotFound(Positions):
    """A receive without a cursor starts at the position where the previous receive ended, and does not find a message
    that was returned to an earlier position.
    """

    def message_available(self, position: MessagePosition) -> None:
        positions = position.QueueReference.MessagePositionList
        passed, was_locked = positions.Start.passed, position.State is MessagePositionState.LOCKED
        super().message_available(position)
        if was_locked and not position.awaits_disk:
            positions.Start.passed = passed
