"""Faults that break rules of MS-MQQB 3.1.1.3.1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.enterprise.restoring import Restoring


@fault("receiver-incoming-number-of-empty-queue-lost-at-restart", breaks="MQQB-3.1.1.3.1-09", blind=True)
class ReceiverIncomingNumberOfEmptyQueueLostAtRestart(Restoring):
    """The receiver loses IncomingTxSequenceNumber at a restart if the queue contains no message."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        for queue in self.qm.adm.QueueCollection.values():
            if not len(queue.MessagePositionList):
                queue.IncomingTransactionalTransferInfoCollection.clear()


@fault("sender-tx-numbers-begin-at-1-again-after-restart", breaks="MQQB-3.1.1.3.1.2-01", blind=True)
class SenderTxNumbersBeginAt1AgainAfterRestart(Restoring):
    """The sender numbers the transactional messages that wait in an outgoing queue from 1 on when it restarts, even if
    earlier messages of the sequence were acknowledged before the restart.
    """

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        for queue in self.qm.adm.OutgoingQueues.values():
            waiting = (one for one in queue.session.OutgoingMessageTable if one.TxSequenceNumber)
            for number, position in enumerate(waiting, 1):
                header = position.UserMessage.TransactionHeader
                assert header is not None
                header = replace(header, TxSequenceNumber=number, PreviousTxSequenceNumber=number - 1)
                position.TxSequenceNumber = number
                position.UserMessage = replace(position.UserMessage, TransactionHeader=header)
