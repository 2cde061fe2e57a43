"""Faults of MS-MQSO 5.1.1.3: messages that expire in transactions, and moves in aborted transactions."""

from __future__ import annotations

from harness.faults.parts import fault, only_if
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.model.adm import MessagePosition


@fault("queue-manager-message-locked-at-expiry-never-expires", breaks="MQSO-5.1.1.3-D02")
class QueueManagerMessageLockedAtExpiryNeverExpires(Lifetimes):
    """A message that a transaction locked never expires after an abort has returned it to its queue."""

    def watch_received(self, position: MessagePosition) -> None:
        seen = getattr(self, "seen", ())
        if id(position) not in seen:
            super().watch_received(position)
        self.seen = (*seen, id(position))


@fault("queue-manager-transactional-message-in-queue-never-expires", breaks="MQSO-5.1.1.3-D02")
class QueueManagerTransactionalMessageInQueueNeverExpires(Lifetimes):
    """A transactional message in a local queue never expires."""

    @only_if(lambda self, position: position.MessageReference.TransactionIdentifier is not None)
    def watch_received(self, position: MessagePosition) -> None:
        """Watch nothing."""
